"""Nouns that say what the speaker is: beside a copula, after *as*, in the instrumental; on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.predicates import as_person, predicative, serving
from gest_dataset.gender.rules.surroundings import as_child
from tests.gender.minimal import Pairs, answer, cases

PREDICATIVE = "Som/AUX/cop<speváčka dobrá/ADJ/amod<speváčka *speváčka/NOUN/root/Case=Nom"
AS = (
    "Cítim/VERB/root/Person=1 sa/PRON/expl<Cítim/Case=Acc|Reflex=Yes ako/SCONJ/mark<učiteľ"
    " *učiteľ/NOUN/obl<Cítim/Case=Nom"
)
WORKS = "Pracujem/VERB/root/Person=1 ako/SCONJ/mark<učiteľ *učiteľ/NOUN/obl<Pracujem"
CHILD = (
    "Като/ADP/case<малка *малка/ADJ/obl<прекарвах/Gender=Fem вчера/ADV/advmod<прекарвах"
    " прекарвах/VERB/root/Person=1"
)
SERVING = "Som/AUX/cop<učiteľkou dobrou/ADJ/amod<učiteľkou/Case=Ins *učiteľkou/NOUN/root/Case=Ins"


@pytest.mark.parametrize(
    ("asked", "line", "expected"),
    cases(
        Pairs(
            predicative,
            "sk",
            PREDICATIVE,
            stays={
                "an adverb between": ("dobrá/ADJ/amod", "celkom/ADV/advmod"),
                "nothing between": ("dobrá/ADJ/amod<speváčka ", ""),
            },
            turns={
                "behind a preposition": ("dobrá/ADJ/amod", "pre/ADP/case"),
                "behind as": ("dobrá/ADJ/amod", "ako/SCONJ/mark"),
                "of another noun": ("dobrá/ADJ/amod<speváčka", "priateľka/NOUN/nsubj<speváčka/Case=Nom"),
                "of somebody else": ("dobrá/ADJ/amod<speváčka", "ona/PRON/nsubj<speváčka/Case=Nom"),
                "the object of a verb": ("dobrá/ADJ/amod<speváčka", "počúva/VERB/root/VerbForm=Fin|Person=3"),
                "no copula": ("Som/AUX/cop", "Iba/PART/advmod"),
            },
        ),
        Pairs(
            as_person,
            "sk",
            AS,
            stays={
                "an adjective between": ("*učiteľ/", "dobrý/ADJ/amod<učiteľ *učiteľ/"),
                "a copula": ("Cítim/VERB", "Som/AUX", "<Cítim", "<Som"),
            },
            turns={
                "an object that may be the teacher": ("sa/", "ju/", "|Reflex=Yes", ""),
                "another that is helped like one": ("sa/", "jej/", "Case=Acc|Reflex=Yes", "Case=Dat"),
                "a verb of somebody else": ("Person=1", "Person=3", "Cítim", "Cíti"),
                "a verb before a comma": ("sa/PRON", ",/PUNCT"),
                "a verb before and": ("sa/PRON", "a/CCONJ"),
                "another word than as": ("ako/SCONJ", "než/SCONJ"),
                "a noun without a case": ("učiteľ/NOUN/obl<Cítim/Case=Nom", "učiteľ/NOUN/obl<Cítim"),
            },
        ),
        Pairs(
            as_person,
            "sk",
            WORKS,
            stays={"whoever else is there": ("ako/", "jej/PRON/iobj<Pracujem/Case=Dat ako/")},
            turns={"another verb": ("Pracujem", "Vyzerám")},
        ),
        Pairs(
            as_child,
            "bg",
            CHILD,
            stays={
                "a noun of another gender": (
                    "вчера/ADV/advmod<прекарвах",
                    "лекар/NOUN/obj<прекарвах/Gender=Masc",
                ),
                "a plural": ("вчера/ADV/advmod<прекарвах", "дни/NOUN/obj<прекарвах/Number=Plur"),
            },
            turns={
                "a noun that it describes": (
                    "вчера/ADV/advmod<прекарвах",
                    "лекарка/NOUN/obl<прекарвах/Gender=Fem",
                ),
                "a noun and no adjective": (
                    *("вчера/ADV/advmod<прекарвах", "лекар/NOUN/obj<прекарвах/Gender=Masc"),
                    *("*малка/ADJ", "*малка/NOUN"),
                ),
                "another word than as": ("Като/ADP", "От/ADP"),
                "a verb of somebody else": (
                    "прекарвах/VERB/root/Person=1",
                    "прекарва/VERB/root/Person=3",
                    "<прекарвах",
                    "<прекарва",
                ),
            },
        ),
        Pairs(
            serving,
            "sk",
            SERVING,
            stays={
                "a verb of work": ("Som/AUX", "Pracujem/VERB"),
                "it is wished": (
                    "Som/AUX/cop<učiteľkou",
                    "Chcem/VERB/root/Person=1|VerbForm=Fin byť/AUX/xcomp",
                ),
            },
            turns={
                "behind a preposition": ("dobrou/ADJ/amod<učiteľkou/Case=Ins", "s/ADP/case<učiteľkou"),
                "beside somebody else": ("dobrou/ADJ/amod<učiteľkou/Case=Ins", "ona/PRON/nsubj<učiteľkou"),
                "beside another predicate": (
                    "dobrou/ADJ/amod<učiteľkou/Case=Ins",
                    "obklopená/ADJ/root/VerbForm=Part|Case=Nom",
                ),
                "another verb": ("Som/AUX", "Idem/VERB"),
            },
        ),
    ),
)
def test_what_the_speaker_is(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected
