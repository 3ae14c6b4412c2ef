"""West Slavic: Slovak, Czech, Polish."""

from __future__ import annotations

from gest_dataset.gender import words
from gest_dataset.gender.engine import Example, Rule
from gest_dataset.gender.grammar import (
    ANY_CASE,
    FEMALE,
    MALE,
    MISTAGGED,
    NAMES,
    VERBS,
    Forms,
    Grammar,
    either,
    pairs,
    table,
)

RULES = (
    Rule(
        "fused-ending",
        "fused",
        "itself",
        examples=(Example("pl", "Zostałam matką.", FEMALE, ("Zostałam",)),),
    ),
    Rule(
        "past-auxiliary",
        "past",
        "auxiliary",
        examples=(
            Example("cs", "Měl bych víc spát.", MALE, ("Měl",)),
            Example("pl", "Będę czekała przed kinem.", FEMALE, ("czekała",)),
            Example("sk", "Stala som sa matkou.", FEMALE, ("Stala",)),
        ),
    ),
    Rule(
        "past-pronoun",
        "past",
        "pronoun",
        examples=(
            Example("cs", "Já jsem to nevěděl.", MALE, ("nevěděl",)),
            Example("sk", "Ja som to nevedela.", FEMALE, ("nevedela",)),
        ),
    ),
    Rule(
        "adjective-copula",
        "adjective",
        "auxiliary",
        examples=(
            Example("cs", "Jsem líná a nepořádná.", FEMALE, ("líná",)),
            Example("pl", "Jestem gotowy do drogi.", MALE, ("gotowy",)),
            Example("sk", "Som rozladená.", FEMALE, ("rozladená",)),
        ),
    ),
    Rule(
        "agreeing",
        "agreeing",
        "spoken",
        examples=(
            Example("cs", "Mám rád psy.", MALE, ("rád",)),
            Example("sk", "Spím sama.", FEMALE, ("sama",)),
            Example("pl", "Zostałem sam w domu.", MALE, ("sam",)),
        ),
    ),
    Rule(
        "past-coordinated",
        "past",
        "coordinated",
        rank=2,
        examples=(
            Example("cs", "Byl jsem hodně unavený, a tak jsem hned usnul.", MALE, ("usnul",)),
            Example("pl", "Siedziałem przy stole i czekałem.", MALE, ("czekałem",)),
            Example("sk", "Bola som veľmi unavená, a tak som hneď zaspala.", FEMALE, ("zaspala",)),
        ),
    ),
    Rule(
        "adjective-coordinated",
        "adjective",
        "coordinated",
        rank=2,
        examples=(
            Example("cs", "Jsem líná a nepořádná.", FEMALE, ("nepořádná",)),
            Example("pl", "Jestem leniwa i niedbała.", FEMALE, ("niedbała",)),
            Example("sk", "Som lenivá a neporiadna.", FEMALE, ("neporiadna",)),
        ),
    ),
    Rule(
        "adjective-linking",
        "adjective",
        "linking",
        rank=2,
        examples=(
            Example("pl", "Czuję się dziś samotna.", FEMALE, ("samotna",)),
            Example("sk", "Cítim sa slabý.", MALE, ("slabý",)),
        ),
    ),
    Rule(
        "adjective-linking-nearby",
        "adjective",
        "linking_nearby",
        rank=2,
        examples=(
            Example("pl", "Czuję się dziś samotna.", FEMALE, ("samotna",)),
            Example("sk", "Cítim sa slabý.", MALE, ("slabý",)),
        ),
    ),
    Rule(
        "adjective-depictive",
        "adjective",
        "depictive",
        rank=2,
        examples=(Example("sk", "Idem tam pripravená.", FEMALE, ("pripravená",)),),
    ),
    Rule(
        "past-nearby",
        "past",
        "nearby",
        rank=2,
        examples=(
            Example("cs", "Měl bych víc spát.", MALE, ("Měl",)),
            Example("pl", "Zostałam matką.", FEMALE, ("Zostałam",)),
            Example("sk", "Stala som sa matkou.", FEMALE, ("Stala",)),
        ),
    ),
    Rule(
        "adjective-nearby",
        "adjective",
        "nearby",
        rank=2,
        examples=(
            Example("cs", "Jsem líná a nepořádná.", FEMALE, ("líná",)),
            Example("pl", "Jestem gotowy do drogi.", MALE, ("gotowy",)),
            Example("sk", "Som rozladená.", FEMALE, ("rozladená",)),
        ),
    ),
    Rule(
        "known-nearby",
        "known",
        "nearby",
        rank=2,
        examples=(
            Example("cs", "Nejsem si jistá, jestli mám pravdu.", FEMALE, ("jistá",)),
            Example("pl", "Nie jestem taki głupi, jak myślisz.", MALE, ("głupi",)),
            Example("sk", "Som prekvapivo pokojný.", MALE, ("pokojný",)),
        ),
    ),
    Rule(
        "known-linking",
        "known",
        "linking_nearby",
        rank=2,
        examples=(
            Example("cs", "Cítím se slabý.", MALE, ("slabý",)),
            Example("pl", "Czuję się słaba.", FEMALE, ("słaba",)),
            Example("sk", "Cítim sa slabý.", MALE, ("slabý",)),
        ),
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
        "adjective-as-noun",
        "adjective_as_noun",
        "nearby",
        rank=2,
        examples=(Example("sk", "Nie som taký hlúpy, ako si myslíš.", MALE, ("taký",)),),
    ),
    Rule(
        "past-as-other",
        "past_as_other",
        "lone",
        rank=2,
        examples=(Example("cs", "Přál bych si klid.", MALE, ("Přál",)),),
    ),
    Rule(
        "glad-unclaimed",
        "glad",
        "unclaimed",
        rank=2,
        examples=(
            Example("cs", "Rád čtu detektivky.", MALE, ("Rád",)),
            Example("sk", "Rada čítam detektívky.", FEMALE, ("Rada",)),
        ),
    ),
    Rule(
        "glad-before-ending",
        "glad",
        "before_ending",
        rank=2,
        examples=(
            Example("cs", "Rád čtu detektivky.", MALE, ("Rád",)),
            Example("sk", "Rada čítam detektívky.", FEMALE, ("Rada",)),
        ),
    ),
)

