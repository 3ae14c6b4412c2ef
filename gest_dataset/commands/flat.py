"""Differences between runs as one flat table: CSV for programs, Markdown for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gest_dataset.files import csv_text, plain
from gest_dataset.runs.comparison import Difference

_CELLS: Mapping[str, Callable[[Difference], Any]] = {
    "config": lambda row: row.config,
    "template": lambda row: row.template,
    "run": lambda row: row.run,
    "baseline": lambda row: row.baseline,
    "measure": lambda row: row.found.measure,
    "value": lambda row: row.found.a,
    "baseline_value": lambda row: row.found.b,
    "difference": lambda row: row.found.difference,
    "low": lambda row: row.found.low,
    "high": lambda row: row.found.high,
    "p": lambda row: row.found.p_value,
    "p_holm": lambda row: row.adjusted,
    "n": lambda row: row.n,
    "missing": lambda row: row.missing,
}


def as_csv(differences: Sequence[Difference]) -> str:
    """A line a difference, with all digits."""
    return csv_text(list(_CELLS), _rows(differences))


def as_markdown(differences: Sequence[Difference]) -> str:
    """A table of Markdown with three decimals; numbers are on the right."""
    rows = _rows(differences)
    edges = ["---" if isinstance(cell, str) else "---:" for cell in rows[0]]
    lines = [list(_CELLS), edges, *([_shown(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(differences: Sequence[Difference]) -> list[list[Any]]:
    return [[plain(cell(row)) for cell in _CELLS.values()] for row in differences]


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    text = str(cell)
    for sign in "\\`|<*_[":  # signs of Markdown and HTML in the name of a model
        text = text.replace(sign, f"\\{sign}")
    return text
