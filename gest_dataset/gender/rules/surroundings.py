"""Reasons of rank 3, for words that a tagger has got wrong: what stands around the word decides."""

from __future__ import annotations

import re

from gest_dataset.gender.grammars.grammar import NOUNS, Grammar, table
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    FINITE,
    GENERIC,
    after_noun,
    attribute,
    emphatic,
    first_finite,
    other_person,
    resumes,
    stretch,
)
from gest_dataset.gender.rules.complements import linking_nearby, linking_verb
from gest_dataset.gender.rules.distant import DEGREES, another

# *volim*, *mám*: verbs whose object would be taken for a state of the speaker
_TAKING = table(
    "imam nemam nimam volim mogu želim hoću vidim gledam trebam moram mám nemám chcem nechcem vidím"
    " mam lubię chcę widzę wolę potrzebuję chci nechci hočem nočem nosím nosim noszę kupujem kupuji"
    " kupuję jem piję pijem piju имам нямам обичам искам виждам люблю маю имею хочу вижу бачу мушу"
    " могу можу магу хачу ненавиджу ненавижу называю називаю лічу считаю вважаю"
)
_CALL = 3  # words before the clause: *«Ничего, пережила и не такое»*
_FUTURES = {"да", "ще"}
_QUOTES = {"«", "„", "“", '"'}
_SELVES = {"se", "sa", "się", "sebe", "seba", "siebie", "себя", "себе", "сябе"}
_FOR = {"za", "за"}
_WHO = ("котор", "хто", "кто", "що", "што", "кой", "коя", "koj", "ktor", "kter", "któr", "ki", "kdo", "kto")
_AFTER = {"PUNCT", "CCONJ", "SCONJ", "ADP", "ADV", "PART", "PRON"}
_OBLIQUE = {"Gen", "Dat", "Ins", "Loc"}
_VERBAL = re.compile("...(am|im|em|ám|ím|ę|[ую]|[ую]с[ья]|[ая]м|[аиоя]х)$")
_AS = {"ako", "jako", "kao", "kot", "като", "как", "як"}