# nouns that a tagger takes for past tenses
_SLOVAK_PAST = Forms(
    "l",
    "la",
    upos=VERBS,
    never="(ion|er|de|ber|ektu|dik|pit)ál|^(manžel|model|rebel|idol|konzul|odmala|čísla|pravidlá|pádla|kresla)",
)
_CZECH_PAST = Forms(
    "l",
    "la",
    upos=VERBS,
    never="tel|(ion|er|de|ber|ektu|dik|pit)ál|^(manžel|přítel|model|rebel|idol|konzul|král|odmala|čísla|pravidla"
    "|zavazadla|jídla|křesla|mýdla|prostěradla|letadla|pádla)",
)
_POLISH_NOUNS = (
    "^(u|po|z|prze|wy|do|od|nad|pod|na|roz|współ)?(zespo|cia|źród|mys|sto|anio|kościo|artyku|tytu|materia|sygna"
    "|kana|genera|mo|kawa|wa|ty|dzia|zapa|szczegó|ogó|protoko|dzie|krzes|mas|myd|szk|pud|skrzyd|prześcierad"
    "|has|rzemios|siod|wios|żywio|czo|ko|do|fina|skanda|idea|potencja|kapita|orygina|arsena|rytua|diab|popio"
    "|szpita|kryszta|specja|t|dzięcio|wo|mias|z|bagn|św|modu|wierzcho|jab|zió)łem"
)
_AS_VERB = frozenset({"VERB", "ADV"})
_AS_NOUN = frozenset({"NOUN", "PROPN", "PART", "DET"})
_NO_ADJECTIVE = "^(možná|možno|každ|žádn|žiadn|kter|ktor)"

