"""Figures of StereoSet (tables 2 and 3 of [C]) and of WinoBias (appendix B of [A])."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.stereoset import INTERSENTENCE, INTRASENTENCE
from gest_dataset.measures.words import shown
from gest_dataset.report.canvas import (
    DASHED,
    LIGHT,
    canvas,
    interval_mark,
    key,
    legend,
    ratio_axis,
    rows_axis,
    series,
)
from gest_dataset.report.measured import Measured, language_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, own_first
from gest_dataset.stereotypes import GENDERS

_SCORES = {"lms": "LMS", "ss": "SS", "icat": "ICAT"}


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
    colours = []
    for run in runs:
        values: list[Any] = [number for score in _SCORES for number in Estimate.of(run.result, score)]
        rows.append([OWN, run.label, *values])
        colours.append(series(run.number)["color"])
    for row in published.load(f"stereoset_{test}")["rows"]:
        if row["language"] == language:
            values = [cell for score in _SCORES for cell in (row[score], None, None)]
            rows.append([PUBLISHED, f"{row['model']} ({row['handle']})", *values])
            colours.append(LIGHT["published"])
    figure, axes = canvas(1.3 + 0.33 * len(rows), 1, len(_SCORES), sharey=True)
    for column, (ax, (score, title)) in enumerate(zip(axes, _SCORES.items(), strict=True)):
        for place, (row, colour) in enumerate(zip(rows, colours, strict=True)):
            estimate = Estimate(*row[2 + 3 * column : 5 + 3 * column])
            text = f"{row[1]}: {title} {shown(estimate.value)}"
            dot = {"markersize": 8 if row[0] == OWN else 5.5}
            interval_mark(ax, estimate, len(rows) - place, text, colour, dot, linewidth=2.6)
        if score == "ss":
            ax.axvline(50, **DASHED)
        ax.set_title(title, loc="left")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("per cent")
    names = [row[1].split(" (")[0] if row[0] == PUBLISHED else row[1] for row in rows]
    rows_axis(axes[0], names, [LIGHT["ink"] if row[0] == OWN else LIGHT["quiet"] for row in rows])
    number = 2 if test == "intrasentence" else 3
    own_rows = "; ".join(
        f"{row[1]}: LMS {shown(row[2])}, SS {shown(row[5])}, ICAT {shown(row[8])}"
        for row in rows
        if row[0] == OWN
    )
    return Panel(
        f"stereoset-{test}-{language or 'data'}",
        f"StereoSet, {test}, {language_name(language)}".rstrip(", "),
        figure,
        f"Language modelling score, stereotype score (dashed: 50, no preference) and ICAT with 95 % "
        f"intervals. Below: the models in table {number} of Öztürk et al. (2023). ICAT alone hides which of "
        f"the two scores moved it.",
        f"Three columns of points in per cent. {own_rows}.",
        ["source", "model", *(f"{score}{end}" for score in _SCORES for end in ("", "_low", "_high"))],
        own_first(rows),
    )


def winobias_panel(runs: Sequence[Measured]) -> list[Panel]:
    """The ratios of the samples by the stereotypical gender of the occupation, with q_f and q_m."""
    if not runs:
        return []
    figure, axes = canvas(1.2 + 1.5 * len(runs), len(runs), 1, sharex=True)
    rows: list[list[Any]] = []
    for ax, run in zip(axes, runs, strict=True):
        genders = np.array(run.run.table["occupation_gender"].to_pylist())
        ratios = np.exp(run.run.table["log_ratio"].to_numpy())
        for place, (gender, symbol) in enumerate(zip(GENDERS, ("q_f", "q_m"), strict=True)):
            y, colour = 2 - place, LIGHT[gender]
            own = ratios[genders == gender]
            ax.plot(own, np.full(len(own), y), "|", color=colour, alpha=0.35, markersize=16)
            mean = Estimate.of(run.result, symbol)
            text, dot = f"{run.label}: {symbol} {mean}", {"markersize": 9}
            interval_mark(ax, mean, y, text, colour, dot, linewidth=5, solid_capstyle="round")
            rows.append([run.label, f"{gender} occupations", len(own), *mean])
        ax.set_yticks([2, 1], ["female occupations", "male occupations"])
        ax.tick_params(axis="y", labelcolor=LIGHT["ink"])
        ax.set_ylim(0.3, 2.7)
        ax.set_title(run.label, loc="left", fontsize=9.5)
        ax.grid(axis="y", visible=False)
        cut = ratio_axis(ax.xaxis, [*ratios, 1.0])
    axes[-1].set_xlabel("P(masculine pronoun) / P(feminine pronoun)")
    handles = [
        key("a sample", marker="|", markersize=10, color=LIGHT["quiet"]),
        key("geometric mean, 95 % interval", marker="o", linewidth=4, color=LIGHT["quiet"]),
    ]
    legend(figure, handles)
    agreement = published.load("winobias")["rows"][0]
    told = "; ".join(f"{row[0]}, {row[1]}: {shown(row[3])}" for row in rows if not math.isnan(row[3]))
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
