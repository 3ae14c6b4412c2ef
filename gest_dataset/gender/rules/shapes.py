"""Rules of rank 3: words known by their shape, beside a word of the first person."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import FEMALE, MALE
from gest_dataset.gender.rules.engine import Example, Rule

SHAPES = (
    Rule(
        "past-quoting",
        "past",
        "quoting",
        rank=3,
        examples=(Example("uk", "Завжди кажу собі: «Забув би й піти».", MALE, ("Забув",)),),
    ),
    Rule(
        "known-past-quoting",
        "known_past",
        "quoting",
        rank=3,
        examples=(Example("ru", "Всегда говорю себе: «Мог бы и учиться».", MALE, ("Мог",)),),
    ),
    Rule(
        "instrumental-made",
        "instrumental",
        "made",
        rank=3,
        examples=(Example("uk", "Мене призначили відповідальною за свято.", FEMALE, ("відповідальною",)),),
    ),
    Rule(
        "known-instrumental-made",
        "known_instrumental",
        "made",
        rank=3,
        examples=(Example("be", "Мяне прызначылі адказнай за свята.", FEMALE, ("адказнай",)),),
    ),
    Rule(
        "one-who",
        "one_who",
        "who",
        rank=3,
        examples=(Example("bg", "Аз съм тази, която плаща сметките.", FEMALE, ("тази",)),),
    ),
    Rule(
        "shape-linking",
        "shape",
        "linking_verb",
        rank=3,
        examples=(Example("sl", "Ko vstopim v službo, takoj postanem tekmovalen.", MALE, ("tekmovalen",)),),
    ),
    Rule(
        "known-governing",
        "known",
        "governing",
        rank=3,
        examples=(Example("ru", "Готов помочь каждому.", MALE, ("Готов",)),),
    ),
    Rule(
        "alone-initial",
        "alone_as_auxiliary",
        "initial",
        rank=3,
        examples=(Example("hr", "Sam si kuham i perem.", MALE, ("Sam",)),),
    ),
    Rule(
        "accusative-considered",
        "accusative",
        "considered",
        rank=3,
        examples=(Example("cs", "Považuji se za trpělivou.", FEMALE, ("trpělivou",)),),
    ),
    Rule(
        "instrumental-shape-linking",
        "instrumental_shape",
        "linking_last",
        rank=3,
        examples=(Example("hr", "Smatram se strpljivom.", FEMALE, ("strpljivom",)),),
    ),
    Rule(
        "known-instrumental-depicting",
        "known_instrumental",
        "depicting",
        rank=3,
        examples=(Example("uk", "Завжди приходжу на зустрічі першим.", MALE, ("першим",)),),
    ),
    Rule(
        "one-depicting",
        "one",
        "depicting",
        rank=3,
        examples=(Example("be", "Жыву адзін у вялікім доме.", MALE, ("адзін",)),),
    ),
    Rule(
        "agreeing-depicting",
        "agreeing",
        "depicting",
        rank=3,
        examples=(Example("uk", "Живу сам у великому будинку.", MALE, ("сам",)),),
    ),
    Rule(
        "past-as-other-relative",
        "past_as_other",
        "relative",
        rank=3,
        examples=(Example("be", "Я, якая ніколі не ўмела плаваць, баюся вады.", FEMALE, ("ўмела",)),),
    ),
    Rule(
        "adjective-joined",
        "adjective",
        "joined",
        rank=3,
        examples=(Example("cs", "Bývám nervózní a bledá.", FEMALE, ("bledá",)),),
    ),
    Rule(
        "agreeing-opening",
        "agreeing",
        "opening",
        rank=3,
        examples=(Example("be", "«Сам вінаваты», — кажу я сабе.", MALE, ("Сам",)),),
    ),
    Rule(
        "short-alone", "short", "alone", rank=3, examples=(Example("ru", "Сам виноват.", MALE, ("виноват",)),)
    ),
    Rule(
        "shape-copular",
        "shape",
        "copular",
        rank=3,
        examples=(Example("bg", "Сутрин съм сърдита.", FEMALE, ("сърдита",)),),
    ),
    Rule(
        "known-copular",
        "known",
        "copular",
        rank=3,
        examples=(Example("hr", "Nisam baš dobar u pokazivanju svojih emocija.", MALE, ("dobar",)),),
    ),
    Rule(
        "past-shape-copular",
        "past_shape",
        "copular",
        rank=3,
        examples=(Example("hr", "Od malih nogu sam željela tarantule.", FEMALE, ("željela",)),),
    ),
    Rule(
        "known-depicting",
        "known",
        "depicting",
        rank=3,
        examples=(Example("sr", "Vraćam se gladan.", MALE, ("gladan",)),),
    ),
    Rule(
        "state-depicting",
        "state",
        "depicting",
        rank=3,
        examples=(Example("pl", "Rano wstaję niewyspany.", MALE, ("niewyspany",)),),
    ),
    Rule(
        "known-as",
        "known",
        "as_child",
        rank=3,
        examples=(Example("bg", "Като малка прекарвах летата на село.", FEMALE, ("малка",)),),
    ),
    Rule(
        "past-relative",
        "past",
        "relative",
        rank=3,
        examples=(
            Example("ru", "Я, который столько раз проигрывал, знаю цену победе.", MALE, ("проигрывал",)),
        ),
    ),
    Rule(
        "past-resumed",
        "past",
        "resumed",
        rank=3,
        examples=(
            Example("uk", "Я викладаю хімію, але торік захистила дисертацію.", FEMALE, ("захистила",)),
        ),
    ),
    Rule(
        "alone-after-ending",
        "alone_as_auxiliary",
        "after_ending",
        rank=3,
        examples=(Example("sr", "Živim sam u stanu.", MALE, ("sam",)),),
    ),
)
