"""Rules of rank 3: nouns of persons whose masculine and feminine are both in general use."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import FEMALE, MALE
from gest_dataset.gender.rules.engine import Example, Rule

PERSONS = (
    Rule(
        "person",
        "person",
        "predicative",
        rank=3,
        examples=(Example("cs", "Jsem zpěvačka.", FEMALE, ("zpěvačka",)),),
    ),
    Rule(
        "feminine",
        "feminine",
        "predicative",
        rank=3,
        examples=(Example("bg", "Аз съм учителка.", FEMALE, ("учителка",)),),
    ),
    Rule(
        "person-as",
        "person",
        "as_person",
        rank=3,
        examples=(Example("hr", "Radim kao konobar.", MALE, ("konobar",)),),
    ),
    Rule(
        "person-opening",
        "person",
        "as_opening",
        rank=3,
        examples=(Example("bg", "Като момиче събирах салфетки.", FEMALE, ("момиче",)),),
    ),
    Rule(
        "feminine-as",
        "feminine",
        "as_person",
        rank=3,
        examples=(Example("hr", "Radim kao profesorica.", FEMALE, ("profesorica",)),),
    ),
    Rule(
        "person-instrumental",
        "person_instrumental",
        "serving",
        rank=3,
        examples=(Example("ru", "Я работаю официантом.", MALE, ("официантом",)),),
    ),
    Rule(
        "feminine-instrumental",
        "feminine_instrumental",
        "serving",
        rank=3,
        examples=(Example("pl", "Jestem bibliotekarką.", FEMALE, ("bibliotekarką",)),),
    ),
    Rule(
        "masculine",
        "masculine",
        "predicative",
        rank=3,
        examples=(Example("sl", "Po poklicu sem mizar.", MALE, ("mizar",)),),
    ),
    Rule(
        "masculine-as",
        "masculine",
        "as_person",
        rank=3,
        examples=(Example("cs", "Pracuju jako řezník na tržnici.", MALE, ("řezník",)),),
    ),
    Rule(
        "masculine-instrumental",
        "masculine_instrumental",
        "serving",
        rank=3,
        examples=(Example("pl", "Jestem zapalonym wędkarzem.", MALE, ("wędkarzem",)),),
    ),
)
