"""What all commands print with: results to the standard output, the rest to the standard error."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import ASCII2, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gest_dataset.display import one_line, printable


class Plain(Console):
    """A console that shows text as it is: no markup, no emoji codes, and nothing a terminal obeys.

    What is styled is styled in the code (`style=`, `Text`): most of what is printed is of others.
    """

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """All text goes through here: lines, titles, headings, cells."""
        return super().render_str(printable(text), **options)


out = Plain()
err = Plain(stderr=True)
_ROOM_FOR_A_NAME = 12  # of the first column, which can be folded
_ROOM_FOR_A_COUNT = 6  # 99,999
_BETWEEN = 3  # two columns: padding and an edge
INTERVAL = "95 %"  # over the columns of intervals


class _Told(logging.Handler):
    """What this package logs, as text of others as well."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record), soft_wrap=True)


_TOLD = _Told(logging.WARNING)


def tell_what_is_logged() -> None:
    """Warnings of this package go through the console, like everything else that is printed."""
    logging.getLogger("gest_dataset").addHandler(_TOLD)


def quiet(models: bool = True) -> None:
    """One bar is enough: those of the libraries are about loading, and their warnings for programmers.

    What asks no `models` does not wait for their library.
    """
    import datasets

    datasets.disable_progress_bars()
    if not models:
        return
    import transformers

    library: Any = transformers.utils.logging
    library.disable_progress_bar()
    library.set_verbosity_error()


def called() -> list[str]:
    """The command line, for the run that it makes."""
    return ["gest", *sys.argv[1:]]


def show_error(message: object) -> None:
    """An error of ours: a message, not a traceback."""
    err.print(f"error: {message}", style="red", soft_wrap=True)


def show_report(page: Path | str) -> None:
    """Where a report is: of every command that writes one the last line, on the standard error."""
    err.print(f"Report: {page}", soft_wrap=True)


def show_json(value: object) -> None:
    """A value as JSON, in escapes where the output's encoding does not have all letters."""
    text = json.dumps(value, indent=2, ensure_ascii=not out.encoding.startswith("utf"))
    out.print(JSONHighlighter()(printable(text)), soft_wrap=True)


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """Nothing: `cli` reports an interrupt of every command. The last callers are being removed."""
    yield


def progress_bar() -> Progress:
    """A bar on the standard error that leaves nothing behind."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )


def number(value: float | None, digits: int = 2) -> str:
    """A number in few characters; a dash for none."""
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 0.5 * 10**-digits <= abs(value) < 10_000:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def new_table(title: str, console: Console, *columns: str, caption: str | None = None) -> Table:
    """A table whose first column is text and whose others are numbers."""
    box = ASCII2 if console.options.ascii_only else SIMPLE_HEAD
    table = Table(title=one_line(title), box=box, caption=caption)
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", no_wrap=i > 0, overflow="fold")
    return table


def fitted(table: Table, console: Console, digits: int | None = None) -> Table:
    """The table, or one line a number where the terminal is too narrow: rich would cut digits off.

    With `digits` (behind the point) a column has the room of what usually stands in it, so that all results
    with these columns look alike.
    """
    headers = [str(column.header) for column in table.columns]
    cells = [[printable(str(cell)) for cell in column.cells] for column in table.columns]
    names, *widths = (max(map(cell_len, [header, *own])) for header, own in zip(headers, cells, strict=True))
    if digits is not None:
        one_number = max(_ROOM_FOR_A_COUNT, len(number(100, digits)))
        rooms = (2 * one_number + 1 if header == INTERVAL else one_number for header in headers[1:])
        widths = list(map(max, widths, rooms))
    needed = sum(widths) + _BETWEEN * len(headers) + 1
    if min(names, _ROOM_FOR_A_NAME) + needed <= console.width:
        return table
    long = Table(title=table.title, caption=table.caption, box=None, show_header=False)
    long.add_column(overflow="fold")
    long.add_column(justify="right", no_wrap=True)
    for name, *values in zip(*cells, strict=True):
        long.add_row(name, "", style="bold")
        for header, value in zip(headers[1:], values, strict=True):
            if value:
                long.add_row(f"  {header}", value)
    return long
