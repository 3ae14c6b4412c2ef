"""Commands on several configs or languages: one after the other, a line for each, failures at the end."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from gest_dataset.commands.console import out, show_error
from gest_dataset.errors import GestError

_NO_BREAK = "\N{NO-BREAK SPACE}"
T = TypeVar("T")


def one_by_one(
    names: Sequence[str],
    work: Callable[[str], T],
    ending: tuple[type[GestError], ...],
    failed: dict[str, object],
) -> Iterator[tuple[str, T]]:
    """The results of `work` for each name; errors go to `failed`, and an `ending` one stops the rest."""
    for i, name in enumerate(names):
        try:
            result = work(name)
        except ending as error:
            failed |= dict.fromkeys(names[i:], error)
            return
        except GestError as error:
            failed[name] = error
        else:
            yield name, result


def by_reason(reasons: Mapping[str, object]) -> dict[str, list[str]]:
    """The names that have each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(str(reason), []).append(name)
    return names


def show_failed(what: str, failed: Mapping[str, object]) -> None:
    """Print each reason once, as an error."""
    for reason, names in by_reason(failed).items():
        show_error(f"{what}: {', '.join(names)}\n{reason}")


def show_fields(fields: Sequence[str]) -> None:
    """Print fields on one line, wrapped between fields if the terminal is too narrow."""
    text = " ".join(field.replace(" ", _NO_BREAK) for field in fields if field)
    line = textwrap.fill(
        text, out.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    out.print(line.replace(_NO_BREAK, " "), soft_wrap=True)


def show_counts(lines: Sequence[Sequence[str]], noun: str, *fields: int) -> None:
    """Print how often each value of some fields occurs, such as `3 configs: 2 shown, 1 reversed`."""
    if lines:
        counts = (Counter(line[field] for line in lines) for field in fields)
        texts = (", ".join(f"{count} {value}" for value, count in one.items()) for one in counts)
        out.print(f"{len(lines)} {noun}: {'; '.join(texts)}")
