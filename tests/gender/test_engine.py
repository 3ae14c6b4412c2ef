"""The engine: kinds of words, ranks, quotations, conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gest_dataset.gender.grammar import load_grammar
from gest_dataset.gender.parsers import conllu
from gest_dataset.gender.rules.engine import (
    NOTHING,
    Decision,
    Rule,
    decide,
    is_by_speaker,
    quoted_spans,
    rules_for,
)
from gest_dataset.gender.tokens import Tree
from tests.gender.test_anchors import context_of
from tests.gender.test_rules import PARSES

SLOVAK = load_grammar("sk")
RULES = rules_for(SLOVAK)
WEAKER = [rule for rule in RULES if rule.rank == 2]
FEMALE = "*Bola/VERB/root som/AUX/aux<Bola tam/ADV/advmod<Bola"
MALE = FEMALE.replace("Bola", "Bol")
# *Bola* by its auxiliary (rank 1), *zaspal* by coordination only (rank 2), of the other gender
TWO_RANKS = "*Bola/VERB/root som/AUX/aux<Bola a/CCONJ/cc zaspal/VERB/conj<Bola"


def tree(line: str, start: int = 0) -> Tree:
    """The tree of a line in a text that begins at `start`."""
    tokens = []
    for token in context_of(line).tokens:
        tokens.append(replace(token, start=start, end=start + len(token.text)))
        start = tokens[-1].end + 1
    return Tree(tuple(tokens))


def decision(
    *lines: str, rules: Sequence[Rule] = RULES, start: int = 0, quotations: Sequence[tuple[int, int]] = ()
) -> Decision:
    return decide([tree(line, start) for line in lines], rules, SLOVAK, quotations)


def test_a_weaker_rank_applies_only_if_the_first_finds_nothing() -> None:
    found = decision(TWO_RANKS)
    assert (found.gender, found.rule, found.conflict) == ("female", "past-auxiliary", False)
    assert [token.text for token in found.tokens] == ["Bola"]
    coordinated = [rule for rule in RULES if rule.name == "past-coordinated"]
    assert decision(TWO_RANKS, rules=coordinated).gender == "male"


@pytest.mark.parametrize(
    ("lines", "rule", "words"),
    [
        ((FEMALE, MALE), "past-auxiliary", ["Bola", "Bol"]),
        ((MALE, FEMALE), "past-auxiliary", ["Bol", "Bola"]),
        (("*Rada/ADJ/root idem/VERB/dep<Rada/Person=1", MALE), "past-auxiliary", ["Bol"]),
        (("*Sama/ADJ/advmod<idem idem/VERB/root/Person=1", MALE), "past-auxiliary", ["Sama", "Bol"]),
    ],
)
def test_rules_that_disagree_are_a_conflict(lines: tuple[str, ...], rule: str, words: list[str]) -> None:
    """The first rule of the table is named, and the words are in the order of the text."""
    found = decision(*lines)
    assert found.conflict is (len(words) > 1)
    assert (found.gender, found.rule) == ("unknown" if found.conflict else "male", rule)
    assert [token.text for token in found.tokens] == words


def test_a_word_that_two_rules_find_is_one_piece_of_evidence() -> None:
    assert [token.text for token in decision(FEMALE, FEMALE).tokens] == ["Bola", "Bola"]
    assert len(decision("*Rada/ADJ/root čítam/VERB/dep/Person=1", rules=WEAKER).tokens) == 1


@pytest.mark.parametrize(
    ("span", "counts"),
    [((5, 9), False), ((5, 6), False), ((0, 6), False), ((0, 5), True), ((6, 9), True)],
)
def test_words_in_quotations_do_not_count(span: tuple[int, int], counts: bool) -> None:
    """The word stands at 5: a span that ends there is before it."""
    assert (decision(FEMALE, start=5, quotations=[span]) != NOTHING) is counts


def test_rules_across_clauses_do_not_apply_beside_quotations() -> None:
    line = TWO_RANKS.replace("Bola/VERB", "Bola/NOUN")
    assert decision(line, rules=WEAKER, start=10).rule == "past-coordinated"
    assert decision(line, rules=WEAKER, start=10, quotations=[(0, 5)]) == NOTHING


# ---- quotations -------------------------------------------------------------------------------------------

QUOTATIONS = yaml.safe_load(Path(__file__).with_name("quotations.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "parts"), QUOTATIONS["spans"])
def test_spans_of_quotations(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in quoted_spans(text)] == parts


@pytest.mark.parametrize(("language", "text", "expected"), QUOTATIONS["by_speaker"])
def test_quotations_by_the_speaker(language: str, text: str, expected: bool) -> None:
    document = conllu.read_file(PARSES / f"{language}.conllu")[conllu.normalized(text)]
    [span] = quoted_spans(text)
    assert is_by_speaker(conllu.parse_conllu(document, text), span, load_grammar(language)) is expected


def test_sentences_without_a_space_between_them(tmp_path: Path) -> None:
    """A parser may end a sentence within a quotation, before the closing mark."""
    path = tmp_path / "parsed.conllu"
    word = "1\t{}\t_\t{}\t_\t_\t0\troot\t_\t{}\n\n"
    first = "# newpar\n# text = Ano!\n" + word.format("Ano!", "PART", "SpaceAfter=No")
    path.write_text(first + "# text = “\n" + word.format("“", "PUNCT", "_"), encoding="utf-8")
    assert {"Ano! “", "Ano!“"} <= set(conllu.read_file(path))
