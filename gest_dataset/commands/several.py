"""Several configs or languages in one command: one after the other, a line each, what failed at the end."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from gest_dataset.commands.console import out, show_error
from gest_dataset.errors import GestError

_HELD = "\N{NO-BREAK SPACE}"  # in a line, the spaces of a field
T = TypeVar("T")


def one_by_one(
    names: Sequence[str],
    work: Callable[[str], T],
    ending: tuple[type[GestError], ...],
    failed: dict[str, object],
) -> Iterator[tuple[str, T]]:
    """What the work makes of each name, as soon as it is there.

    An error of one goes to `failed` and leaves the next one as it is; one that is `ending` would be that of
    all that are left, too.
    """
    for place, name in enumerate(names):
        try:
            made = work(name)
        except ending as error:
            failed |= dict.fromkeys(names[place:], error)
            return
        except GestError as error:
            failed[name] = error
        else:
            yield name, made


def by_reason(reasons: Mapping[str, object]) -> dict[str, list[str]]:
    """Reasons, each with the names that it is given for."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(str(reason), []).append(name)
    return names


def show_failed(what: str, failed: Mapping[str, object]) -> None:
    """Each reason once, as an error."""
    for reason, names in by_reason(failed).items():
        show_error(f"{what}: {', '.join(names)}\n{reason}")


def show_fields(fields: Sequence[str]) -> None:
    """Fields on one line; where there is no room for all, the next one begins an indented line."""
    line = textwrap.fill(
        " ".join(field.replace(" ", _HELD) for field in fields if field),
        out.width,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    out.print(line.replace(_HELD, " "), soft_wrap=True)


def show_counts(lines: Sequence[Sequence[str]], of_what: str, *fields: int) -> None:
    """How often each word is there in some fields of the lines, such as `3 configs: 2 shown, 1 reversed`."""
    if lines:
        counts = (Counter(line[field] for line in lines) for field in fields)
        told = (", ".join(f"{count} {word}" for word, count in words.items()) for words in counts)
        out.print(f"{len(lines)} {of_what}: {'; '.join(told)}")
