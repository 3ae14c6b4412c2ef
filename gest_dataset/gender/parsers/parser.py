"""The interface of parsers: a signature and a function from texts to CoNLL-U."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gest_dataset.errors import GestError


@dataclass(frozen=True)
class Parser:
    """A parser of one language.

    `signature` identifies everything that a parse depends on but the text, and is part of the cache's key.
    `parse` yields batches of texts with their CoNLL-U, in any order; it may leave texts out.
    """

    signature: str
    parse: Callable[[Sequence[str]], Iterator[Mapping[str, str]]]
    cached: bool = True


class ParserError(GestError):
    """A parser that cannot start, or has stopped. The parses before that are in the cache."""
