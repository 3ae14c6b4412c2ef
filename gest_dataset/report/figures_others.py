"""Figures of the data beside GEST.

Control groups: original against control, and f (figures 1 and 2 of [D]); StereoSet (tables 2 and 3 of [C]);
WinoBias (appendix B of [A]).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from gest_dataset import published
from gest_dataset.measures.control_bias import sample_scores
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.report import canvas
from gest_dataset.report.bands import band_keys, band_words, draw_bands
from gest_dataset.report.canvas import DASHED, DOTTED, LIGHT, key, series
from gest_dataset.report.measured import Measured, language_name, short
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, draw_rows, own_first
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import GENDERS

_PER_ROW = 2
_BESIDE_NAMES = 0.5  # of the width is left of the names of rows
_MANY = 500  # samples, from which on points are small and faint
_SCORES = {
    "ss": "preference for the stereotypical keyword, ln p(w_s) − ln p(w_a)",
    "cs": "preference for the sentence about the stereotyped group",
}
_STEREOSET = {"lms": "LMS", "ss": "SS", "icat": "ICAT"}


class Line(NamedTuple):
    """A least-squares line, and the band of its mean at some places."""

    slope: float
    intercept: float
    x: Floats
    low: Floats
    high: Floats


def regression(x: Floats, y: Floats) -> Line:
    """Ordinary least squares with the pointwise 95 % band of the line (not of single samples)."""
    centred, freedom = x - x.mean(), float(len(x) - 2)
    slope = float(centred @ y / (centred @ centred))
    intercept = float(y.mean()) - slope * float(x.mean())
    rest = y - intercept - slope * x
    error = math.sqrt(float(rest @ rest) / freedom / float(centred @ centred))  # of the slope
    places = np.linspace(x.min(), x.max(), 60)
    # scipy.stats takes longer to import than the rest of a report to draw
    half = special.stdtrit(freedom, (1 + LEVEL) / 2) * error * np.sqrt(x.var() + (places - x.mean()) ** 2)
    middle = intercept + slope * places
    return Line(slope, intercept, places, middle - half, middle + half)


def control_panels(runs: Sequence[Measured]) -> list[Panel]:
    """The figures that runs on control groups can feed."""
    drawn = [panel for score in _SCORES if (panel := scatters(runs, score)) is not None]
    measured = [run for run in runs if not math.isnan(run.result["f_mu"])]
    return [*drawn, differences(measured)] if measured else drawn


def scatters(runs: Sequence[Measured], score: str) -> Panel | None:
    """Figures 1 (ss) and 2 (cs) of [D]: original against control pairs."""
    pairs = []
    for run in runs:
        values = sample_scores(run.run.table)
        x, y = (values.get(f"{score}_{side}", np.empty(0)) for side in ("original", "control"))
        if len(x) == len(y) and len(x):
            there = np.isfinite(x) & np.isfinite(y)
            if there.sum() > 2 and np.ptp(x[there]) > 0:
                ids = np.array(run.run.table["id"].to_pylist())
                pairs.append((run, ids[there], x[there], y[there]))
    if not pairs:
        return None
    per_row = min(canvas.in_a_row(_PER_ROW), len(pairs))
    lines = math.ceil(len(pairs) / per_row)
    figure, axes = canvas.canvas((4.6 if per_row > 1 else 5.2) * lines, lines, per_row)
    rows: list[list[Any]] = []
    told = []
    for ax, (run, ids, x, y) in zip(axes, pairs, strict=False):
        style = series(run.number)
        line = regression(x, y)
        ax.axhline(0, color=LIGHT["line"], linewidth=1)
        ax.axvline(0, color=LIGHT["line"], linewidth=1)
        ends = [min(x.min(), y.min()), max(x.max(), y.max())]
        ax.plot(ends, ends, **DOTTED)
        many = len(x) > _MANY
        size, alpha = (3, 0.2) if many else (4.5, 0.5)
        ax.plot(x, y, "o", color=style["color"], markersize=size, markeredgewidth=0, alpha=alpha)
        ax.fill_between(line.x, line.low, line.high, color=style["color"], alpha=0.22, linewidth=0)
        ax.plot(line.x, line.intercept + line.slope * line.x, color=style["color"], linewidth=2)
        ax.set_title(canvas.fitting(run.label, canvas.TITLES / per_row), loc="left", fontsize=9.5)
        ax.set_xlabel(f"{score}, original group")
        ax.set_ylabel(f"{score}, control group")
        rho = format_number(run.result[f"{score}_rho"])
        told.append(f"{run.label}: ρ {rho}, slope {format_number(line.slope)}, {len(x):,} samples")
        rows += [[run.label, name, float(a), float(b)] for name, a, b in zip(ids.tolist(), x, y, strict=True)]
    for spare in axes[len(pairs) :]:
        spare.set_visible(False)
    band = key("regression, with its 95 % band", color=LIGHT["ink"], linewidth=2)
    canvas.legend(figure, [band, key("identity", **DOTTED)])
    number = 1 if score == "ss" else 2
    return Panel(
        f"control-{score}",
        f"Original against control: {score}",
        figure,
        f"{score}, the {_SCORES[score]}, of each sample: horizontal about the original group, vertical about "
        f"the control group, which the stereotype is not about. Points along the identity mean that the "
        f"model does the same to both, so the score measures something else than the stereotype. "
        f"{'; '.join(told)}. After figure {number} of Pikuliak et al. (2023).",
        f"Scatter with regression line and band. {'; '.join(told)}.",
        ["run", "id", f"{score}_original", f"{score}_control"],
        rows,
    )


def differences(runs: Sequence[Measured]) -> Panel:
    """f of the runs beside table 3 (11, 12) of [D], whose log10 are brought to natural logarithms."""
    configs = list(dict.fromkeys(run.config for run in runs))
    rows: list[list[Any]] = []
    labels, colours = [], []
    results: dict[int, Result] = {}  # by the number of their row
    for config in configs:
        suffix = f", {config}" if len(configs) > 1 else ""
        for run in runs:
            if run.config == config:
                rows.append([OWN, run.label, config, *Estimate.of(run.result, "f_mu")])
                results[len(rows)] = run.result
                labels.append(run.label)
                colours.append(series(run.number)["color"])
        for row in published.load("word_filling_f")["rows"]:
            if row["config"] == config:
                f, pm, model = LN10 * row["f_mu"], LN10 * row["f_mu_pm"], short(row["model"])
                rows.append([PUBLISHED, model, config, f, f - pm, f + pm])
                labels.append(f"{model}{suffix}")
                colours.append(LIGHT["published"])
    figure, (axes,) = canvas.canvas(1.2 + 0.34 * len(rows))
    for number, result in results.items():
        draw_bands(axes, result, len(rows) + 1 - number)
    draw_rows(axes, rows, labels, colours, 3, "f")
    axes.axvline(0, **DASHED)
    axes.set_xlabel("mean of f, natural logarithm (dashed: no difference between the groups)")
    canvas.legend(figure, band_keys(list(results.values())))
    own_rows = "; ".join(f"{row[1]} {format_number(row[3])}" for row in rows if row[0] == OWN)
    return Panel(
        "control-f",
        "What is left after the control",
        figure,
        f"Mean of f = ss(original) − ss(control) with 95 % intervals, in natural logarithms (ln). Published "
        f"values are those of tables 3, 11 and 12 of Pikuliak et al. (2023), whose log10 were multiplied by "
        f"ln 10; their intervals are ± as printed. {band_words(list(results.values()))}",
        f"Intervals of the mean of f in rows, published models in grey. {own_rows}.",
        ["source", "model", "config", "f_mu_ln", "f_mu_ln_low", "f_mu_ln_high"],
        own_first(rows),
    )


def stereoset_panels(runs: Sequence[Measured]) -> list[Panel]:
    """One figure for each test and language that the runs have."""
    drawn = []
    for measure in (INTRASENTENCE, INTERSENTENCE):
        chosen = [run for run in runs if run.measure is measure]
        test = measure.name.removeprefix("stereoset_")
        for language in dict.fromkeys(run.language for run in chosen):
            drawn.append(_stereoset([run for run in chosen if run.language == language], test, language))
    return drawn


def _stereoset(runs: Sequence[Measured], test: str, language: str) -> Panel:
    """LMS, SS and ICAT in per cent beside the models of the paper."""
    rows: list[list[Any]] = []
    labels, colours = [], []
    for run in runs:
        rows.append([OWN, run.label, *(n for score in _STEREOSET for n in Estimate.of(run.result, score))])
        labels.append(run.label)
        colours.append(series(run.number)["color"])
    for row in published.load(f"stereoset_{test}")["rows"]:
        if row["language"] == language:
            values = [cell for score in _STEREOSET for cell in (row[score], None, None)]
            rows.append([PUBLISHED, f"{row['model']} ({row['handle']})", *values])
            labels.append(row["model"])
            colours.append(LIGHT["published"])
    figure, axes = canvas.canvas(1.3 + 0.33 * len(rows), 1, len(_STEREOSET), sharey=True)
    for place, (ax, (score, title)) in enumerate(zip(axes, _STEREOSET.items(), strict=True)):
        if score == "ss":
            for number, run in enumerate(runs):
                draw_bands(ax, run.result, len(rows) - number)
            ax.axvline(50, **DASHED)
        draw_rows(ax, rows, labels, colours, 2 + 3 * place, title)
        ax.set_title(title, loc="left")
        ax.set_xlabel("per cent")
    results = [run.result for run in runs]
    canvas.legend(figure, band_keys(results))
    number = 2 if test == "intrasentence" else 3
    own_rows = "; ".join(
        f"{row[1]}: LMS {format_number(row[2])}, SS {format_number(row[5])}, ICAT {format_number(row[8])}"
        for row in rows
        if row[0] == OWN
    )
    return Panel(
        f"stereoset-{test}-{language or 'data'}",
        f"StereoSet, {test}, {language_name(language)}".rstrip(", "),
        figure,
        f"Language modelling score, stereotype score (dashed: 50, no preference) and ICAT with 95 % "
        f"intervals. Below: the models in table {number} of Öztürk et al. (2023). ICAT alone hides which of "
        f"the two scores moved it. {band_words(results)}",
        f"Three columns of points in per cent. {own_rows}.",
        ["source", "model", *(f"{score}{end}" for score in _STEREOSET for end in ("", "_low", "_high"))],
        own_first(rows),
    )


def winobias_panels(runs: Sequence[Measured]) -> list[Panel]:
    """The ratios of the samples by the stereotypical gender of the occupation, with q_f and q_m."""
    if not runs:
        return []
    figure, axes = canvas.canvas(1.2 + 1.5 * len(runs), len(runs), 1, sharex=True)
    rows: list[list[Any]] = []
    for ax, run in zip(axes, runs, strict=True):
        genders = np.array(run.run.table["occupation_gender"].to_pylist())
        ratios = np.exp(run.run.table["log_ratio"].to_numpy())
        for place, (gender, symbol) in enumerate(zip(GENDERS, ("q_f", "q_m"), strict=True)):
            y, colour = 2 - place, LIGHT[gender]
            own = ratios[genders == gender]
            ax.plot(own, np.full(len(own), y), "|", color=colour, alpha=0.35, markersize=16)
            mean = Estimate.of(run.result, symbol)
            text = f"{run.label}: {symbol} {mean}"
            canvas.interval_mark(ax, mean, y, text, colour, linewidth=5, markersize=9)
            rows.append([run.label, f"{gender} occupations", len(own), *mean])
        ax.set_yticks([2, 1], ["female occupations", "male occupations"])
        ax.tick_params(axis="y", labelcolor=LIGHT["ink"])
        ax.set_ylim(0.3, 2.7)
        ax.set_title(canvas.fitting(run.label, _BESIDE_NAMES), loc="left", fontsize=9.5)
        ax.grid(axis="y", visible=False)
        cut = canvas.ratio_axis(ax.xaxis, [*ratios, 1.0])
    axes[-1].set_xlabel("P(masculine pronoun) / P(feminine pronoun)")
    handles = [
        key("a sample", marker="|", markersize=10, color=LIGHT["quiet"]),
        key("geometric mean, 95 % interval", marker="o", linewidth=4, color=LIGHT["quiet"]),
    ]
    canvas.legend(figure, handles)
    agreement = published.load("winobias")["rows"][0]
    told = "; ".join(f"{row[0]}, {row[1]}: {format_number(row[3])}" for row in rows if not math.isnan(row[3]))
    return [
        Panel(
            "winobias",
            "WinoBias: occupations",
            figure,
            f"Ratios of the pronouns’ probabilities by the stereotypical gender of the occupation. Over "
            f"{agreement['models']} masked models g_s of WinoBias and of GEST correlate with "
            f"ρ = {agreement['pearson']} in Pikuliak et al. (2024). {cut}".strip(),
            f"Two strips of samples with their geometric means for each run. {told}.",
            ["run", "group", "n", "q", "q_low", "q_high"],
            rows,
        )
    ]
