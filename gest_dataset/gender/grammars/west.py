"""West Slavic: Slovak, Czech, Polish."""

from __future__ import annotations

from gest_dataset.gender.grammars import persons, trades, traits, verbs, words
from gest_dataset.gender.grammars.grammar import (
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
    "^(u|po|z|prze|wy|do|od|nad|pod|na|roz|współ)?(zespo|cia|źród|mys|sto|anio|kościo|artyku|tytu|materia|syg"
    "n"
    "a"
    "|kana|genera|mo|kawa|wa|ty|dzia|zapa|szczegó|ogó|protoko|dzie|krzes|mas|myd|szk|pud|skrzyd|prześcierad"
    "|has|rzemios|siod|wios|żywio|czo|ko|do|fina|skanda|idea|potencja|kapita|orygina|arsena|rytua|diab|popio"
    "|szpita|kryszta|specja|t|dzięcio|wo|mias|z|bagn|św|modu|wierzcho|jab|zió)łem"
)
_AS_VERB = frozenset({"VERB", "ADV"})
_AS_NOUN = frozenset({"NOUN", "PROPN", "PART", "DET"})
_NO_ADJECTIVE = "^(možná|možno|každ|žádn|žiadn|kter|ktor)"

GRAMMARS = {
    "sk": Grammar(
        working="(ne)?(pracujem|robím|slúžim|pôsobím|brigádujem|privyrábam|živím|začínam)",
        speaking=(
            "zapíšem|zapisujem|napíšem|pomyslím|odpoviem|zašepkám|zopakujem|utešujem|zvolám|"
            "poznamenám|dodám|vyhlásim|priznávam|zamrmlem|odvetím|podotknem|vykríknem|upokojujem|"
            "nadávam|"
            "hovorím|vravím|poviem|povedám|odpovedám|opakujem|pýtam|píšem|myslím|šepkám|"
            "kričím|volám|mrmlem|šomrem|žartujem|vysvetľujem|priznávam|priznám|poznamenávam|"
            "prosím|dodávam|namietam|tvrdím|vyhlasujem|smejem|vzdychám|ospravedlňujem|"
            "sťažujem|chválim|uisťujem|sľubujem|bránim|hlásim"
        ),
        perceiving=(
            "počujem|počúvam|čítam|vidím|pamätám|spomínam|dostávam|viem|citujem|prekladám|pozerám|počúvavam"
        ),
        pronouns=table("ja"),
        certain=verbs.SLOVAK,
        auxiliaries=table("som budem nebudem"),
        others=table("ty on ona my vy oni ony ste"),
        datives=table("mi mne"),
        selves=table("seba sebe sebou"),
        linking="(ne)?(bývam|vyzerám|javím|zdám|cítievam|prídem|cítim|zostávam|ostávam|zostanem|ostanem|stanem|stávam|pripadám|chodím)",
        considering="(ne)?(považujem|pokladám)",
        infinitives=table("byť stať zostať ostať cítiť nebyť"),
        first="(ám|am|ím|im|iem|em)",
        forms={
            "accusative": Forms("ého|[eo]ho", "ú", upos=ANY_WORD, cases=ANY_CASE),
            "masculine": Forms(
                "(teľ|[^l]ník|ár|iar|ista|[^j]ec|ák|ér|ant|ik|čan|iar)",
                NEVER,
                upos=NOUNS,
                never="^(profesionál|riaditeľ|lekár|priateľ|právnik|úradník|odborník|vlastník|majiteľ|účastník|pracovník|nositeľ|predstaviteľ|zamestnanec|človek|obyvateľ|používateľ|podnikateľ|koniec|jedinec|dlžník|optimista|pesimista|perfekcionista|realista|idealista|špecialista|workoholik|samotár|veliteľ|garant|zakladateľ|držiteľ|spolupracovník|nadšenec|alkoholik|romantik|fanatik|kritik|politik|poslucháč|vodič)$",
            ),
            "state": Forms(
                "(en|an|nut|at)ý",
                "(en|an|nut|at)á",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never=_NO_ADJECTIVE,
            ),
            "shape": Forms(
                "[^aeiouy]ý|[áa]vy|ívy", "[^aeiouym]á", upos=ANY_WORD, cases=ANY_CASE, never=_NO_ADJECTIVE
            ),
            "past_shape": Forms(
                "[aeiíyouá]l",
                "([aeiíyu]|[kghsz])la",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(škola|sila|vila|kapela|ihla|koala|chvála|skala|cieľ|diel|podiel|model|hotel|kráľ|rebel|manžel|štýl|automobil|profil|škandál|materiál|kanál|omyl|malá|celá|skla|jedla|čísla|profesionál|ideál)$|(ion|er|de|ber|ektu|dik|pit)ál$",
            ),
            "feminine": Forms(
                NEVER,
                "((teľ|[áa]r|ier|er|ist|ant|ent|át|or|og|óg|ní|úš|áč|vk|ač|aj|ov|čan|ian|ík|ič)k|kyň|[včtdl]ni[čc]|íčk|(?<!ul)ičk)(a)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(sopečnica|polovička|figúrka|značka|perlička|hviezdička|lienka|ovca|jednička|nič|sirôtka|dobračka)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((teľ|[áa]r|ier|er|ist|ant|ent|át|or|og|óg|ní|úš|áč|vk|ač|aj|ov|čan|ian|ík|ič)k|kyň|[včtdl]ni[čc]|íčk|(?<!ul)ičk)(ou)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
            "past": _SLOVAK_PAST,
            # -í is plural but after these: *šťastní*, *starší*
            "adjective": Forms("[ýy]|[šžčcz][íi]|rád|sám|hoden|vinen|dlžen", "[áa]", never="vedúci"),
            "adjective_as_verb": Forms("ý", "á", upos=_AS_VERB, cases=table(" ")),
            "adjective_as_noun": Forms("[ntvk]ý", "[ntvk]á", upos=_AS_NOUN, never=_NO_ADJECTIVE),
            "past_as_other": Forms("l", "la", upos=MISTAGGED, never="[uin]ál"),
        },
        words={
            "which": pairs("ktorý:ktorá"),
            "only": pairs(
                "jediný:jediná prvý:prvá posledný:posledná najmladší:najmladšia najstarší:najstaršia"
            ),
            "person": {**trades.SLOVAK, **persons.SLOVAK},
            "person_instrumental": persons.instrumentals({**trades.SLOVAK, **persons.SLOVAK}, "sk"),
            "known": {
                **traits.nominatives("sk"),
                **words.SLOVAK,
                **words.MARRIED["sk"],
                **words.STATES["sk"],
            },
            "glad": pairs("rád:rada nerád:nerada"),
            "agreeing": pairs("rád:rada nerád:nerada sám:sama"),
        },
    ),
    "cs": Grammar(
        working="(ne)?(pracuji|pracuju|dělám|sloužím|působím|přivydělávám|živím|začínám|brigádničím)",
        speaking=(
            "zapíšu|zapisuji|zapisuju|napíšu|pomyslím|odpovím|zašeptám|zopakuji|zopakuju|utěšuji|"
            "utěšuju|zvolám|poznamenám|dodám|prohlásím|zamumlám|odvětím|podotknu|vykřiknu|"
            "uklidňuji|uklidňuju|nadávám|"
            "říkám|řeknu|odpovídám|opakuji|opakuju|ptám|píšu|píši|myslím|šeptám|křičím|volám|"
            "mumlám|bručím|žertuji|žertuju|vysvětluji|vysvětluju|přiznávám|přiznám|"
            "poznamenávám|prosím|dodávám|namítám|tvrdím|prohlašuji|prohlašuju|směju|vzdychám|"
            "omlouvám|stěžuji|stěžuju|chlubím|ujišťuji|ujišťuju|slibuji|slibuju|bráním|"
            "povídám|hlásím"
        ),
        perceiving=(
            "slyším|slýchám|čtu|vidím|pamatuji|pamatuju|vzpomínám|dostávám|poslouchám|vím|"
            "cituji|cituju|překládám|dívám"
        ),
        pronouns=table("já"),
        certain=verbs.CZECH,
        auxiliaries=table("jsem nejsem bych budu nebudu"),
        others=table("on ona my vy oni ony jsi ses sis jste"),  # *ty* is also *those*: its tag decides
        datives=table("mi mně"),
        selves=table("sebe sobě sebou"),
        linking="(ne)?(bývám|vypadám|jevím|zdám|přijdu|cítívám|cítím|zůstávám|zůstanu|stanu|stávám|připadám|chodím)",
        considering="(ne)?(považuji|považuju|pokládám|mám)",
        infinitives=table("být stát zůstat cítit nebýt"),
        first="(ám|ím|ji|ju|u)",
        infinitive="([aeěiy]t|ovat|ávat|ívat|out)",
        governing="(ne)?(odhodlan|schopn|ochotn|připraven|rozhodnut|nucen|zvykl|povin|hotov)[ýáa]",
        forms={
            "accusative": Forms("ého|ího", "ou", upos=ANY_WORD, cases=ANY_CASE),
            "masculine": Forms(
                "(tel|[^l]ník|ař|ář|íř|ista|[^j]ec|ák|ér|ant|ik|čan)",
                NEVER,
                upos=NOUNS,
                never="^(profesionál|ředitel|lékař|přítel|právník|úředník|odborník|vlastník|majitel|účastník|pracovník|nositel|představitel|zaměstnanec|pacient|člověk|obyvatel|uživatel|podnikatel|konec|jedinec|dlužník|optimista|pesimista|perfekcionista|realista|idealista|specialista|workoholik|samotář|tvor|velitel|garant|nedostatek|zastánce|terč|ředitel|zakladatel|držitel|spolupracovník|partner|nadšenec|všudybyl|maniak|alkoholik|romantik|fanatik|kritik|politik|věřící|blázen)$",
            ),
            "state": Forms(
                "(en|an|nut|lý|tý|ušen)ý|[zpv][^ ]*lý",
                "([^m]en|[^l]an|nut|[zsr]l|at)á",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never=_NO_ADJECTIVE,
            ),
            "shape": Forms("[^aeiouyě]ý", "[^aeiouyěm]á", upos=ANY_WORD, cases=ANY_CASE, never=_NO_ADJECTIVE),
            "past_shape": Forms(
                "[aeiíyěuá]l",
                "([aeiíyěu]|[kghsz])la",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="tel$|^(škola|síla|vila|kapela|jehla|koala|chvála|skála|cíl|díl|podíl|model|hotel|král|rebel|manžel|styl|automobil|profil|profesionál|ideál|skandál|materiál|kanál|omyl|malá|celá|skla|jídla|čísla)$",
            ),
            "feminine": Forms(
                NEVER,
                "((tel|[áa]ř|ier|ér|er|ist|ant|ent|át|or|og|óg|ač|áč|ák|čan|ov|ič)k)(a)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(odmalička|polovička|figurka|značka|hvězdička|jednička|sirotka|hračka|značka|ovečka)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((tel|[áa]ř|ier|ér|er|ist|ant|ent|át|or|og|óg|ač|áč|ák|čan|ov|ič)k)(ou)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
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
            "which": pairs("který:která"),
            "only": pairs("jediný:jediná"),
            "person": {**trades.CZECH, **persons.CZECH},
            "person_instrumental": persons.instrumentals({**trades.CZECH, **persons.CZECH}, "cs"),
            "known": {**traits.nominatives("cs"), **words.CZECH, **words.MARRIED["cs"], **words.STATES["cs"]},
            "glad": pairs("rád:ráda nerad:nerada nerád:neráda rad:rada"),
            "agreeing": pairs("rád:ráda nerad:nerada nerád:neráda rad:rada sám:sama"),
        },
    ),
    "pl": Grammar(
        considering="uważam",
        working="pracuję|dorabiam|służę|zarabiam|zaczynam|jestem|będę|zostanę|zostaję",
        speaking=(
            "zapisuję|zapiszę|napiszę|pomyślę|odpowiem|szepnę|powtórzę|pocieszam|notuję|zawołam|"
            "dodam|oświadczę|wymruczę|odrzekę|krzyknę|uspokajam|wyzywam|oznajmiam|deklaruję|"
            "mówię|powiem|odpowiadam|powtarzam|pytam|piszę|myślę|szepczę|krzyczę|wołam|"
            "mruczę|żartuję|tłumaczę|wyjaśniam|przyznaję|zauważam|proszę|dodaję|twierdzę|"
            "oświadczam|śmieję|wzdycham|przepraszam|skarżę|chwalę|zapewniam|obiecuję|bronię|"
            "odpieram|rzucam|stwierdzam|wyznaję|wmawiam"
        ),
        perceiving=(
            "słyszę|słucham|czytam|widzę|pamiętam|wspominam|dostaję|wiem|cytuję|patrzę|słyszałem|słyszałam"
        ),
        pronouns=table("ja"),
        certain=verbs.POLISH,
        auxiliaries=table("m em am jestem będę bym"),
        others=table("ty on ona my wy oni one ś eś aś"),
        datives=table("mi mnie"),
        selves=table("siebie sobie sobą"),
        degrees=table("za"),
        linking="wyglądam|wydaję|bywam|okazuję|czuję|pozostaję|zostanę|staję|stanę",
        infinitives=table("być stać czuć pozostać zostać"),
        first="(am|em|ę)",
        forms={
            "accusative": Forms("ego", "ą", upos=ANY_WORD, cases=ANY_CASE),
            "masculine": Forms(
                "(ciel|[aie]rz|[^l]nik|ista|ysta|acz|ant|ier|lec|wiec)",
                NEVER,
                upos=NOUNS,
                never="^(profesjonalista|przyjaciel|lekarz|żołnierz|prawnik|kierownik|pracownik|specjalista|optymista|pesymista|perfekcjonista|realista|idealista|właściciel|przedstawiciel|zwolennik|przeciwnik|urzędnik|człowiek|słuchacz|wojownik|samotnik|egoista|altruista|uczestnik|użytkownik|zawodnik|naukowiec|obywatel|mieszkaniec|założyciel|dłużnik|członek|przywódca|mówca|kierowca|początkujący|uczciwiec|wynik|ogrodzenie|kalendarz|cmentarz|twarz)$",
            ),
            "masculine_instrumental": Forms(
                "(cielem|[aie]rzem|[^l]nikiem|[em]mikiem|anikiem|hnikiem|istą|ystą|aczem|antem|ierem|lcem|wcem)",
                NEVER,
                upos=NOUNS,
                cases=table("Ins"),
                never="^(profesjonalistą|przyjacielem|lekarzem|żołnierzem|prawnikiem|kierownikiem|pracownikiem|specjalistą|optymistą|pesymistą|perfekcjonistą|realistą|idealistą|właścicielem|przedstawicielem|zwolennikiem|przeciwnikiem|urzędnikiem|słuchaczem|wojownikiem|samotnikiem|egoistą|altruistą|uczestnikiem|użytkownikiem|zawodnikiem|naukowcem|obywatelem|założycielem|dłużnikiem|początkującym|przyjaciółmi)$",
            ),
            "state": Forms(
                "(wany|iony|czony|szony|dzony|rzony|niony|lony|jony|[^n]any|ęty)",
                "(wana|iona|czona|szona|dzona|rzona|niona|lona|jona|[^n]ana|ęta)",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never="^(rana|ściana|zmiana|kolana|siana|śmietana|strony|strona|żony|żona|zasłona|zasłony|plany|ekrany|rany|zmiany|ściany|święta|dziewczęta|zwierzęta|przemiana|wymiana|odmiana|any|ekrany|firany|firana|organy|barany|tulipany)$",
            ),
            "shape": Forms(
                "(łodny|[^n]any|wany|iony|czony|szony|dzony|rzony|niony|lony|jony|ęty|isty|liwy|[cżl]ny|wny|cały|iały)",
                "(łodna|[^n]ana|wana|iona|czona|szona|dzona|rzona|niona|lona|jona|ęta|ista|liwa|lna|wna|yczna|cała|iała)",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(strona|żona|rana|ściana|zmiana|kolana|siana|śmietana|fontanna|korona|zasłona|ochrona|opona|obrona|any|ekrany|lista|turysta|artysta|wojna|kawalna|główna|równa|ona|osobista|chwila|ściana|zmiana|wiosna|wyspa|kasztany|plany|tony|strony|zony|chwila|biała|mała|wanna|sauna|fauna|panna)|(ista|ysta)$|^(żony|strony|osobny)$",
            ),
            "feminine": Forms(
                NEVER,
                "((ciel|[aá]r|er|ist|yst|ant|ent|or|log|[cń]cz|nicz|acz|iacz|ik|an|it)k|yni|nic|arz|księgow|szefow|bratow|krawcow)(a)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(połówka|gwiazdka|kopia|figurka|ziarnka|mrówka|kalka|zagadka|wariatka|sierotka|marionetka|maskotka|tajemnica|granica|różnica|stolica|krynica)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((ciel|[aá]r|er|ist|yst|ant|ent|or|log|[cń]cz|nicz|acz|iacz|ik|an|it)k|yni|nic|arz|księgow|szefow|bratow|krawcow)(ą)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
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
            "which": pairs("który:która"),
            "only": pairs(
                "jedyny:jedyna pierwszy:pierwsza ostatni:ostatnia najmłodszy:najmłodsza najstarszy:najstarsza"
            ),
            "person": {**trades.POLISH, **persons.POLISH},
            "person_instrumental": persons.instrumentals({**trades.POLISH, **persons.POLISH}, "pl"),
            "known": {
                **traits.nominatives("pl"),
                **words.POLISH,
                **words.MARRIED["pl"],
                **words.STATES["pl"],
            },
            "agreeing": pairs("sam:sama"),
            "demonstrative": pairs("tym:tą"),
        },
    ),
}
