"""South Slavic: Croatian, Serbian, Slovenian, Bulgarian."""

from __future__ import annotations

from gest_dataset.gender.grammars import persons, trades, traits, verbs, words
from gest_dataset.gender.grammars.grammar import (
    ADJECTIVES,
    ANY_CASE,
    ANY_WORD,
    MISTAGGED,
    NEVER,
    NOUNS,
    PERSONS,
    VERBS,
    Forms,
    Grammar,
    either,
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
    "(?:^(put|puta|dat|crossfit|krosfit|kladiva|više|već|več|čim|sav|vesla|trikrat|dvakrat|enkrat|všeč)$)|(nik|telj|(?<!č)ist|lac|ica|inja|član|kapetan|veteran|vegan|tjedan|jedan|plan|kandidat|advokat|diplomat|favori"
    "t"
    ")"
    "|^(dan|van|vani|stan|brat|fan|osoba|oseba|žrtva|zvijezda|zvezda|beba|glava|vođa|vodja|sudija|kolega|buda"
    "l"
    "a"
    "|legenda|ikona|duša|jelena|dijete|dete|otroka|prestani|zašto|adrenalina|uzoraka|tla|tata|mama|majka"
    "|žena|domaćin|deda|dida|gazda|vojvoda)"
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
    working="(ne)?(radim|služim|djelujem|delujem|zarađujem|honorarim|počinjem|volontiram|nastupam)",
    speaking=(
        "zapišem|zapisujem|napišem|pomislim|odgovorim|šapnem|ponovim|tješim|tešim|viknem|"
        "dobacim|dodam|izjavim|odvratim|priznam|primijetim|uzviknem|umirujem|psujem|pjevušim|"
        "bilježim|prošapćem|prosvjedujem|objasnim|"
        "kažem|govorim|odgovaram|ponavljam|pitam|pišem|mislim|šapćem|vičem|mrmljam|šalim|"
        "objašnjavam|priznajem|primjećujem|primećujem|molim|dodajem|tvrdim|izjavljujem|"
        "gunđam|smijem|smejem|uzdišem|pravdam|žalim|hvalim|uvjeravam|uveravam|obećavam|"
        "izgovaram|uzvikujem|velim|ispričavam|izvinjavam|branim|rečem|promrmljam"
    ),
    perceiving=(
        "čujem|čitam|pročitam|vidim|sjećam|sećam|dobivam|dobijam|slušam|znam|citiram|prevodim|gledam|pamtim"
    ),
    pronouns=table("ja"),
    auxiliaries=table("sam nisam bih jesam budem ću neću biću"),
    others=table("on ona vi oni one ste biste"),
    clitics=table("ti mi vi si te nas vas"),
    certain=either(table("mogu"), verbs.CROATIAN),
    datives=table("mi meni"),
    objects=table("me mene"),
    degrees=table("prije pre poslije posle"),
    linking="(ne)?(bivam|djelujem|delujem|činim|osjećam|osećam|ostajem|ostanem|postajem|postanem|izgledam)",
    considering="(ne)?(smatram|držim|činim)",
    infinitives=table("biti ostati postati budem"),
    first="(am|im|em)|mogu",
    forms={
        "instrumental_shape": Forms(
            "(ljiv|[dsrtvžč]n|iv|av|rog|lup|jak|tar|lad|ran|van|šen|čen|žen|đen)im",
            "(ljiv|[dsrtvžč]n|iv|av|rog|lup|jak|tar|ran|van|šen|čen|žen|đen)om",
            upos=ANY_WORD,
            cases=ANY_CASE,
        ),
        "masculine": Forms(
            "(telj|ar|[^z]ač|aš|ist|ista|[^d]nik|[^v]ac)",
            NEVER,
            upos=NOUNS,
            never="^(dobar|nikar|kolač|profesionalac|slušatelj|slušalac|slušač|prijatelj|neprijatelj|liječnik|lekar|doktor|čovjek|odvjetnik|advokat|direktor|ravnatelj|upravitelj|vlasnik|stručnjak|specijalist|specijalista|optimist|optimista|pesimist|pesimista|perfekcionist|perfekcionista|realist|realista|idealist|idealista|novac|tjednik|zaposlenik|službenik|predsjednik|predsednik|predstavnik|voditelj|rukovoditelj|rukovodilac|osnivač|pravnik|sudionik|učesnik|stanovnik|podnositelj|korisnik|poduzetnik|preduzetnik|poznavalac|naš|vaš|baš|čas|stvar|dar|par|car|udar|pojedinac|usamljenik|samac|gubitnik|pobjednik|pobednik|dokaz|znalac|zločinac|krivac|suradnik|saradnik|pomoćnik|savjetnik|borac|lovac|početnik|vojnik|romantik|čuvar|požar|jač|vozač|pokretač|ač|drugar|stvaralac|davalac|vođač|grešnik|ovisnik|zavisnik|učenjak)$",
        ),
        "state": Forms(
            "(ovan|iran|jen|[šžčćđlr]en|nut|ljen)",
            "(ovan|iran|jen|[šžčćđlr]en|nut)a",
            upos=PERSONS | VERBS,
            cases=ANY_CASE,
            never=_NOUNS + "|^(crven|zelen|kamen|pramen|ramen|koren|scena|jelen|tiren)",
        ),
        "shape": Forms(
            "(ljiv|oglav|ovan|iran|[^aeiou][šžčćđlnrt]en|jen|nut|[^aeiou]an|in|iv|av|ast)|^naj.+[jšžčćl]i",
            "(ljiv|oglav|ovan|iran|[šžčćđjlnrt]en|nut|[dtršžčvl]n|iv|av|it|at|ut|ast|ed)a|^naj.+[jšžčć]a",
            upos=ANY_WORD,
            cases=ANY_CASE,
            never=_NOUNS,
        ),
        "past_shape": Forms(
            "[iae]o",
            "([aeiu]|[kgszš])la",
            upos=ANY_WORD,
            cases=ANY_CASE,
            never="^(posao|dio|video|radio|anđeo|kakao|budala|škola|sila|pčela|vila|skala|gorila|kobila|cijelo|put|tijelo|djelo|odijelo|hvala|posla|jela|tla|čela|pola|cijela|bijela|mila|cela|bela|zrela|vesela|debela)$",
        ),
        "feminine": Forms(
            NEVER,
            "((telj|[aá]r|ač|ist|nt|or|er|aš|[rd]n|vn|len)ic|k?inj|[aeilnrt]ark|anka|(nt|n|ist|er|or|žnič|telj|log|an|in)k)(a)",
            upos=PERSONS,
            never="^(osobenica|zvjezdica|žrtvica|ptica|jedinica|polovica|granica|ulica|bolnica|znatiželjnica|lutka|pijanica|ubica|izdajica|tvrdica|ulizica|kukavica|skitnica|propalica|prgavica|neznalica|varalica|budala|sveznalica|pričalica|spavalica|zanovijetalica|maskota|vila|božanka|jedinka|točka|tačka)$",
        ),
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
    words={
        "one_who": pairs("onaj:ona taj:ta"),
        "which": pairs("koji:koja"),
        "only": pairs(
            "jedini:jedina prvi:prva posljednji:posljednja poslednji:poslednja zadnji:zadnja"
            " najmlađi:najmlađa najstariji:najstarija"
        ),
        "state_past": pairs(
            "preplanuo:preplanula pocrnio:pocrnjela pocrneo:pocrnela promrzao:promrzla ozebao:ozebla"
            " ogladnio:ogladnjela ogladneo:ogladnela malaksao:malaksala zadrijemao:zadrijemala klonuo:klonula"
            " pobledio:pobledela problijedio:problijedjela omršavio:omršavjela podivljao:podivljala"
            " ozario:ozarila zapuhao:zapuhala oporavljen:oporavljena"
        ),
        "person": {**trades.CROATIAN, **persons.CROATIAN},
        "known": {
            **traits.nominatives("hr"),
            **words.CROATIAN,
            **words.SERBIAN,
            **words.MARRIED["hr"],
            **words.STATES["hr"],
            **words.MARRIED["sr"],
        },
    },
)

GRAMMARS = {
    "hr": _CROATIAN,
    "sr": _CROATIAN,
    "sl": Grammar(
        working="(ne )?(delam|služim|delujem|honorarim|začenjam|nastopam|služim)",
        speaking=(
            "zapišem|zapisujem|napišem|zašepetam|ponovim|tolažim|zakličem|pripomnim|odvrnem|"
            "vzkliknem|mirim|preklinjam|beležim|razložim|potarnam|priznavam|izrečem|"
            "rečem|pravim|govorim|odgovarjam|odgovorim|ponavljam|vprašam|sprašujem|pišem|"
            "mislim|šepetam|šepnem|kričim|zavpijem|mrmram|zamrmram|šalim|razlagam|pojasnim|"
            "priznam|prosim|dodam|dodajam|trdim|izjavim|godrnjam|smejem|vzdihnem|vzdihujem|"
            "opravičujem|pritožujem|hvalim|zagotavljam|obljubim|branim|pomislim|povem"
        ),
        perceiving=(
            "slišim|berem|preberem|vidim|spominjam|dobim|dobivam|poslušam|vem|navajam|prevajam|gledam|pomnim"
        ),
        pronouns=table("jaz"),
        auxiliaries=table("sem nisem bom"),
        impersonal=table("bi"),
        certain=verbs.SLOVENIAN,
        reporting=table("da"),
        relatives=table("ki kateri katera"),
        others=table("on ona vi oni one ste nisi"),
        clitics=table("ti mi vi si te nas vas"),
        datives=table("mi meni"),
        objects=table("me mene"),
        saying="pravi|reče|govori|pove|piše|trdi|vpraša",
        linking="(ne )?(delujem|izgledam|bivam|počutim|ostajam|ostanem|postajam|postanem|zdim)",
        infinitives=table("biti ostati postati počutiti"),
        first="(am|im|em)",
        forms={
            "accusative": Forms("ega", "[ntvrlkšž]o", upos=ADJECTIVES | NOUNS, cases=table("  Acc Gen")),
            "masculine": Forms(
                "(telj|ar|ač|ist|[^d]nik|l?ec)",
                NEVER,
                upos=NOUNS,
                never="^(profesionalec|poslušalec|prijatelj|sovražnik|zdravnik|odvetnik|direktor|ravnatelj|lastnik|strokovnjak|specialist|optimist|pesimist|perfekcionist|realist|idealist|denar|konec|voznik|uslužbenec|predsednik|predstavnik|voditelj|ustanovitelj|pravnik|udeleženec|prebivalec|uporabnik|podjetnik|poznavalec|posameznik|samec|zmagovalec|dokaz|krivec|sodelavec|pomočnik|svetnik|borec|lovec|začetnik|vojak|stvar|dar|par|reševalec|govorec|človek|ljubimec|samotar|odvisnik|posrednik|zagovornik|kar|nikar|vendar|zlahkar|dotlej|zaposlenec|delodajalec|pripadnik|privrženec)$",
            ),
            "state": Forms(
                "(ovan|iran|jen|[šžčlr]en|nut)",
                "(ovan|iran|jen|[šžčlr]en|nut)a",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never=_NOUNS + "|^(zelen|jelen|koren|kamen|scena|cena)",
            ),
            "shape": Forms(
                "(ljiv|oglav|ovan|iran|[^aeiou]en|jen|nut|an|iv|av|it|at|ut|ast|joč|eč)|^naj.+[jšžč]i",
                "(ljiv|oglav|ovan|iran|[^aeiou]en|jen|nut|[dtršžčvl]n|iv|av|it|at|ut|ast|joč|eč)a|^naj.+[jšžč]a",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never=_NOUNS,
            ),
            "past_shape": Forms(
                "[iae]l",
                "([aeiu]|[kgszš])la",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(šola|sila|čebela|vila|gorila|hvala|krila|tla|pol|del|cel|cela|mila|bela|zrela|vesela|debela|model|hotel|kabel|avtomobil|signal|kapital|ideal|original)$|(teh|nik|ion|er|ti|pi|ri)al$",
            ),
            "feminine": Forms(
                NEVER,
                "((telj|ar|ač|ist|er|or|[rd]n|vn)ic|inj|[aeilnrt]ark|(ist|nt|or|er|log|an|in|av|al|vn|čn|en|jen)k)(a)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(grenka|sebičnica|polovica|zvezdica|enica|ptica|pijanica|marionetka|lutka|sirota|osebica)$",
            ),
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
            "one_who": pairs("tisti:tista"),
            "which": pairs("kateri:katera"),
            "only": pairs("edini:edina prvi:prva zadnji:zadnja najmlajši:najmlajša najstarejši:najstarejša"),
            "state_past": pairs(
                "zagorel:zagorela premrl:premrla otrpel:otrpela ožgal:ožgala prezebel:prezebla"
                " zasopel:zasopla"
                " porjavel:porjavela obnemogel:obnemogla onemogel:onemogla otekel:otekla pordel:pordela"
            ),
            "person": {**trades.SLOVENIAN, **persons.SLOVENIAN},
            "known": {
                **traits.nominatives("sl"),
                **words.SLOVENIAN,
                **words.MARRIED["sl"],
                **words.STATES["sl"],
            },
            "glad": pairs("rad:rada nerad:nerada"),
            "agreeing": pairs("rad:rada nerad:nerada sam:sama"),
        },
    ),
    "bg": Grammar(
        working="работя|служа|живея|започвам|подработвам|съм",
        speaking=(
            "запиша|записвам|напиша|отговоря|прошепна|повторя|успокоявам|помисля|извикам|добавя|"
            "заявя|отвръщам|отвърна|призная|обясня|възкликвам|утешавам|ругая|шепна|отсичам|"
            "тананикам|"
            "казвам|кажа|говоря|отговарям|повтарям|питам|пиша|мисля|шепна|шептя|викам|крещя|"
            "мърморя|шегувам|обяснявам|признавам|отбелязвам|моля|добавям|възразявам|заявявам|"
            "твърдя|смея|въздишам|оправдавам|оплаквам|хваля|уверявам|обещавам|извинявам|"
            "изричам|промърморвам|тананикам|рекох|казах|отговорих|помислих|попитах|извиках|"
            "прошепнах|написах|отвърнах|признах|обясних|измърморих|въздъхнах|възкликнах"
        ),
        perceiving=(
            "чувам|чета|виждам|помня|спомням|получавам|слушам|зная|знам|цитирам|превеждам|"
            "гледам|чух|прочетох|видях"
        ),
        pronouns=table("аз"),
        auxiliaries=table("съм бях бих бъда"),
        others=table("той тя ние вие"),
        clitics=table("ми ме ти те"),
        certain=verbs.BULGARIAN,
        linking="(чувства|бива|усеща|остава|става|изглежда)[мх]|останах|станах",
        infinitives=table("бъда остана стана"),
        first="ам|ям|(?<!гр)(?<!см)(?<!пр)(?<!стр)(?<!усп)[аиоя]х",
        forms={
            "state": Forms(
                "....ен|нат|ван|сан|щ[еи]н",
                "(....ен|нат|ван|сан)а",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never="^(цена|сцена|член|орден|еден|един|банан|диван|роман|ресторан|зелен|Елен|елена|пижама|вана)$",
            ),
            "shape": Forms(
                "((при|за|вз|от|на)ет|ен|ан|ян|ав|ив|ит|ат|ят|ут|ъл|ър|[аяеъ]щ|[аиеуя]л|ък)",
                "([^аеиоуъ]н|(при|за|вз|от|на)ет|ен|ан|ян|ав|ив|ит|ат|ят|ут|[вдз]л|[аиеуя]л|[бдтк]р|[аяеъ]щ)а",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="(ник|тел|ист|ка|иня|ица|ент|ант|гражданин)|^(член|капитан|ветеран|екран|план|жена|стена|страна|цена|война|храна|рана|сряда|дата|работа|вода|среда|глава|звезда|майстора|бала|кола|сила|школа|дял|отдел|модел|хотел|човек|мъж|дете|син|един|една|вуйна|стрина|истина|година|родина|картина|градина|половина|причина|тишина|лекарка|всичка|квартира|вратата|кръв|ред|сорт|работа|засрамат|колега|отличничка|университет|факултет|живот|банан|роман|диван|съвет|магазин|детектив|актив|архив|баща|почивка|вчера|глупост|жертва|личност|трън|фен)$",
            ),
            "masculine": Forms("(чан|ян|жан)ин", NEVER, upos=NOUNS, never="^(гражданин|съгражданин)$"),
            "past_shape": Forms(
                "[аеиую]л",
                "[аеиую]ла",
                upos=NOUNS | table("X ADV ADJ"),
                never="^(дял|дела|отдел|модел|хотел|бал|зала|кола|школа|сила|тила|мила|цяла|бяла|идеал|материал|сигнал"
                "|сериал|журнал|портал|канал|финал|скандал|капитал|профил|стил|автомобил|филм|скала|вила|пила|пчела)$",
            ),
            "feminine": Forms(
                NEVER,
                "((тел|ар|яр|ер|ьор|ор|ист|ант|ент|ач|ич|нич|лог|ан|ян|ец|ин|ъ?т)к|киня|киньа|(тел|ни|в)ниц|йк(?<!ж))(а)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(половинка|звездичка|единица|душичка|пчеличка|точка|перла|пияница|убийца|тъпанарка|маска|майк|картинка|градинка|книжка|минутка)$",
            ),
            "past": Forms("[аеиоуъюя]л", "ла", upos=VERBS),
            "adjective": Forms(
                "(ен|ан|ян|ав|ив|ит|ат|ят|ут|ъл|ър)|^(по-|най-)?(сам|прав|крив|млад|стар|здрав|горд|слаб|бога"
                "т"
                "|смел|бърз|строг|малък|сладък|кратък|лек|тих|глух|сляп)",
                "[внтклрпд]а",
                participles=True,
                never="(ник|тел|ист|ка|иня|ица|ент|ант|гражданин|член|жена|мъж|дете|човек)",
            ),
        },
        words={
            "person": {**trades.BULGARIAN, **persons.BULGARIAN},
            "known": {
                **traits.nominatives("bg"),
                **words.BULGARIAN,
                **words.MARRIED["bg"],
                **words.STATES["bg"],
            },
            "agreeing": pairs("сам:сама"),
            "which": pairs("който:която"),
            "only": pairs(
                "единствен:единствена единственият:единствената пръв:първа първи:първа последен:последна"
            ),
            "state_past": pairs(
                "почернял:почерняла загорял:загоряла отслабнал:отслабнала напълнял:напълняла ожаднял:ожадняла"
                " огладнял:огладняла премалял:премаляла вкочанен:вкочанена примрял:примряла грейнал:грейнала"
            ),
            "one_who": pairs("този:тази онзи:онази оня:оная"),
        },
    ),
}
