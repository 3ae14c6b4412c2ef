"""Results in a terminal: a table for each statistic, with bars on a logarithmic axis around 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import ASCII2, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gest_dataset.stereotypes import STEREOTYPES

Result = Mapping[str, Any]
_STYLES = {"female": "magenta", "male": "cyan"}
# From so many columns of a terminal on, bars have so many cells: odd, so that 1 is in the middle
_CELLS = {92: 25, 82: 15, 72: 9}
_ROOM_FOR_NAMES = 48
_ROOM_FOR_A_NAME = 12  # of the first column, which can be folded
_BETWEEN = 3  # two columns: padding and an edge


def tables(probe: str, result: Result, title: str, console: Console) -> Iterator[Table]:
    """The tables of a run's result, of each template where there are several."""
    for number, part in result.get("by_template", {"": result}).items():
        heading = f"{title}, template {number}" if number else title
        yield fitted(_TABLES[probe](part, heading, console), console)
    if "by_template" in result:
        yield fitted(_by_template(result, title, console), console)


def number(value: float | None, digits: int = 2) -> str:
    """A number in few characters; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 0.01 <= abs(value) < 10_000:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def span(result: Result, name: str, place: int | None = None) -> str:
    """An interval, such as 0.97-1.20."""
    low, high = (result.get(f"{name}_{side}") for side in ("low", "high"))
    if place is not None and low is not None and high is not None:
        low, high = low[place], high[place]
    if low is None or high is None or math.isnan(low):
        return "-"
    return f"{number(low)} to {number(high)}" if low < 0 else f"{number(low)}-{number(high)}"


def bar(
    value: float, low: float, high: float, reach: float, width: int = 25, ascii_only: bool = False
) -> str:
    """An interval and its value on a logarithmic axis from e to the -reach to e to the reach.

    >>> bar(1.0, 0.5, 2.0, math.log(4))
    '······━━━━━━●━━━━━━······'
    """
    empty, middle, within, at = ".|=o" if ascii_only else "·│━●"
    half = width // 2

    def place(x: float) -> int:
        return half + round(max(-1.0, min(1.0, math.log(x) / reach)) * half)

    cells = [empty] * width
    cells[half] = middle
    if not math.isnan(low):
        first, last = place(low), place(high)
        cells[first : last + 1] = within * (last - first + 1)
    cells[place(value)] = at
    return "".join(cells)


def new_table(title: str, console: Console, *columns: str) -> Table:
    """A table whose first column is text and whose others are numbers."""
    table = Table(title=title, box=ASCII2 if console.options.ascii_only else SIMPLE_HEAD)
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", no_wrap=i > 0, overflow="fold")
    return table


def fitted(table: Table, console: Console) -> Table:
    """The table, or one line a number where the terminal is too narrow: rich would cut digits off."""
    headers = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    names, *widths = (max(map(cell_len, [header, *own])) for header, own in zip(headers, cells, strict=True))
    if min(names, _ROOM_FOR_A_NAME) + sum(widths) + _BETWEEN * len(headers) + 1 <= console.width:
        return table
    long = Table(title=table.title, box=None, show_header=False)
    long.add_column(overflow="fold")
    long.add_column(justify="right", no_wrap=True)
    for name, *values in zip(*cells, strict=True):
        long.add_row(name, "", style="bold")
        for header, value in zip(headers[1:], values, strict=True):
            if value:
                long.add_row(f"  {header}", value)
    return long


def stereotypes(result: Result, title: str, console: Console) -> Table:
    """The 16 q_i with intervals and bars, and q_f, q_m and g_s below."""
    width = next((cells for room, cells in _CELLS.items() if console.width >= room), 0)
    named = console.width >= _ROOM_FOR_NAMES
    columns = ("stereotype", "q", "95 %", "n") if named else ("", "q", "95 %")
    table = new_table(title, console, *columns)
    axis = _reach(result)
    if width:
        ends = number(math.exp(-axis), 1), number(math.exp(axis), 1)
        half = width // 2
        table.add_column(f"{ends[0]:<{half}}1{ends[1]:>{half}}", no_wrap=True)
        table.caption = "left of 1: the feminine word is more likely; right: the masculine one"
    for place, one in enumerate(STEREOTYPES.values()):
        q, low, high, n = (result[name][place] for name in ("q", "q_low", "q_high", "n"))
        name = f"{one.id:2} {one.name}" if named else f"{one.id:2}"
        cells: list[str | Text] = [name, number(q), span(result, "q", place), str(n)]
        del cells[len(columns) :]
        if width:
            cells.append(_drawn((q, low, high), axis, width, console, _STYLES[one.gender]))
        last = one.id == len(STEREOTYPES) or STEREOTYPES[one.id + 1].gender != one.gender
        table.add_row(*cells, end_section=last)
    for name in ("q_f", "q_m", "g_s"):
        label = f"{name}  {_MEANINGS[name]}" if named else name
        cells = [label, number(result[name]), span(result, name), ""]
        del cells[len(columns) :]
        if width:
            values = (result[name], result[f"{name}_low"], result[f"{name}_high"])
            cells.append(_drawn(values, axis, width, console, "bold"))
        table.add_row(*cells, style="bold" if name == "g_s" else None)
    return table


def occupations(result: Result, title: str, console: Console) -> Table:
    """WinoBias: q of both kinds of occupations, and g_s."""
    table = new_table(title, console, "", "value", "95 %")
    for name in ("q_f", "q_m", "g_s"):
        table.add_row(f"{name}  {_MEANINGS[name]}", number(result[name]), span(result, name))
    return table


_MEANINGS = {"q_f": "female ones", "q_m": "male ones", "g_s": "q_m / q_f"}


def _reach(result: Result) -> float:
    """How far the axis goes: to the farthest value, its intervals may be cut."""
    values = [*result["q"], result["q_f"], result["q_m"], result["g_s"]]
    logs = [abs(math.log(q)) for q in values if q is not None and 0 < q < math.inf]
    return max([*logs, math.log(2)])


def _drawn(
    values: tuple[float | None, float | None, float | None],
    axis: float,
    width: int,
    console: Console,
    style: str,
) -> Text:
    """A bar; nothing where there is no value, no interval where there are no bounds."""
    q, low, high = (math.nan if one is None or not 0 < one < math.inf else one for one in values)
    if math.isnan(q):
        return Text("")
    if math.isnan(low) or math.isnan(high):
        low = high = math.nan
    return Text(bar(q, low, high, axis, width, console.options.ascii_only), style=style)


def _by_template(result: Result, title: str, console: Console) -> Table:
    table = new_table(f"{title}, all templates", console, "", "g_s", "95 %", "q_f", "q_m")
    for template, part in result["by_template"].items():
        rates = (number(part[name]) for name in ("q_f", "q_m"))
        table.add_row(f"template {template}", number(part["g_s"]), span(part, "g_s"), *rates)
    table.add_section()
    table.add_row("mean", number(result["g_s"]), span(result, "g_s"), "", "", style="bold")
    return table


def controls(result: Result, title: str, console: Console) -> Table:
    """Quadruplets and CrowS-Pairs: the group's and the control's numbers side by side, then f."""
    table = new_table(title, console, "", "original", "95 %", "control", "95 %")
    for label, name in _CONTROLS.items():
        sides = [f"{name}_original", f"{name}_control"]
        if any(number(result.get(side)) != "-" for side in sides):
            cells = [text for side in sides for text in (number(result.get(side)), span(result, side))]
            table.add_row(label, *cells)
    table.add_section()
    for label, name in _CONTRASTS.items():
        if number(result.get(name)) != "-":
            table.add_row(label, number(result[name]), span(result, name), "", "")
    return table


_CONTROLS = {
    "ss  mean": "ss_mu",
    "ss  share above 0": "ss_plus",
    "csk mean": "csk_mu",
    "cs  mean": "cs_mu",
    "cs  share above 0": "cs_plus",
}
_CONTRASTS = {
    "f   mean": "f_mu",
    "f   share above 0": "f_plus",
    "ss  correlation with control": "ss_rho",
    "cs  correlation with control": "cs_rho",
    "false positive rate": "false_positive_rate",
    "false negative rate": "false_negative_rate",
}


def stereoset(result: Result, title: str, console: Console) -> Table:
    """LMS, SS and ICAT in per cent: all samples, bias types, and the multi-class means."""
    table = new_table(title, console, "", "lms", "95 %", "ss", "95 %", "icat", "95 %", "n")
    for name, part in {"all": result, **result["by_bias_type"]}.items():
        cells = [
            text for key in ("lms", "ss", "icat") for text in (number(part[key], 1), _percent(part, key))
        ]
        table.add_row(name, *cells, str(part["n"]), style="bold" if name == "all" else None)
    table.add_section()
    micro = [
        text
        for key in ("multiclass_lms", "multiclass_ss", "micro_icat")
        for text in (number(result[key], 1), _percent(result, key))
    ]
    table.add_row("multi-class, micro", *micro, "")
    table.add_row("multi-class, macro", *[""] * 4, number(result["macro_icat"], 1), "", "")
    return table


def _percent(result: Result, name: str) -> str:
    low, high = result.get(f"{name}_low"), result.get(f"{name}_high")
    return f"{number(low, 1)}-{number(high, 1)}" if number(low) != "-" else "-"


_TABLES = {
    "templates": stereotypes,
    "pairs": stereotypes,
    "winobias": occupations,
    "quadruplets": controls,
    "crows": controls,
    "stereoset_intrasentence": stereoset,
    "stereoset_intersentence": stereoset,
}
# The numbers that a run is about, the first one that it has
HEADLINES = ("g_s", "icat", "f_mu", "cs_mu_original")


def headlines(entries: Sequence[Mapping[str, Any]], console: Console) -> Table:
    """One line a run, where there are several."""
    table = new_table("All configs", console, "config", "value", "95 %", "scored")
    for entry in entries:
        result, facts = entry["result"], entry["metadata"]
        name = next((name for name in HEADLINES if number(result.get(name)) != "-"), "")
        counts = f"{facts['scored']:,} of {facts['asked']:,}"
        table.add_row(facts["config"], f"{name} {number(result.get(name))}", span(result, name), counts)
    return fitted(table, console)
