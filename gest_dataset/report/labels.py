"""Runs as a report reads them: with a short label, a number, results without nulls, and a verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import format_distinct
from gest_dataset.measures.grid import Estimate, effect_size_text
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Headline, Measure, Result, render_text
from gest_dataset.measures.result import template_results, verdict_text
from gest_dataset.runs.folder import Run
from gest_dataset.runs.manifest import DETECTIONS
from gest_dataset.statistics.masculine_rate import masculine_rate
from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable
from gest_dataset.storage import read_yaml

UNDEFINED = "undefined"  # the verdict without an interval
_LONGEST_NAME = 44
_TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("verdicts.yaml"))
_WORST = ("lowest_low", "highest_high")  # bounds over what unreadable answers would have been
_LARGEST = {"f_s": 1.0, "ss": 100.0}  # headlines that have a maximum


@dataclass(frozen=True)
class LabelledRun:
    """A run with its label on this page and its number among the runs; names are escaped for display."""

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

    @cached_property
    def result(self) -> dict[str, Any]:
        numbers: dict[str, Any] = _null_to_nan(self.run.result["result"])
        return numbers

    @cached_property
    def published_rates(self) -> Result:
        """The rates of a translator by the convention of the paper's tables."""
        genders, numbers = (self.run.table[column].to_pylist() for column in ("gender", "stereotype"))
        return masculine_rate(genders, numbers, convention="published")

    @property
    def templates(self) -> dict[int, Result]:
        """The result in each template; 0 without templates."""
        if "by_template" in self.result:
            return template_results(self.result)
        return {int((self.facts.get("templates") or [0])[0]): self.result}

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
    manifests = [run.manifest for run in runs]
    # Runs of a translator differ in their language
    configs = [one_line(one.language if one.table == DETECTIONS else one.config) for one in manifests]
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


def shorten(text: str, length: int) -> str:
    """The text, cut to `length` letters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def short_name(model: str) -> str:
    """A model's name without its owner or folder, cut to a readable length."""
    return shorten(model.rstrip("/").rpartition("/")[2] or model, _LONGEST_NAME)


def language_name(code: str) -> str:
    """The English name of a language; the code itself if there is none."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def _null_to_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _null_to_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_null_to_nan(item) for item in value]
    return math.nan if value is None else value


# --- verdicts


@dataclass(frozen=True)
class RunVerdict:
    """The headline of a run, what it means in a few words, and sentences about it.

    `verdict` is the result's, or `UNDEFINED`; `interval` has enough digits to show why.
    """

    run: LabelledRun
    headline: Headline
    estimate: Estimate
    verdict: str
    summary: str
    interval: str
    sentences: list[str]

    @property
    def effect_size(self) -> str:
        """d with its interval, for measures with g_s."""
        return effect_size_text(self.run.result) if self.verdict != UNDEFINED else ""

    @property
    def text(self) -> str:
        """The verdict, which says if an effect was shown without placebo words."""
        return UNDEFINED if self.verdict == UNDEFINED else verdict_text(self.run.measure, self.run.result)

    def positions(self) -> dict[str, float]:
        """Points of the result on an axis from 0 to 100 that is symmetric about the null."""
        result, head = self.run.result, self.headline
        points = self.estimate._asdict() | {end: result[end] for end in ("zone_low", "zone_high")}
        points |= {f"placebo_{end}": result["placebo"][end] for end in ("low", "high") if "placebo" in result}
        points = {
            name: math.log(max(point / head.null, 1e-300)) if head.ratio else point - head.null
            for name, point in points.items()
            if not math.isnan(point)
        }
        reach = 1.15 * max([abs(point) for point in points.values() if math.isfinite(point)] + [1e-9])
        return {name: round(50 + 50 * max(-1, min(1, point / reach)), 2) for name, point in points.items()}


def smallest_effect(head: Headline, estimate: Estimate, zone_high: float, band_high: float = 0.0) -> float:
    """The smallest value above the null that a sample like this one shows with a power of 80 %.

    `band_high` is the end of the placebo band, if it was measured.
    """
    if not head.ratio:
        error = error_from_interval(estimate.low, estimate.high)
        return head.null + smallest_detectable(error, zone_high - head.null)
    if estimate.low <= 0 or math.isinf(estimate.high):
        return math.inf
    error = error_from_interval(math.log(estimate.low), math.log(estimate.high))
    reaches = [math.log(max(end / head.null, 1.0)) for end in (zone_high, band_high)]
    return head.null * math.exp(min(smallest_detectable(error, *reaches), 700.0))


def verdict_of(run: LabelledRun) -> RunVerdict:
    """The verdict on a run."""
    result = run.result
    head = run.measure.headline(result)
    estimate = Estimate.of(result, head.name)
    name: str = result["verdict"]
    limits = head.null, result["zone_low"], result["zone_high"]
    bounds, marks = format_distinct(estimate[1:], limits)
    interval = " to ".join(bounds)
    if math.isnan(estimate.value):
        name, (summary, *sentences) = UNDEFINED, run.measure.sentences("undefined", result)
    elif any(map(math.isnan, estimate)):
        name, summary, sentences = UNDEFINED, TOO_FEW_SAMPLES, [_TEXTS["no-interval"]]
    else:
        summary = head.verdict_labels[result["verdict"]]
        worst = Estimate(estimate.value, *(result.get(f"{head.name}_{end}", math.nan) for end in _WORST))
        refused = bool(worst.low < estimate.low or worst.high > estimate.high)
        if refused:
            interval += f" ({worst.interval_text} whatever the unreadable answers would have been)"
        outside = not refused and (estimate.low > limits[2] or estimate.high < limits[1])
        values = {
            "head": head,
            "value": estimate.value,
            "interval": interval,
            "verdict": name,
            **dict(zip(("null", "low", "high"), marks, strict=True)),
            "excludes_null": not estimate.low <= head.null <= estimate.high and not refused,
            "position": _TEXTS["positions"]["outside" if name == "not shown" and outside else name],
            "bounded": estimate.low < estimate.high and not refused,
            "smallest": smallest_effect(head, estimate, limits[2], result.get("placebo", {}).get("high", 0)),
            "largest": _LARGEST.get(head.name, math.inf),
        }
        last = filter(None, (render_text(text, values) for text in _TEXTS["last"]))
        sentences = [
            render_text(_TEXTS["first"], values),
            *run.measure.sentences("placebo", result),
            *run.measure.describe(result, run.facts),
            *last,
        ]
    if run.facts.get("limit"):
        sentences.append(render_text(_TEXTS["limit"], run.facts))
    return RunVerdict(run, head, estimate, name, summary, interval, sentences)
