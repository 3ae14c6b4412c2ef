"""Training checkpoints of one model: its headline over the steps of training, as a figure with its band."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gest_dataset.measures.formatting import MANY_INTERVALS_NOTE, format_number
from gest_dataset.report.canvas import DASHED, LIGHT, canvas, mark, ratio_axis, series
from gest_dataset.report.panel import Panel
from gest_dataset.sweep.board import Line, lines_of
from gest_dataset.sweep.grid import Row

_HEIGHT = 4.2


def panels(rows: Sequence[Row]) -> list[Panel]:
    """A figure for each config and model that has two checkpoints or more."""
    found: list[Panel] = []
    for config, lines in lines_of(rows).items():
        families: dict[str, list[Line]] = {}
        for line in lines:
            if line.row.subject.step is not None and not math.isnan(line.estimate.value):
                families.setdefault(line.row.subject.family, []).append(line)
        for family, own in families.items():
            if len(own) > 1:
                ordered = sorted(own, key=lambda line: line.row.subject.step or 0)
                found.append(_panel(f"steps-{len(found) + 1}", family, config, ordered))
    return found


def _panel(name: str, family: str, config: str, lines: Sequence[Line]) -> Panel:
    head = lines[0].headline
    steps = [line.row.subject.step or 0 for line in lines]
    estimates = [line.estimate for line in lines]
    figure, (axes,) = canvas(_HEIGHT)
    style = series(0)
    low, high = ([getattr(own, end) for own in estimates] for end in ("low", "high"))
    axes.fill_between(steps, low, high, color=style["color"], alpha=0.18, linewidth=0)
    axes.plot(steps, [own.value for own in estimates], color=style["color"], linewidth=1.8)
    for step, own in zip(steps, estimates, strict=True):
        mark(axes, step, own.value, f"step {step:,}: {head.symbol} {own}", markersize=7, **style)
    axes.axhline(head.null, **DASHED)
    axes.set_xlabel("step of training")
    axes.set_ylabel(head.symbol, color=LIGHT["quiet"])
    if min(steps) > 0 and max(steps) / min(steps) > 100:
        axes.set_xscale("log")
    cut = ratio_axis(axes.yaxis, [own.value for own in estimates]) if head.ratio else ""
    rows = [
        (line.name, step, *own, line.facts["verdict"])
        for line, step, own in zip(lines, steps, estimates, strict=True)
    ]
    words = (
        f"{head.symbol} of {family} on {config} at {len(lines)} checkpoints; the dashed line is "
        f"{format_number(head.null)}, nothing found. Band: 95 % intervals. {MANY_INTERVALS_NOTE} {cut}"
    )
    first, last = estimates[0], estimates[-1]
    alt = (
        f"A line from {head.symbol} {format_number(first.value)} at step {steps[0]:,} to "
        f"{format_number(last.value)} at step "
        f"{steps[-1]:,}."
    )
    columns = ("checkpoint", "step", head.name, "low", "high", "verdict")
    return Panel(
        name, f"{family}: {head.symbol} over training, {config}", figure, words.strip(), alt, columns, rows
    )
