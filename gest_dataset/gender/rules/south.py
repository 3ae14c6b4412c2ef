"""South Slavic: Croatian, Serbian, Slovenian, Bulgarian."""

from __future__ import annotations

from gest_dataset.gender import words
from gest_dataset.gender.engine import Example, Rule
from gest_dataset.gender.grammar import FEMALE, MALE, MISTAGGED, NEVER, VERBS, Forms, Grammar, pairs, table

RULES = (
    Rule(
        "past-auxiliary",
        "past",
        "auxiliary",
        examples=(
            Example("hr", "Donio sam kavu.", MALE, ("Donio",)),
            Example("sl", "Postala sem mati.", FEMALE, ("Postala",)),
            Example("sr", "Doneo sam kafu.", MALE, ("Doneo",)),
        ),
    ),
    Rule(
        "past-pronoun",
        "past",
        "pronoun",
        examples=(Example("hr", "Ja to nisam znao.", MALE, ("znao",)),),
    ),
    Rule(
        "adjective-copula",
        "adjective",
        "auxiliary",
        examples=(
            Example("hr", "Spreman sam za put.", MALE, ("Spreman",)),
            Example("sl", "Lena sem in neurejena.", FEMALE, ("Lena",)),
            Example("sr", "Spreman sam za put.", MALE, ("Spreman",)),
        ),
    ),
    Rule(
        "adjective-pronoun",
        "adjective",
        "pronoun",
        examples=(
            Example("hr", "Ja umoran? Nikad.", MALE, ("umoran",)),
            Example("bg", "Аз съм горда със сина си.", FEMALE, ("горда",)),
        ),
    ),
    Rule(
        "agreeing",
        "agreeing",
        "spoken",
        examples=(
            Example("sl", "Rad imam pse.", MALE, ("Rad",)),
            Example("hr", "Ostala sam sama kod kuće.", FEMALE, ("sama",)),
            Example("sr", "Ostala sam sama kod kuće.", FEMALE, ("sama",)),
        ),
    ),
    Rule(
        "past-coordinated",
        "past",
        "coordinated",
        rank=2,
        examples=(
            Example("hr", "Sjedio sam za stolom i čekao.", MALE, ("čekao",)),
            Example("sl", "Bila sem zelo utrujena, zato sem takoj zaspala.", FEMALE, ("zaspala",)),
            Example("sr", "Sedeo sam za stolom i čekao.", MALE, ("čekao",)),
        ),
    ),
    Rule(
        "adjective-coordinated",
        "adjective",
        "coordinated",
        rank=2,
        examples=(
            Example("hr", "Lijena sam i neuredna.", FEMALE, ("neuredna",)),
            Example("sl", "Lena sem in neurejena.", FEMALE, ("neurejena",)),
        ),
    ),
    Rule(
        "adjective-linking",
        "adjective",
        "linking",
        rank=2,
        examples=(
            Example("hr", "Moram biti strpljiva.", FEMALE, ("strpljiva",)),
            Example("sr", "Moram da budem strpljiv.", MALE, ("strpljiv",)),
        ),
    ),
    Rule(
        "adjective-linking-nearby",
        "adjective",
        "linking_nearby",
        rank=2,
        examples=(
            Example("hr", "Moram biti strpljiv.", MALE, ("strpljiv",)),
            Example("sl", "Počutim se slabotna.", FEMALE, ("slabotna",)),
            Example("sr", "Danas se osećam usamljena.", FEMALE, ("usamljena",)),
        ),
    ),
    Rule(
        "instrumental-linking",
        "instrumental",
        "linking",
        rank=2,
        examples=(Example("hr", "Želim biti slobodnom.", FEMALE, ("slobodnom",)),),
    ),
    Rule(
        "instrumental-linking-nearby",
        "instrumental",
        "linking_nearby",
        rank=2,
        examples=(Example("hr", "Želim biti slobodnom.", FEMALE, ("slobodnom",)),),
    ),
    Rule(
        "instrumental-object",
        "instrumental",
        "object_complement",
        rank=2,
        examples=(
            Example("hr", "Svi me smatraju pametnim.", MALE, ("pametnim",)),
            Example("sr", "Svi me smatraju pametnim.", MALE, ("pametnim",)),
        ),
    ),
    Rule(
        "adjective-depictive",
        "adjective",
        "depictive",
        rank=2,
        examples=(
            Example("sl", "Domov prihajam utrujena.", FEMALE, ("utrujena",)),
            Example("hr", "Danas se osjećam usamljena.", FEMALE, ("usamljena",)),
            Example("sr", "Moram da budem strpljiv.", MALE, ("strpljiv",)),
        ),
    ),
    Rule(
        "past-conditional",
        "past",
        "conditional",
        rank=2,
        examples=(Example("sl", "Moral bi več spati.", MALE, ("Moral",)),),
    ),
    Rule(
        "past-nearby",
        "past",
        "nearby",
        rank=2,
        examples=(
            Example("hr", "Donio sam kavu.", MALE, ("Donio",)),
            Example("sl", "Postala sem mati.", FEMALE, ("Postala",)),
            Example("sr", "Doneo sam kafu.", MALE, ("Doneo",)),
        ),
    ),
    Rule(
        "adjective-nearby",
        "adjective",
        "nearby",
        rank=2,
        examples=(
            Example("hr", "Nisam sigurna jesam li u pravu.", FEMALE, ("sigurna",)),
            Example("sr", "Biću srećna ako mi pomogneš.", FEMALE, ("srećna",)),
            Example("sl", "Pripravljen sem na pot.", MALE, ("Pripravljen",)),
        ),
    ),
    Rule(
        "adjective-before-copula",
        "adjective",
        "before_copula",
        rank=2,
        examples=(
            Example("hr", "Spreman sam za put.", MALE, ("Spreman",)),
            Example("sl", "Lena sem in neurejena.", FEMALE, ("Lena",)),
            Example("sr", "Spreman sam za put.", MALE, ("Spreman",)),
        ),
    ),
    Rule(
        "known-nearby",
        "known",
        "nearby",
        rank=2,
        examples=(
            Example("hr", "Ponosna sam na svog sina.", FEMALE, ("Ponosna",)),
            Example("sl", "Ponosen sem na svojo hčer.", MALE, ("Ponosen",)),
            Example("sr", "Nisam tako glup kao što misliš.", MALE, ("glup",)),
        ),
    ),
    Rule(
        "known-linking",
        "known",
        "linking_nearby",
        rank=2,
        examples=(
            Example("hr", "Osjećam se slab.", MALE, ("slab",)),
            Example("sr", "Osećam se slaba.", FEMALE, ("slaba",)),
            Example("bg", "Чувствам се слаба.", FEMALE, ("слаба",)),
        ),
    ),
    Rule(
        "past-as-other",
        "past_as_other",
        "lone",
        rank=2,
        examples=(
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
            Example("sl", "Sram me je, da sem to rekla.", FEMALE, ("rekla",)),
            Example("sr", "Stidim se što sam to rekla.", FEMALE, ("rekla",)),
        ),
    ),
    Rule(
        "alone-second-finite",
        "alone_as_auxiliary",
        "second_finite",
        rank=2,
        examples=(Example("hr", "Večeram sam.", MALE, ("sam",)),),
    ),
    Rule(
        "agreeing-ending",
        "agreeing",
        "ending",
        rank=2,
        examples=(Example("sl", "Odločam sam.", MALE, ("sam",)),),
    ),
    Rule(
        "glad-unclaimed",
        "glad",
        "unclaimed",
        rank=2,
        examples=(Example("sl", "Rad imam pse.", MALE, ("Rad",)),),
    ),
    Rule(
        "glad-before-ending",
        "glad",
        "before_ending",
        rank=2,
        examples=(Example("sl", "Rad imam pse.", MALE, ("Rad",)),),
    ),
)

