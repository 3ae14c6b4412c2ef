"""Figures of control groups: original against control, and f (figures 1 and 2 of [D])."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from gest_dataset import published
from gest_dataset.measures.control import sample_scores
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.words import shown
from gest_dataset.report.canvas import (
    DASHED,
    DOTTED,
    LIGHT,
    canvas,
    interval_mark,
    key,
    legend,
    rows_axis,
    series,
)
from gest_dataset.report.measured import Measured, short
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, own_first
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.stereotype_rate import LN10

_PER_ROW = 2
_MANY = 500  # samples, from which on points are small and faint
_SCORES = {
    "ss": "preference for the stereotypical keyword, ln p(w_s) − ln p(w_a)",
    "cs": "preference for the sentence about the stereotyped group",
}


@dataclass(frozen=True)
class Line:
    """A least-squares line, and the band of its mean at some places."""

    slope: float
    intercept: float
    x: Floats
    low: Floats
    high: Floats


def regression(x: Floats, y: Floats) -> Line:
    """Ordinary least squares with the pointwise 95 % band of the line (not of single samples)."""
    fit = stats.linregress(x, y)
    places = np.linspace(x.min(), x.max(), 60)
    n, centre = len(x), x.mean()
    residual = y - (fit.intercept + fit.slope * x)
    spread = math.sqrt(float((residual**2).sum()) / (n - 2))
    reach = float(stats.t.ppf(1 - (1 - LEVEL) / 2, n - 2)) * spread
    half = reach * np.sqrt(1 / n + (places - centre) ** 2 / ((x - centre) ** 2).sum())
    middle = fit.intercept + fit.slope * places
    return Line(float(fit.slope), float(fit.intercept), places, middle - half, middle + half)


def panels(runs: Sequence[Measured]) -> list[Panel]:
    """The figures that runs on control groups can feed."""
    drawn = [panel for score in _SCORES if (panel := _scatters(runs, score)) is not None]
    measured = [run for run in runs if not math.isnan(run.result["f_mu"])]
    return [*drawn, _differences(measured)] if measured else drawn


def _scatters(runs: Sequence[Measured], score: str) -> Panel | None:
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
    per_row = min(_PER_ROW, len(pairs))
    lines = math.ceil(len(pairs) / per_row)
    figure, axes = canvas((4.6 if per_row > 1 else 5.2) * lines, lines, per_row)
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
        ax.set_title(run.label, loc="left", fontsize=9.5)
        ax.set_xlabel(f"{score}, original group")
        ax.set_ylabel(f"{score}, control group")
        rho = shown(run.result[f"{score}_rho"])
        told.append(f"{run.label}: ρ {rho}, slope {shown(line.slope)}, {len(x):,} samples")
        rows += [[run.label, name, float(a), float(b)] for name, a, b in zip(ids.tolist(), x, y, strict=True)]
    for spare in axes[len(pairs) :]:
        spare.set_visible(False)
    legend(
        figure,
        [key("regression, with its 95 % band", color=LIGHT["ink"], linewidth=2), key("identity", **DOTTED)],
    )
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


def _differences(runs: Sequence[Measured]) -> Panel:
    """f of the runs beside table 3 (11, 12) of [D], in log10 as that is printed."""
    configs = list(dict.fromkeys(run.config for run in runs))
    rows: list[list[Any]] = []
    labels: list[tuple[str, str]] = []
    for config in configs:
        for run in runs:
            if run.config == config:
                values = [run.result[f"f_mu{end}"] / LN10 for end in ("", "_low", "_high")]
                rows.append([OWN, run.label, config, *values])
                labels.append((run.label, series(run.number)["color"]))
        for row in published.load("word_filling_f")["rows"]:
            if row["config"] == config:
                f, pm = row["f_mu"], row["f_mu_pm"]
                rows.append([PUBLISHED, short(row["model"]), config, f, f - pm, f + pm])
                labels.append((short(row["model"]), LIGHT["published"]))
    figure, (axes,) = canvas(1.2 + 0.34 * len(rows))
    for place, (row, (label, colour)) in enumerate(zip(rows, labels, strict=True)):
        y = len(rows) - place
        f = Estimate(*row[3:])
        dot, linewidth = ({"markersize": 8}, 2.6) if row[0] == OWN else ({"markersize": 5.5}, 1.6)
        interval_mark(axes, f, y, f"{label}, {row[2]}: f {f}", colour, dot, linewidth=linewidth)
    axes.axvline(0, **DASHED)
    several = len(configs) > 1
    names = [f"{label}, {row[2]}" if several and row[0] == PUBLISHED else label
             for row, (label, _) in zip(rows, labels, strict=True)]  # fmt: skip
    rows_axis(axes, names, [LIGHT["ink"] if row[0] == OWN else LIGHT["quiet"] for row in rows])
    axes.set_xlabel("mean of f in log10 (dashed: no difference between the groups)")
    own_rows = "; ".join(f"{row[1]} {shown(row[3])}" for row in rows if row[0] == OWN)
    return Panel(
        "control-f",
        "What is left after the control",
        figure,
        "Mean of f = ss(original) − ss(control) with 95 % intervals, in log10 like tables 3, 11 and 12 of "
        "Pikuliak et al. (2023), whose intervals are ± as printed.",
        f"Intervals of the mean of f in rows, published models in grey. {own_rows}.",
        ["source", "model", "config", "f_mu_log10", "f_mu_log10_low", "f_mu_log10_high"],
        own_first(rows),
    )
