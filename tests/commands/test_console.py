"""Tables in a terminal: their layout is that of the columns and the width, whatever the numbers are."""

from __future__ import annotations

import pytest

from gest_dataset.commands import console, tables
from gest_dataset.measures.grid import Estimate, Grid, Line
from gest_dataset.measures.stereoset import grid


def stereoset(n: int, value: float) -> Grid:
    """The grid of a StereoSet language with so many samples and such numbers."""
    scores = ("lms", "ss", "icat", "multiclass_lms", "multiclass_ss", "micro_icat", "macro_icat")
    numbers = {f"{name}{end}": value for name in scores for end in ("", "_low", "_high")}
    part = {**numbers, "n": n}
    return grid({**part, "by_bias_type": {"gender": part, "profession": part}})


@pytest.mark.parametrize(("width", "columns"), [(80, 2), (120, 8)])
def test_one_layout_for_all_configs_of_a_kind(width: int, columns: int) -> None:
    wide = console.PlainConsole()
    wide.width = width
    grids = [stereoset(n, value) for n in (20, 251, 2_106, 10_000) for value in (0.0, 50.0, 100.0)]
    assert {len(tables.drawn(each, "title", wide).columns) for each in grids} == {columns}


@pytest.mark.parametrize("width", [80, 120])
def test_digits_are_never_cut(width: int) -> None:
    """A number that is wider than usual: the columns give way to lines."""
    wide = console.PlainConsole()
    wide.width = width
    huge = Line("huge", (Estimate(-123456.0, -234567.0, -12345.0),) * 4, count=123)
    table = tables.drawn(Grid(("a", "b", "c", "d"), (huge,)), "title", wide)
    with wide.capture() as shown:
        wide.print(table)
    assert "-1.2e+05" in shown.get()
    assert "…" not in shown.get()
