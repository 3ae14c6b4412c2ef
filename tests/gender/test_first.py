"""The plain reasons, each on minimal pairs."""

from __future__ import annotations

import pytest

from gest_dataset.gender.rules.first import auxiliary, first_person, pronoun
from tests.gender.minimal import Pairs, answer, cases

TABLE = (
    Pairs(
        auxiliary,
        "sk",
        "*Bola/VERB/root/Gender=Fem som/AUX/aux<Bola tam/ADV/advmod<Bola",
        turns={
            "auxiliary of the second person": ("som/", "si/"),
            "no auxiliary of its predicate": ("aux<Bola", "obl<Bola"),
            "across a comma": ("som/", ",/PUNCT/punct<Bola som/"),
            "somebody else is the subject": ("tam/ADV/advmod", "on/PRON/nsubj"),
        },
        stays={
            "a copula": ("aux<", "cop<"),
            "somebody else is the object": ("tam/ADV/advmod", "on/PRON/obj"),
            "the speaker is the subject": ("tam/ADV/advmod", "ja/PRON/nsubj"),
        },
    ),
    Pairs(
        auxiliary,
        "sk",
        "*Bola/AUX/cop<unavená som/AUX/aux<unavená unavená/ADJ/root",
        turns={
            "the auxiliary hangs elsewhere": ("som/AUX/aux<unavená", "som/AUX/dep<unavená"),
            "an auxiliary helps another word": ("cop<unavená", "obl<unavená"),
        },
    ),
    Pairs(
        auxiliary,
        "hr",
        "Bih/AUX/aux<popio kavu/NOUN/obj<popio i/CCONJ/cc<popio čaj/NOUN/conj<popio *popio/VERB/root",
        turns={
            "a comma between": ("i/CCONJ/cc", ",/PUNCT/punct"),
            "a comma right after the auxiliary": ("kavu/NOUN/obj", ",/PUNCT/punct"),
            "another clause between": ("i/CCONJ/cc", "da/SCONJ/mark"),
            "a verb between": ("čaj/NOUN/conj", "pijem/VERB/conj"),
            "another auxiliary between": ("čaj/NOUN/conj", "budeš/AUX/conj"),
            "a relative between": ("čaj/NOUN/conj<popio", "koji/DET/det<popio/PronType=Rel"),
        },
    ),
    Pairs(
        auxiliary,
        "pl",
        "Jestem/AUX/cop<dobra *dobra/ADJ/root/Case=Nom|Gender=Fem dziś/ADV/dep<dobra",
        turns={"the attribute of a noun": ("dziś/ADV/dep<dobra", "żona/NOUN/dep<dobra/Case=Nom|Gender=Fem")},
    ),
    Pairs(
        auxiliary,
        "hr",
        "sam/AUX/aux<odrasla *odrasla/VERB/root/VerbForm=Part danas/ADV/obl<odrasla",
        turns={"*odrasla osoba*": ("danas/ADV/obl<odrasla", "osoba/NOUN/obl<odrasla/Case=Nom")},
    ),
    Pairs(
        pronoun,
        "ru",
        "Я/PRON/nsubj<готовая *готовая/ADJ/root/Case=Nom|Gender=Fem уже/ADV/dep<готовая",
        turns={
            "another pronoun": ("Я/", "Она/"),
            "no subject": ("nsubj<", "obj<"),
            "the attribute of a noun": ("уже/ADV/dep<готовая", "мама/NOUN/dep<готовая/Case=Nom|Gender=Fem"),
        },
    ),
    Pairs(
        pronoun,
        "hr",
        "Ja/PRON/nsubj<odrasla *odrasla/VERB/root/VerbForm=Part danas/ADV/obl<odrasla",
        stays={
            "only adjectives are attributes": ("danas/ADV/obl<odrasla", "osoba/NOUN/obl<odrasla/Case=Nom")
        },
    ),
    Pairs(
        first_person,
        "sk",
        "*Idem/VERB/root/Person=1 domov/ADV/advmod<Idem",
        turns={"another ending": ("Idem", "Ideš", "Person=1", "Person=2")},
    ),
    Pairs(first_person, "hr", "*Mogu/NOUN/root", turns={"no verb of the closed list": ("Mogu", "Mogao")}),
    Pairs(first_person, "sk", "*Bola/VERB/root som/AUX/aux<Bola", turns={"no auxiliary": ("som/", "je/")}),
    Pairs(first_person, "ru", "Я/PRON/nsubj<была *была/VERB/root", turns={"no pronoun": ("Я/", "Анна/")}),
)


@pytest.mark.parametrize(("asked", "line", "expected"), cases(*TABLE))
def test_pairs(asked: Pairs, line: str, expected: bool) -> None:
    assert answer(asked, line) is expected
