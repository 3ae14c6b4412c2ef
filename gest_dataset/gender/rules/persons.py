"""Anchors for nouns that say what the speaker is, and the check for nouns that women and men use alike."""

import re
from collections.abc import Sequence

from gest_dataset.gender.grammar import NOUNS
from gest_dataset.gender.rules.context import BETWEEN, VERBS, Context, has_form, is_first_person
from gest_dataset.gender.tokens import Token

_WITHIN = frozenset({"ADJ", "ADV", "DET", "NUM"})  # between *as* or a preposition and the noun
_PAST = re.compile("past|past_.*")
# kinds of words that describe a noun
_DESCRIBING = re.compile(
    "adjective|adjective_as_.*|instrumental|instrumental_shape|listed|listed_instrumental|participle"
    "|shape|short|state"
)
_MAX_DISTANCE = 6  # words between a noun and its second adjective


def predicative(c: Context) -> bool:
    """A nominative beside the copula or, without a verb, beside the pronoun: *jsem zpěvačka*."""
    grammar = c.grammar
    others = c.others
    before = _before_group(c)
    if before is not None and (
        before.upos == "ADP"
        or before.form in grammar.comparison_words
        # a noun that it may belong to; *povoláním zedník* has an instrumental
        or (before.upos in NOUNS and before.case in {"", "Nom", "Acc"})
    ):
        return False
    if has_form(others, grammar.other_pronouns):
        return False
    if _is_wished(c, others) or (before is not None and grammar.linking_verbs.fullmatch(before.form)):
        return True
    return has_form(others, grammar.auxiliaries or grammar.pronouns) and not any(
        # *убеден вегетарианец*: a participle just before the noun describes it
        _predicates(c, other) and not (other.id == c.token.id - 1 and other.verb_form == "Part")
        for other in others
    )


def _is_wished(c: Context, others: Sequence[Token]) -> bool:
    """*Želim postati pjevačica*: an infinitive of *to be* before the noun, and a verb of the speaker."""
    before = [other for other in others if other.id < c.token.id]
    return has_form(before, c.grammar.copula_infinitives) and any(map(is_first_person, before))


def _predicates(c: Context, token: Token) -> bool:
    """A verb with a meaning of its own, whose object or subject the noun may be."""
    grammar = c.grammar
    return (
        (token.upos in VERBS or token.verb_form in {"Conv", "Inf"})
        and token.feats.get("Voice") != "Pass"
        and token.form not in grammar.auxiliaries
        and token.form not in grammar.impersonal_copulas
    )


def as_person(c: Context) -> bool:
    """*As* before the noun, and before it a verb of the first person: *radim kao konobar*."""
    grammar, before = c.grammar, _before_group(c)
    if before is None or before.form not in grammar.comparison_words:
        return False
    clause = [before]
    for other in reversed(c.tokens[: before.id - 1]):
        if other.upos in {"PUNCT", "SCONJ", "CCONJ"}:
            break
        clause.append(other)
    has_object = any(t.case in {"Acc", "Dat"} and t.upos == "PRON" for t in clause if "Reflex" not in t.feats)
    return any(grammar.working_verbs.fullmatch(other.form) for other in clause) or (
        c.token.case != ""
        and not has_object
        and any(is_first_person(other) or other.form in grammar.auxiliaries for other in clause)
    )


def serving(c: Context) -> bool:
    """An instrumental beside a verb that takes one for its subject: *я работаю официантом*."""
    grammar, before = c.grammar, _before_group(c)
    if (before is not None and before.upos == "ADP") or has_form(c.others, grammar.other_pronouns):
        return False
    is_copular = any(
        other.form in grammar.auxiliaries
        or grammar.working_verbs.fullmatch(other.form)
        or grammar.linking_verbs.fullmatch(other.form)
        for other in c.others
    )
    is_wished = has_form(c.others, grammar.copula_infinitives) and any(map(is_first_person, c.others))
    # *Som obklopená učiteľkou*: another predicate has the instrumental
    return (is_copular or is_wished) and not any(
        other.upos in {"ADJ", "VERB"} and other.verb_form == "Part" and other.case in {"", "Nom"}
        for other in c.others
    )


def _before_group(c: Context) -> Token | None:
    """The word before the noun and its attributes."""
    borders = c.grammar.comparison_words | c.grammar.auxiliaries
    for other in reversed(c.tokens[: c.index]):
        if other.upos not in _WITHIN or other.form in borders:
            return other
    return None


def is_misleading(c: Context, kind: str) -> bool:
    """The word agrees with a noun that says nothing of the speaker, is a name, or has a preposition."""
    if _PAST.fullmatch(kind):
        # *Изкачвал съм Мусала*: a capital letter that no beginning explains
        if c.token.text[:1].isupper() and c.previous is not None and c.previous.upos != "PUNCT":
            return True
        # Belarusian *да пераездаў*: a genitive that the tagger takes for a verb
        return not c.grammar.auxiliaries and c.previous is not None and c.previous.upos == "ADP"
    if _is_neutral(c, c.token):
        return True
    return _DESCRIBING.fullmatch(kind) is not None and (_precedes_neutral(c) or _follows_neutral(c))


def _is_neutral(c: Context, noun: Token) -> bool:
    """*osoba*, not the genitive plural of *do otrok*, which looks like a nominative."""
    return noun.form in c.grammar.neutral_nouns and (
        noun.case not in {"Gen", "Dat", "Loc"} or noun.number != "Plur"
    )


def _precedes_neutral(c: Context) -> bool:
    """*jsem docela klidný člověk*, whatever the tagger makes of the words."""
    for other in c.tokens[c.token.id :][:3]:
        if _is_neutral(c, other):
            return True
        if other.upos not in BETWEEN:
            return False
    return False


def _follows_neutral(c: Context) -> bool:
    """*Я личность творческая и немного рассеянная*; after *as*, *jako osoba*, the speaker comes first."""
    grammar = c.grammar
    for other in reversed(c.tokens[max(0, c.index - _MAX_DISTANCE) : c.index]):
        if _is_neutral(c, other):
            first = other.id - 1
            return first == 0 or c.tokens[first - 1].form not in grammar.comparison_words
        is_border = other.upos in {"SCONJ", "ADP"} or (other.upos == "PUNCT" and other.text != ",")
        if is_border or other.form in grammar.pronouns:
            return False
        if is_first_person(other) and other.form not in grammar.auxiliaries:
            return False
    return False
