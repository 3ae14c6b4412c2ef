"""Words that complete a verb of the first person, each reason on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.complements import (
    depictive,
    linking,
    linking_nearby,
    linking_verb,
    object_complement,
    unclaimed,
)
from tests.gender.minimal import Pairs, answer, cases

WOMAN = "žena/NOUN/dep/Case=Nom|Gender=Fem"

LINKING = (
    Pairs(
        linking,
        "sk",
        "Zostávam/VERB/root vždy/ADV/advmod *pokojná/ADJ/xcomp<Zostávam/Case=Nom|Gender=Fem tam/ADV/dep",
        turns={
            "no verb of the table": ("Zostávam", "Spievam"),
            "hangs otherwise": ("xcomp", "ccomp"),
            "the attribute of a noun": ("tam/ADV/dep", WOMAN),
            "a subject of its own": ("tam/ADV/dep", "Eva/PROPN/nsubj<pokojná"),
            "somebody else below": ("tam/ADV/dep", "ona/PRON/dep<pokojná"),
        },
        stays={
            "an auxiliary of the first person": ("Zostávam", "som"),
            "an oblique": ("xcomp", "obl"),
            "an object": ("xcomp", "obj"),
            "an attribute of the verb": ("xcomp", "amod"),
            "a subject of the verb": ("vždy/ADV/advmod", "Eva/PROPN/nsubj<Zostávam"),
        },
    ),
    Pairs(
        linking,
        "sk",
        "Zostávam/VERB/root vec/NOUN/obj<Zostávam *dobrá/ADJ/amod<vec/Case=Nom|Gender=Fem",
        turns={
            "*niečo dobré*": ("vec/NOUN", "vec/PRON"),
            "the word between hangs otherwise": ("obj<", "ccomp<"),
            "another's verb between": ("vec/NOUN/obj<Zostávam", "vec/VERB/xcomp<Zostávam/Person=3"),
            "the hearer's verb between": ("vec/NOUN/obj<Zostávam", "vec/VERB/xcomp<Zostávam/Person=2"),
            "another's auxiliary between": ("vec/NOUN/obj<Zostávam", "vec/AUX/xcomp<Zostávam/Person=3"),
        },
        stays={
            "a complement of a pronoun": (
                "NOUN/obj<Zostávam *dobrá/ADJ/amod",
                "PRON/obj<Zostávam *dobrá/ADJ/xcomp",
            ),
            "a pronoun of another person between": (
                "vec/NOUN/obj<Zostávam",
                "vec/NOUN/obj<Zostávam/Person=3",
            ),
            "the speaker's verb between": ("vec/NOUN/obj<Zostávam", "vec/VERB/xcomp<Zostávam/Person=1"),
        },
    ),
    Pairs(
        linking,
        "sk",
        "Chcem/VERB/root/Person=1 byť/AUX/cop<silná *silná/ADJ/xcomp<Chcem/Case=Nom|Gender=Fem",
        turns={
            "another's wish": ("Person=1", "Person=3"),
            "nobody's wish": ("/Person=1", ""),
            "an infinitive that takes no adjective": ("byť", "písať"),
            "hangs otherwise": ("xcomp", "ccomp"),
        },
        stays={"the infinitive above": ("cop<silná", "xcomp<Chcem")},
    ),
    Pairs(
        linking,
        "sk",
        "Chcem/VERB/root/Person=1 byť/AUX/xcomp<Chcem *silná/ADJ/xcomp<byť/Case=Nom|Gender=Fem",
        turns={
            "another infinitive between": ("byť", "písať"),
            "another clause": ("xcomp<Chcem", "ccomp<Chcem"),
        },
        stays={"an adverbial clause": ("xcomp<byť", "advcl<byť"), "a conjunct": ("xcomp<byť", "conj<byť")},
    ),
    Pairs(
        linking,
        "ru",
        "Мне/PRON/iobj<надо надо/ADV/root быть/AUX/cop<грозной *грозной/ADJ/xcomp<надо/Case=Ins|Gender=Fem",
        turns={
            "another's need": ("Мне", "Им"),
            "no instrumental": ("Case=Ins", "Case=Nom"),
            "an infinitive that takes no adjective": ("быть", "петь"),
        },
    ),
    Pairs(
        linking,
        "ru",
        "Мне/PRON/iobj<надо надо/ADV/root быть/AUX/xcomp<надо *грозной/ADJ/xcomp<быть/Case=Ins|Gender=Fem",
        turns={"no instrumental": ("Case=Ins", "Case=Nom")},
    ),
    Pairs(
        linking,
        "ru",
        "Хочу/VERB/root/Person=1 быть/AUX/cop<сильной *сильной/ADJ/xcomp<Хочу",
        turns={"no instrumental of the closed list": ("сильной", "грозной")},
    ),
    Pairs(
        linking,
        "ru",
        "Считаю/VERB/root себя/PRON/obj<Считаю *гордой/ADJ/xcomp<Считаю/Case=Ins",
        turns={
            "somebody else": ("себя", "тебя"),
            "no such verb": ("Считаю", "Называю"),
            "the reflexive in another clause": ("себя/", ",/PUNCT/punct себя/"),
        },
        stays={"a verb that takes it alone": ("Считаю", "Остаюсь")},
    ),
)

OBJECTS = (
    Pairs(
        object_complement,
        "ru",
        "Меня/PRON/obj<считают считают/VERB/root *сильной/ADJ/xcomp<считают/Case=Ins|Gender=Fem все/PRON/dep",
        turns={
            "somebody else": ("Меня", "Её"),
            "no object": ("obj<", "obl<"),
            "no verb": ("считают/VERB", "считают/NOUN"),
            "hangs otherwise": ("xcomp", "conj"),
            "hangs on nothing": ("xcomp<считают", "xcomp"),
            "the attribute of a noun": ("все/PRON/dep", "дамой/NOUN/dep/Case=Ins|Gender=Fem"),
        },
        stays={
            "an indirect object": ("obj<", "iobj<"),
            "taken for a subject": ("obj<", "nsubj<"),
            "an oblique": ("xcomp", "obl"),
            "an adverbial clause": ("xcomp", "advcl"),
            "an object": ("xcomp", "obj"),
            "its own indirect object": ("xcomp", "iobj"),
        },
    ),
)

AROUND = (
    Pairs(
        linking_verb,
        "cs",
        "Připadám/VERB/root si/PRON/expl *tlustá/ADJ/dep/Case=Nom|Gender=Fem",
        turns={
            "no verb of the table": ("Připadám", "Připadá"),
            "somebody else": ("si/PRON", "ona/PRON"),
            "in another clause": ("si/PRON/expl", ",/PUNCT/punct"),
            "the attribute of a noun": ("Fem", "Fem " + WOMAN),
        },
        stays={"a verb whose object is the speaker": ("Připadám/VERB/root si", "Považuji/VERB/root se")},
    ),
    Pairs(
        linking_nearby,
        "pl",
        "Muszę/VERB/root/Person=1 jutro/ADV/dep być/AUX/dep *silna/ADJ/dep/Case=Nom|Gender=Fem",
        turns={
            "an infinitive that takes no adjective": ("być", "pisać"),
            "another's": ("Person=1", "Person=3"),
            "somebody else": ("jutro/ADV", "ona/PRON"),
            "the attribute of a noun": ("dep/Case=Nom|Gender=Fem", "dep/Case=Nom|Gender=Fem " + WOMAN),
        },
        stays={
            "another past beside it": ("jutro/ADV", "była/VERB"),
            "nobody's": ("/Person=1", ""),
            "a verb that takes it alone": (
                "Muszę/VERB/root/Person=1 jutro/ADV/dep być",
                "była/VERB/root czuję",
            ),
        },
    ),
    Pairs(
        linking_nearby,
        "pl",
        "Kazała/VERB/root mi/PRON/iobj być/AUX/dep *silna/ADJ/dep/Case=Nom|Gender=Fem",
        turns={
            "to somebody else": ("mi/", "jej/"),
            "an infinitive that takes no adjective": ("być", "pisać"),
        },
    ),
    Pairs(
        linking_nearby,
        "ru",
        "Надо/ADV/root быть/AUX/dep *грозной/ADJ/dep/Case=Ins|Gender=Fem",
        turns={"no instrumental": ("Ins", "Nom"), "another's past": ("Надо/ADV", "Решила/VERB")},
    ),
    Pairs(
        depictive,
        "sk",
        "Prichádzam/VERB/root/Person=1 tam/ADV/advmod<Prichádzam"
        " *pripravená/ADJ/xcomp<Prichádzam/Case=Nom|Gender=Fem"
        " dnes/ADV/dep",
        turns={
            "an object": ("xcomp", "obj"),
            "hangs on nothing": ("xcomp<Prichádzam", "xcomp"),
            "an accusative": ("Case=Nom", "Case=Acc"),
            "another's verb": ("Prichádzam", "Prichádza", "Person=1", "Person=3"),
            "the attribute of a noun": ("dnes/ADV/dep", WOMAN),
            "another's name": ("tam/ADV/advmod", "Eva/PROPN/nsubj"),
            "another's name with its features": (
                "tam/ADV/advmod<Prichádzam",
                "Eva/PROPN/nsubj<Prichádzam/Case=Nom|Number=Sing",
            ),
            "a subject of its own": ("dnes/ADV/dep", "dnes/ADV/nsubj<pripravená"),
            "a clause of its own": ("dnes/ADV/dep", "dnes/ADV/mark<pripravená"),
            "a copula of its own": ("dnes/ADV/dep", "dnes/ADV/cop<pripravená"),
            "an auxiliary of its own": ("dnes/ADV/dep", "dnes/ADV/aux<pripravená"),
        },
        stays={
            "an adverbial clause": ("xcomp", "advcl"),
            "an attribute clause": ("xcomp", "acl"),
            "an oblique": ("xcomp", "obl"),
            "the speaker is named": ("tam/ADV/advmod", "ja/PRON/nsubj"),
            "no nominative": ("tam/ADV/advmod<Prichádzam", "auto/NOUN/nsubj<Prichádzam/Case=Acc"),
            "a plural": ("tam/ADV/advmod<Prichádzam", "ľudia/NOUN/nsubj<Prichádzam/Case=Nom|Number=Plur"),
            "an object of the verb": ("tam/ADV/advmod", "tam/NOUN/obj"),
        },
    ),
    Pairs(
        depictive,
        "hr",
        "Mogu/NOUN/root *umorna/ADJ/xcomp<Mogu/Case=Nom|Gender=Fem",
        turns={"no verb of the closed list": ("Mogu", "Mogao")},
    ),
)

NOBODY_ELSE = (
    Pairs(
        unclaimed,
        "sl",
        "*Rad/ADJ/root imam/VERB/dep pse/NOUN/obj",
        turns={
            "another person": ("pse/NOUN/obj", "on/PRON/obj"),
            "another's past": ("imam/VERB", "imel/VERB"),
            "a name after it": ("pse/NOUN/obj", "Ana/PROPN/nsubj/Case=Nom"),
            "a pronoun after it": ("pse/NOUN/obj", "ta/PRON/nsubj/Case=Nom"),
            "a verb in the plural": ("imam/VERB/dep", "imajo/VERB/dep/Number=Plur|VerbForm=Fin"),
            "a participle in the plural": ("imam/VERB/dep", "imeli/VERB/dep/Number=Plur|VerbForm=Part"),
        },
        stays={
            "in another clause": ("pse/NOUN/obj", ",/PUNCT/punct on/PRON/obj"),
            "a conditional is anybody's": ("imam/VERB/dep pse/NOUN/obj", "imel/VERB/dep bi/AUX/aux"),
            "a noun after it may be an object": ("pse/NOUN/obj", "pes/NOUN/nsubj/Case=Nom"),
            "a name that is no subject": ("pse/NOUN/obj", "Ana/PROPN/obj/Case=Nom"),
            "a name that is no nominative": ("pse/NOUN/obj", "Ano/PROPN/nsubj/Case=Acc"),
            "the speaker": ("pse/NOUN/obj", "jaz/PRON/nsubj/Case=Nom"),
            "a verb that is taken for a name": ("pse/NOUN/obj", "Igram/PROPN/nsubj/Case=Nom"),
            "an infinitive": ("imam/VERB/dep", "imeti/VERB/dep/Number=Plur|VerbForm=Inf"),
            "a finite singular": ("imam/VERB/dep", "imam/VERB/dep/Number=Sing|VerbForm=Fin"),
            "a plural that is no verb": ("pse/NOUN/obj", "pse/NOUN/obj/Number=Plur|VerbForm=Fin"),
        },
    ),
    Pairs(
        unclaimed,
        "sl",
        "Pes/NOUN/obj/Case=Nom *rad/ADJ/root/Case=Nom bere/VERB/dep",
        turns={"a noun before it is the subject": ("obj", "nsubj")},
        stays={"the word itself is taken for one": ("root", "nsubj")},
    ),
)


@pytest.mark.parametrize(("asked", "line", "expected"), cases(*LINKING, *OBJECTS, *AROUND, *NOBODY_ELSE))
def test_pairs(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected
