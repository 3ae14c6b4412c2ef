"""South Slavic: Croatian, Serbian, Slovenian, Bulgarian."""

from __future__ import annotations

from gest_dataset.gender.grammars import words
from gest_dataset.gender.grammars.grammar import (
    ANY_CASE,
    MISTAGGED,
    NEVER,
    VERBS,
    Forms,
    Grammar,
    pairs,
    table,
)

# what a predicate adjective ends in: suffixes, and the short words that have none
_MALE = (
    "(an|en|in|iv|av|it|at|ut|ast|ji|ši|[^š]ni|vi|ki|ći|či|sti|di|ri)"
    "|^(pre|naj|ne)?(jak|lak|kratak|nizak|gladak|krepak|visok|širok|dubok|dobar|star|mudar|hrabar|bistar|brz"
    "|lijep|lep|glup|grub|slab|mlad|lud|tvrd|prost|čist|svet|nov|bos|topao|zreo|veseo|vesel|debeo|debel"
    "|tih|suh|suv|dug|drag|strog|loš|mokar|trom|pitom|cijel|šibek|lahek|kratek|nizek|težek|dober"
    "|moder|hiter|bister|oster|trd|zrel|kisel|tog|krut|čvrst|trezen|zdrav|živ|siv|kriv|bled|blijed)"
)
_NOUNS = (
    "(nik|telj|(?<!č)ist|lac|ica|inja|član|kapetan|veteran|vegan|tjedan|jedan|plan|kandidat|advokat|diplomat|favorit)"
    "|^(dan|van|vani|stan|brat|fan|osoba|oseba|žrtva|zvijezda|zvezda|beba|glava|vođa|vodja|sudija|kolega|budala"
    "|legenda|ikona|duša|jelena|dijete|dete|otroka|prestani|zašto|adrenalina|uzoraka|tla|tata|mama|majka"
    "|žena|domaćin)"
)
_ADJECTIVE = Forms(_MALE, "[^aeiou]a|[ij]a", participles=True, never=_NOUNS)

# passive participles that a tagger takes for something else
_PARTICIPLE = Forms(
    "[^aeiou](en|an)",
    "[^aeiou](ena|ana)",
    upos=table("NOUN DET VERB X"),
    cases=ANY_CASE,
    never=_NOUNS
    + "|^(slaven|balkan|ocean|organ|orkan|kaplan|domen|ramen|plamen|kamen|greben|jasen|koren|prsten"
    "|hrana|strana|grana|ograna|cijena|cena|scena|sjena|sena|pjena|pena|stena|stijena|promena|izmena|smena|slana)",
)

# suffixes that adjectives have, and their comparatives
_SUFFIXED = Forms(
    "ljiv|oglav|[^ijltn]ast|ljiviji|[^aeiou]niji|ejši",
    "ljiva|oglava|[^ijltn]asta|ljivija|[^aeiou]nija|ejša",
    upos=table("NOUN"),
    cases=ANY_CASE,
    never="^(šljiva|pasta|vrsta|kasta|basta|hrast|rast|porast|uzrast|strast|čast)",
)

_CROATIAN = Grammar(
    pronouns=table("ja"),
    auxiliaries=table("sam nisam bih jesam budem ću neću biću"),
    others=table("on ona vi oni one ste biste"),
    clitics=table("ti mi vi si te nas vas"),
    certain=table("mogu"),
    datives=table("mi meni"),
    objects=table("me mene"),
    linking="(ne)?(osjećam|osećam|ostajem|ostanem|postajem|postanem|izgledam)",
    considering="(ne)?(smatram|držim|činim)",
    infinitives=table("biti ostati postati budem"),
    first="(am|im|em)|mogu",
    forms={
        "past": Forms("[aeiou]o", "la", upos=VERBS),
        "adjective": _ADJECTIVE,
        "participle_as_other": _PARTICIPLE,
        "adjective_as_noun": _SUFFIXED,
        "instrumental": Forms("im", "om", cases=table("Ins")),
        "agreeing": Forms("^sam", "^sama", upos=table("ADJ DET PRON")),
        "alone_as_auxiliary": Forms("^sam", NEVER, upos=table("AUX")),
        "past_as_other": Forms("[aeiou]o", "la", upos=MISTAGGED),
        "past_as_noun": Forms(
            "[aei]o",
            "[aeiuk]la|šla",
            upos=table("NOUN"),
            never="posao|dio|video|radio|anđeo|kakao|budala|škola|sila|pčela|vila|skala|gorila|kobila",
        ),
    },
    words={"known": {**words.CROATIAN, **words.SERBIAN, **words.MARRIED["hr"], **words.MARRIED["sr"]}},
)

