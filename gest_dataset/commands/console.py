"""Printing of commands: results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.box import ASCII2, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from gest_dataset.display import one_line, printable
from gest_dataset.errors import GestError, UnsupportedLanguageError


class PlainConsole(Console):
    """A console that prints text literally: no markup, no emoji codes, no control characters."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape control characters; rich calls this for lines, titles and cells."""
        return super().render_str(printable(text), **options)


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record), soft_wrap=True)


out = PlainConsole()
err = PlainConsole(stderr=True)
INTERVAL = "95 %"  # heading of columns with intervals
_HANDLER = _LogHandler(logging.WARNING)
T = TypeVar("T")


def setup_logging() -> None:
    """Print warnings of this package through the console."""
    logging.getLogger("gest_dataset").addHandler(_HANDLER)


def silence_libraries(models: bool = True) -> None:
    """Switch off progress bars of libraries, messages of transformers, and warnings that tables show."""
    if not err.is_terminal:
        os.environ.setdefault("TQDM_DISABLE", "1")

    import datasets  # slow, and not every command needs it

    datasets.disable_progress_bars()
    if models:
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


def show_skipped(skipped: Mapping[str, int], most: int = 5) -> None:
    """Print how many samples have no score for each reason, the most frequent reasons first."""
    for reason, count in sorted(skipped.items(), key=lambda item: -item[1])[:most]:
        out.print(f"  {count:,} x {reason}")
    if len(skipped) > most:
        out.print(f"  and {len(skipped) - most} more reasons, in result.json")


def progress_bar() -> Progress:
    """A progress bar on standard error that disappears at the end."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeRemainingColumn(), console=err, transient=True)


def format_value(value: float | None, digits: int = 2) -> str:
    """A number in few characters; a dash for None and NaN."""
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 0.5 * 10**-digits <= abs(value) < 10_000:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


# ---- tables ----------------------------------------------------------------------------------------------


def new_table(
    title: str, *columns: str, rows: Iterable[Sequence[str]] = (), caption: str | None = None
) -> Table:
    """A table whose first column is text and whose others are numbers."""
    box = ASCII2 if out.options.ascii_only else SIMPLE_HEAD
    table = Table(title=one_line(title), box=box, caption=caption)
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", no_wrap=i > 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def show_table(table: Table, console: Console = out) -> None:
    """Print a table; in a narrow terminal its lines wrap, as rich would cut digits off."""
    for column in table.columns[1:]:
        column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
    others = sum((column.min_width or 0) + 2 for column in table.columns[1:])
    table.columns[0].max_width = max(20, console.width - others - 4)
    widths = Measurement.get(console, console.options.update(width=10_000), table)
    table.width = width = max(widths.minimum, min(widths.maximum, console.width))
    console.print(Segments(console.render(table, console.options.update(width=width))), soft_wrap=True)


# ---- several configs or languages: one after the other, a line for each, failures at the end --------------


def one_by_one(
    names: Sequence[str],
    work: Callable[[str], T],
    ending: tuple[type[GestError], ...],
    failed: dict[str, object],
) -> Iterator[tuple[str, T]]:
    """The results of `work` for each name; errors go to `failed`, and an `ending` one stops the rest."""
    for i, name in enumerate(names):
        try:
            yield name, work(name)
        except ending as error:
            failed |= dict.fromkeys(names[i:], error)
            return
        except GestError as error:
            failed[name] = error


def open_each(
    languages: Sequence[str], open_one: Callable[[str], T], failed: dict[str, object]
) -> dict[str, T]:
    """What `open_one` returns by language; languages that a system lacks go to `failed`, unless all are."""
    opened = {}
    for language in languages:
        try:
            opened[language] = open_one(language)
        except UnsupportedLanguageError as error:
            failed[language] = error
            if len(failed) == len(languages):
                raise
    return opened


def show_lacking(failed: dict[str, object]) -> dict[str, str]:
    """Take the languages that a system lacks from the failures, print them, and return their reasons."""
    lacking = {code: str(e) for code, e in failed.items() if isinstance(e, UnsupportedLanguageError)}
    for code in lacking:
        del failed[code]
    if lacking:
        reason = next(iter(lacking.values()))
        err.print(f"left out, the system lacks them: {', '.join(lacking)}\n{reason}", soft_wrap=True)
    return lacking


def show_not_in_gest(name: str, unknown: Mapping[str, Any]) -> None:
    """Print how many source sentences of a file are not in GEST, and the first of them."""
    if unknown["count"]:
        err.print(f"{name}: sentences that are not in GEST: {unknown['count']:,}", soft_wrap=True)
    for text in unknown["examples"]:
        err.print(f"    {textwrap.shorten(repr(text), 110, placeholder='…')}", soft_wrap=True)


def by_reason(reasons: Mapping[str, object]) -> dict[str, list[str]]:
    """The names that have each reason."""
    names = defaultdict(list)
    for name, reason in reasons.items():
        names[str(reason)].append(name)
    return names


def show_problems(problems: Iterable[tuple[str, str]], prefix: str = "", shown: int = 3) -> None:
    """Print each reason with its number and its first texts; `problems` are texts and reasons."""
    texts: dict[str, list[str]] = defaultdict(list)
    for text, reason in problems:
        texts[reason].append(text)
    for reason, group in sorted(texts.items(), key=lambda item: -len(item[1])):
        err.print(f"{prefix}{len(group):,} x {reason}", soft_wrap=True)
        for text in group[:shown]:
            err.print(f"    {textwrap.shorten(text, 110, placeholder='…')}", soft_wrap=True)


def show_failed(what: str, failed: Mapping[str, object]) -> None:
    """Print each reason once, as an error."""
    for reason, names in by_reason(failed).items():
        show_error(f"{what}: {', '.join(names)}\n{reason}")


def show_fields(fields: Sequence[str]) -> None:
    """Print fields on one line."""
    out.print(" ".join(filter(None, fields)), soft_wrap=True)


def show_counts(lines: Sequence[Sequence[str]], noun: str, *fields: int) -> None:
    """Print how often each value of some fields occurs, such as `3 configs: 2 shown, 1 reversed`."""
    counts = (Counter(line[field] for line in lines) for field in fields)
    texts = (", ".join(f"{count} {value}" for value, count in one.items()) for one in counts)
    if lines:
        out.print(f"{len(lines)} {noun}: {'; '.join(texts)}")
