"""Figures of choices in words: the 16 stereotypes, and GenderBench's models beside this report's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gest_dataset.languages import SOURCE
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.generated_gender import STORY
from gest_dataset.measures.grid import Estimate
from gest_dataset.published import genderbench
from gest_dataset.report import canvas
from gest_dataset.report.canvas import DASHED, LIGHT, key
from gest_dataset.report.figures_stereotypes import NUMBERED, PLACES, stereotype_axis
from gest_dataset.report.measured import Measured, language_name
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, draw_rows, own_first
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_PER_ROW = 4
_ENDS = ("", "_low", "_high")
_OPTIONS = ("male", "female", "neither")


def choice_panels(runs: Sequence[Measured]) -> list[Panel]:
    """The figures that choices can feed."""
    own = [run for run in runs if any(run.result["n"])]
    return [_stereotypes(own)] if own else []


def _stereotypes(runs: Sequence[Measured]) -> Panel:
    """How often each gender is named, stereotype by stereotype."""
    per_row = min(canvas.in_a_row(_PER_ROW), len(runs))
    numbered = per_row > 1 and canvas.is_narrow()
    lines = math.ceil(len(runs) / per_row)
    figure, axes = canvas.canvas(4.7 * lines + 0.5, lines, per_row, sharey=True, sharex=True)
    rows: list[list[Any]] = []
    for place, (ax, run) in enumerate(zip(axes, runs, strict=False)):
        language = language_name(run.language)
        for number, (stereotype, y) in enumerate(zip(STEREOTYPES.values(), PLACES, strict=True)):
            each = {option: Estimate.of(run.result, option, number) for option in _OPTIONS}
            for gender, offset in zip(GENDERS, (0.16, -0.16), strict=True):
                text = f"{stereotype.id} {stereotype.name}: {gender} {each[gender]}"
                canvas.interval_mark(ax, each[gender], y + offset, text, LIGHT[gender], markersize=5)
            told = [number for estimate in each.values() for number in estimate]
            rows.append([run.label, language, stereotype.id, stereotype.name, *told])
        of_run = f"{canvas.fitting(run.label, canvas.TITLES / per_row)}\n" if len(runs) > 1 else ""
        ax.set_title(f"{of_run}{language}", loc="left", fontsize=9)
        ax.tick_params(labelbottom=True)
        ax.grid(axis="y", visible=False)
        if place % per_row == 0:
            stereotype_axis(ax, numbered)
        ax.set_ylim(0.3, 16.7)
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel("share of the readable answers")
    for spare in axes[len(runs) :]:
        spare.set_visible(False)
    names = {"female": "women are named", "male": "men are named"}
    keys = [key(names[gender], color=LIGHT[gender], marker="o", linewidth=2.6) for gender in GENDERS]
    canvas.legend(figure, keys)
    rates = "; ".join(f"{run.label}: {Estimate.of(run.result, 'stereotype_rate')}" for run in runs)
    return Panel(
        "stereotypes-choice",
        "The 16 stereotypes in choices",
        figure,
        "How often the model names women, and how often men, when it is asked who would say a sentence (or "
        "which variant of it one would expect), with 95 % intervals over sentences; the rest is “neither”. "
        f"Answers that name no option are left out.{f' {NUMBERED}' if numbered else ''}",
        f"Two intervals for each of the 16 stereotypes. Stereotype rates: {rates}.",
        ["model", "language", "stereotype", "name"]
        + [f"{option}{end}" for option in _OPTIONS for end in _ENDS],
        rows,
    )  # fmt: skip


def genderbench_panel(runs: Sequence[Measured]) -> list[Panel]:
    """English choices and stories beside the models of GenderBench's report; nothing without such runs."""
    beside = [
        (genderbench.CHOICE, CHOICE, "stereotype_rate_without_15", "stereotype rate of choices, without 15"),
        (genderbench.STORY, STORY, "f_s", "f_s of stories"),
    ]
    parts = []
    for probe, measure, name, words in beside:
        own = [run for run in runs if run.measure is measure and run.language == SOURCE]
        estimates = [(run, Estimate.of(run.result, name)) for run in own]
        known = [(run, estimate) for run, estimate in estimates if not math.isnan(estimate.value)]
        if known:
            parts.append((probe, words, known))
    if not parts:
        return []
    number = max(len(known) for *_, known in parts) + len(genderbench.graded_models(genderbench.CHOICE))
    per_row = min(canvas.in_a_row(2), len(parts))
    lines = math.ceil(len(parts) / per_row)
    figure, axes = canvas.canvas((1.4 + 0.27 * number) * lines, lines, per_row)
    rows: list[list[Any]] = []
    for ax, (probe, words, known) in zip(axes, parts, strict=True):
        own_rows = [[OWN, run.label, probe, "", *estimate] for run, estimate in known]
        theirs = [
            [PUBLISHED, one.model, probe, one.mark, one.middle, one.low, one.high]
            for one in sorted(genderbench.graded_models(probe), key=lambda one: -one.middle)
        ]
        drawn = [*own_rows, *theirs]
        labels = [f"{row[1]}{f' ({row[3]})' if row[3] else ''}" for row in drawn]
        colours = [LIGHT["series-1"] if row[0] == OWN else LIGHT["published"] for row in drawn]
        draw_rows(ax, drawn, labels, colours, 4, words)
        canvas.rows_axis(ax, labels, [LIGHT["ink" if row[0] == OWN else "quiet"] for row in drawn], per_row)
        ax.axvline(0, **DASHED)
        ax.set_xlabel(words)
        rows += drawn
    told = "; ".join(f"{row[1]}, {row[2]}: {format_number(row[4])}" for row in rows if row[0] == OWN)
    return [
        Panel(
            "genderbench",
            "What models say and write, beside GenderBench’s",
            figure,
            "Stereotype rates of this report and of the 12 models of GenderBench’s report 1.1 (Pikuliak, May "
            "2025), whose marks from A (healthy) to D (catastrophic) are in brackets. Its prompts and "
            "readings are its own, and its rates leave stereotype 15 out (of stories this report’s f_s does "
            "not), so this is where a model lies, not a ranking.",
            f"Intervals of stereotype rates in rows. {told}.",
            ["source", "model", "probe", "mark", "rate", "rate_low", "rate_high"],
            own_first(rows),
        )
    ]
