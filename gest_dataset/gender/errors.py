"""What can go wrong between a text and its gender."""

from __future__ import annotations

from collections.abc import Sequence

from gest_dataset.errors import GestError

_SHOWN = 3


class ParserError(GestError):
    """A parser that cannot be started, or has died: what it did is in the cache."""

    missing: tuple[str, ...] = ()


def unfinished(error: Exception, missing: Sequence[str], number: int, kept: object) -> ParserError:
    """The error of a run that stopped half-way, with the texts that are not parsed yet."""
    shown = "\n".join(f"  {text[:100]}" for text in missing[:_SHOWN])
    more = f"\n  ... and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    stopped = ParserError(
        f"{error}\n{number - len(missing)} of {number} texts are parsed and kept in {kept}; "
        f"run again to go on. Not parsed:\n{shown}{more}"
    )
    stopped.missing = tuple(missing)
    return stopped
