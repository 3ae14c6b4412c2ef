"""Tokens and trees of Universal Dependencies, with the positions of the words in the text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_EDGES = ".,;:!?…\"'“”„«»()"


def _feature(name: str) -> Any:
    """A property with a feature of a token, or the empty string."""
    return property(lambda token: token.feats.get(name, ""))


@dataclass(frozen=True)
class Token:
    """One syntactic word of UD: `Kupiłam` is the two words `Kupiła` and `m` of one written word."""

    id: int
    text: str
    upos: str
    feats: Mapping[str, str]
    head: int
    deprel: str
    surface: str  # the written word, which the tokens of a multiword token share
    start: int = 0  # of the written word in the text
    end: int = 0

    @cached_property
    def form(self) -> str:
        """The word in lower case, without the punctuation that some tokenizers leave on it."""
        return self.text.lower().strip(_EDGES) or self.text.lower()

    @cached_property
    def relation(self) -> str:
        """The universal part of the relation: `nsubj` of `nsubj:pass`."""
        return self.deprel.partition(":")[0]

    case = _feature("Case")
    gender = _feature("Gender")
    number = _feature("Number")
    person = _feature("Person")
    verb_form = _feature("VerbForm")


@dataclass(frozen=True)
class Tree:
    """A dependency tree; ids count from 1, head 0 is the root."""

    tokens: tuple[Token, ...]

    @cached_property
    def _children(self) -> dict[int, list[Token]]:
        children: dict[int, list[Token]] = {}
        for token in self.tokens:
            children.setdefault(token.head, []).append(token)
        return children

    def children(self, token: Token) -> list[Token]:
        return self._children.get(token.id, [])

    def head(self, token: Token) -> Token | None:
        return self.tokens[token.head - 1] if 0 < token.head <= len(self.tokens) else None

    def ancestors(self, token: Token) -> Iterator[Token]:
        """The heads from `token` upwards, also if they form a circle."""
        seen = {token.id}
        head = self.head(token)
        while head is not None and head.id not in seen:
            yield head
            seen.add(head.id)
            head = self.head(head)
