"""How the rules are asked: kinds of words, ranks, other people's words, conflicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules import RULES, TABLE
from gest_dataset.gender.rules.engine import NOTHING, decide, findings
from tests.gender.minimal import starred

SLOVAK = GRAMMARS["sk"]
FEMALE = "*Bola/VERB/root som/AUX/aux<Bola tam/ADV/advmod"
MALE = FEMALE.replace("Bola", "Bol")
# *Bola* by its auxiliary (rank 1), *zaspal* by coordination only (rank 2), of the other gender
TWO_RANKS = "*Bola/VERB/root som/AUX/aux<Bola a/CCONJ/cc zaspal/VERB/conj<Bola"


def placed(line: str, start: int = 0) -> Tree:
    """The tree of a line, its words with their places in a text that begins at `start`."""
    tokens: list[Token] = []
    for token in starred(line)[0].tokens:
        tokens.append(replace(token, start=start, end=start + len(token.text)))
        start = tokens[-1].end + 1
    return Tree(tuple(tokens))


@pytest.mark.parametrize(
    ("line", "kind", "gender"),
    [
        ("*rada/ADJ/root", "glad", "female"),
        ("*rád/ADJ/root", "glad", "male"),
        ("*ticho/ADJ/root", "glad", None),
        ("*bola/VERB/root", "past", "female"),
        ("*bola/ADP/root", "past", None),
        ("*bola/VERB/root", "fused", None),  # a kind that Slovak has not
    ],
)
def test_a_word_says_the_gender_of_its_kind(line: str, kind: str, gender: str | None) -> None:
    assert SLOVAK.gender(starred(line)[1], kind) == gender


def test_findings_say_rule_word_and_sentence() -> None:
    rule = next(rule for rule in TABLE if rule.name == "past-auxiliary")
    sentence, token = starred(FEMALE)
    (finding,) = findings(sentence, [rule], SLOVAK, 3)
    assert (finding.rule, finding.gender, finding.token, finding.place) == (rule.name, "female", token, 3)
    assert next(findings(sentence, [rule], SLOVAK)).place == 0


def test_the_weaker_rank_is_asked_only_where_the_first_finds_nothing() -> None:
    decision = decide([placed(TWO_RANKS)], RULES["sk"], SLOVAK)
    assert (decision.gender, decision.rule, decision.conflict) == ("female", "past-auxiliary", False)
    assert [token.text for token in decision.tokens] == ["Bola"]
    weaker = [rule for rule in RULES["sk"] if rule.rank == 2 and rule.anchor == "coordinated"]
    decision = decide([placed(TWO_RANKS)], weaker, SLOVAK)
    assert (decision.gender, decision.rule) == ("male", "past-coordinated")


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
    """The first rule of the table is named, and the words stand in the order of the text."""
    decision = decide([placed(line) for line in lines], RULES["sk"], SLOVAK)
    disagree = len(words) > 1
    assert decision.conflict is disagree
    assert (decision.gender, decision.rule) == ("unknown" if disagree else "male", rule)
    assert [token.text for token in decision.tokens] == words


def test_a_word_that_two_rules_find_is_named_once() -> None:
    decision = decide([placed(FEMALE), placed(FEMALE)], RULES["sk"], SLOVAK)
    assert [token.text for token in decision.tokens] == ["Bola", "Bola"]
    assert decision.gender == "female"
    weaker = [rule for rule in RULES["sk"] if rule.rank == 2]
    assert len(decide([placed("*Rada/ADJ/root čítam/VERB/dep/Person=1")], weaker, SLOVAK).tokens) == 1


@pytest.mark.parametrize(
    ("span", "heard"),
    [((5, 9), False), ((5, 6), False), ((0, 6), False), ((0, 5), True), ((6, 9), True)],
)
def test_words_in_somebody_elses_speech_are_not_heard(span: tuple[int, int], heard: bool) -> None:
    """The word stands from 5 on: a span that ends there is before it."""
    decision = decide([placed(FEMALE, start=5)], RULES["sk"], SLOVAK, [span])
    assert (decision != NOTHING) is heard


def test_beside_somebody_elses_words_other_clauses_are_not_asked() -> None:
    weaker = [rule for rule in RULES["sk"] if rule.rank == 2]
    said = placed(TWO_RANKS.replace("Bola/VERB", "Bola/NOUN"), start=10)
    assert decide([said], weaker, SLOVAK).rule == "past-coordinated"
    assert decide([said], weaker, SLOVAK, [(0, 5)]) == NOTHING


def test_no_rule_finds_nothing() -> None:
    assert decide([placed("*Spal/VERB/root")], RULES["sk"], SLOVAK) == NOTHING
    assert (NOTHING.gender, NOTHING.rule, NOTHING.tokens, NOTHING.conflict) == ("unknown", "", (), False)