# what a predicate adjective ends in: suffixes, and the short words that have none
_MALE = (
    "(an|en|in|iv|av|it|at|ut|ast|ji|ši|[^š]ni|vi|ki|ći|či|sti|di|ri)"
    "|^(pre|naj|ne)?(jak|lak|kratak|nizak|gladak|krepak|visok|širok|dubok|dobar|star|mudar|hrabar|bistar|brz"
    "|lijep|lep|glup|grub|slab|mlad|lud|tvrd|prost|čist|svet|nov|sam|bos|topao|zreo|veseo|vesel|debeo|debel"
    "|tih|suh|suv|dug|drag|strog|loš|mokar|trom|pitom|cijel|šibek|lahek|kratek|nizek|težek|dober"
    "|moder|hiter|bister|oster|trd|zrel|kisel|tog|krut|čvrst|trezen|zdrav|živ|siv|kriv|bled|blijed)"
)
_NOUNS = (
    "(nik|telj|ist|lac|ica|inja|član|kapetan|veteran|vegan|tjedan|dan|plan|kandidat|advokat|diplomat|favorit)"
    "|^(van|vani|stan|brat|fan|osoba|oseba|žrtva|zvijezda|zvezda|beba|glava|vođa|vodja|sudija|kolega|budala"
    "|legenda|ikona|duša|jelena|dijete|dete|otroka|prestani|zašto|adrenalina|uzoraka|tla|tata|mama|majka"
    "|žena|domaćin)"
)
_ADJECTIVE = Forms(_MALE, "[^aeiou]a|[ij]a", participles=True, never=_NOUNS)

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
    words={"known": {**words.CROATIAN, **words.SERBIAN}},
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
            "known": words.SLOVENIAN,
            "glad": pairs("rad:rada nerad:nerada"),
            "agreeing": pairs("rad:rada nerad:nerada sam:sama"),
        },
    ),
    "bg": Grammar(
        pronouns=table("аз"),
        auxiliaries=table("съм бях бих бъда"),
        others=table("той тя ние вие"),
        clitics=table("ми ме ти те"),
        linking="чувствам|усещам|оставам|ставам|изглеждам",
        infinitives=table("бъда остана стана"),
        first="(ам|ям)",
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
        words={"known": words.BULGARIAN},
    ),
}
