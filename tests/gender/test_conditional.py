"""Slovenian conditionals, which any person may say: what makes them the speaker's, on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.conditional import conditional
from tests.gender.minimal import Pairs, answer, cases

MAIN = (
    Pairs(
        conditional,
        "sl",
        "*Moral/VERB/root/Gender=Masc bi/AUX/aux<Moral več/ADV/dep spati/VERB/xcomp<Moral",
        turns={
            "no conditional": ("bi/AUX", "je/AUX"),
            "a name as the subject": ("več/ADV/dep", "Janez/PROPN/nsubj<Moral/Case=Nom|Gender=Masc"),
            "another person": ("več/ADV/dep", "on/PRON/dep"),
        },
        stays={
            "hung elsewhere": ("aux<Moral", "dep"),
            "in another stretch": ("bi/AUX", "zato/SCONJ/dep bi/AUX"),
            "a name of another gender": ("več/ADV/dep", "Ana/PROPN/nsubj<Moral/Case=Nom|Gender=Fem"),
            "a nominative after it that is no subject": (
                "več/ADV/dep",
                "mož/NOUN/obl<Moral/Case=Nom|Gender=Masc",
            ),
            "another person in another clause": ("več/ADV/dep", ",/PUNCT/p on/PRON/dep"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "Zato/ADV/dep *moral/AUX/cop<miren bi/AUX/dep ,/PUNCT/p miren/ADJ/root",
        turns={
            "a subject of the predicate": ("Zato/ADV/dep", "Janez/PROPN/nsubj<miren"),
            "a subject of the copula": ("Zato/ADV/dep", "Janez/PROPN/nsubj<moral"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "*Dvignil/VERB/root/Gender=Masc bi/AUX/aux<Dvignil avto/NOUN/obj<Dvignil/Case=Nom|Gender=Masc"
        " zame/ADV/dep to/DET/dep",
        turns={"a subject where nobody says *I*": ("obj<", "nsubj<")},
    ),
    Pairs(
        conditional,
        "sl",
        "Zdaj/ADV/dep *dvignil/VERB/root/Gender=Masc bi/AUX/aux<dvignil"
        " avto/NOUN/nsubj<dvignil/Case=Nom|Gender=Masc"
        " ,/PUNCT/p saj/CCONJ/cc me/PRON/obj",
        turns={
            "somebody else": ("me/", "te/"),
            "the subject stands before it": ("Zdaj/ADV/dep", "Mož/NOUN/nsubj<dvignil/Case=Nom|Gender=Masc"),
            "a nominative stands before it": ("Zdaj/ADV/dep", "Mož/NOUN/dep<dvignil/Case=Nom|Gender=Masc"),
            "a name stands before it": ("Zdaj/ADV/dep", "Janez/PROPN/dep<dvignil/Case=Nom|Gender=Masc"),
        },
        stays={
            "a verb of the first person": ("me/PRON/obj", "grem/VERB/dep/Person=1"),
            "an adjective before it": ("Zdaj/ADV/dep", "sam/DET/dep<dvignil/Case=Nom|Gender=Masc"),
            "a feminine before it": ("Zdaj/ADV/dep", "žena/NOUN/dep<dvignil/Case=Nom|Gender=Fem"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "da/PART/dep bi/AUX/aux<ostal lep/ADJ/dep partner/NOUN/obl<ostal/Case=Gen|Gender=Masc"
        " *ostal/VERB/root/Gender=Masc",
        turns={
            "an accusative may be a nominative": ("Case=Gen", "Case=Acc"),
            "a name too": ("partner/NOUN/obl<ostal/Case=Gen", "Janez/PROPN/obl<ostal/Case=Acc"),
        },
        stays={
            "another gender": ("Case=Gen|Gender=Masc", "Case=Acc|Gender=Fem"),
            "*vsak dan*": (
                "lep/ADJ/dep partner/NOUN/obl<ostal/Case=Gen",
                "vsak/DET/det<dan/PronType=Tot dan/NOUN/obl<ostal/Case=Acc",
            ),
            "another word before the noun": (
                "lep/ADJ/dep partner/NOUN/obl<ostal/Case=Gen",
                "ga/PRON/obj partner/NOUN/obl<ostal/Case=Acc",
            ),
            "before the conditional": (
                "bi/AUX/aux<ostal lep/ADJ/dep partner/NOUN/obl<ostal/Case=Gen",
                "partner/NOUN/obl<ostal/Case=Acc|Gender=Masc bi/AUX/aux<ostal lep/ADJ/dep/Case=Nom",
            ),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "bi/AUX/aux<ostala mama/NOUN/obl<ostala/Case=Acc|Gender=Fem *ostala/VERB/root/Gender=Fem",
        turns={
            "a nominative": ("Case=Acc", "Case=Nom"),
            "a nominative that is taken for a plural": ("Case=Acc", "Number=Plur|Case=Nom"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "bi/AUX/aux<ostala *ostala/VERB/root/Gender=Fem mama/NOUN/obl<ostala/Case=Nom|Gender=Fem",
        turns={
            "the noun before the verb": (
                "*ostala/VERB/root/Gender=Fem mama",
                "mama/NOUN/dep<ostala/Case=Nom|Gender=Fem *ostala/VERB/root/Gender=Fem stara",
            )
        },
    ),
)

BELOW = (
    Pairs(
        conditional,
        "sl",
        "Mislim/VERB/root/Person=1 ,/PUNCT/p da/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/ccomp<Mislim/Gender=Masc",
        turns={
            "another thinks so": ("Mislim", "Misli", "Person=1", "Person=3"),
        },
        stays={
            "taken for a noun": ("VERB/root/Person=1", "NOUN/root"),
            "taken for an adverb": ("VERB/root/Person=1", "ADV/root"),
            "taken for something else": ("VERB/root/Person=1", "X/root"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "Vidiva/VERB/root/Person=1|Number=Dual ,/PUNCT/p ko/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/ccomp<Vidiva/Gender=Masc",
        turns={"the two others": ("Person=1", "Person=3")},
    ),
    Pairs(
        conditional,
        "sl",
        "Mislim/NOUN/root ,/PUNCT/p da/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/ccomp<Mislim/Gender=Masc",
        turns={
            "too short a noun": ("Mislim", "Izjem"),
            "no ending of the first person": ("Mislim", "Misleč"),
            "an adjective": ("NOUN", "ADJ"),
        },
        stays={"no reporting conjunction": ("Mislim/NOUN/root ,/PUNCT/p da", "Mislim/ADJ/root ,/PUNCT/p ko")},
    ),
    Pairs(
        conditional,
        "sl",
        "Moti/VERB/root/Person=3 me/PRON/obj<Moti ,/PUNCT/p da/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/csubj<Moti/Gender=Masc",
        turns={
            "somebody else": ("me/", "te/"),
            "the hearer's verb": ("Person=3", "Person=2"),
            "no person": ("/Person=3", ""),
            "a verb of saying": ("Moti", "Vpraša"),
            "the speaker is elsewhere": ("obj<Moti ,/PUNCT/p", "obj<bi ,/PUNCT/p"),
        },
        stays={
            "a noun above": ("VERB/root/Person=3 me/PRON/obj<Moti", "NOUN/root me/PRON/dep"),
            "an infinitive above": (
                "VERB/root/Person=3 me/PRON/obj<Moti",
                "VERB/root/VerbForm=Inf me/PRON/dep",
            ),
            "another conditional above": (
                "VERB/root/Person=3 me/PRON/obj<Moti",
                "VERB/root Bi/AUX/aux<Moti me/PRON/dep",
            ),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "Zdi/VERB/root/Person=3 se/PRON/expl<Zdi mi/PRON/iobj<Zdi ,/PUNCT/p ko/SCONJ/mark<moral"
        " bi/AUX/aux<moral"
        " *moral/VERB/csubj<Zdi/Gender=Masc",
        turns={"to somebody else": ("mi/", "jim/"), "a report where nobody says *I*": ("ko/", "da/")},
    ),
    Pairs(
        conditional,
        "sl",
        "Zdi/VERB/root/Person=3 se/PRON/expl<Zdi ,/PUNCT/p ko/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/parataxis<Zdi/Gender=Masc mi/PRON/iobj<moral",
        turns={"no loose clause": ("parataxis", "csubj"), "nobody of the first person": ("mi/", "jim/")},
    ),
    Pairs(
        conditional,
        "sl",
        "Srečen/ADJ/root sem/AUX/cop<Srečen ,/PUNCT/p ko/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/ccomp<Srečen/Gender=Masc",
        turns={"another's copula": ("sem/", "je/")},
        stays={"no copula": ("sem/AUX/cop<", "je/AUX/dep<")},
    ),
    Pairs(
        conditional,
        "sl",
        "Grem/VERB/root/Person=1 šefa/NOUN/obj<Grem ,/PUNCT/p ki/SCONJ/mark<želel bi/AUX/aux<želel"
        " ga/PRON/obj<želel/Case=Acc|Person=3 *želel/VERB/acl<šefa/Gender=Masc",
        turns={
            "the relative is the subject": ("ga/PRON/obj<želel/Case=Acc|Person=3", "rad/ADV/dep"),
            "it takes up nothing": ("ga/PRON", "to/DET"),
            "it takes up the speaker": ("Case=Acc|Person=3", "Case=Acc|Person=1"),
            "it is the subject": ("Case=Acc|Person=3", "Case=Nom|Person=3"),
            "a clitic taken for a nominative": ("ga/PRON/obj<želel/Case=Acc", "si/PRON/expl<želel/Case=Nom"),
        },
        stays={"no relative": ("ki/", "ko/")},
    ),
)

# whoever stands between, the verb above decides
ABOVE = (
    Pairs(
        conditional,
        "sl",
        "Vidim/VERB/root/Person=1 šefa/NOUN/obj<Vidim ,/PUNCT/p ko/SCONJ/mark<moral bi/AUX/aux<moral"
        " *moral/VERB/acl<šefa/Gender=Masc",
        turns={"another sees him": ("Vidim", "Vidi", "Person=1", "Person=3")},
    ),
    Pairs(
        conditional,
        "sl",
        "Vidim/VERB/root/Person=1 moti/VERB/ccomp<Vidim/Person=3 me/PRON/obj<moti ,/PUNCT/p"
        " ko/SCONJ/mark<moral bi/AUX/aux<moral *moral/VERB/csubj<moti/Gender=Masc",
        turns={"another sees it": ("Person=1", "Person=2")},
        stays={"to the speaker": ("me/PRON/obj", "mi/PRON/iobj")},
    ),
    Pairs(
        conditional,
        "sl",
        "Vidim/VERB/root/Person=1 šla/VERB/ccomp<Vidim Bi/AUX/aux<šla ,/PUNCT/p ko/SCONJ/mark<moral"
        " bi/AUX/aux<moral *moral/VERB/advcl<šla/Gender=Masc",
        turns={
            "another sees it": ("Vidim", "Vidi", "Person=1", "Person=3"),
            "no conditional between": ("Bi/", "Je/"),
        },
    ),
    Pairs(
        conditional,
        "sl",
        "Želim/VERB/root/Person=1 videti/VERB/xcomp<Želim/VerbForm=Inf ,/PUNCT/p ko/SCONJ/mark<moral"
        " bi/AUX/aux<moral *moral/VERB/ccomp<videti/Gender=Masc",
        turns={
            "another's wish": ("Želim", "Želi", "Person=1", "Person=3"),
            "a verb between": ("VerbForm=Inf", "VerbForm=Part"),
        },
    ),
)


@pytest.mark.parametrize(("asked", "line", "expected"), cases(*MAIN, *BELOW, *ABOVE))
def test_pairs(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected
