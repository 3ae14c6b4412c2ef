"""One figure a model: what it finds likely, what it says, what it writes, stereotype by stereotype."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Measure
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES
from gest_dataset.report import canvas
from gest_dataset.report.figures_stereotypes import NUMBERED, intervals, stereotype_axis
from gest_dataset.report.measured import Measured, language_name, short
from gest_dataset.report.panel import Panel
from gest_dataset.report.sure import wide_scores
from gest_dataset.statistics.template_mean import LN_Q, resample_templates
from gest_dataset.statistics.weights import IS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES

_PER_ROW = 4
_LIKELY, _SAYS, _WRITES = "finds likely", "says", "writes"
_NOTE = (
    "They measure different things: what a model finds likely (its probabilities), what it says when it is "
    "asked, and what it writes. Their numbers are on scales of their own and do not have to agree; what can "
    "be compared is which stereotypes lie to the masculine side of a column, and which to the feminine."
)


@dataclass(frozen=True)
class _Way:
    """A way to ask a model: what it shows, the axis of its numbers, and the 16 of a run.

    A way without `ends` has ratios, on a logarithmic axis.
    """

    shows: str
    axis: str
    middle: float  # between feminine and masculine
    ends: tuple[float, float] | None
    of_run: Callable[[Measured], list[Estimate]]


def _of_list(name: str) -> Callable[[Measured], list[Estimate]]:
    return lambda run: [Estimate.of(run.result, name, place) for place in range(len(STEREOTYPES))]


def _likely(run: Measured) -> list[Estimate]:
    """q_i beside their middle, sqrt(q_f q_m); over several templates the mean of ln q_i."""
    if len(run.templates) > 1:
        wide = wide_scores(run.run)
        stereotypes = wide.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1
        resamples = resample_templates(wide.to_numpy(), stereotypes)
        found = [resamples.interval(function) for function in LN_Q]
        rates = [Estimate(*np.exp((one.value, one.low, one.high)).tolist()) for one in found]
    else:
        (part,) = run.templates.values()
        rates = [Estimate.of(part, "q", place) for place in range(len(STEREOTYPES))]
    logarithms = np.log([rate.value for rate in rates])
    middle = math.exp((logarithms[IS_FEMALE].mean() + logarithms[~IS_FEMALE].mean()) / 2)
    return [Estimate(*(number / middle for number in rate)) for rate in rates]


_RATIO = _Way(_LIKELY, "q / middle: masculine above 1", 1.0, None, _likely)
_CHOSEN = _Way(_SAYS, "men less women named", 0.0, (-1.05, 1.05), _of_list("preference"))
_TEXTS = _Way(_WRITES, "p: masculine among the texts", 0.5, (-0.02, 1.02), _of_list("p"))
# The words say what is asked
_WAYS: tuple[tuple[Measure, _Way, str], ...] = (
    (TEMPLATES, _RATIO, "templates"),
    (NEUTRAL, _RATIO, "neutral sentences"),
    (PAIRS, _RATIO, "pairs"),
    (CHOICE, _CHOSEN, "choices"),
    (FIRST_PERSON, _TEXTS, "first person"),
    (STORY, _TEXTS, "stories"),
)
_ORDER = {_LIKELY: 0, _SAYS: 1, _WRITES: 2}
_OF = {measure.name: (way, words) for measure, way, words in _WAYS}


@dataclass(frozen=True)
class _Column:
    """The 16 numbers of one run."""

    way: _Way
    where: str
    estimates: list[Estimate]


def beside_panels(runs: Sequence[Measured]) -> list[Panel]:
    """A figure for each model of which two ways or more are there."""
    by_model: dict[str, list[_Column]] = {}
    for run in runs:
        if run.measure.name not in _OF:
            continue
        way, asked = _OF[run.measure.name]
        estimates = way.of_run(run)
        if not any(math.isnan(one.value) for one in estimates):  # a middle is of all 16
            column = _Column(way, f"{asked}, {language_name(run.language)}", estimates)
            by_model.setdefault(run.model, []).append(column)
    panels: list[Panel] = []
    for model, own in by_model.items():
        if len({column.way.shows for column in own}) > 1:
            own.sort(key=lambda column: _ORDER[column.way.shows])
            panels.append(_panel(model, own, f"side-by-side{f'-{len(panels) + 1}' if panels else ''}"))
    return panels


def _panel(model: str, columns: Sequence[_Column], name: str) -> Panel:
    per_row = min(canvas.in_a_row(_PER_ROW), len(columns))
    numbered = per_row > 1 and canvas.is_narrow()
    lines = math.ceil(len(columns) / per_row)
    figure, axes = canvas.canvas(4.7 * lines + 0.5, lines, per_row, sharey=True)
    rows: list[list[Any]] = []
    cut_off = ""
    for place, (ax, column) in enumerate(zip(axes, columns, strict=False)):
        way, where, estimates = column.way, column.where, column.estimates
        intervals(ax, estimates, way.middle)
        rows += [
            [model, way.shows, where, stereotype.id, stereotype.name, *estimate]
            for stereotype, estimate in zip(STEREOTYPES.values(), estimates, strict=True)
        ]
        ax.set_title(f"what it {way.shows}\n{where}", loc="left", fontsize=9)
        ax.tick_params(labelbottom=True)
        if place % per_row == 0:
            stereotype_axis(ax, numbered)
        ax.set_xlabel(way.axis)
        if way.ends is None:
            values = [1.0, *(estimate.value for estimate in estimates)]
            cut_off = canvas.ratio_axis(ax.xaxis, values, 5) or cut_off
        else:
            ax.set_xlim(*way.ends)
    for spare in axes[len(columns) :]:
        spare.set_visible(False)
    ways = list(dict.fromkeys(column.way.shows for column in columns))
    told = ", ".join(f"what it {shows}" for shows in ways)
    caption = [
        f"The 16 stereotypes in each way that {short(model)} was asked, with 95 % intervals; dashed is the "
        f"middle between feminine and masculine.",
        NUMBERED if numbered else "",
        _NOTE,
        cut_off,
    ]
    return Panel(
        name,
        f"{short(model)}: {told}",
        figure,
        " ".join(filter(None, caption)),
        f"Columns of 16 intervals, side by side: {told}. {_NOTE}",
        ["model", "shows", "asked", "stereotype", "name", "value", "low", "high"],
        rows,
    )
