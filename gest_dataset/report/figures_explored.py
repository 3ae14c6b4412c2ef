"""Files of what the page's script draws of several runs: profiles, correlations, ratios of q_i."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure

from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.report import canvas
from gest_dataset.report.canvas import LIGHT
from gest_dataset.report.explorer.beside import Compared
from gest_dataset.report.explorer.profiles import CHANCE, Profiles
from gest_dataset.report.figures_stereotypes import NUMBERED, intervals, stereotype_axis
from gest_dataset.report.panel import Panel
from gest_dataset.statistics.checks import Floats
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import json_value

_PER_ROW = 4
_LINE = 0.26  # inches of a run
_SHADES = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the legend, as parts of the farthest number
_FULL = 0.75  # of a colour over the paper


def _shade(name: str) -> str:
    """The fullest of a colour of the palette."""
    paper, colour = (np.array(to_rgb(LIGHT[one])) for one in ("paper", name))
    return to_hex(paper + _FULL * (colour - paper))


_COLOURS = LinearSegmentedColormap.from_list(
    "gest", [_shade("female"), LIGHT["paper"], _shade("male")]
).with_extremes(bad=LIGHT["line"])


def panels(profiles: Sequence[Profiles], compared: Sequence[Compared]) -> list[Panel]:
    """A heat map and correlations for each kind of profile, and ratios for each group of runs."""
    found: list[Panel] = []
    for profile in profiles:
        found += [_profiles(profile), _correlations(profile)]
    groups = [group for group in compared if any(other.stereotypes for other in group.others)]
    for number, group in enumerate(groups, 1):
        found.append(_ratios(group, f"ratios{f'-{number}' if number > 1 else ''}"))
    return found


def _profiles(profile: Profiles) -> Panel:
    """Runs by stereotypes: above and below the run's own middle."""
    values = profile.values[profile.rows]
    runs = [profile.runs[place] for place in profile.rows]
    most = float(np.nanmax(np.abs(values), initial=0.0))
    figure, axes = _heat_map(values, [run.label for run in runs], most)
    axes.set_xticks(np.arange(len(STEREOTYPES)) + 0.5, list(map(str, STEREOTYPES)))
    axes.set_xlabel("stereotype")
    return Panel(
        f"profiles-{_rate(profile)}",
        f"{profile.unit}, by run and stereotype",
        figure,
        f"{profile.name} of each run around its own middle, in the mean over templates: teal is more "
        f"masculine than the run’s average, orange more feminine. Runs stand beside those that they are "
        f"like. {NUMBERED}",
        f"A heat map of {len(runs)} runs by 16 stereotypes, from {format_number(-most)} to "
        f"{format_number(most)}.",
        ["run", "model", "language", "stereotype", "name", "value"],
        [
            [run.label, run.model, run.language, each.id, each.name, value]
            for run, own in zip(runs, json_value(values), strict=True)
            for each, value in zip(STEREOTYPES.values(), own, strict=True)
        ],
    )


def _correlations(profile: Profiles) -> Panel:
    """Runs by runs."""
    likeness = profile.likeness[np.ix_(profile.rows, profile.rows)]
    labels = [profile.runs[place].label for place in profile.rows]
    named = [f"{number}  {label}" for number, label in enumerate(labels, 1)]
    figure, axes = _heat_map(likeness, named, 1.0)
    axes.set_xticks(np.arange(len(labels)) + 0.5, [str(number) for number in range(1, len(labels) + 1)])
    axes.set_xlabel("run")
    return Panel(
        f"correlations-{_rate(profile)}",
        f"How alike the runs are: correlations of {profile.name}",
        figure,
        f"Pearson correlations of the profiles of {profile.name}, over 16 stereotypes: of profiles that have "
        f"nothing to do with each other one in twenty is beyond ±{format_number(CHANCE)}.",
        f"A heat map of {len(labels)} by {len(labels)} correlations.",
        ["run", "beside", "correlation"],
        [
            [label, other, value]
            for label, own in zip(labels, json_value(likeness), strict=True)
            for other, value in zip(labels, own, strict=True)
        ],
    )


def _rate(profile: Profiles) -> str:
    """The letter of the rate: q or p."""
    return profile.name.removeprefix("ln ")[0]


def _heat_map(values: Floats, labels: Sequence[str], most: float) -> tuple[Figure, Axes]:
    """A cell for each number, rows from top to bottom, and a legend of its colours from -most to most."""
    figure, (axes,) = canvas.canvas(1.3 + _LINE * len(labels))
    rows, columns = values.shape
    edges = np.arange(columns + 1), np.arange(rows, -1, -1) + 0.5
    span = most or 1.0
    axes.pcolormesh(
        *edges,
        np.ma.masked_invalid(values),
        cmap=_COLOURS,
        vmin=-span,
        vmax=span,
        edgecolor=LIGHT["paper"],
        linewidth=1,
    )
    canvas.rows_axis(axes, labels, [LIGHT["ink"]] * rows)
    axes.set_ylim(0.5, rows + 0.5)
    axes.grid(visible=False)
    keys: list[Any] = [
        canvas.key(
            format_number(part * span),
            marker="s",
            markersize=9,
            color=_COLOURS((part + 1) / 2),
            markeredgecolor=LIGHT["line"],
        )
        for part in _SHADES
    ]
    canvas.legend(figure, keys, columns=len(keys))
    return figure, axes


def _ratios(group: Compared, name: str) -> Panel:
    """The 16 ratios of q_i to the baseline's, a column for each other run."""
    others = [other for other in group.others if other.stereotypes]
    per_row = min(canvas.in_a_row(_PER_ROW), len(others))
    lines = math.ceil(len(others) / per_row)
    numbered = per_row > 1 and canvas.is_narrow()
    baseline = group.baseline.label
    figure, axes = canvas.canvas(4.7 * lines + 0.5, lines, per_row, sharey=True, sharex=True)
    rows: list[list[Any]] = []
    for place, (ax, other) in enumerate(zip(axes, others, strict=False)):
        ratios = [Estimate(*own.times) for own in other.difference.by_stereotype]
        intervals(ax, ratios, 1.0)
        rows += [
            [other.run.label, baseline, stereotype.id, stereotype.name, *json_value(list(ratio))]
            for stereotype, ratio in zip(STEREOTYPES.values(), ratios, strict=True)
        ]
        ax.set_title(canvas.fitting(other.run.label, canvas.TITLES / per_row), loc="left", fontsize=9)
        ax.tick_params(labelbottom=True)
        if place % per_row == 0:
            stereotype_axis(ax, numbered)
        ax.set_xlabel("ratio of q")
    drawn = [own.times[0] for other in others for own in other.difference.by_stereotype]
    cut_off = canvas.ratio_axis(axes[0].xaxis, [1.0, *drawn], 8 if per_row < 3 else 5)
    for spare in axes[len(others) :]:
        spare.set_visible(False)
    caption = [
        f"q of each stereotype as a ratio to that of {baseline} ({group.about}), paired by sample; the "
        f"intervals of all 16 hold together in 95 of 100 cases.",
        NUMBERED if numbered else "",
        cut_off,
    ]
    return Panel(
        name,
        f"{group.about}: q beside {baseline}",
        figure,
        " ".join(filter(None, caption)),
        f"A column of 16 intervals for each of: {', '.join(other.run.label for other in others)}.",
        ["run", "baseline", "stereotype", "name", "ratio", "low", "high"],
        rows,
    )
