"""Reasons of rank 3 that lie in another clause, or only in the order of the words."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar, table
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import FINITE, first_finite, opening_of, other_person, stretch

DEGREES = {"malo", "jako", "vrlo", "mnogo", "veoma", "zelo", "trochę", "trochu", "много", "малко"}
_OWN_PRONOUNS = table(
    "ja já jaz аз я mne mně mnie meni mene mnou mnom mną mnoj mne mě мен мене мне меня мной мною мені мяне"
)
_ME = {"mě", "mne", "ma", "mnie", "me", "mene", "ме", "мен", "меня", "мене", "мяне"}
_THAT = {"что", "що", "што"}
_SHORT = 5  # words of the clause that regrets: *И мне до сих пор стыдно*
_RELATIVES = ("котор", "как", "як", "кото", "хто", "кто", "что", "што", "що")


def after_pronoun(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """East Slavic: only adverbs stand between *я* and a word that is no attribute: *Я глубоко тронута.*"""
    tokens = sentence.tokens
    for other in reversed(tokens[: tokens.index(token)]):
        if other.form in grammar.pronouns:
            return not grammar.auxiliaries
        if other.upos not in {"ADV", "PART"} and other.form not in DEGREES:
            return False
    return False


def _regretting(other: Token, grammar: Grammar) -> bool:
    """A verb of a person, but for the impersonal *мне кажется*."""
    return other.upos == "VERB" and (
        other.feats.get("Gender") in {"Masc", "Fem"}
        or other.feats.get("Number") == "Plur"
        or grammar.reports(other.form)
    )


def regretted(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Мне стыдно, что не позвонил*: a dative of the speaker, nobody's verb, and a clause without subject."""
    around = stretch(sentence, token)
    tokens = sentence.tokens
    place = tokens.index(around[0])
    if (
        grammar.auxiliaries
        or place < 3
        or tokens[place - 1].form not in _THAT
        or tokens[place - 2].text != ","
    ):
        return False
    before = tokens[: place - 2]
    return (
        len(before) <= _SHORT
        and any(other.form in grammar.datives for other in before)
        and not any(_regretting(other, grammar) or other.form in grammar.others for other in before)
        and not any(another(t, grammar, token) or t.form in grammar.objects for t in around if t is not token)
    )


def antecedent(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Мне, которая никогда не летала*: the relative pronoun agrees with the speaker's."""
    place = sentence.tokens.index(token)
    return (
        place > 1
        and sentence.tokens[place - 1].text == ","
        and sentence.tokens[place - 2].form in _OWN_PRONOUNS
    )


def relative(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Я, который столько раз проигрывал*: a relative clause of the pronoun, without another subject."""
    around = stretch(sentence, token)
    tokens = sentence.tokens
    place = tokens.index(around[0])
    if place < 3 or not tokens[place - 1].form.startswith(_RELATIVES) or tokens[place - 2].upos != "PUNCT":
        return False
    return tokens[place - 3].form in grammar.pronouns and not any(
        another(t, grammar, token) for t in around if t is not token
    )


def resumed(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A later clause after *and* or *but*, and the pronoun is the only subject before it."""
    around = stretch(sentence, token)
    opening = opening_of(sentence, around)
    if grammar.auxiliaries or opening is None or opening.upos != "CCONJ":
        return False
    before = sentence.tokens[: sentence.tokens.index(token)]
    return any(t.form in grammar.pronouns for t in before) and not any(
        another(t, grammar, token) for t in (*before, *around) if t is not token
    )


def another(other: Token, grammar: Grammar, verb: Token) -> bool:
    """A word that may be another subject of the verb, or a verb that has one."""
    return (
        other.upos in {"NOUN", "PROPN", "PRON"}
        and other.relation not in {"obj", "obl", "iobj", "nmod"}
        and other.feats.get("Case", "Nom") == "Nom"
        and len({other.feats.get("Gender"), verb.feats.get("Gender"), None}) < 3
        and other.form not in grammar.pronouns
    ) or other_person(other, grammar)


def only_one(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Jedina u obitelji volim gljive*: the only one of a group, and a verb of the first person."""
    around = stretch(sentence, token)
    place = around.index(token)
    after = around[place + 1 :]
    return (
        place <= 1
        and len(after) > 0
        and after[0].upos == "ADP"
        and any(first_finite(t) or t.form in grammar.certain or grammar.ends_first(t.form) for t in after[2:])
        and not any(t.upos == "AUX" and t.feats.get("Person") == "3" for t in after)
    )


def second_auxiliary(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Croatian *ću putovati sam*: the clause has an auxiliary of the speaker already, so *sam* is none."""
    before = stretch(sentence, token)
    before = before[: before.index(token)]
    return any(other.form in grammar.auxiliaries and other.form != token.form for other in before)


def taken_for(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Považují mě za přísného*: what others take the speaker for."""
    around = stretch(sentence, token)
    before = around[: around.index(token)]
    after = around[len(before) + 1 : len(before) + 2]
    prepositions = [place for place, other in enumerate(before) if other.form in {"za", "за"}]
    return (
        bool(prepositions)
        and not any(other.upos in NOUNS for other in [*before[prepositions[-1] :], *after])
        and any(other.form in _ME for other in before[: prepositions[-1]])
        and any(
            other.upos in FINITE and other.feats.get("Number") == "Plur"
            for other in before[: prepositions[-1]]
        )
    )
