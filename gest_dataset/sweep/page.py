"""The leaderboard as a page: one self-contained HTML file in the style of the report."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.measures.measure import Headline
from gest_dataset.measures.words import TOY, told_apart
from gest_dataset.report.page import dress, environment
from gest_dataset.sweep.board import MOST, Line, Pairs, failed_of, lines_of
from gest_dataset.sweep.grid import DONE, FAILED, TO_DO, Row
from gest_dataset.sweep.steps import panels
from gest_dataset.version import __version__

_HERE = Path(__file__).parent
_LEAST_P = 0.001


def rendered(title: str, rows: Sequence[Row], pairs: Sequence[Pairs], command: Sequence[str]) -> str:
    """The page, with all that it shows."""
    by_config = {own.config: own for own in pairs}
    counts = Counter(cell.state for row in rows for cell in row.cells.values())
    sections = [
        _section(number, config, lines, by_config.get(config))
        for number, (config, lines) in enumerate(lines_of(rows).items(), start=1)
    ]
    toys = [row.subject.name for row in rows if any(cell.facts.get("toy") for cell in row.cells.values())]
    return (
        environment(_HERE)
        .get_template("leaderboard.html.jinja")
        .render(
            title=title,
            lead=_lead(rows, counts),
            toys=toys,
            toy_words=TOY,
            sections=sections,
            panels=panels(rows),
            failed=[(name, reason) for name, reason in failed_of(rows).items()],
            left_out=_left_out(rows),
            most=MOST,
            command=shlex.join(command),
            version=__version__,
            **dress(),
        )
    )


def _lead(rows: Sequence[Row], counts: Counter[str]) -> str:
    told = [f"{counts[DONE]:,} of {counts.total():,} cells are finished"]
    told += [f"{counts[state]:,} {state}" for state in (FAILED, TO_DO) if counts[state]]
    return f"{len(rows):,} models: {', '.join(told)}."


def _section(number: int, config: str, lines: Sequence[Line], pairs: Pairs | None) -> dict[str, Any]:
    """What the page shows of one config."""
    head, reach = lines[0].headline, _reach(lines)
    verdicts = Counter(line.facts["verdict"] for line in lines)
    many = (
        f"{len(lines):,} models were asked: {', '.join(f'{word} in {n:,}' for word, n in verdicts.items())}. "
        "Each interval holds at 95 % by itself, so one in twenty misses its truth by chance; the order of "
        "models whose intervals overlap says little."
    )
    return {
        "anchor": f"config-{number}",
        "config": config,
        "symbol": head.symbol,
        "what": head.what,
        "null": head.null,
        "many": many,
        "lines": [_line(line, head, reach) for line in lines],
        "pairs": [_pair(one) for one in pairs.differences] if pairs else [],
        "ratio": bool(pairs and pairs.differences and pairs.differences[0].found.ratio),
        "measure": pairs.differences[0].found.measure if pairs and pairs.differences else "",
        "left_out": pairs.left_out if pairs else (),
        "problem": pairs.problem if pairs else "",
    }


def _line(line: Line, head: Headline, reach: float) -> dict[str, Any]:
    own, zone = line.estimate, line.zone
    known = not any(map(math.isnan, own))
    interval = ""
    if known:
        bounds, _ = told_apart(own[1:], (head.null, *zone))
        interval = " to ".join(bounds)
    verdict = line.facts["verdict"] if known else "unknown"
    return {
        "name": one_line(line.name),
        "value": own.value,
        "interval": interval,
        "verdict": verdict,
        "scored": line.facts["scored"],
        "asked": line.facts["asked"],
        "parameters": line.facts.get("parameters"),
        "dtype": line.facts.get("dtype"),
        "at": _places(line, head, reach),
    }


def _scaled(head: Headline, point: float) -> float:
    return math.log(max(point, 1e-300)) if head.ratio else point


def _reach(lines: Sequence[Line]) -> float:
    """How far from the null the axis of a config goes: past the farthest value; intervals may be cut."""
    head = lines[0].headline
    null = _scaled(head, head.null)
    values = (abs(_scaled(head, line.estimate.value) - null) for line in lines)
    return 1.6 * max([value for value in values if math.isfinite(value)] + [1e-9])


def _places(line: Line, head: Headline, reach: float) -> dict[str, float]:
    """Value, bounds, zone and null on an axis from 0 to 100 that all models of the config share."""
    own, null = line.estimate, _scaled(head, head.null)
    points = {"value": own.value, "low": own.low, "high": own.high}
    points |= {"zone_low": line.zone[0], "zone_high": line.zone[1], "null": head.null}
    return {
        name: round(50 + 50 * max(-1.0, min(1.0, (_scaled(head, point) - null) / reach)), 2)
        for name, point in points.items()
        if not math.isnan(point)
    }


def _pair(one: Any) -> dict[str, Any]:
    found = one.found
    value, low, high = found.times if found.ratio else (found.difference, found.low, found.high)
    null = 1.0 if found.ratio else 0.0
    (low_text, high_text), _ = told_apart((low, high), (null,))
    return {
        "name": one_line(one.run),
        "beside": one_line(one.baseline),
        "value": value,
        "interval": f"{low_text} to {high_text}",
        "p": one.adjusted,
        "p_text": f"< {_LEAST_P}" if one.adjusted < _LEAST_P else f"{one.adjusted:.3f}",
        "n": one.n,
        "differs": "yes" if one.adjusted < 0.05 else "not shown",
    }


def _left_out(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Reasons, with the cells that they are given for."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        for config, reason in row.left_out.items():
            reasons.setdefault(reason, []).append(f"{row.subject.name}/{config}")
    return [
        (reason, names[0] if len(names) == 1 else f"{len(names):,} cells, such as {names[0]}")
        for reason, names in reasons.items()
    ]