GRAMMARS = {
    "sk": Grammar(
        pronouns=table("ja"),
        auxiliaries=table("som budem nebudem"),
        others=table("ty on ona my vy oni ony ste"),
        datives=table("mi mne"),
        selves=table("seba sebe sebou"),
        linking="(ne)?(cítim|zostávam|ostávam|zostanem|ostanem|stanem|stávam|pripadám|chodím)",
        considering="(ne)?považujem",
        infinitives=table("byť stať zostať ostať cítiť nebyť"),
        first="(ám|am|ím|im|iem|em)",
        forms={
            "past": _SLOVAK_PAST,
            "adjective": Forms("[ýyíi]|rád|sám|hoden|vinen|dlžen", "[áa]", never="vedúci"),
            "adjective_as_verb": Forms("ý", "á", upos=_AS_VERB, cases=table(" ")),
            "adjective_as_noun": Forms("[ntvk]ý", "[ntvk]á", upos=_AS_NOUN, never=_NO_ADJECTIVE),
            "past_as_other": Forms("l", "la", upos=MISTAGGED, never="[uin]ál"),
        },
        words={
            "known": words.SLOVAK,
            "glad": pairs("rád:rada nerád:nerada"),
            "agreeing": pairs("rád:rada nerád:nerada sám:sama"),
        },
    ),
    "cs": Grammar(
        pronouns=table("já"),
        auxiliaries=table("jsem nejsem bych budu nebudu"),
        others=table("ty on ona my vy oni ony jsi ses sis jste"),
        datives=table("mi mně"),
        selves=table("sebe sobě sebou"),
        linking="(ne)?(cítím|zůstávám|zůstanu|stanu|stávám|připadám|chodím)",
        considering="(ne)?(považuji|považuju)",
        infinitives=table("být stát zůstat cítit nebýt"),
        first="(ám|ím|ji|ju|u)",
        forms={
            "past": _CZECH_PAST,
            # -í says nothing: *jsem moderní*
            "adjective": Forms("ý|[nt]|rád|sám|zdráv|živ|bos", "á|[nt]a|ráda|sama"),
            "adjective_as_verb": Forms("ý", "á", upos=_AS_VERB, cases=table(" ")),
            "adjective_as_noun": Forms("[ntvk]ý", "[ntvk]á", upos=_AS_NOUN, never=_NO_ADJECTIVE),
            "past_as_other": Forms("l", "la", upos=MISTAGGED, never="tel|[uin]ál"),
        },
        words={
            "known": words.CZECH,
            "glad": pairs("rád:ráda nerad:nerada nerád:neráda rad:rada"),
            "agreeing": pairs("rád:ráda nerad:nerada nerád:neráda rad:rada sám:sama"),
        },
    ),
    "pl": Grammar(
        pronouns=table("ja"),
        auxiliaries=table("m em am jestem będę bym"),
        others=table("ty on ona my wy oni one ś eś aś"),
        datives=table("mi mnie"),
        selves=table("siebie sobie sobą"),
        linking="czuję|pozostaję|zostanę|staję|stanę",
        infinitives=table("być stać czuć pozostać zostać"),
        first="(am|em|ę)",
        forms={
            "past": Forms("ł|winien", "ła|winna", upos=VERBS),
            "adjective": Forms(
                "y|[kg]i|(głup|ostatn)i|pewien|gotów|zdrów|wart|winien|ciekaw|świadom|pełen|rad|sam",
                "a",
                never="początkujący|przełożony|przewodniczący|uczony|księgowy|służący",
            ),
            "adjective_as_verb": Forms(
                "[^l]y|[kg]i|głupi|(wytrwa|czu|śmia)ły", "a", upos=_AS_VERB, cases=table(" ")
            ),
            "fused": Forms(
                "łem|łbym|winienem",
                "łam|łabym|winnam",
                upos=either(VERBS, NAMES, MISTAGGED),
                cases=ANY_CASE,
                never=_POLISH_NOUNS,
                surface=True,
            ),
        },
        words={"known": words.POLISH, "agreeing": pairs("sam:sama")},
    ),
}
