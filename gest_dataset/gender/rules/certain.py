"""Rules of rank 1: a first-person auxiliary or pronoun belongs to the word, or its ending is one."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import FEMALE, MALE
from gest_dataset.gender.rules.engine import Example, Rule

CERTAIN = (
    Rule(
        "fused-ending", "fused", "itself", examples=(Example("pl", "Zostałam matką.", FEMALE, ("Zostałam",)),)
    ),
    Rule(
        "past-auxiliary",
        "past",
        "auxiliary",
        examples=(
            Example("cs", "Měl bych víc spát.", MALE, ("Měl",)),
            Example("hr", "Donio sam kavu.", MALE, ("Donio",)),
            Example("pl", "Będę czekała przed kinem.", FEMALE, ("czekała",)),
            Example("sk", "Stala som sa matkou.", FEMALE, ("Stala",)),
            Example("sl", "Postala sem mati.", FEMALE, ("Postala",)),
            Example("sr", "Doneo sam kafu.", MALE, ("Doneo",)),
        ),
    ),
    Rule(
        "past-pronoun",
        "past",
        "pronoun",
        examples=(
            Example("be", "Я стала маці.", FEMALE, ("стала",)),
            Example("cs", "Já jsem to nevěděl.", MALE, ("nevěděl",)),
            Example("hr", "Ja to nisam znao.", MALE, ("znao",)),
            Example("ru", "Я не смог ей помочь.", MALE, ("смог",)),
            Example("sk", "Ja som to nevedela.", FEMALE, ("nevedela",)),
        ),
    ),
    Rule(
        "adjective-copula",
        "adjective",
        "auxiliary",
        examples=(
            Example("cs", "Jsem líná a nepořádná.", FEMALE, ("líná",)),
            Example("hr", "Spreman sam za put.", MALE, ("Spreman",)),
            Example("pl", "Jestem gotowy do drogi.", MALE, ("gotowy",)),
            Example("sk", "Som rozladená.", FEMALE, ("rozladená",)),
            Example("sl", "Lena sem in neurejena.", FEMALE, ("Lena",)),
            Example("sr", "Spreman sam za put.", MALE, ("Spreman",)),
        ),
    ),
    Rule(
        "adjective-pronoun",
        "adjective",
        "pronoun",
        examples=(
            Example("be", "Я гатовы да дарогі.", MALE, ("гатовы",)),
            Example("bg", "Аз съм доволна.", FEMALE, ("доволна",)),
            Example("hr", "Ja umoran? Nikad.", MALE, ("umoran",)),
            Example("ru", "Я ленивая и неряшливая.", FEMALE, ("ленивая",)),
        ),
    ),
    Rule(
        "short-pronoun", "short", "pronoun", examples=(Example("ru", "Я готов к дороге.", MALE, ("готов",)),)
    ),
    Rule(
        "agreeing",
        "agreeing",
        "spoken",
        examples=(
            Example("be", "Я сам усё пабудаваў.", MALE, ("сам",)),
            Example("cs", "Mám rád psy.", MALE, ("rád",)),
            Example("hr", "Ostala sam sama kod kuće.", FEMALE, ("sama",)),
            Example("pl", "Zostałem sam w domu.", MALE, ("sam",)),
            Example("ru", "Я сама всё починила.", FEMALE, ("сама",)),
            Example("sk", "Spím sama.", FEMALE, ("sama",)),
            Example("sl", "Rad imam pse.", MALE, ("Rad",)),
            Example("sr", "Ostala sam sama kod kuće.", FEMALE, ("sama",)),
        ),
    ),
)
