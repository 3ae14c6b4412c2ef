"""Figures of the 16 stereotypes: rates with intervals, and feminine ranks (3, 5, 7, 11 to 14 of [A])."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Result
from gest_dataset.published.models import PublishedRates
from gest_dataset.report import canvas
from gest_dataset.report.canvas import DASHED, LIGHT, TICK, key, series
from gest_dataset.report.panel import OWN, PUBLISHED, Panel, own_first
from gest_dataset.statistics import rank_correlation
from gest_dataset.statistics.weights import IS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES

_NAMES = [f"{stereotype.id}  {stereotype.name}" for stereotype in STEREOTYPES.values()]
NUMBERED = (
    f"Stereotypes: {', '.join(' '.join(name.split()) for name in _NAMES)}."  # where there are numbers alone
)
_COLOURS = [LIGHT[stereotype.gender] for stereotype in STEREOTYPES.values()]
PLACES = np.arange(len(STEREOTYPES), 0, -1.0)  # the first stereotype at the top
_NOTHING = [None] * len(STEREOTYPES)
_PER_ROW = 4
_ENDS = ("", "_low", "_high")


@dataclass(frozen=True)
class Column:
    """The 16 rates of one run in one template or language, with the published ones beside them."""

    number: int  # of the run on the page
    label: str
    where: str
    beside: tuple[PublishedRates, ...]
    rates: list[float]
    low: list[float]
    high: list[float]
    all_low: list[float]  # bounds that hold for all 16 at once
    all_high: list[float]
    ranks: list[float]  # feminine ones, and their bounds
    ranks_low: list[float]
    ranks_high: list[float]

    @property
    def drawable(self) -> bool:
        """Whether there are rates about women and about men: without, there is no middle to draw from."""
        return math.isfinite(_middle(self.rates))


def numbers_of(result: Result, symbol: str) -> list[list[float]]:
    """What a `Column` takes of a result: the rates, the ranks and their bounds."""
    rates = [f"{symbol}{end}" for end in ("", "_low", "_high", "_simultaneous_low", "_simultaneous_high")]
    return [result[name] for name in (*rates, *(f"feminine_ranks{end}" for end in _ENDS))]


def rates_of_stereotypes(
    columns: Sequence[Column], name: str, title: str, symbol: str, source: str, relative: bool = True
) -> Panel:
    """Figures 11 to 14 of [A]: the rate of each stereotype with its interval.

    `relative` rates are drawn as multiples of their column's middle, sqrt(q_f q_m): q_i has no meaning
    but beside the others of the same model (section 4.2.1 of [A]). The numbers are as they are.
    """
    per_row = min(canvas.in_a_row(_PER_ROW), len(columns))
    lines = math.ceil(len(columns) / per_row)
    numbered = per_row > 1 and canvas.is_narrow()
    figure, axes = canvas.canvas(4.7 * lines + 0.5, lines, per_row, sharey=True, sharex=True)
    drawn: list[float] = []
    several = len({column.label for column in columns}) > 1
    rows: list[list[Any]] = []
    for place, (ax, column) in enumerate(zip(axes, columns, strict=False)):
        halves(ax)
        for model in column.beside:
            rates = np.array(model.rates) / (_middle(model.rates) if relative else 1)
            drawn += rates.tolist()
            canvas.mark(ax, rates, PLACES, model.model, markersize=8, markeredgewidth=1.1, alpha=0.7, **TICK)
            rows += _table(PUBLISHED, model.model, column.where, model.rates, *[_NOTHING] * 4)
        middle = _middle(column.rates) if relative else 1.0
        own = map(Estimate, column.rates, column.low, column.high)
        together = np.array([column.all_low, column.all_high]).T / middle
        for stereotype, y, colour, rate, ends in zip(
            STEREOTYPES.values(), PLACES, _COLOURS, own, together, strict=True
        ):
            if np.isfinite(ends).all():
                ax.plot(ends, [y, y], color=colour, linewidth=1.1, alpha=0.55, solid_capstyle="butt")
            drawn.append(rate.value / middle)
            text = f"{stereotype.id} {stereotype.name}: {symbol} {rate}"
            scaled = Estimate(*(number / middle for number in rate))
            canvas.interval_mark(ax, scaled, y, text, colour, markersize=5.5)
        bounds = column.low, column.high, column.all_low, column.all_high
        rows += _table(OWN, column.label, column.where, column.rates, *bounds)
        of_run = f"{canvas.fitting(column.label, canvas.TITLES / per_row)}\n" if several else ""
        ax.set_title(f"{of_run}{column.where}", loc="left", fontsize=9)
        ax.tick_params(labelbottom=True)
        if place % per_row == 0:
            stereotype_axis(ax, numbered)
        ax.set_xlabel(f"{symbol} / middle" if relative else symbol)
    cut_off = ""
    if relative:
        cut_off = canvas.ratio_axis(axes[0].xaxis, [1.0, *drawn], 8 if per_row < 3 else 5)
    else:
        axes[0].set_xlim(-0.02, 1.02)
    for spare in axes[len(columns) :]:
        spare.set_visible(False)
    handles = [
        key(f"stereotypes about {whom}", color=LIGHT[gender], marker="o", linewidth=2.6)
        for gender, whom in (("female", "women"), ("male", "men"))
    ]
    beside = {model.model for column in columns for model in column.beside}
    if beside:
        handles.append(key(f"{len(beside)} published", **TICK))
    canvas.legend(figure, handles)
    told = "; ".join(f"{column.label}, {column.where}" for column in columns)
    caption = [
        f"{symbol} of each stereotype with its 95 % interval; the lighter, thinner ones behind hold for all "
        f"16 at once, and are those to read where single stereotypes are picked out."
    ]
    if numbered:
        caption.append(NUMBERED)
    if beside:
        caption.append(f"Ticks: {len(beside)} published models or systems.")
    if relative:
        caption.append(
            f"Each result is drawn relative to its own middle, sqrt(q_f · q_m), since the height of {symbol} "
            f"means nothing by itself; the numbers below are as measured."
        )
    return Panel(
        name,
        title,
        figure,
        " ".join(filter(None, [*caption, cut_off, source])),
        f"One column of 16 intervals for each of: {told}. {_extremes(columns[0])}",
        [
            *("source", "model", "where", "stereotype", "name", symbol, f"{symbol}_low", f"{symbol}_high"),
            *(f"{symbol}_simultaneous_low", f"{symbol}_simultaneous_high"),
        ],
        own_first(rows),
    )


def _extremes(column: Column) -> str:
    """The most feminine and the most masculine stereotype, where the bounds of their ranks leave no other."""
    told = [
        f"surely the most {side} is “{stereotype.name}”"
        for side, end in (("feminine", 1), ("masculine", len(STEREOTYPES)))
        for stereotype, least, most in zip(
            STEREOTYPES.values(), column.ranks_low, column.ranks_high, strict=True
        )
        if least == end == most
    ]
    if not told:
        return "No stereotype is surely the most feminine or the most masculine one."
    return f"In the first {' and '.join(told)}."


def _table(source: str, label: str, where: int | str, *columns: Sequence[Any]) -> list[list[Any]]:
    """Rows of numbers of the 16 stereotypes."""
    numbers = zip(STEREOTYPES.values(), *columns, strict=True)
    return [[source, label, where, each.id, each.name, *values] for each, *values in numbers]


def _middle(rates: Sequence[float]) -> float:
    """sqrt(q_f q_m): half way between the rates about women and about men, as far as there are any."""
    logarithms = np.log(rates)
    groups = [logarithms[group & ~np.isnan(logarithms)] for group in (IS_FEMALE, ~IS_FEMALE)]
    return float(np.exp(np.mean([group.mean() for group in groups]))) if all(map(len, groups)) else math.nan


def halves(axes: Axes) -> None:
    """Room for the 16 stereotypes: those about women above, those about men below."""
    axes.axhspan(9.5, 17.2, color=LIGHT["female"], alpha=0.06, linewidth=0)
    axes.axhspan(-0.2, 9.5, color=LIGHT["male"], alpha=0.05, linewidth=0)
    axes.grid(axis="y", visible=False)
    axes.set_ylim(0.3, 16.7)


def intervals(axes: Axes, estimates: Sequence[Estimate], middle: float) -> None:
    """A column of the 16 with their intervals; dashed is what lies between feminine and masculine."""
    halves(axes)
    axes.axvline(middle, **DASHED)
    for stereotype, y, estimate in zip(STEREOTYPES.values(), PLACES, estimates, strict=True):
        text = f"{stereotype.id} {stereotype.name}: {estimate}"
        canvas.interval_mark(axes, estimate, y, text, LIGHT[stereotype.gender], markersize=5.5)


def stereotype_axis(axes: Axes, numbered: bool = False) -> None:
    """The 16 stereotypes from top to bottom, in the colours of their genders; `numbered` is without names."""
    axes.set_yticks(PLACES, list(map(str, STEREOTYPES)) if numbered else _NAMES)
    for text, colour in zip(axes.get_yticklabels(), _COLOURS, strict=True):
        text.set_color(colour)


def boxes_of_ranks(axes: Axes, table: Any) -> None:
    """A box for each of the 16 stereotypes, of ranks [results, 16]."""
    boxes = axes.boxplot(
        table,
        orientation="horizontal",
        positions=PLACES,
        widths=0.56,
        patch_artist=True,
        manage_ticks=False,
        flierprops={"marker": "o", "markersize": 3, "markeredgecolor": LIGHT["published"]},
        medianprops={"color": LIGHT["ink"], "linewidth": 1.4},
        whiskerprops={"color": LIGHT["published"]},
        capprops={"color": LIGHT["published"]},
        boxprops={"edgecolor": LIGHT["published"]},
    )
    for box, colour in zip(boxes["boxes"], _COLOURS, strict=True):
        box.set_facecolor(colour)
        box.set_alpha(0.22)


def ranks(
    columns: Sequence[Column], name: str, title: str, beside: Sequence[PublishedRates], caption: str
) -> Panel:
    """Figures 3, 5 and 7 of [A]: box plots of the published feminine ranks, and the user's own."""
    figure, (axes,) = canvas.canvas(5.0)
    rows: list[list[Any]] = []
    table = np.array([model.ranks for model in beside])
    if len(table):
        boxes_of_ranks(axes, table)
        for model in beside:
            rows += _table(PUBLISHED, model.model, model.where, model.ranks, *[_NOTHING] * 2)
    labels = {column.label: column.number for column in columns}
    offsets = np.linspace(0.2, -0.2, len(labels)) if len(labels) > 1 else np.zeros(1)
    spread = dict(zip(labels, offsets, strict=True))
    for column in columns:
        places, text = PLACES + spread[column.label], f"{column.label}, {column.where}"
        style = {
            "markersize": 5.5,
            "markeredgecolor": LIGHT["paper"],
            "alpha": 0.9,
            **series(column.number),
        }
        bounds = column.ranks_low, column.ranks_high
        lines = np.array([*bounds, places]).T
        sure = lines[(lines[:, 0] > 1) | (lines[:, 1] < len(STEREOTYPES))]
        axes.hlines(sure[:, 2], sure[:, 0], sure[:, 1], colors=style["color"], linewidth=1, alpha=0.4)
        canvas.mark(axes, column.ranks, places, text, **style)
        rows += _table(OWN, column.label, column.where, column.ranks, *bounds)
    stereotype_axis(axes)
    axes.set_xticks(range(1, 17))
    axes.set_xlim(0.4, 16.6)
    axes.set_ylim(0.3, 16.7)
    axes.set_xlabel("feminine rank: 1 is the most feminine of the 16")
    handles: list[Any] = [key(label, markersize=6, **series(number)) for label, number in labels.items()]
    if len(table):
        handles.append(
            Patch(facecolor=LIGHT["published"], alpha=0.4, label=f"{len(table)} published results")
        )
    canvas.legend(figure, handles)
    agreement = _agreement(columns, table)
    return Panel(
        name,
        title,
        figure,
        f"{caption} Thin lines: the ranks that the differences between stereotypes leave open, all at once "
        f"at 95 %; without a line any rank is possible. {agreement}".strip(),
        f"Box plots of the published ranks of the 16 stereotypes, and this report’s ranks. {agreement}",
        ["source", "model", "where", "stereotype", "name", *(f"feminine_rank{end}" for end in _ENDS)],
        own_first(rows),
    )


def _agreement(columns: Sequence[Column], table: Any) -> str:
    """How far the user's order follows the median published one."""
    if not len(table):
        return ""
    median = np.median(table, axis=0)
    values = [
        rank_correlation(column.ranks, median) for column in columns if not np.isnan(column.ranks).any()
    ]
    if not values:
        return ""
    span = (
        format_number(values[0])
        if len(values) == 1
        else f"{format_number(min(values))} to {format_number(max(values))}"
    )
    return f"Spearman’s correlation of this report’s ranks with the published medians: {span}."
