"""Rules of rank 2 for words that a tagger takes for something else."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import FEMALE, MALE
from gest_dataset.gender.rules.engine import Example, Rule

MISTAGGED = (
    Rule(
        "alone-second-finite",
        "alone_as_auxiliary",
        "second_finite",
        rank=2,
        examples=(Example("hr", "Večeram sam.", MALE, ("sam",)),),
    ),
    Rule(
        "past-as-other",
        "past_as_other",
        "lone",
        rank=2,
        examples=(
            Example("be", "Я зразумела ўсё.", FEMALE, ("зразумела",)),
            Example("cs", "Přál bych si klid.", MALE, ("Přál",)),
            Example("ru", "Я нервничала.", FEMALE, ("нервничала",)),
            Example("sl", "Sprejemala sem vse.", FEMALE, ("Sprejemala",)),
            Example("sr", "Jeo sam previše.", MALE, ("Jeo",)),
        ),
    ),
    Rule(
        "past-as-noun",
        "past_as_noun",
        "lone",
        rank=2,
        examples=(
            Example("hr", "Htjela bih naučiti plivati.", FEMALE, ("Htjela",)),
            Example("ru", "Я много работала.", FEMALE, ("работала",)),
            Example("sl", "Sram me je, da sem to rekla.", FEMALE, ("rekla",)),
            Example("sr", "Stidim se što sam to rekla.", FEMALE, ("rekla",)),
        ),
    ),
    Rule(
        "past-as-genitive",
        "past_as_genitive",
        "lone_subject",
        rank=2,
        examples=(Example("be", "Я заўсёды шукаў нешта новае.", MALE, ("шукаў",)),),
    ),
    Rule(
        "adjective-as-verb",
        "adjective_as_verb",
        "auxiliary",
        rank=2,
        examples=(
            Example("cs", "Nejsem si jistá, jestli mám pravdu.", FEMALE, ("jistá",)),
            Example("pl", "Zostałam matką.", FEMALE, ("Zostałam",)),
        ),
    ),
    Rule(
        "adjective-as-third-linking",
        "adjective_as_third",
        "linking_verb",
        rank=2,
        examples=(Example("cs", "Připadám si tlustá.", FEMALE, ("tlustá",)),),
    ),
    Rule(
        "participle-before-copula",
        "participle_as_other",
        "before_copula",
        rank=2,
        examples=(Example("sl", "Poročen sem že petnajst let.", MALE, ("Poročen",)),),
    ),
    Rule(
        "adjective-as-noun",
        "adjective_as_noun",
        "nearby",
        rank=2,
        examples=(Example("sk", "Nie som taký hlúpy, ako si myslíš.", MALE, ("taký",)),),
    ),
    Rule(
        "adjective-as-other",
        "adjective_as_other",
        "lone",
        rank=2,
        examples=(Example("ru", "Я застенчивая.", FEMALE, ("застенчивая",)),),
    ),
    Rule(
        "past-as-noun-alone",
        "past_as_noun",
        "verbless",
        rank=2,
        examples=(Example("ru", "С детства мечтала о сцене.", FEMALE, ("мечтала",)),),
    ),
)
