"""Printing of commands: results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import logging
import math
import sys
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


class PlainConsole(Console):
    """A console that prints text literally: no markup, no emoji codes, no control characters."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape control characters; rich calls this for lines, titles and cells."""
        return super().render_str(printable(text), **options)


out = PlainConsole()
err = PlainConsole(stderr=True)
_MIN_NAME_WIDTH = 12  # of the first column, whose text can wrap
_COUNT_WIDTH = 6  # 99,999
_COLUMN_GAP = 3
INTERVAL = "95 %"  # heading of columns with intervals


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record), soft_wrap=True)


_HANDLER = _LogHandler(logging.WARNING)


def setup_logging() -> None:
    """Print warnings of this package through the console."""
    logging.getLogger("gest_dataset").addHandler(_HANDLER)


def silence_libraries(models: bool = True) -> None:
    """Switch off progress bars of datasets and, with `models`, messages of transformers."""
    import datasets  # slow, and not every command needs it

    datasets.disable_progress_bars()
    if not models:
        return
    import transformers

    library: Any = transformers.utils.logging
    library.disable_progress_bar()
    library.set_verbosity_error()


def command_line() -> list[str]:
    """The command line of this process, as a run records it."""
    return ["gest", *sys.argv[1:]]


def show_error(message: object) -> None:
    """Print an error message."""
    err.print(f"error: {message}", style="red", soft_wrap=True)


def show_report(page: Path | str) -> None:
    """Print where the report is."""
    err.print(f"Report: {page}", soft_wrap=True)


def show_json(value: object) -> None:
    """Print a value as JSON; non-ASCII letters are escaped if the output is not UTF-8."""
    text = json.dumps(value, indent=2, ensure_ascii=not out.encoding.startswith("utf"))
    out.print(JSONHighlighter()(printable(text)), soft_wrap=True)


def progress_bar() -> Progress:
    """A progress bar on standard error that disappears at the end."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )


def format_value(value: float | None, digits: int = 2) -> str:
    """A number in few characters; a dash for None and NaN."""
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


def fit_table(table: Table, console: Console, digits: int | None = None) -> Table:
    """The table, or one line per number if the terminal is too narrow: rich would cut digits off.

    With `digits` after the point, columns get their usual width, so that results look alike.
    """
    headers = [str(column.header) for column in table.columns]
    cells = [[printable(str(cell)) for cell in column.cells] for column in table.columns]
    name_width, *widths = (
        max(map(cell_len, [header, *column])) for header, column in zip(headers, cells, strict=True)
    )
    if digits is not None:
        number_width = max(_COUNT_WIDTH, len(format_value(100, digits)))
        usual = (2 * number_width + 1 if header == INTERVAL else number_width for header in headers[1:])
        widths = list(map(max, widths, usual))
    needed = sum(widths) + _COLUMN_GAP * len(headers) + 1
    if min(name_width, _MIN_NAME_WIDTH) + needed <= console.width:
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