def copular(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The copula of the first person stands around the word, or its pronoun and no verb."""
    around = [other for other in stretch(sentence, token) if other is not token]
    if not _stands_free(sentence, token, grammar):
        return False
    if any(other.form in grammar.others for other in around):
        return False
    if any(other.form in grammar.auxiliaries and not emphatic(sentence, other) for other in around):
        return True
    return any(other.form in grammar.pronouns for other in around) and not any(
        other.upos == "VERB" and not grammar.is_infinitive(other.form) for other in around
    )


def depicting(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """A verb of the first person stands around the word: *wracam do domu głodny*."""
    around = [other for other in stretch(sentence, token) if other is not token]
    own = any(other.form in grammar.certain for other in around)  # then the subject is the speaker
    return (
        _stands_free(sentence, token, grammar)
        and token.feats.get("PronType") not in {"Dem", "Rel", "Int", "Int,Rel", "Tot"}
        and _ends_group(sentence, token)
        and not any(other.form in _TAKING for other in around)
        and any(_acts(other, grammar) or _looks_first(stretch(sentence, token), other) for other in around)
        and not any(
            (other_person(other, grammar) and not (own and other.upos == "VERB"))
            or (
                other.relation == "nsubj"
                and other.upos in NOUNS
                and not own
                and other.feats.get("Case") == "Nom"
                and len({other.feats.get("Gender"), token.feats.get("Gender"), None}) < 3
            )
            for other in around
        )
    )


def _ends_group(sentence: Tree, token: Token) -> bool:
    """What follows is no noun that the word may belong to: *dělám těžká rozhodnutí*."""
    place = sentence.tokens.index(token)
    after = sentence.tokens[place + 1] if place + 1 < len(sentence.tokens) else None
    return (
        after is None or after.upos in _AFTER or (after.upos in NOUNS and after.feats.get("Case") in _OBLIQUE)
    )


def _closes(around: list[Token], token: Token) -> bool:
    """No noun follows, and the word stands behind no preposition: *из-за привлекательной внешности*."""
    place = around.index(token)
    return not any(other.upos in {"ADP", "DET"} for other in around[max(0, place - 2) : place]) and not any(
        other.upos in {"ADJ", *NOUNS} for other in around[place + 1 : place + 2]
    )


def _looks_first(around: list[Token], token: Token) -> bool:
    """The ending of the first person on a word near the beginning, which a tagger does not know."""
    place = around.index(token)
    before = around[place - 1] if place else None
    return (
        (place < 2 or (before is not None and before.form in _SELVES))
        and token.upos not in {"ADJ", "DET", "PRON", "AUX"}
        and (before is None or before.upos not in {"ADJ", "DET", "ADP", "NUM"})
        and token.form not in _AS
        and _VERBAL.search(token.form) is not None
    )


def _acts(token: Token, grammar: Grammar) -> bool:
    return token.form in grammar.certain or (first_finite(token) and token.form not in grammar.auxiliaries)


def _stands_free(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """No attribute, and not behind a preposition."""
    around = stretch(sentence, token)
    place = around.index(token)
    if (
        resumes(sentence, token, grammar)
        or attribute(sentence, token, grammar)
        or _counts(around[place:], token)
    ):
        return False
    if any(other.form in _FUTURES for other in around[max(0, place - 2) : place]) and not (
        place and around[place - 1].form in grammar.auxiliaries
    ):
        return False  # Bulgarian *да помогна*
    if place + 1 < len(around) and _named_by(around[place + 1], token):
        return False
    if place and (around[place - 1].form in grammar.certain or _looks_first(around, around[place - 1])):
        return True
    before = next((t for t in reversed(around[:place]) if t.upos not in {"ADV", "PART"}), None)
    allowed = grammar.degrees | grammar.auxiliaries | _AS
    if before is not None and before.upos == "ADP" and before.form not in allowed:
        return False
    if any(other.form in grammar.certain for other in around[:place]):
        return before is None or before.upos not in {"DET", "ADJ", "NUM"}
    named = token.upos in NOUNS and place > 0 and _describes(sentence, around[place - 1], grammar)
    return not named and not after_noun(sentence, token)


def _counts(following: list[Token], token: Token) -> bool:
    """An ordinal with what it counts: *treći put*; *dolazim prvi* has none."""
    after = following[1] if len(following) > 1 else None
    return bool(token.feats.get("NumType")) and after is not None and after.upos != "ADP"


def _describes(sentence: Tree, before: Token, grammar: Grammar) -> bool:
    """*tvog brata*: after an attribute of its own, or the noun that it belongs to, the word is a noun."""
    if before.form in DEGREES:
        return False
    if before.upos in NOUNS:
        return not any(c.relation == "case" for c in sentence.children(before))
    return (
        before.upos in {"DET", "ADJ", "NUM"}
        and before.form not in grammar.auxiliaries
        and ("Case" in before.feats or before.feats.get("Definite") != "Def")
    )


def _named_by(following: Token, token: Token) -> bool:
    """*запален колекционер*: the next word is a noun that the word may describe."""
    if following.form in GENERIC:
        return True
    return (
        following.upos in NOUNS
        and following.feats.get("Case", "Nom") in {"Nom", "Acc"}
        and following.feats.get("Number") != "Plur"
        and following.feats.get("Definite") != "Def"
        and (token.upos != "ADJ" or len({following.feats.get("Gender"), token.feats.get("Gender"), None}) < 3)
    )


def as_child(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Като малка прекарвах*: as what the speaker did something."""
    tokens = sentence.tokens
    place = tokens.index(token)
    if not place or tokens[place - 1].form not in _AS:
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is not None and _named_by(after, token):
        return False
    clause = stretch(sentence, token)
    return any(_acts(t, grammar) or t.form in grammar.auxiliaries for t in clause) and not any(
        other_person(t, grammar) for t in clause if t is not token
    )


def as_opening(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Като момиче събирах салфетки*: it opens the sentence; elsewhere *плача като момиче* compares."""
    return sentence.tokens.index(token) == 1 and as_child(sentence, token, grammar)


def joined(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The second of two adjectives, where the first has no gender: *bývám nervózní a bledá*."""
    around = stretch(sentence, token)
    place = sentence.tokens.index(around[0])
    if place < 2 or sentence.tokens[place - 1].upos != "CCONJ" or sentence.tokens[place - 2].upos != "ADJ":
        return False
    if around.index(token) and around[0].upos not in {"ADV", "PART"}:
        return False
    first = sentence.tokens[place - 2]
    return _stands_free(sentence, token, grammar) and (
        copular(sentence, first, grammar) or linking_nearby(sentence, first, grammar)
    )


def governing(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """East Slavic, before an infinitive, and nobody is named: *Готов помочь.*"""
    around = [
        other for other in stretch(sentence, token) if other.upos not in {"ADV", "PART"} or other is token
    ]
    return (
        not grammar.auxiliaries
        and around[0] is token
        and len(around) > 1
        and not token.feats.get("PronType")
        and not _after_relative(sentence, token)
        and grammar.is_infinitive(around[1].form)
        and around[1].form not in grammar.words.get("person", {})  # Ukrainian *добра мати*
        and not any(
            t.form in grammar.datives
            or other_person(t, grammar)
            or (t.upos == "PRON" and t.feats.get("Case") == "Nom")
            for t in around[2:]
        )
    )


def _after_relative(sentence: Tree, token: Token) -> bool:
    before = [other for other in sentence.tokens if other.id < token.id][-2:]
    return any(other.feats.get("PronType") in {"Rel", "Int,Rel"} for other in before)


def initial(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Sam* before everything else cannot be the auxiliary, which never comes first: *Sam si kuham.*"""
    around = stretch(sentence, token)
    return token is sentence.tokens[0] and any(_VERBAL.search(other.form) for other in around[1:4])


def considered(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Považuji se za trpělivou*: what the speaker takes himself or herself for."""
    around = stretch(sentence, token)
    before = [other.form for other in around[: around.index(token)]]
    return (
        any(grammar.considers(form) for form in before)
        and bool(_SELVES & set(before))
        and bool(_FOR & set(before))
        and not any(other.upos in NOUNS for other in around if other.id in {token.id - 1, token.id + 1})
        and _ends_group(sentence, token)
    )


def linking_last(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """Beside a verb like *smatram se*, and no noun follows that the word belongs to."""
    return linking_verb(sentence, token, grammar) and _closes(stretch(sentence, token), token)


def made(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Мяне прызначылі адказнай*: what others made of the speaker, wherever the word hangs."""
    around = stretch(sentence, token)
    before = around[: around.index(token)]
    return (
        any(other.form in grammar.objects for other in before)
        and any(other.upos in FINITE and other.feats.get("Number") == "Plur" for other in before)
        and _closes(around, token)
    )


def who(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Аз съм тази, която*: the one who, beside the copula or the pronoun of the first person."""
    after = sentence.tokens[sentence.tokens.index(token) + 1 :][:2]
    return (
        len(after) > 0
        and any(other.form.startswith(_WHO) for other in after)
        and any(other.form in grammar.auxiliaries | grammar.pronouns for other in stretch(sentence, token))
    )


def quoting(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """East Slavic, first in a quotation, and nobody is named: *Говорю себе: «Мог бы учиться».*"""
    around = stretch(sentence, token)
    place = sentence.tokens.index(around[0])
    first = place - 1
    while first > 0 and place - first <= _CALL and sentence.tokens[first].text not in _QUOTES:
        first -= 1
    return (
        not grammar.auxiliaries
        and place > 0
        and sentence.tokens[first].text in _QUOTES
        and not any(other.upos in {"SCONJ", *FINITE} for other in sentence.tokens[first:place])
        and not any(another(t, grammar, token) for t in around if t is not token)
    )


def opening(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """East Slavic *сам* before everything else, and nobody is named: *Сам виноват.*"""
    around = stretch(sentence, token)
    return (
        not grammar.auxiliaries
        and around[0] is token
        and not _after_relative(sentence, token)
        and not any(
            t.form in grammar.pronouns
            or other_person(t, grammar)
            or (t.upos in NOUNS and t.relation == "nsubj")
            for t in around
        )
    )


def after_ending(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """The word before has the ending of a verb of the first person: *Živim sam*."""
    place = sentence.tokens.index(token)
    before = sentence.tokens[place - 1] if place else None
    return (
        before is not None
        and before.upos in {"VERB", *NOUNS, "ADV", "X"}
        and before.feats.get("Case") != "Ins"
        and grammar.ends_first(before.form)
        and not any(
            t.upos in FINITE and t.feats.get("Person") in {"2", "3"} for t in stretch(sentence, token)
        )
    )
