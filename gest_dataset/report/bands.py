"""Bands behind an interval: the effects that are negligible, and what twins with fresh weights give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from gest_dataset.measures.measure import Result
from gest_dataset.report.canvas import LIGHT, key

_ZONE: dict[str, Any] = {"color": LIGHT["line"], "linewidth": 15}
_TWINS: dict[str, Any] = {"color": LIGHT["quiet"], "linewidth": 7, "alpha": 0.35}


def draw_bands(axes: Axes, result: Result, place: float, across: bool = True) -> None:
    """The bands of one result behind its interval, which lies across the figure at `place`, or upright."""
    twins = result.get("null", {})
    for bounds, style in (
        ((result["zone_low"], result["zone_high"]), _ZONE),
        ((twins.get("low", math.nan), twins.get("high", math.nan)), _TWINS),
    ):
        if not any(map(math.isnan, bounds)):
            ends = (bounds, [place] * 2) if across else ([place] * 2, bounds)
            axes.plot(*ends, solid_capstyle="butt", zorder=0.6, **style)


def band_keys(results: Sequence[Result]) -> list[Line2D]:
    """Entries of the legend for the bands of some results."""
    keys = [key("negligible effects", **{**_ZONE, "linewidth": 9}, solid_capstyle="butt")]
    numbers = _twins(results)
    return (
        [*keys, key(f"{numbers} twins with fresh weights", **_TWINS, solid_capstyle="butt")]
        if numbers
        else keys
    )


def band_words(results: Sequence[Result]) -> str:
    """What a caption says of the bands of some results."""
    told = "Light band: the zone of negligible effects."
    numbers = _twins(results)
    if not numbers:
        return told
    return f"{told} Narrow dark band: {numbers} twins with fresh weights, which have learned nothing."


def _twins(results: Sequence[Result]) -> str:
    """How many twins the results have: `20`, or `20 or 40` where they differ; empty without any."""
    return " or ".join(
        map(str, sorted({len(result["null"]["values"]) for result in results if "null" in result}))
    )
