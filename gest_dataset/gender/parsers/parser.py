"""What a parser is to the rest: a signature, a function from texts to CoNLL-U, and its error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gest_dataset.errors import GestError


@dataclass(frozen=True)
class Parser:
    """`signature` names everything that a parse depends on but the text: it is part of the cache's key.

    `parse` yields a text and its CoNLL-U, in any order, each as soon as it is there; a text that it
    has nothing for is left out.
    """

    signature: str
    parse: Callable[[Sequence[str]], Iterator[tuple[str, str]]]
    cached: bool = True


class ParserError(GestError):
    """A parser that cannot be started, or has died: what it did is in the cache."""

    missing: tuple[str, ...] = ()
