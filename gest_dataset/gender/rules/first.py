"""The plain reasons: an auxiliary, a pronoun or an ending of the first person."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    HELPERS,
    across_and,
    attribute,
    beside,
    emphatic,
    first_finite,
    stretch,
)


def auxiliary(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A first-person auxiliary or copula hangs on the word, or on the predicate that it helps.

    It has to stand in the same stretch: across a comma it is another clause's.
    """
    if token.upos in {"ADJ", "VERB"} and attribute(sentence, token, grammar):
        return False
    around = stretch(sentence, token)
    near = beside(sentence, token)
    return any(
        other.form in grammar.auxiliaries
        and other.relation in HELPERS
        and (other in around or across_and(sentence, other, token))
        and not emphatic(sentence, other)
        for other in near
    ) and not any(other.form in grammar.others and other.relation == "nsubj" for other in near)


def pronoun(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The nominative pronoun of the first person is the subject."""
    if token.upos == "ADJ" and attribute(sentence, token, grammar):
        return False
    near = beside(sentence, token)
    return any(other.form in grammar.pronouns and other.relation == "nsubj" for other in near) and not (
        _named(sentence, token, grammar)
    )


def _named(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Машына зламалася, таму я еду*: a subject of its own, and the pronoun is another clause's."""
    around = stretch(sentence, token)
    return not any(other.form in grammar.pronouns for other in around) and any(
        other.relation == "nsubj"
        and other.upos in NOUNS
        and other.id < token.id
        and other.feats.get("Case") == "Nom"
        and len({other.feats.get("Gender"), token.feats.get("Gender"), None}) < 3
        for other in around
        if sentence.head(other) is token
    )


def first_person(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A predicate of the first person, by its ending, its auxiliary or its subject."""
    return (
        first_finite(token)
        or token.form in grammar.certain
        or auxiliary(sentence, token, grammar)
        or pronoun(sentence, token, grammar)
    )
