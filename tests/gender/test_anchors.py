"""Every anchor on minimal pairs: one change of a small tree turns its answer (minimal_pairs.yaml)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from gest_dataset.gender.grammar import load_grammar
from gest_dataset.gender.rules import complements, context, nearby, persons, subjects
from gest_dataset.gender.rules.context import Context
from gest_dataset.gender.tokens import Token, Tree

PAIRS = yaml.safe_load((Path(__file__).parent / "minimal_pairs.yaml").read_text(encoding="utf-8"))


def _head(c: Context) -> Context:
    head = c.head
    assert head is not None
    return c.at(head)


QUESTIONS: dict[str, Callable[[Context], bool]] = {
    **{
        name: anchor
        for module in (complements, nearby, persons, subjects)
        for name, anchor in vars(module).items()
    },
    "has_accusative": lambda c: c.has_accusative(c.token),
    "is_attribute": lambda c: c.is_attribute,
    "is_first_person": lambda c: context.is_first_person(c.token),
    "is_other_person": lambda c: c.is_other_person(c.token),
    "may_be_subject": lambda c: _head(c).may_be_subject(c.token),
    "other_auxiliary": lambda c: subjects.other_auxiliary(c, c.token),
}


def context_of(line: str, language: str = "sk") -> Context:
    """The word with the star in a tree of one line; words without `<head` have no head."""
    cells = [word.split("/") for word in line.split()]
    forms = [form.removeprefix("*") for form, *_ in cells]
    assert len(set(forms)) == len(forms), f"a form occurs twice in {line}"
    tokens = []
    for (_, upos, relation, *rest), form in zip(cells, forms, strict=True):
        deprel, _, head = relation.partition("<")
        feats = dict(pair.split("=") for pair in rest[0].split("|")) if rest else {}
        place = forms.index(head) + 1 if head else 0
        tokens.append(Token(len(tokens) + 1, form, upos, feats, place, deprel, form))
    star = next(place for place, (form, *_) in enumerate(cells) if form.startswith("*"))
    return Context(Tree(tuple(tokens)), tokens[star], load_grammar(language))


def cases() -> Iterator[object]:
    """Each sentence, and the sentence after each of its changes, with the expected answer."""
    for name, entries in PAIRS.items():
        for entry in entries:
            sentence, language = entry["sentence"], entry["language"]
            yield pytest.param(name, language, sentence, True, id=f"{name}-{language}")
            for key in ("holds", "fails"):
                for why, change in entry.get(key, {}).items():
                    line = sentence
                    for old, new in zip(change[::2], change[1::2], strict=True):
                        assert old in line, f"{old} is not in {line}"
                        line = line.replace(old, new)
                    yield pytest.param(
                        name, language, line, key == "holds", id=f"{name}-{language}-{key}-{why}"
                    )


@pytest.mark.parametrize(("name", "language", "line", "expected"), list(cases()))
def test_minimal_pairs(name: str, language: str, line: str, expected: bool) -> None:
    assert bool(QUESTIONS[name](context_of(line, language))) is expected
