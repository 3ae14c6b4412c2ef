"""Printing of commands: results go to standard output, everything else to standard error."""

import json
import logging
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rich.box import ASCII2, SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.table import Table
from rich.text import Text

from gest_dataset.display import one_line, printable
from gest_dataset.errors import GestError, UnsupportedLanguageError


class PlainConsole(Console):
    """A console that prints text literally: no markup, no emoji codes, no control characters."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape control characters; rich calls this for lines, titles and cells."""
        if not self.encoding.startswith("utf"):
            text = text.translate(_ASCII)
        return super().render_str(printable(text), **options)


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record))


out = PlainConsole()
err = PlainConsole(stderr=True)
_ASCII = str.maketrans("−–", "--")
INTERVAL = "95 %"  # heading of columns with intervals
_LONG_TEXT = 18  # longer cells are folded between words in a narrow terminal
_LONG_WORD = 12  # longer words are folded too
_HANDLER = _LogHandler()
T = TypeVar("T")


def setup_logging() -> None:
    """Print warnings of this package and the progress of jobs through the console."""
    logging.getLogger("gest_dataset").addHandler(_HANDLER)
    logging.getLogger("gest_dataset.progress").setLevel(logging.INFO)


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
    err.print(f"error: {message}", style="red")


def show_json(value: object) -> None:
    """Print a value as JSON; non-ASCII letters are escaped if the output is not UTF-8."""
    text = json.dumps(value, indent=2, ensure_ascii=not out.encoding.startswith("utf"))
    out.print(JSONHighlighter()(printable(text)))


def format_value(value: float | None, digits: int = 2) -> str:
    """A number in few characters; a dash for None and NaN."""
    if value is None or math.isnan(value):
        return "-"
    if value != 0 and not 0.5 * 10**-digits <= abs(value) < 10_000:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


# ---- tables ----------------------------------------------------------------------------------------------


def new_table(title: str, columns: Sequence[str], caption: str | None = None) -> Table:
    """A table whose first column is text and whose others are numbers."""
    box = ASCII2 if out.options.ascii_only else SIMPLE_HEAD
    table = Table(title=one_line(title), box=box, caption=caption)
    for i, name in enumerate(columns):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    return table


def print_table(table: Table, console: Console = out) -> None:
    """Print a table; in a narrow terminal long texts and names are folded, and no number is cut."""
    for column in table.columns:
        cells = [str(cell) for cell in (column.header, *column.cells)]
        longest = max(map(cell_len, cells))
        words = max((cell_len(word) for cell in cells for word in cell.split()), default=0)
        least = min(words, _LONG_WORD) if console.is_terminal else words  # a pipe gets whole names
        column.min_width = longest if longest <= _LONG_TEXT else least
        column.no_wrap = column.min_width == longest  # rich narrows the other columns
    console.print(table, soft_wrap=False, crop=False)


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    caption: str | None = None,
    console: Console = out,
) -> None:
    """Print a table of texts and counts."""
    table = new_table(title, columns, caption)
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in row))
    print_table(table, console)


# ---- several configs or languages: one after the other, a line for each, failures at the end --------------


def show_lacking(failed: dict[str, GestError]) -> dict[str, str]:
    """Remove the languages that a system lacks from the failures, print them, and return the reasons."""
    lacking = {code: str(e) for code, e in failed.items() if isinstance(e, UnsupportedLanguageError)}
    for code in lacking:
        del failed[code]
    if lacking:
        err.print(f"Skipped (not supported): {', '.join(lacking)}\n{next(iter(lacking.values()))}")
    return lacking


def one_by_one(
    names: Sequence[str],
    work: Callable[[str], T],
    ending: tuple[type[GestError], ...],
    failed: dict[str, GestError],
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


def show_counts(lines: Sequence[Sequence[str]], noun: str, *fields: int) -> None:
    """Print how often each value of some fields occurs, such as `3 configs: 2 shown, 1 reversed`."""
    counts = (Counter(line[field] for line in lines) for field in fields)
    texts = (", ".join(f"{count} {value}" for value, count in one.items()) for one in counts)
    if lines:
        out.print(f"{len(lines)} {noun}: {'; '.join(texts)}")


def show_left_out(left_out: Mapping[str, object], most: int | None = None) -> None:
    """Print each reason once, with the (first `most`) names that it applies to."""
    for reason, names in _by_reason(left_out, most).items():
        err.print(f"Left out ({reason}): {names}")


def show_failed(what: str, failed: Mapping[str, object], most: int | None = None) -> None:
    """Print each reason once, as an error, with the (first `most`) names that it applies to."""
    for reason, names in _by_reason(failed, most).items():
        show_error(f"{what}: {names}\n{reason}")


def _by_reason(reasons: Mapping[str, object], most: int | None) -> dict[str, str]:
    """The names that have each reason, as text."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(str(reason), []).append(name)
    return {
        reason: ", ".join(some[:most]) + (f" and {len(some) - most:,} more" if most and some[most:] else "")
        for reason, some in names.items()
    }


def show_problems(
    counts: Mapping[str, int], prefix: str = "  ", most: int | None = None, console: Console = err
) -> None:
    """Print how often each problem occurs, or only the `most` frequent ones."""
    for problem, count in Counter(counts).most_common(most):
        console.print(f"{prefix}{count:,} x {problem}")
    if most is not None and len(counts) > most:
        console.print(f"{prefix}and {len(counts) - most} more reasons, in result.json")
