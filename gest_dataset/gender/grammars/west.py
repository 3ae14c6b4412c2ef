"""West Slavic: Slovak, Czech, Polish."""

from __future__ import annotations

from gest_dataset.gender.grammars import words
from gest_dataset.gender.grammars.grammar import (
    ANY_CASE,
    MISTAGGED,
    NEVER,
    NOUNS,
    VERBS,
    Forms,
    Grammar,
    either,
    pairs,
    table,
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
            # -í is plural but after these: *šťastní*, *starší*
            "adjective": Forms("[ýy]|[šžčcz][íi]|rád|sám|hoden|vinen|dlžen", "[áa]", never="vedúci"),
            "adjective_as_verb": Forms("ý", "á", upos=_AS_VERB, cases=table(" ")),
            "adjective_as_noun": Forms("[ntvk]ý", "[ntvk]á", upos=_AS_NOUN, never=_NO_ADJECTIVE),
            "past_as_other": Forms("l", "la", upos=MISTAGGED, never="[uin]ál"),
        },
        words={
            "known": {**words.SLOVAK, **words.MARRIED["sk"]},
            "glad": pairs("rád:rada nerád:nerada"),
            "agreeing": pairs("rád:rada nerád:nerada sám:sama"),
        },
    ),
    "cs": Grammar(
        pronouns=table("já"),
        auxiliaries=table("jsem nejsem bych budu nebudu"),
        others=table("on ona my vy oni ony jsi ses sis jste"),  # *ty* is also *those*: its tag decides
        datives=table("mi mně"),
        selves=table("sebe sobě sebou"),
        linking="(ne)?(cítím|zůstávám|zůstanu|stanu|stávám|připadám|chodím)",
        considering="(ne)?(považuji|považuju)",
        infinitives=table("být stát zůstat cítit nebýt"),
        first="(ám|ím|ji|ju|u)",
        infinitive="([aeěiy]t|ovat|ávat|ívat|out)",
        governing="(ne)?(odhodlan|schopn|ochotn|připraven|rozhodnut|nucen|zvykl|povin|hotov)[ýáa]",
        forms={
            "past": _CZECH_PAST,
            # -í says nothing: *jsem moderní*
            "adjective": Forms("ý|[nt]|rád|sám|zdráv|živ|bos", "á|[nt]a|ráda|sama"),
            "adjective_as_verb": Forms("ý", "á", upos=_AS_VERB, cases=table(" ")),
            "adjective_as_third": Forms(NEVER, "[^aeiouy]á", upos=table("VERB")),
            "adjective_as_noun": Forms("[ntvk]ý", "[ntvk]á", upos=_AS_NOUN, never=_NO_ADJECTIVE),
            "past_as_other": Forms("l", "la", upos=MISTAGGED, never="tel|[uin]ál"),
            "past_as_noun": Forms(
                "[^aáuúůoó]l",
                "la",
                upos=table("NOUN"),
                never="tel|(manž|and|pan|mod|reb|tun|hot|ap|kart|pos|os|or|koz|kot|chm|kaš|uh|^k)el"
                "|(deb|imbec|prof|ex|krokod|automob)il|styl|^(škola|síla|vila|kapela|jehla|koala|chvála|skála)",
            ),
        },
        words={
            "known": {**words.CZECH, **words.MARRIED["cs"]},
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
        degrees=table("za"),
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
                upos=either(VERBS, NOUNS, MISTAGGED),
                cases=ANY_CASE,
                never=_POLISH_NOUNS,
                surface=True,
            ),
        },
        words={
            "known": {**words.POLISH, **words.MARRIED["pl"]},
            "agreeing": pairs("sam:sama"),
            "demonstrative": pairs("tym:tą"),
        },
    ),
}
