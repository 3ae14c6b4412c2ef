"""The figure of the study of topics: rates of male samples, of those on the topic, of female samples."""

from __future__ import annotations

import math
from typing import Any

from gest_dataset.measures.grid import Estimate
from gest_dataset.report import canvas
from gest_dataset.report.canvas import LIGHT, key
from gest_dataset.report.panel import Panel
from gest_dataset.studies.study import Table

_DOTS = {"male": LIGHT["male"], "topic": LIGHT["series-4"], "female": LIGHT["female"]}
_AWAY = {"male": 0.18, "topic": 0.0, "female": -0.18}


def rates_figure(table: Table) -> Panel:
    """A line for each model or translator, with three intervals."""
    names = [str(row[0]) for row in table.rows]
    figure, (axes,) = canvas.canvas(1.4 + 0.6 * len(names))
    drawn: list[float] = []
    rows: list[list[Any]] = []
    for place, row in enumerate(table.rows):
        cells = dict(zip(table.columns, row, strict=True))
        for name, colour in _DOTS.items():
            rate = cells[name]
            if isinstance(rate, Estimate) and math.isfinite(rate.value):
                y = len(names) - place + _AWAY[name]
                canvas.interval_mark(axes, rate, y, f"{row[0]}, {name}: {rate}", colour, markersize=6)
                drawn.append(rate.value)
                rows.append([row[0], name, *rate])
    canvas.rows_axis(axes, [canvas.cut(name, 30) for name in names], [LIGHT["ink"]] * len(names))
    cut_off = canvas.ratio_axis(axes.xaxis, drawn) if drawn else ""
    axes.set_xlabel("masculine rate")
    canvas.legend(
        figure, [key(f"{name} samples", color=colour, marker="o") for name, colour in _DOTS.items()], 3
    )
    return Panel(
        "topical-rates",
        "Masculine rates of male samples, of those on the topic, and of female samples",
        figure,
        f"{table.title}. A topic without effect would lie where the same mix of stereotypes does. "
        f"{cut_off}".strip(),
        f"Three intervals for each of {', '.join(names)}.",
        ["model", "samples", "rate", "rate_low", "rate_high"],
        rows,
    )
