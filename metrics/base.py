"""What our `evaluate` modules share: checked input, missing features, and scoring a model first.

A module names its features with their checks and says how the table of `gest_dataset.score` becomes
its inputs; the numbers come from `gest_dataset.statistics`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import resources
from inspect import signature
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
from huggingface_hub import RepoCard

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.builders.config import Family
from gest_dataset.errors import ConfigError, ScoringError
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.measure import Headline, Measure, Result
from gest_dataset.measures.result import combine_templates, split_by_template, statistic_inputs, with_verdict
from gest_dataset.statistics import checks

Inputs = dict[str, Any]
# An input that every module takes: what was drawn together
_UNITS = {"units": (datasets.Value("string"), checks.group_codes)}
_INPUTS = re.compile(r"\*\*Input\.\*\*.*?(?=\n\n## )", re.DOTALL)  # of a card: what goes in, what comes out


def card_of(name: str) -> RepoCard:
    """The card of a module, which says what it is and what it takes."""
    file = resources.files("gest_dataset.metrics") / name / "README.md"
    return RepoCard(file.read_text(encoding="utf-8"))


class CheckedMetric(evaluate.Metric):
    """An evaluate module whose input is checked where it comes in, before Arrow converts it."""

    # whose works it cites
    family: Family

    # the type of each feature and what it has to be, and which ones a set may lack: all have units besides
    fields: Mapping[str, tuple[Any, checks.Check]]
    optional: tuple[str, ...] = ()

    # the arguments of the statistic, with what each has to be
    options: Mapping[str, checks.Check] = {}

    # what makes numbers of the inputs; a config is for this metric where its measure has the same one
    statistic: Callable[..., dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls.fields, cls.optional = {**cls.fields, **_UNITS}, (*cls.optional, *_UNITS)

    def _info(self) -> evaluate.MetricInfo:
        card = card_of(type(self).__module__.rpartition(".")[2])
        return evaluate.MetricInfo(
            description=card.data.get("description"),
            citation=self.family.citation,
            inputs_description=_INPUTS.findall(card.text)[0],
            features=datasets.Features({name: feature for name, (feature, _) in self.fields.items()}),
            homepage=self.family.homepage,
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample."""
        # evaluate.combine gives the plural names
        example = self._own({"predictions": prediction, "references": reference, **kwargs})
        # evaluate's own way of adding one sample refuses a text that is not given
        self.add_batch(**{name: None if value is None else [value] for name, value in example.items()})

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
        **kwargs: Any,
    ) -> dict[str, Any] | None:
        """Compute the scores of the samples, or of `model_id` on `config`, which it scores first.

        With `model_id`, the arguments of `gest_dataset.score` are taken as well.
        """
        inputs = {name: kwargs.pop(name, None) for name in self._feature_names()}
        inputs |= {"predictions": predictions, "references": references}
        options = {name: kwargs.pop(name) for name in self.options if name in kwargs}
        for name, value in options.items():
            self.options[name](name, value)
        if model_id is None:
            self._refuse("samples", [*kwargs, *([] if config is None else ["config"])])
            return self._compute_inputs(inputs, options)
        if any(values is not None for values in inputs.values()) or len(self):
            raise ConfigError("Give either a model_id to score or samples, not both.")
        self._refuse("a model_id", kwargs.keys() - self._scoring())
        lacking = dict.fromkeys(inputs)
        tables = self._score(model_id, config, **kwargs)
        return combine_templates(
            {
                template: self._compute_inputs(lacking | folded, options) or {}
                for template, folded in tables.items()
            }
        )

    def _refuse(self, given: str, arguments: Collection[str]) -> None:
        """Say no to arguments that mean nothing, before anything is scored."""
        if arguments:
            options = list(self.options)
            raise ConfigError(
                f"{self.name}.compute takes no {', '.join(sorted(arguments))} with {given}. With samples it "
                f"takes {', '.join([*self._feature_names(), *options])}; with a model "
                f"{', '.join(['model_id', 'config', *options, *self._scoring()])}."
            )

    def _scoring(self) -> list[str]:
        """What can be given with `model_id` and `config`: the other arguments of `gest_dataset.score`."""
        from gest_dataset.models.score import score  # brings torch and transformers

        own = ("model", "config", *self._feature_names())
        return [name for name in signature(score).parameters if name not in own]

    def _compute(self, **inputs: Any) -> dict[str, Any]:
        lacking = {name: None for name in self.optional if all(row is None for row in inputs[name])}
        result = self.statistic(**inputs | lacking)
        measure = next(measure for measure in MEASURES.values() if measure.statistic is self.statistic)
        options = {name: inputs[name] for name in self.options if name in inputs}
        return with_verdict(measure, result, self._zone(measure.headline(result), result, **options))

    def _zone(self, head: Headline, result: Result, **options: Any) -> tuple[float, float]:
        """The zone of negligible effects on the scale that the options ask for."""
        return head.zone_bounds(result)

    def _compute_inputs(self, inputs: Inputs, options: Mapping[str, Any]) -> dict[str, Any] | None:
        result: dict[str, Any] | None = super().compute(**inputs, **options)
        return result

    def _score(self, model: Any, config: Any, **arguments: Any) -> dict[int, Inputs]:
        """The inputs of each template (0 where there is none), from the model's scores."""
        if self.num_process > 1:
            raise ConfigError("Score a model in one process; num_process is for samples.")
        if config is None:
            raise ConfigError(f"{self.name}.compute(model_id=…) also needs config=…, a config of `gest`.")
        self._check_config(config)
        from gest_dataset.models.score import score

        scores = score(model, config, **arguments)
        measure = MEASURES[scores.metadata["measure"]]
        parts = split_by_template(scores.table)
        return {number: statistic_inputs(measure, part, scores.rows) for number, part in parts.items()}

    def _check_config(self, config: Any) -> None:
        """Refuse a config whose measure has another statistic, before a model is loaded."""
        if isinstance(config, str):
            name, fields = config, list(get_config(config).features)
        elif isinstance(config, datasets.Dataset):
            name, fields = "this data set", config.column_names
        else:
            raise ConfigError(f"{self.name}.compute takes one config by its name, or one data set.")
        measure = _measure(fields)
        if measure is None or measure.statistic is not self.statistic:
            fitting = [
                name
                for name, data in CONFIGS.items()
                if (own := _measure(list(data.features))) is not None and own.statistic is self.statistic
            ]
            reader = f"the {measure.name} probe" if measure else "no probe"
            raise ConfigError(
                f"{self.name} is not for {name}, which {reader} reads; it is for {', '.join(fitting)}, "
                f"or a data set with the fields of one."
            )

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

    def _check(self, batch: Inputs) -> None:
        given = {name: values for name, values in batch.items() if values is not None}
        checks.same_length(**given)
        for name, values in given.items():
            if name not in self.optional or any(value is not None for value in values):
                self.fields[name][1](name, values)


def _measure(fields: Sequence[str]) -> Measure | None:
    try:
        return measure_of(fields, "")[0]
    except ScoringError:
        return None


def _plain(values: Any) -> Any:
    """Arrays, series and tensors as Arrow takes them: rows of numbers one by one."""
    if not hasattr(values, "__array__"):
        return values
    array = np.asarray(values)
    return list(array) if array.ndim > 1 else array
