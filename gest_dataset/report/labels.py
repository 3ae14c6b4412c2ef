"""Runs as a report reads them: with a short label, a number, and results whose missing numbers are nan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.languages import LANGUAGES, SLAVIC
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Measure, Result
from gest_dataset.measures.result import template_results
from gest_dataset.report.plots import shorten
from gest_dataset.runs.folder import Run
from gest_dataset.runs.manifest import DETECTIONS

_LONGEST_NAME = 44


@dataclass(frozen=True)
class LabelledRun:
    """A run with its label on this page and its number among the runs.

    Names are escaped for display (`one_line`).
    """

    run: Run
    label: str
    number: int

    @property
    def facts(self) -> dict[str, Any]:
        return {**self.run.manifest.settings, **self.run.manifest.metadata}

    @property
    def measure(self) -> Measure:
        return MEASURES[self.run.manifest.measure]

    @property
    def config(self) -> str:
        return one_line(self.run.manifest.config)

    @property
    def model(self) -> str:
        return one_line(self.run.manifest.model)

    @property
    def kind(self) -> str:
        """masked, causal, seq2seq or nsp; empty for a translator."""
        return one_line(str(self.facts.get("kind") or ""))

    @property
    def language(self) -> str:
        """The code of the measured language; empty if it is unknown."""
        return one_line(self.run.manifest.language)

    @property
    def result(self) -> dict[str, Any]:
        """The result; null in JSON is nan."""
        numbers: dict[str, Any] = _null_to_nan(self.run.result["result"])
        return numbers

    @property
    def templates(self) -> dict[int, Result]:
        """The result in each template; 0 without templates."""
        result = self.result
        if "by_template" in result:
            return template_results(result)
        numbers = self.facts.get("templates") or [0]
        return {int(numbers[0]): result}

    @property
    def toy(self) -> bool:
        return bool(self.facts.get("toy"))

    @property
    def custom_templates(self) -> bool:
        """Whether the templates are the user's, so that no published number is comparable."""
        return "templates" in (self.facts.get("options") or {})


def label_runs(runs: Sequence[Run]) -> list[LabelledRun]:
    """The runs with distinct labels: the model, the config, or both."""
    models = [short_name(one_line(run.manifest.model)) for run in runs]
    # Runs of a translator differ in their language
    configs = [
        one_line(run.manifest.language if run.manifest.table == DETECTIONS else run.manifest.config)
        for run in runs
    ]
    labels = [f"{model} · {config}" for model, config in zip(models, configs, strict=True)]
    if len(set(configs)) == 1:
        labels = models
    elif len(set(models)) == 1:
        labels = configs
    if len(set(labels)) < len(runs):
        folders = [one_line(run.path.resolve().name) for run in runs]
        labels = [f"{label} ({folder})" for label, folder in zip(labels, folders, strict=True)]
    repeated = [label if labels.index(label) == n else f"{label} {n + 1}" for n, label in enumerate(labels)]
    return [LabelledRun(run, label, n) for n, (run, label) in enumerate(zip(runs, repeated, strict=True))]


def short_name(model: str) -> str:
    """A model's name without its owner or folder, cut to a readable length."""
    return shorten(model.rstrip("/").rpartition("/")[2] or model, _LONGEST_NAME)


def language_name(code: str) -> str:
    """The English name of a language; the code itself if there is none."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def language_order(code: str) -> tuple[int, str]:
    """Sort key: the languages of the GEST paper in its order, then the others by code."""
    return (SLAVIC.index(code) if code in SLAVIC else len(SLAVIC)), code


def _null_to_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _null_to_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_null_to_nan(item) for item in value]
    return math.nan if value is None else value
