"""The rule engine: every rule asks for a gendered word and for its reason to be the first person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gest_dataset.gender.grammars.grammar import UNKNOWN, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.anchors import ANCHORS
from gest_dataset.gender.rules.generic import misleading
from gest_dataset.gender.rules.quotations import own_quotation

# reasons that lie in another clause: beside somebody else's words it may be theirs
_ACROSS = {"coordinated", "subordinate"}


@dataclass(frozen=True)
class Example:
    """A sentence that a rule decides, and the words that it points at."""

    language: str
    text: str
    gender: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """`word` (a kind of the language's grammar) is evidence where `anchor` holds.

    Rules of rank 2 and 3 are weaker: they are asked only where no rule before them has found anything.
    """

    name: str
    word: str
    anchor: str
    examples: tuple[Example, ...] = ()
    rank: int = 1


@dataclass(frozen=True)
class RunResult:
    rule: str
    gender: str
    token: Token
    place: int = 0  # of the sentence


@dataclass(frozen=True)
class Decision:
    """What the rules say of one text: `conflict` where they disagree, and then nothing is known."""

    gender: str
    rule: str
    tokens: tuple[Token, ...]
    conflict: bool


NOTHING = Decision(UNKNOWN, "", (), False)


def findings(sentence: Tree, rules: Iterable[Rule], grammar: Grammar, place: int = 0) -> Iterator[RunResult]:
    for rule in rules:
        anchor = ANCHORS[rule.anchor]
        for token in sentence.tokens:
            gender = grammar.gender(token, rule.word)
            if (
                gender is not None
                and anchor(sentence, token, grammar)
                and not misleading(sentence, token, rule.word, grammar)
            ):
                yield RunResult(rule.name, gender, token, place)


def decide(
    sentences: Sequence[Tree],
    rules: Sequence[Rule],
    grammar: Grammar,
    skipped: Sequence[tuple[int, int]] = (),
) -> Decision:
    """All rules of a rank on all sentences; the first rank that finds something decides.

    Words in the `skipped` spans of the text are somebody else's, but for quotations that the speaker
    introduces as their own; these are asked where nothing else says anything.
    """
    decision = _outside(sentences, rules, grammar, skipped)
    others = [span for span in skipped if not own_quotation(sentences, span, grammar)]
    if decision is NOTHING and len(others) < len(skipped):
        return _outside(sentences, rules, grammar, others)
    return decision


def _outside(
    sentences: Sequence[Tree],
    rules: Sequence[Rule],
    grammar: Grammar,
    skipped: Sequence[tuple[int, int]],
) -> Decision:
    """What the rules find outside of the skipped spans."""
    for rank in sorted({rule.rank for rule in rules}):
        ranked = [rule for rule in rules if rule.rank == rank and not (skipped and rule.anchor in _ACROSS)]
        said = [
            finding
            for place, sentence in enumerate(sentences)
            for finding in findings(sentence, ranked, grammar, place)
            if not any(start <= finding.token.start < end for start, end in skipped)
        ]
        if said:
            genders = {finding.gender for finding in said}
            order = {rule.name: place for place, rule in enumerate(ranked)}
            tokens = {(finding.place, finding.token.id): finding.token for finding in said}
            return Decision(
                gender=genders.pop() if len(genders) == 1 else UNKNOWN,
                rule=min((finding.rule for finding in said), key=order.__getitem__),
                tokens=tuple(tokens[place] for place in sorted(tokens)),
                conflict=len({finding.gender for finding in said}) > 1,
            )
    return NOTHING
