"""Nouns that say what the speaker is: *jsem zpěvačka*, *radim kao konobar*, *я работаю официантом*."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import FINITE, first_finite, stretch

_AS = {"ako", "jako", "kao", "kot", "като", "как", "як"}
_WITHIN = {"ADJ", "ADV", "DET", "NUM"}  # what may stand between *as* or a preposition and the noun
_COPULAS = {"есть", "є", "это", "це", "гэта", "to"}


def predicative(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A nominative beside the copula or, without a verb, beside the pronoun of the first person."""
    around = [other for other in _joined(sentence, token, grammar) if other is not token]
    before = _before(sentence, token, grammar)
    if before is not None and (before.upos == "ADP" or before.form in _AS or _named(before)):
        return False
    if any(other.form in grammar.others for other in around):
        return False
    if _wished(around, token, grammar) or (before is not None and grammar.links(before.form)):
        return True
    speaker = grammar.auxiliaries or grammar.pronouns
    return any(other.form in speaker for other in around) and not any(
        _predicates(t, grammar) for t in around if not _modifies(t, token)
    )


def _joined(sentence: Tree, token: Token, grammar: Grammar) -> list[Token]:
    """The stretch of the word, or that of the noun before *and*: *sem planinka in pevka*."""
    around = stretch(sentence, token)
    place = sentence.tokens.index(around[0])
    alone = not any(other.form in grammar.auxiliaries | grammar.pronouns for other in around)
    if alone and place > 1 and sentence.tokens[place - 1].upos == "CCONJ":
        first = sentence.tokens[place - 2]
        return [*stretch(sentence, first), *around] if first.upos in NOUNS else around
    return around


def _named(before: Token) -> bool:
    """A noun before it, which the word may belong to; *povoláním zedník* has an instrumental."""
    return before.upos in NOUNS and before.feats.get("Case", "Nom") in {"Nom", "Acc"}


def _wished(around: list[Token], token: Token, grammar: Grammar) -> bool:
    """*Želim postati pjevačica*: an infinitive of *to be* before the noun, and a verb of the speaker."""
    before = [other for other in around if other.id < token.id]
    verbs = [other for other in before if other.form in grammar.infinitives]
    return (
        bool(verbs)
        and not any(other.upos in NOUNS for other in before if other.id > verbs[-1].id)
        and any(first_finite(other) for other in before)
    )


def _modifies(other: Token, noun: Token) -> bool:
    """*убеден вегетарианец*: a participle just before the noun."""
    return other.id == noun.id - 1 and other.feats.get("VerbForm") == "Part"


def _predicates(token: Token, grammar: Grammar) -> bool:
    """A verb with a meaning of its own, whose object or subject the noun may be."""
    return (
        (token.upos in FINITE or token.feats.get("VerbForm") in {"Conv", "Inf"})
        and token.feats.get("Voice") != "Pass"
        and token.form not in grammar.auxiliaries | grammar.certain | _COPULAS
        and not grammar.works(token.form)
    )


def as_person(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*As* before the noun, and before it a verb of the first person."""
    before = _before(sentence, token, grammar)
    if before is None or before.form not in _AS:
        return False
    clause = [before]
    for other in reversed(sentence.tokens[: sentence.tokens.index(before)]):
        if other.upos in {"PUNCT", "SCONJ", "CCONJ"}:
            break
        clause.append(other)
    objects = any(
        t.upos == "PRON" and t.feats.get("Case") in {"Acc", "Dat"} and "Reflex" not in t.feats for t in clause
    )
    return any(grammar.works(t.form) for t in clause) or (
        bool(token.feats.get("Case"))
        and not objects
        and any(first_finite(t) or t.form in grammar.auxiliaries for t in clause)
    )


def serving(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """An instrumental beside a verb that takes one for its subject."""
    around = [other for other in stretch(sentence, token) if other is not token]
    before = _before(sentence, token, grammar)
    if before is not None and before.upos == "ADP":
        return False
    if any(other.form in grammar.others for other in around):
        return False
    being = any(
        t.form in grammar.auxiliaries or grammar.works(t.form) or grammar.links(t.form) for t in around
    )
    wishing = any(t.form in grammar.infinitives for t in around) and any(first_finite(t) for t in around)
    agreeing = any(t.upos in {"ADJ", "VERB"} and _described(t) for t in around)
    return (being or wishing) and not agreeing


def _described(token: Token) -> bool:
    """*Som obklopená učiteľkou*: another predicate has the instrumental."""
    return token.feats.get("VerbForm") == "Part" and token.feats.get("Case", "Nom") == "Nom"


def _before(sentence: Tree, token: Token, grammar: Grammar) -> Token | None:
    """The word before the noun and its attributes."""
    for other in reversed(sentence.tokens[: sentence.tokens.index(token)]):
        if other.upos not in _WITHIN or other.form in _AS | grammar.auxiliaries:
            return other
    return None
