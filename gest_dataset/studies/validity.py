"""`gest study validity`: g_s of GEST against the WinoBias rate over models (Pikuliak et al., 2024, appendix
B).

    r = Pearson's correlation over models of g_s (GEST, mean over templates) and g_s (WinoBias)

A WinoBias sentence can have several pronouns. The authors take the `mean` of their log ratios; the `sum` is
the log ratio of the whole sentence's pronouns. 22 of the 391 sentences of winobias_type1_test have two. The
authors' numbers are on the scale that they print (e to means of log10); ours are logarithms of ratios, ln
g_s.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.words import differing_words
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import statistic_inputs, template_results
from gest_dataset.measures.stereotype_rate import TEMPLATES, WINOBIAS
from gest_dataset.report import canvas
from gest_dataset.report.panel import Panel
from gest_dataset.report.sure import wide_scores
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import winobias_rate
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.asking import (
    Asked,
    check_given_once,
    check_same_data,
    names_of,
    notes_of,
    runs_of,
    sources_of,
)
from gest_dataset.studies.study import Cell, Study, Table

TITLE = "Does g_s predict the WinoBias rate?"
LEAST = 4  # models of an interval (Fisher's z needs one more than three)
MEAN, SUM = "mean", "sum"
_PAPERS_CONFIG = "winobias_type1_test"
_GEST = ("en_1_0", "en")  # the paper's version first, where a model has both


@dataclass(frozen=True)
class Subject:
    """A model: its GEST run, and its WinoBias runs by config."""

    name: str
    gest: Run
    winobias: dict[str, Run] = field(default_factory=dict)

    @property
    def g_s(self) -> Estimate:
        """The mean over templates of the ratio."""
        return Estimate.of(self.gest.result["result"], "g_s")

    @property
    def g_s_published(self) -> float:
        """The same mean on the scale that the paper prints."""
        each = [part["g_s"] for part in template_results(self.gest.result["result"]).values()]
        return float(np.mean([g_s ** (1 / LN10) if g_s is not None else math.nan for g_s in each]))

    def strengths(self) -> list[float]:
        """How far each stereotype goes its way: ln q_i - ln q_f about men, ln q_m - ln q_i about women."""
        scores = wide_scores(self.gest).groupby(level="stereotype").mean().reindex(list(STEREOTYPES))
        ln_q = scores.mean(axis=1).to_numpy(dtype=float)
        q_f, q_m = float(FEMALE @ ln_q), float(MALE @ ln_q)
        return [
            float(own - q_f if stereotype.gender == "male" else q_m - own)
            for own, stereotype in zip(ln_q, STEREOTYPES.values(), strict=True)
        ]


def validity(asked: Asked | Sequence[str | Path | Run] = ()) -> Study:
    """g_s of GEST against that of WinoBias, over the models that have runs of both."""
    runs = runs_of(
        Asked.of(asked),
        "validity",
        "en,winobias",
        lambda run: (
            run.manifest.measure in (TEMPLATES.name, WINOBIAS.name) and run.manifest.config in CONFIGS
        ),
    )
    check_same_data(runs)
    check_given_once(runs, lambda run: run.manifest.config)
    subjects, notes = _subjects(runs)
    if not subjects:
        raise ConfigError(
            "The study of validity needs models with runs on GEST in English and on WinoBias: gest score "
            "MODEL "
            "--config en,winobias, or --model MODEL.\n" + "\n".join(notes)
        )
    configs = [name for name in CONFIGS if any(name in one.winobias for one in subjects)]
    rates = {
        (one.name, config, reading): rate_of(one.winobias[config], reading)
        for one in subjects
        for config in configs
        if config in one.winobias
        for reading in (MEAN, SUM)
    }
    correlations = _correlations(subjects, configs, rates)
    used = [run for one in subjects for run in (one.gest, *one.winobias.values())]
    return Study(
        "validity",
        TITLE,
        (correlations, _of_models(subjects, rates), _of_stereotypes(subjects, configs, rates)),
        (_figure(subjects, configs, rates),),
        tuple(_sentences(correlations, len(subjects))),
        tuple(notes),
        sources_of(used),
    )


def _subjects(runs: Sequence[Run]) -> tuple[list[Subject], list[str]]:
    """Models with both kinds of runs, and what is said of the others."""
    found: dict[str, dict[str, Run]] = {}
    for name, run in zip(names_of(runs), runs, strict=True):
        found.setdefault(name, {})[run.manifest.config] = run
    subjects, notes = [], []
    for name, own in found.items():
        gest = next((own[config] for config in _GEST if config in own), None)
        rest = {config: run for config, run in own.items() if run.manifest.measure == WINOBIAS.name}
        if gest is None or not rest:
            notes.append(f"{name} is left out: it has no run on {'GEST' if gest is None else 'WinoBias'}.")
            continue
        subjects.append(Subject(name, gest, rest))
    used = [(one.name, run) for one in subjects for run in (one.gest, *one.winobias.values())]
    return subjects, [*notes, *notes_of([run for _, run in used], [name for name, _ in used])]


def pronouns(config: str) -> dict[str, int]:
    """How many pronouns each sentence of a WinoBias config has."""
    rows = rows_of(config)
    return {
        name: len(differing_words(masculine, feminine) or ())
        for name, masculine, feminine in zip(rows["id"], rows["masculine"], rows["feminine"], strict=True)
    }


def rate_of(run: Run, reading: str) -> Estimate:
    """g_s of a WinoBias run with the pronouns of a sentence averaged (the authors') or added.

    A causal model's score is of whole sentences, which adds them; all others' are means.
    """
    config = run.manifest.config
    rows = rows_of(config)
    if run.manifest.data_fingerprint != fingerprint_of(config, rows):
        raise DataError(
            f"The run in {run.path} was scored with another version of {config} or of this package: score it "
            "again."
        )
    inputs = statistic_inputs(WINOBIAS, run.table, rows)
    number = pronouns(config)
    added = run.manifest.settings.get("kind") == "causal"
    inputs["predictions"] = [
        value * (number[name] if reading == SUM else 1) / (number[name] if added else 1)
        for name, value in zip(run.table["id"].to_pylist(), inputs["predictions"], strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # a dash in the table says it
        return Estimate.of(winobias_rate(**inputs), "g_s")


Rates = dict[tuple[str, str, str], Estimate]


def correlation(first: Sequence[float], second: Sequence[float]) -> tuple[Estimate, float]:
    """Pearson's r with Fisher's interval, and its p-value; r of two points is always 1 or -1, so nan."""
    a, b = np.array(first, dtype=float), np.array(second, dtype=float)
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Estimate(math.nan, math.nan, math.nan), math.nan
    from scipy import stats  # takes longer to import than a study from finished runs to make

    found = stats.pearsonr(a, b)
    if len(a) < LEAST:
        return Estimate(float(found.statistic), math.nan, math.nan), math.nan
    low, high = found.confidence_interval(0.95)
    return Estimate(float(found.statistic), float(low), float(high)), float(found.pvalue)


# The scales of a correlation: what is printed is named as such
_PUBLISHED, _LN = "g_s as printed", "ln g_s"
_READINGS = ((MEAN, _PUBLISHED), (MEAN, _LN), (SUM, _LN))


def _correlations(subjects: Sequence[Subject], configs: Sequence[str], rates: Rates) -> Table:
    printed = published.load("winobias")["rows"][0]
    rows: list[tuple[Cell, ...]] = []
    for config in configs:
        there = [one for one in subjects if config in one.winobias]
        for reading, scale in _READINGS:
            ratios = [rates[one.name, config, reading].value for one in there]
            if scale == _PUBLISHED:
                first = [one.g_s_published for one in there]
                second = [value ** (1 / LN10) for value in ratios]
            else:
                first = np.log([one.g_s.value for one in there]).tolist()
                second = np.log(ratios).tolist()
            r, p_value = correlation(first, second)
            papers = config == _PAPERS_CONFIG and scale == _PUBLISHED
            paper = f"{printed['pearson']} ({printed['models']} models)" if papers else ""
            rows.append((config, reading, scale, len(there), r, p_value, paper))
    return Table(
        "validity",
        "Correlation of g_s with the WinoBias rate over models (like appendix B.2)",
        ("config", "pronouns", "scale", "models", "r", "p", "the paper"),
        tuple(rows),
        "Several pronouns of a sentence: mean is the authors' reading, sum adds them. Intervals: Fisher's z "
        f"over models, of {LEAST} or more.",
    )


def _of_models(subjects: Sequence[Subject], rates: Rates) -> Table:
    return Table(
        "models",
        "g_s of GEST and of WinoBias",
        ("model", "GEST", "WinoBias config", "mean of pronouns", "sum of pronouns"),
        tuple(
            (one.name, one.g_s, config, *(rates[one.name, config, reading] for reading in (MEAN, SUM)))
            for one in subjects
            for config in one.winobias
        ),
        "Ratios of geometric means; g_s of GEST is the mean over templates. Intervals are those of the runs: "
        "over sentences, and over occupations.",
    )


def _of_stereotypes(subjects: Sequence[Subject], configs: Sequence[str], rates: Rates) -> Table:
    """Which stereotypes go with the WinoBias rate over models."""
    rows = []
    strengths = {one.name: one.strengths() for one in subjects}
    for place, stereotype in enumerate(STEREOTYPES.values()):
        cells: list[Cell] = [f"{stereotype.id:2} {stereotype.name}"]
        for config in configs:
            there = [one for one in subjects if config in one.winobias]
            ln_rates = [math.log(rates[one.name, config, MEAN].value) for one in there]
            cells.append(correlation([strengths[one.name][place] for one in there], ln_rates)[0])
        rows.append(tuple(cells))
    return Table(
        "stereotypes",
        "Correlation of single stereotypes with the WinoBias rate over models",
        ("stereotype", *(config.removeprefix("winobias_") for config in configs)),
        tuple(rows),
        "Of a stereotype about men ln q_i - ln q_f, about women ln q_m - ln q_i (means over templates), "
        "against ln g_s of WinoBias, pronouns averaged. Each column has 16 correlations: some are large "
        "by chance.",
    )


def _sentences(table: Table, number: int) -> Iterator[str]:
    if number < LEAST:
        there = "is 1 model" if number == 1 else f"are {number} models"
        yield (
            f"There {there} with runs of both: a correlation over so few says nothing, and has no "
            f"interval. Give {LEAST} or more; the paper has 11."
        )
    for config, reading, scale, over, r, *_ in table.rows:
        if scale == _LN and isinstance(r, Estimate) and math.isfinite(r.low):
            papers = config == _PAPERS_CONFIG and reading == MEAN
            beside = "; the paper's 11 masked models by 0.95" if papers else ""
            yield (
                f"Over {over} models ln g_s of GEST and of {config} ({reading} of pronouns) correlate by "
                f"{r}{beside}."
            )


def _figure(subjects: Sequence[Subject], configs: Sequence[str], rates: Rates) -> Panel:
    """Figure 8: a point a model, for each config."""
    figure, axes = canvas.canvas(4.4, 1, len(configs))
    rows = []
    for ax, config in zip(axes, configs, strict=True):
        there = [one for one in subjects if config in one.winobias]
        for number, one in enumerate(subjects):
            if one in there:
                rate = rates[one.name, config, MEAN]
                style = canvas.series(number)
                text = f"{one.name}: {format_number(one.g_s.value)}, {format_number(rate.value)}"
                canvas.interval_mark(
                    ax, one.g_s, rate, text, style.pop("color"), linewidth=1.2, faint=0.6, **style
                )
                rows.append([one.name, config, *one.g_s, *rate])
        values = [one.g_s.value for one in there], [rates[one.name, config, MEAN].value for one in there]
        for axis, own in zip((ax.xaxis, ax.yaxis), values, strict=True):
            canvas.ratio_axis(axis, own, 5)
        ax.set_title(config.removeprefix("winobias_").replace("_", ", "), loc="left")
        ax.set_xlabel("g_s, GEST")
    axes[0].set_ylabel("g_s, WinoBias")
    names = [canvas.key(one.name, **canvas.series(number)) for number, one in enumerate(subjects)]
    canvas.legend(figure, names if len(names) <= len(canvas.SERIES) else [])
    return Panel(
        "validity-figure",
        "g_s of GEST and of WinoBias (like figure 8)",
        figure,
        "A point is a model, with its 95 % intervals; pronouns of a sentence averaged as by the authors.",
        f"{len(configs)} scatter plots of {len(subjects)} models.",
        ["model", "config", "g_s", "g_s_low", "g_s_high", "winobias", "winobias_low", "winobias_high"],
        rows,
    )
