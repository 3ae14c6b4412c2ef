"""Looking around in a tree: borders, attributes, persons and subjects, each on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.grammars.grammar import Grammar
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import (
    attribute,
    beside,
    first_finite,
    has_accusative,
    opening_of,
    other_auxiliary,
    other_person,
    predicate,
    stretch,
    subject,
    subject_like,
)
from tests.gender.minimal import Pairs, answer, cases, starred

CLAUSE = "Bola/AUX/cop<unavená som/AUX/aux<unavená *unavená/ADJ/root vtedy/ADV/advmod<Bola"


def names_subject(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """`subject`, asked of the noun and its verb."""
    verb = sentence.head(token)
    assert verb is not None
    return subject(token, verb)


def like_subject(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    verb = sentence.head(token)
    assert verb is not None
    return subject_like(sentence, token, verb)


def accusative(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    return has_accusative(sentence, token)


def finite(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    return first_finite(token)


def person(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    return other_person(token, grammar)


def helped(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    return other_auxiliary(sentence, token)


ATTRIBUTES = (
    Pairs(
        attribute,
        "sk",
        "*dobrá/ADJ/root/Case=Nom|Gender=Fem žena/NOUN/dep<dobrá/Case=Nom|Gender=Fem",
        turns={
            "no noun follows": ("žena/NOUN", "žena/X"),
            "another gender": ("dobrá/Case=Nom|Gender=Fem", "dobrá/Case=Nom|Gender=Masc"),
            "another case": ("dobrá/Case=Nom|", "dobrá/Case=Gen|"),
            "a comma between": ("žena/", ",/PUNCT/punct žena/"),
            "a relative between": ("žena/", "ktorá/DET/det/PronType=Rel žena/"),
            "an interrogative between": ("žena/", "aká/DET/det/PronType=Int,Rel žena/"),
            "a conjunction before the noun": ("žena/", "a/CCONJ/cc žena/"),
            "an adverb after the conjunction": ("žena/", "a/CCONJ/cc veľmi/ADV/advmod žena/"),
        },
        stays={
            "a name": ("žena/NOUN", "Eva/PROPN"),
            "the noun has no gender": ("dobrá/Case=Nom|Gender=Fem", "dobrá/Case=Nom"),
            "the adjective has no gender": ("root/Case=Nom|Gender=Fem", "root/Case=Nom"),
            "the noun has no case": ("dobrá/Case=Nom|", "dobrá/"),
            "an accusative": ("dobrá/Case=Nom|", "dobrá/Case=Acc|"),
            "both genitives": ("Case=Nom", "Case=Gen"),
            "a nominative beside an instrumental": ("root/Case=Nom", "root/Case=Ins"),
            "an accusative after an adverb": ("žena/", "veľmi/ADV/advmod žena/"),
            "*inspirujúca a dobrá žena*": ("žena/", "a/CCONJ/cc milá/ADJ/conj žena/"),
        },
    ),
    Pairs(
        attribute,
        "sk",
        "*dobrá/ADJ/root/Case=Gen|Gender=Fem žena/NOUN/dep<dobrá/Gender=Fem",
        turns={"a dative": ("dobrá/Gender=Fem", "dobrá/Case=Dat|Gender=Fem")},
    ),
    Pairs(
        attribute,
        "sk",
        "*Dobrá/ADJ/amod<žena/Case=Nom|Gender=Fem som/AUX/cop<žena žena/NOUN/root/Case=Nom|Gender=Fem",
        turns={
            "hangs otherwise": ("amod<", "acl<"),
            "another's verb between": ("cop<žena", "cop<žena/Person=3"),
            "the hearer's verb between": ("cop<žena", "cop<žena/Person=2"),
            "across a comma": ("som/", ",/PUNCT/punct som/"),
        },
        stays={
            "a determiner": ("amod<", "det<"),
            "the speaker's verb between": ("cop<žena", "cop<žena/Person=1"),
            "another's pronoun between": ("som/AUX/cop<žena", "ju/PRON/obj<žena/Person=3"),
            "another's verb after": ("som/", "to/PRON/dep je/AUX/dep/Person=1 som/"),
        },
    ),
    Pairs(
        attribute,
        "sk",
        "*dobrá/ADJ/amod<žena/Case=Nom|Gender=Fem bola/X/dep žena/NOUN/root/Case=Nom|Gender=Fem"
        " je/AUX/cop<žena/Person=3",
        turns={"the verb before the noun": ("bola/X/dep", "bola/VERB/dep/Person=3")},
    ),
    Pairs(
        attribute,
        "sk",
        "Eva/NOUN/dep/Case=Nom|Gender=Fem *dobrá/ADJ/amod<žena/Case=Nom|Gender=Fem ju/PRON/obj"
        " žena/NOUN/root/Case=Nom|Gender=Fem",
        turns={"the noun stands before": ("amod<žena", "amod<Eva")},
    ),
    Pairs(
        attribute,
        "ru",
        "*старый/ADJ/root/Case=Nom|Gender=Masc друг/NOUN/dep<старый/Case=Gen|Number=Plur",
        turns={
            "no masculine": ("Gender=Masc", "Gender=Fem"),
            "no plural": ("Number=Plur", "Number=Sing"),
            "not the next word": ("друг/", "очень/ADV/advmod друг/"),
            "another case": ("Case=Gen", "Case=Dat"),
        },
    ),
    Pairs(
        attribute,
        "cs",
        "*zvyklá/ADJ/root/Case=Nom|Gender=Fem prohra/NOUN/dep<zvyklá/Case=Nom|Gender=Fem",
        turns={"an infinitive in the shape of a noun": ("prohra/", "prohrávat/")},
    ),
    Pairs(
        attribute,
        "cs",
        "*skvělý/ADJ/root/Case=Nom|Gender=Masc diplomat/NOUN/dep<skvělý/Case=Nom|Gender=Masc",
        turns={"an adjective that takes infinitives": ("skvělý", "ochotný")},
        stays={"no infinitive": ("diplomat/", "člověk/")},
    ),
    Pairs(
        attribute,
        "hr",
        "bila/AUX/cop/VerbForm=Part sam/AUX/aux *odrasla/VERB/amod/VerbForm=Part žena/NOUN/root/Case=Nom",
        turns={
            "the only participle": ("cop/VerbForm=Part", "cop/VerbForm=Fin"),
            "no participle": ("amod/VerbForm=Part", "amod/VerbForm=Fin"),
            "the other participle is no verb": ("bila/AUX", "bila/ADJ"),
            "a name": ("žena/NOUN", "Ana/PROPN"),
            "an object": ("Case=Nom", "Case=Acc"),
            "not the next word": ("žena/", "danas/ADV/advmod žena/"),
        },
        stays={"the other participle is a verb": ("bila/AUX", "bila/VERB")},
    ),
    Pairs(
        attribute,
        "hr",
        "*odrasla/VERB/amod/VerbForm=Part osoba/NOUN/root/Case=Nom sam/AUX/cop<osoba",
        turns={"a noun that does not mean everybody": ("osoba", "žena"), "no participle": ("Part", "Fin")},
    ),
)

PERSONS = (
    Pairs(
        finite,
        "sk",
        "*idem/VERB/root/Person=1|Number=Sing|VerbForm=Fin",
        turns={
            "*idete*": ("Person=1", "Person=2"),
            "*ideme*": ("Number=Sing", "Number=Plur"),
            "a participle": ("VerbForm=Fin", "VerbForm=Part"),
            "no verb": ("VERB", "NOUN"),
        },
        stays={
            "an auxiliary": ("VERB", "AUX"),
            "no number": ("|Number=Sing", ""),
            "no form": ("|VerbForm=Fin", ""),
        },
    ),
    Pairs(
        person,
        "sk",
        "*niekto/PRON/nsubj/Case=Nom|Gender=Masc|PronType=Ind",
        turns={
            "*niekoho*": ("Case=Nom", "Case=Acc"),
            "*niečo*": ("Gender=Masc", "Gender=Neut"),
            "a demonstrative": ("PronType=Ind", "PronType=Dem"),
            "a determiner": ("PRON", "DET"),
        },
        stays={"*nikto*": ("PronType=Ind", "PronType=Neg"), "*kto*": ("PronType=Ind", "PronType=Int")},
    ),
    Pairs(
        person,
        "sk",
        "*ono/PRON/nsubj/Case=Nom|Gender=Neut|Person=3|PronType=Prs",
        turns={"*jemu*": ("Case=Nom", "Case=Dat"), "no person": ("|Person=3", "")},
        stays={
            "the second person": ("Person=3", "Person=2"),
            "a determiner": ("PRON", "DET"),
            "a verb": ("PRON/nsubj/Case=Nom|", "VERB/root/"),
            "an auxiliary": ("PRON/nsubj/Case=Nom|", "AUX/cop/"),
        },
    ),
    Pairs(person, "hr", "*ste/NOUN/dep", turns={"no pronoun of the list": ("ste", "sta")}),
    Pairs(
        person,
        "hr",
        "*tebe/PRON/nsubj/Case=Nom|Person=2",
        turns={
            "a clitic that looks like a nominative": ("tebe", "ti"),
            "*mogu* whatever its tag": ("tebe", "mogu"),
        },
    ),
    Pairs(person, "ru", "*пишет/VERB/root/Person=3", turns={"an infinitive": ("пишет", "писать")}),
    Pairs(
        helped,
        "sk",
        "*sama/ADJ/root je/AUX/cop<sama/Person=3|VerbForm=Fin",
        turns={
            "the speaker's": ("Person=3", "Person=1"),
            "any person's": ("Person=3|", ""),
            "a participle": ("VerbForm=Fin", "VerbForm=Part"),
            "no auxiliary": ("cop<", "dep<"),
        },
        stays={"the hearer's": ("Person=3", "Person=2"), "an auxiliary": ("cop<", "aux<")},
    ),
)

NAMED = (
    Pairs(
        names_subject,
        "sl",
        "*Janez/PROPN/nsubj<dvignil/Case=Nom|Gender=Masc dvignil/VERB/root/Gender=Masc",
        turns={
            "an object": ("nsubj", "obj"),
            "an adjective": ("PROPN", "ADJ"),
            "an accusative": ("Case=Nom", "Case=Acc"),
            "another gender": ("root/Gender=Masc", "root/Gender=Fem"),
        },
        stays={
            "no case": ("Case=Nom|", ""),
            "no gender of the noun": ("|Gender=Masc", ""),
            "no gender of the verb": ("root/Gender=Masc", "root"),
        },
    ),
    Pairs(
        like_subject,
        "sl",
        "*Janez/PROPN/obl<dvignil/Case=Nom|Gender=Masc dvignil/VERB/root/Gender=Masc"
        " ves/DET/dep<dvignil/Case=Acc",
        turns={
            "an accusative": ("Case=Nom", "Case=Acc"),
            "no case": ("Case=Nom|", ""),
            "a plural": ("Case=Nom", "Number=Plur|Case=Nom"),
            "another gender": ("root/Gender=Masc", "root/Gender=Fem"),
            "its determiner is an accusative": ("dep<dvignil", "det<Janez"),
        },
        stays={"a singular": ("Case=Nom", "Number=Sing|Case=Nom")},
    ),
    Pairs(
        accusative,
        "ru",
        "весь/DET/det<день/Case=Acc *день/NOUN/obl",
        turns={"no part of it": ("det<", "nmod<")},
        stays={"*первый день*": ("det<", "amod<"), "*один день*": ("det<", "nummod<")},
    ),
)


@pytest.mark.parametrize(("asked", "line", "expected"), cases(*ATTRIBUTES, *PERSONS, *NAMED))
def test_pairs(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("*Včera/ADV/a som/AUX/b prišla/VERB/c", "Včera som prišla"),
        ("Včera/ADV/a *som/AUX/b prišla/VERB/c", "Včera som prišla"),
        ("Včera/ADV/a som/AUX/b *prišla/VERB/c", "Včera som prišla"),
        ("Prišla/VERB/a ,/PUNCT/b ale/CCONJ/c *zaspala/VERB/d potom/ADV/e ./PUNCT/f", "zaspala potom"),
        ("Viem/VERB/a že/SCONJ/b som/AUX/c *prišla/VERB/d ,/PUNCT/e a/CCONJ/f", "som prišla"),
        (",/PUNCT/a *zaspala/VERB/b", "zaspala"),
        ("Znaju/VERB/a koliko/ADV/b sam/AUX/c *strog/ADJ/d", "sam strog"),
        ("Znaju/VERB/a kako/ADV/b sam/AUX/c *strog/ADJ/d", "sam strog"),
        ("žena/NOUN/a ktorá/DET/b/PronType=Rel *prišla/VERB/c", "prišla"),
        ("žena/NOUN/a ktorá/DET/b/PronType=Int,Rel *prišla/VERB/c", "prišla"),
        ("žena/NOUN/a ktorá/DET/b/PronType=Ind *prišla/VERB/c", "žena ktorá prišla"),
        ("Nikad/ADV/a/PronType=Rel *prišla/VERB/b", "Nikad prišla"),
    ],
)
def test_a_stretch_ends_at_borders(line: str, words: str) -> None:
    assert [token.text for token in stretch(*starred(line))] == words.split()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Viem/VERB/a že/SCONJ/b som/AUX/c *prišla/VERB/d", "že"),
        ("Viem/VERB/a ,/PUNCT/b *prišla/VERB/c", ","),
        ("Včera/ADV/a *prišla/VERB/b", None),
    ],
)
def test_what_opens_a_stretch(line: str, word: str | None) -> None:
    sentence, token = starred(line)
    opening = opening_of(sentence, stretch(sentence, token))
    assert (opening and opening.text) == word


@pytest.mark.parametrize(
    ("line", "carrier", "neighbours"),
    [
        (CLAUSE, "unavená", "Bola som"),
        (CLAUSE.replace("*", "").replace("Bola/", "*Bola/"), "unavená", "vtedy som"),
        (CLAUSE.replace("*", "").replace("som/", "*som/"), "unavená", "Bola"),
        (CLAUSE.replace("*", "").replace("vtedy/", "*vtedy/"), "vtedy", ""),
        ("*som/AUX/cop doma/ADV/advmod<som", "som", "doma"),
    ],
)
def test_an_auxiliary_belongs_to_its_predicate(line: str, carrier: str, neighbours: str) -> None:
    sentence, token = starred(line)
    assert predicate(sentence, token).text == carrier
    assert [other.text for other in beside(sentence, token)] == neighbours.split()
