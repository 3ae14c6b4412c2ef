"""What our `evaluate` modules share: checked input, missing features, and scoring a model first.

A module names its features with their checks and says how the table of `gest_dataset.score` becomes
its inputs; the numbers come from `gest_dataset.statistics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa

from gest_dataset.errors import ConfigError
from gest_dataset.measures.result import by_template, over_templates
from gest_dataset.statistics import checks

Inputs = dict[str, Any]


class CheckedMetric(evaluate.Metric):
    """An evaluate module whose input is checked where it comes in, before Arrow converts it."""

    # what each feature has to be, and which ones a set may lack
    rules: Mapping[str, checks.Check]
    optional: tuple[str, ...] = ()

    # how the table that `gest_dataset.score` makes becomes inputs
    fold: Callable[[pa.Table, datasets.Dataset], Inputs]

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample."""
        # evaluate.combine gives the plural names
        example = self._own({"predictions": prediction, "references": reference, **kwargs})
        self._check({name: [value] for name, value in example.items() if value is not None})
        extra = {name: example[name] for name in self._extra()}
        super().add(prediction=example["predictions"], reference=example.get("references"), **extra)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add some samples."""
        unknown = sorted(set(kwargs) - set(self._feature_names()))
        if unknown:
            raise ConfigError(
                f"{self.name} has no input {', '.join(unknown)}; it has {', '.join(self._feature_names())}."
            )
        batch = self._own({"predictions": predictions, "references": references, **kwargs})
        self._check(batch)
        number = max(len(values) for values in batch.values() if values is not None)
        columns = [
            pa.nulls(number, field.type)
            if batch[field.name] is None
            else pa.array(_plain(batch[field.name]), field.type)
            for field in self.features.arrow_schema
        ]
        if self.writer is None:
            self.selected_feature_format = self.features
            self._init_writer()
        # the input is checked, so it goes to Arrow at once instead of value by value
        self.writer.write_table(pa.Table.from_arrays(columns, schema=self.features.arrow_schema))

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        model_id: Any = None,
        config: Any = None,
        device: str = "auto",
        batch_tokens: int | None = None,
        **kwargs: Any,
    ) -> dict[str, Any] | None:
        """Compute the scores of the samples, or of `model_id` on `config`, which it scores first."""
        inputs = {"predictions": predictions, "references": references}
        inputs |= {name: kwargs.pop(name, None) for name in self._extra()}
        if model_id is None:
            return self._compute_inputs(inputs, kwargs)
        if any(values is not None for values in inputs.values()) or len(self):
            raise ConfigError("Give either a model_id to score or samples, not both.")
        tables = self._score(model_id, config, device, batch_tokens)
        return over_templates(
            {
                template: self._compute_inputs(self._missing() | found, kwargs) or {}
                for template, found in tables.items()
            }
        )

    def _compute_inputs(self, inputs: Inputs, options: Mapping[str, Any]) -> dict[str, Any] | None:
        result: dict[str, Any] | None = super().compute(**inputs, **options)
        return result

    def _score(self, model: Any, config: Any, device: str, batch_tokens: int | None) -> dict[int, Inputs]:
        """The inputs of each template (0 where there is none), from the model's scores."""
        if self.num_process > 1:
            raise ConfigError("Score a model in one process; num_process is for samples.")
        if config is None:
            raise ConfigError(f"{self.name}.compute(model_id=…) also needs config=…, a config of `gest`.")
        import gest_dataset

        scores = gest_dataset.score(model, config, device=device, batch_tokens=batch_tokens)
        parts = by_template(scores.table)
        return {number: self.fold(part, scores.rows) for number, part in parts.items()}

    def _own(self, inputs: Inputs) -> Inputs:
        missing = [
            name for name in self._feature_names() if inputs.get(name) is None and name not in self.optional
        ]
        if missing:
            raise ConfigError(f"{self.name} needs {' and '.join(missing)}.")
        own = {name: inputs.get(name) for name in self._feature_names()}
        if all(values is None for values in own.values()):
            raise ConfigError(f"{self.name} needs {' or '.join(own)}.")
        return own

    def _extra(self) -> list[str]:
        return [name for name in self._feature_names() if name not in ("predictions", "references")]

    def _missing(self) -> Inputs:
        return dict.fromkeys(("predictions", "references", *self._extra()))

    def _check(self, batch: Inputs) -> None:
        given = {name: values for name, values in batch.items() if values is not None}
        checks.same_length(**given)
        for name, values in given.items():
            if name not in self.optional or any(value is not None for value in values):
                self.rules[name](name, values)


def _plain(values: Any) -> Any:
    """Arrays, series and tensors as Arrow takes them: rows of numbers one by one."""
    if not hasattr(values, "__array__"):
        return values
    array = np.asarray(values)
    return list(array) if array.ndim > 1 else array


def or_none(rows: list[Any]) -> list[Any] | None:
    """A feature as it comes out of the store; None where no sample has it."""
    return None if all(row is None for row in rows) else rows
