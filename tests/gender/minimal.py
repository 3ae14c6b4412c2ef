"""Minimal pairs: a small tree on which a question is answered yes, and the changes that turn the answer.

A tree is written in one line, `form/UPOS/relation<head/Feature=Value|...`, where the head is a form and
a star stands before the word that the question is about:

    *Bola/VERB/root som/AUX/aux<Bola/Person=1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.grammars.grammar import Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree

Question = Callable[[Tree, Token, Grammar], bool]
Change = tuple[str, ...]  # what of the line is written otherwise: old, new, and more such pairs


@dataclass(frozen=True)
class Pairs:
    """The question holds of the sentence, after each change that it `stays` with, and after none of `turns`.

    The keys say what a change is about.
    """

    question: Question
    language: str
    sentence: str
    turns: Mapping[str, Change] = field(default_factory=dict)
    stays: Mapping[str, Change] = field(default_factory=dict)


def starred(line: str) -> tuple[Tree, Token]:
    """The tree of a line and its word with the star; words without `<head` hang on nothing."""
    cells = [word.split("/") for word in line.split()]
    forms = [form.removeprefix("*") for form, *_ in cells]
    assert len(set(forms)) == len(forms), f"a form stands twice in {line}"
    tokens = []
    for (_, upos, relation, *rest), form in zip(cells, forms, strict=True):
        deprel, _, head = relation.partition("<")
        feats = dict(pair.split("=") for pair in rest[0].split("|")) if rest else {}
        place = forms.index(head) + 1 if head else 0
        tokens.append(Token(len(tokens) + 1, form, upos, feats, place, deprel, form))
    asked = next(place for place, (form, *_) in enumerate(cells) if form.startswith("*"))
    return Tree(tuple(tokens)), tokens[asked]


def answer(asked: Pairs, line: str) -> bool:
    return asked.question(*starred(line), GRAMMARS[asked.language])


def cases(*table: Pairs) -> list[object]:
    return list(_cases(table))


def _cases(table: tuple[Pairs, ...]) -> Iterator[object]:
    """Each sentence of the table and each of its changes, with the answer that belongs to it."""
    for asked in table:
        form = starred(asked.sentence)[1].text
        name = f"{asked.question.__name__}-{asked.language}-{form}"
        yield pytest.param(asked, asked.sentence, True, id=name)
        for expected, changes in ((False, asked.turns), (True, asked.stays)):
            for why, change in changes.items():
                line = asked.sentence
                for old, new in zip(change[::2], change[1::2], strict=True):
                    assert old in line, f"{old} is not in {line}"
                    line = line.replace(old, new)
                yield pytest.param(asked, line, expected, id=f"{name}-{'yes' if expected else 'no'}-{why}")
