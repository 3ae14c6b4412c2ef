"""What the report reads of a run: its names, and its results with bounds, one a template."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.languages import LANGUAGES, SLAVIC
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Measure, Result
from gest_dataset.measures.result import template_results
from gest_dataset.runs.manifest import DETECTIONS
from gest_dataset.runs.reading import Run

_LONGEST = 44


@dataclass(frozen=True)
class Measured:
    """A run with the name that it has on this page, and its number among the runs.

    Names are as a page, a drawing and a table can show them.
    """

    run: Run
    label: str
    number: int

    @property
    def facts(self) -> dict[str, Any]:
        """What the run says of itself: its settings, and what was known at its end."""
        return {**self.run.manifest.settings, **self.run.manifest.metadata}

    @property
    def measure(self) -> Measure:
        """What was measured."""
        return MEASURES[self.run.manifest.measure]

    @property
    def config(self) -> str:
        return one_line(self.run.manifest.config)

    @property
    def model(self) -> str:
        """The model or translator as it is named."""
        return one_line(self.run.manifest.subject)

    @property
    def kind(self) -> str:
        """masked, causal, seq2seq or nsp; a translator has none."""
        return one_line(str(self.facts.get("kind") or ""))

    @property
    def language(self) -> str:
        """The code of the language that was measured; empty where there is none to tell."""
        return one_line(self.run.manifest.language)

    @property
    def result(self) -> dict[str, Any]:
        """The statistic; what JSON has no number for is nan again."""
        numbers: dict[str, Any] = _numbers(self.run.result["result"])
        return numbers

    @property
    def templates(self) -> dict[int, Result]:
        """The result in each template; 0 where there are none."""
        result = self.result
        if "by_template" in result:
            return template_results(result)
        chosen = self.facts.get("templates") or [0]
        return {int(chosen[0]): result}

    @property
    def toy(self) -> bool:
        """Whether the run says that its model is too small to mean anything."""
        return bool(self.facts.get("toy"))

    @property
    def own_templates(self) -> bool:
        """Whether the templates are the user's own, so that no published number belongs beside them."""
        return "templates" in (self.facts.get("options") or {})


def measured(runs: Sequence[Run]) -> list[Measured]:
    """The runs with names that tell them apart: the model, the config, or both."""
    models = [short(one_line(run.manifest.subject)) for run in runs]
    asked = [run.manifest.config if _asks(run) else run.manifest.language for run in runs]
    configs = [one_line(name) for name in asked]
    labels = [f"{model} · {config}" for model, config in zip(models, configs, strict=True)]
    if len(set(configs)) == 1:
        labels = models
    elif len(set(models)) == 1:
        labels = configs
    if len(set(labels)) < len(runs):
        labels = [
            f"{label} ({one_line(run.path.resolve().name)})" for label, run in zip(labels, runs, strict=True)
        ]
    seen: Counter[str] = Counter()
    for place, label in enumerate(labels):
        seen[label] += 1
        labels[place] = f"{label} {seen[label]}" if seen[label] > 1 else label
    return [Measured(run, label, n) for n, (run, label) in enumerate(zip(runs, labels, strict=True))]


def _asks(run: Run) -> bool:
    """Whether a model was asked; a translator's runs are told apart by their language."""
    return run.manifest.table != DETECTIONS


def short(model: str) -> str:
    """A model's name without its owner or directory, cut where nobody reads on."""
    name = model.rstrip("/").rpartition("/")[2] or model
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def language_name(code: str) -> str:
    return LANGUAGES[code].name if code in LANGUAGES else code


def language_order(code: str) -> int:
    """The place of a language in the papers' order."""
    return SLAVIC.index(code) if code in SLAVIC else len(SLAVIC)


def _numbers(value: Any) -> Any:
    """JSON's null, which stands for what is not finite, as nan."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return math.nan if value is None else value