GRAMMARS = {
    "hr": _CROATIAN,
    "sr": _CROATIAN,
    "sl": Grammar(
        pronouns=table("jaz"),
        auxiliaries=table("sem nisem bom"),
        impersonal=table("bi"),
        reporting=table("da"),
        relatives=table("ki kateri katera"),
        others=table("on ona vi oni one ste nisi"),
        clitics=table("ti mi vi si te nas vas"),
        datives=table("mi meni"),
        objects=table("me mene"),
        saying="pravi|reče|govori|pove|piše|trdi|vpraša",
        linking="(ne )?(počutim|ostajam|ostanem|postajam|postanem|zdim)",
        infinitives=table("biti ostati postati počutiti"),
        first="(am|im|em)",
        forms={
            "past": Forms("l", "la", upos=VERBS, never="^(oblačila|pravila|tla|darila|vozila|jedila|čustva)"),
            "adjective": _ADJECTIVE,
            "participle_as_other": _PARTICIPLE,
            "adjective_as_noun": _SUFFIXED,
            "past_as_other": Forms("l", "la", upos=MISTAGGED),
            "past_as_noun": Forms(
                "[^š][ai]l|želel",
                "[aeiškrd]la",
                upos=table("NOUN DET NUM"),
                cases=table("  Nom Acc Gen"),
                never="([aie]n|ign|ner|rig|ion|ter|er|de|ti|pi|ri|tu|rn|kap|fest)al|(tiv|in|it|ist|rit|urn)al"
                "|^(oblačila|pravila|opravila|tla|darila|vozila|jedila|šola|sila|čebela|vila|gorila|hvala|krila)",
            ),
        },
        words={
            "known": {**words.SLOVENIAN, **words.MARRIED["sl"]},
            "glad": pairs("rad:rada nerad:nerada"),
            "agreeing": pairs("rad:rada nerad:nerada sam:sama"),
        },
    ),
    "bg": Grammar(
        pronouns=table("аз"),
        auxiliaries=table("съм бях бих бъда"),
        others=table("той тя ние вие"),
        clitics=table("ми ме ти те"),
        linking="(чувства|усеща|остава|става|изглежда)[мх]|останах|станах",
        infinitives=table("бъда остана стана"),
        first="ам|ям|(?<!гр)(?<!см)(?<!пр)(?<!стр)(?<!усп)[аиоя]х",
        forms={
            "past": Forms("[аеиоуъюя]л", "ла", upos=VERBS),
            "adjective": Forms(
                "(ен|ан|ян|ав|ив|ит|ат|ят|ут|ъл|ър)|^(по-|най-)?(сам|прав|крив|млад|стар|здрав|горд|слаб|богат"
                "|смел|бърз|строг|малък|сладък|кратък|лек|тих|глух|сляп)",
                "[внтклрпд]а",
                participles=True,
                never="(ник|тел|ист|ка|иня|ица|ент|ант|гражданин|член|жена|мъж|дете|човек)",
            ),
        },
        words={"known": {**words.BULGARIAN, **words.MARRIED["bg"]}, "agreeing": pairs("сам:сама")},
    ),
}
