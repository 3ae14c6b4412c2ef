"""Nouns of persons whose masculine and feminine are both in general use, and their instrumentals.

A woman says *jsem zpěvačka*, hardly *jsem zpěvák*. Nouns whose masculine women say of themselves too
(*profesionál*, *lékař*, *vedoucí*, East Slavic *учитель*) are not in these lists: they are no evidence.
"""

from __future__ import annotations

from collections.abc import Mapping

from gest_dataset.gender.grammars.grammar import pairs

SLOVAK = pairs(
    "učiteľ:učiteľka predavač:predavačka čašník:čašníčka kuchár:kuchárka kaderník:kaderníčka"
    " študent:študentka žiak:žiačka spevák:speváčka herec:herečka tanečník:tanečnica"
    " spisovateľ:spisovateľka novinár:novinárka ošetrovateľ:ošetrovateľka športovec:športovkyňa"
    " plavec:plavkyňa bežec:bežkyňa cyklista:cyklistka čitateľ:čitateľka zberateľ:zberateľka"
    " fanúšik:fanúšička maliar:maliarka upratovač:upratovačka krajčír:krajčírka"
    " prekladateľ:prekladateľka knihovník:knihovníčka záhradník:záhradníčka robotník:robotníčka"
    " vegetarián:vegetariánka dôchodca:dôchodkyňa futbalista:futbalistka sused:suseda cudzinec:cudzinka"
    " bratislavčan:bratislavčanka slovák:slovenka hudobník:hudobníčka huslista:huslistka"
    " klavirista:klaviristka opatrovateľ:opatrovateľka pekár:pekárka cukrár:cukrárka turista:turistka"
    " hráč:hráčka šachista:šachistka pokladník:pokladníčka recepčný:recepčná milovník:milovníčka"
    " rybár:rybárka básnik:poetka otec:matka otec:mama tato:mama manžel:manželka syn:dcéra brat:sestra"
    " dedko:babka strýko:teta vdovec:vdova snúbenec:nevesta svokor:svokra muž:žena ujo:tetka vnuk:vnučka"
)

CZECH = pairs(
    "krejčí:švadlena učitel:učitelka prodavač:prodavačka číšník:číšnice kuchař:kuchařka"
    " kadeřník:kadeřnice student:studentka žák:žákyně zpěvák:zpěvačka herec:herečka tanečník:tanečnice"
    " spisovatel:spisovatelka novinář:novinářka ošetřovatel:ošetřovatelka sportovec:sportovkyně"
    " plavec:plavkyně běžec:běžkyně cyklista:cyklistka čtenář:čtenářka sběratel:sběratelka"
    " fanoušek:fanynka malíř:malířka uklízeč:uklízečka překladatel:překladatelka knihovník:knihovnice"
    " zahradník:zahradnice dělník:dělnice vegetarián:vegetariánka důchodce:důchodkyně"
    " fotbalista:fotbalistka soused:sousedka cizinec:cizinka pražan:pražanka čech:češka"
    " hudebník:hudebnice houslista:houslistka klavírista:klavíristka pečovatel:pečovatelka pekař:pekařka"
    " cukrář:cukrářka turista:turistka hráč:hráčka šachista:šachistka chemik:chemička milovník:milovnice"
    " rybář:rybářka básník:básnířka otec:matka táta:máma tatínek:maminka manžel:manželka syn:dcera"
    " bratr:sestra dědeček:babička strýc:teta vdovec:vdova kluk:holka ženich:nevěsta tchán:tchyně"
    " muž:žena vnuk:vnučka"
)

POLISH = pairs(
    "nauczyciel:nauczycielka sprzedawca:sprzedawczyni kelner:kelnerka kucharz:kucharka"
    " fryzjer:fryzjerka student:studentka uczeń:uczennica śpiewak:śpiewaczka piosenkarz:piosenkarka"
    " aktor:aktorka tancerz:tancerka pisarz:pisarka dziennikarz:dziennikarka pielęgniarz:pielęgniarka"
    " sportowiec:sportsmenka pływak:pływaczka biegacz:biegaczka rowerzysta:rowerzystka"
    " czytelnik:czytelniczka kolekcjoner:kolekcjonerka fan:fanka malarz:malarka sprzątacz:sprzątaczka"
    " krawiec:krawcowa tłumacz:tłumaczka bibliotekarz:bibliotekarka ogrodnik:ogrodniczka"
    " robotnik:robotnica wegetarianin:wegetarianka emeryt:emerytka piłkarz:piłkarka sąsiad:sąsiadka"
    " cudzoziemiec:cudzoziemka warszawiak:warszawianka polak:polka skrzypek:skrzypaczka"
    " pianista:pianistka opiekun:opiekunka piekarz:piekarka cukiernik:cukierniczka turysta:turystka"
    " gracz:graczka szachista:szachistka kasjer:kasjerka miłośnik:miłośniczka księgarz:księgarka"
    " rolnik:rolniczka wolontariusz:wolontariuszka ojciec:matka tata:mama mąż:żona syn:córka"
    " brat:siostra dziadek:babcia wujek:ciocia wdowiec:wdowa chłopak:dziewczyna chłopiec:dziewczynka"
    " teść:teściowa narzeczony:narzeczona mężczyzna:kobieta wnuk:wnuczka blondyn:blondynka"
    " brunet:brunetka"
)

CROATIAN = pairs(
    "učitelj:učiteljica prodavač:prodavačica konobar:konobarica kuhar:kuharica kuvar:kuvarica"
    " frizer:frizerka student:studentica student:studentkinja učenik:učenica pjevač:pjevačica"
    " pevač:pevačica glumac:glumica plesač:plesačica igrač:igračica pisac:spisateljica novinar:novinarka"
    " odgojitelj:odgojiteljica vaspitač:vaspitačica sportaš:sportašica sportista:sportistkinja"
    " plivač:plivačica trkač:trkačica biciklist:biciklistica biciklista:biciklistkinja"
    " čitatelj:čitateljica skupljač:skupljačica sakupljač:sakupljačica kolekcionar:kolekcionarka"
    " navijač:navijačica slikar:slikarica slikar:slikarka čistač:čistačica krojač:krojačica"
    " prevoditelj:prevoditeljica prevodilac:prevoditeljka knjižničar:knjižničarka"
    " bibliotekar:bibliotekarka vrtlar:vrtlarica baštovan:baštovanka radnik:radnica"
    " vegetarijanac:vegetarijanka umirovljenik:umirovljenica penzioner:penzionerka"
    " nogometaš:nogometašica fudbaler:fudbalerka susjed:susjeda komšija:komšinica stranac:strankinja"
    " zagrepčanin:zagrepčanka beograđanin:beograđanka hrvat:hrvatica srbin:srpkinja glazbenik:glazbenica"
    " muzičar:muzičarka violinist:violinistica violinista:violinistkinja pijanist:pijanistica"
    " pijanista:pijanistkinja medicinar:medicinarka pekar:pekarica slastičar:slastičarka"
    " poslastičar:poslastičarka turist:turistica turista:turistkinja blagajnik:blagajnica"
    " zaljubljenik:zaljubljenica ljubitelj:ljubiteljica ribar:ribarica pjesnik:pjesnikinja"
    " pesnik:pesnikinja otac:majka tata:mama muž:žena suprug:supruga sin:kći sin:kćerka sin:ćerka"
    " brat:sestra djed:baka deda:baba ujak:teta stric:tetka udovac:udovica dječak:djevojčica"
    " dečak:devojčica momak:djevojka momak:devojka svekar:svekrva zaručnik:zaručnica verenik:verenica"
    " muškarac:žena unuk:unuka"
)

SLOVENIAN = pairs(
    "krojač:šivilja učitelj:učiteljica prodajalec:prodajalka natakar:natakarica kuhar:kuharica"
    " frizer:frizerka študent:študentka učenec:učenka dijak:dijakinja pevec:pevka igralec:igralka"
    " plesalec:plesalka pisatelj:pisateljica novinar:novinarka vzgojitelj:vzgojiteljica"
    " športnik:športnica plavalec:plavalka tekač:tekačica kolesar:kolesarka bralec:bralka"
    " zbiralec:zbiralka navijač:navijačica slikar:slikarka čistilec:čistilka krojač:krojačica"
    " prevajalec:prevajalka knjižničar:knjižničarka vrtnar:vrtnarka delavec:delavka"
    " vegetarijanec:vegetarijanka upokojenec:upokojenka nogometaš:nogometašica sosed:soseda tujec:tujka"
    " ljubljančan:ljubljančanka slovenec:slovenka glasbenik:glasbenica violinist:violinistka"
    " pianist:pianistka negovalec:negovalka pek:pekinja slaščičar:slaščičarka turist:turistka"
    " šahist:šahistka blagajnik:blagajničarka ljubitelj:ljubiteljica ribič:ribička pesnik:pesnica"
    " oče:mati oče:mama ati:mami mož:žena sin:hči sin:hčerka brat:sestra dedek:babica stric:teta"
    " vdovec:vdova fant:punca deček:deklica tast:tašča zaročenec:zaročenka moški:ženska vnuk:vnukinja"
)

BULGARIAN = pairs(
    "дърводелец:дърводелка планинар:планинарка алпинист:алпинистка китарист:китаристка келнер:келнерка"
    " барман:барманка учен:учена пчелар:пчеларка козметик:козметичка масажист:масажистка"
    " треньор:треньорка гимнастик:гимнастичка селянин:селянка моряк:морячка фотограф:фотографка"
    " продавач:продавачка сервитьор:сервитьорка готвач:готвачка фризьор:фризьорка студент:студентка"
    " ученик:ученичка певец:певица актьор:актриса танцьор:танцьорка писател:писателка"
    " журналист:журналистка спортист:спортистка плувец:плувкиня бегач:бегачка колоездач:колоездачка"
    " читател:читателка колекционер:колекционерка фен:фенка художник:художничка чистач:чистачка"
    " шивач:шивачка преводач:преводачка библиотекар:библиотекарка градинар:градинарка"
    " работник:работничка вегетарианец:вегетарианка пенсионер:пенсионерка футболист:футболистка"
    " съсед:съседка чужденец:чужденка софиянец:софиянка българин:българка музикант:музикантка"
    " цигулар:цигуларка пианист:пианистка сладкар:сладкарка пекар:пекарка турист:туристка"
    " шахматист:шахматистка касиер:касиерка любител:любителка рибар:рибарка поет:поетеса баща:майка"
    " татко:мама съпруг:съпруга мъж:жена син:дъщеря брат:сестра дядо:баба чичо:леля вдовец:вдовица"
    " годеник:годеница свекър:свекърва внук:внучка санитар:санитарка"
)

RUSSIAN = pairs(
    "портной:швея рыбак:рыбачка грибник:грибница пианист:пианистка гитарист:гитаристка лыжник:лыжница"
    " сосед:соседка турист:туристка крестьянин:крестьянка моряк:морячка велосипедист:велосипедистка"
    " сибиряк:сибирячка продавец:продавщица официант:официантка студент:студентка ученик:ученица"
    " певец:певица актёр:актриса актер:актриса танцор:танцовщица медбрат:медсестра спортсмен:спортсменка"
    " пловец:пловчиха портной:портниха уборщик:уборщица вегетарианец:вегетарианка пенсионер:пенсионерка"
    " иностранец:иностранка москвич:москвичка школьник:школьница художник:художница поклонник:поклонница"
    " любитель:любительница баскетболист:баскетболистка теннисист:теннисистка гимнаст:гимнастка"
    " фигурист:фигуристка домохозяин:домохозяйка санитар:санитарка скрипач:скрипачка"
    " болельщик:болельщица писатель:писательница воспитатель:воспитательница повар:повариха отец:мать"
    " папа:мама муж:жена сын:дочь брат:сестра дедушка:бабушка дед:бабка дядя:тётя вдовец:вдова"
    " жених:невеста мальчик:девочка парень:девушка мужчина:женщина внук:внучка свёкор:свекровь"
    " тесть:тёща зять:невестка холостяк:холостячка блондин:блондинка брюнет:брюнетка"
)

UKRAINIAN = pairs(
    "швець:швачка рибалка:рибачка грибник:грибниця піаніст:піаністка гітарист:гітаристка лижник:лижниця"
    " турист:туристка селянин:селянка моряк:морячка велосипедист:велосипедистка пекар:пекарка"
    " продавець:продавчиня офіціант:офіціантка студент:студентка учень:учениця співак:співачка"
    " актор:акторка актор:актриса танцівник:танцівниця медбрат:медсестра спортсмен:спортсменка"
    " плавець:плавчиня кравець:кравчиня прибиральник:прибиральниця вегетаріанець:вегетаріанка"
    " пенсіонер:пенсіонерка іноземець:іноземка киянин:киянка школяр:школярка художник:художниця"
    " читач:читачка шанувальник:шанувальниця прихильник:прихильниця колекціонер:колекціонерка"
    " бібліотекар:бібліотекарка перекладач:перекладачка кухар:кухарка перукар:перукарка"
    " тенісист:тенісистка гімнаст:гімнастка скрипаль:скрипалька вболівальник:вболівальниця"
    " письменник:письменниця вихователь:вихователька журналіст:журналістка українець:українка"
    " сусід:сусідка музикант:музикантка батько:мати тато:мама чоловік:дружина син:дочка син:донька"
    " брат:сестра дідусь:бабуся дядько:тітка вдівець:вдова наречений:наречена хлопець:дівчина"
    " хлопчик:дівчинка внук:внучка онук:онука свекор:свекруха тесть:теща зять:невістка блондин:блондинка"
)

BELARUSIAN = pairs(
    "шавец:швачка рыбак:рыбачка грыбнік:грыбніца піяніст:піяністка гітарыст:гітарыстка лыжнік:лыжніца"
    " турыст:турыстка селянін:сялянка марак:марачка веласіпедыст:веласіпедыстка пекар:пекарка"
    " прадавец:прадаўшчыца прадавец:прадавачка афіцыянт:афіцыянтка студэнт:студэнтка вучань:вучаніца"
    " спявак:спявачка акцёр:актрыса акцёр:акторка танцор:танцоўшчыца медбрат:медсястра"
    " спартсмен:спартсменка пловец:плыўчыха кравец:краўчыха прыбіральшчык:прыбіральшчыца"
    " вегетарыянец:вегетарыянка пенсіянер:пенсіянерка замежнік:замежніца мінчанін:мінчанка"
    " школьнік:школьніца мастак:мастачка чытач:чытачка прыхільнік:прыхільніца аматар:аматарка"
    " калекцыянер:калекцыянерка бібліятэкар:бібліятэкарка перакладчык:перакладчыца кухар:кухарка"
    " цырульнік:цырульніца тэнісіст:тэнісістка гімнаст:гімнастка скрыпач:скрыпачка заўзятар:заўзятарка"
    " пісьменнік:пісьменніца выхавальнік:выхавальніца журналіст:журналістка беларус:беларуска"
    " сусед:суседка музыкант:музыкантка бацька:маці тата:мама муж:жонка сын:дачка брат:сястра"
    " дзядуля:бабуля дзядзька:цётка удавец:удава жаніх:нявеста хлопец:дзяўчына хлопчык:дзяўчынка"
    " мужчына:жанчына унук:унучка ўнук:ўнучка свёкар:свякроў зяць:нявестка"
)

# the end of a nominative and that of its instrumental; the first that fits is taken
_INSTRUMENTALS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "sk": (
        ("ujo", "ujom"),
        ("kyňa", "kyňou"),
        ("ista", "istom"),
        ("tato", "tatom"),
        ("dca", "dcom"),
        ("ca", "cou"),
        ("a", "ou"),
        ("otec", "otcom"),
        ("ec", "com"),
        ("ko", "kom"),
        ("ý", "ým"),
        ("á", "ou"),
        ("", "om"),
    ),
    "cs": (
        ("í", "ím"),
        ("yně", "yní"),
        ("ice", "icí"),
        ("ista", "istou"),
        ("táta", "tátou"),
        ("ce", "cem"),
        ("a", "ou"),
        ("ec", "cem"),
        ("ek", "kem"),
        ("", "em"),
    ),
    "pl": (
        ("yni", "ynią"),
        ("a", "ą"),
        ("owa", "ową"),
        ("jciec", "jcem"),
        ("iec", "cem"),
        ("ek", "kiem"),
        ("k", "kiem"),
        ("eń", "niem"),
        ("ść", "ściem"),
        ("ąż", "ężem"),
        ("y", "ym"),
        ("", "em"),
    ),
    "ru": (
        ("зять", "зятем"),
        ("ея", "еёй"),
        ("ья", "ьей"),
        ("ца", "цей"),
        ("ша", "шей"),
        ("а", "ой"),
        ("я", "ей"),
        ("ец", "цом"),
        ("тель", "телем"),
        ("ень", "нем"),
        ("ь", "ью"),
        ("ой", "ым"),
        ("ый", "ым"),
        ("ач", "ачом"),
        ("ич", "ичом"),
        ("", "ом"),
    ),
    "uk": (
        ("мати", "матір'ю"),
        ("ня", "нею"),
        ("ця", "цею"),
        ("ша", "шею"),
        ("я", "ею"),
        ("а", "ою"),
        ("ець", "цем"),
        ("тель", "телем"),
        ("чень", "чнем"),
        ("ь", "ем"),
        ("яр", "ярем"),
        ("ач", "ачем"),
        ("ий", "им"),
        ("о", "ом"),
        ("", "ом"),
    ),
    "be": (
        ("ца", "цай"),
        ("ша", "шай"),
        ("я", "яй"),
        ("а", "ай"),
        ("ец", "цом"),
        ("ень", "нем"),
        ("ань", "нем"),
        ("ць", "цем"),
        ("оў", "оўю"),
        ("маці", "маці"),
        ("", "ам"),
    ),
}


def instrumentals(nouns: Mapping[str, str], language: str) -> dict[str, str]:
    """The instrumentals of a list of nouns, with their genders.

    >>> instrumentals({"učitelka": "female"}, "cs")
    {'učitelkou': 'female'}
    """
    return {_instrumental(noun, language): gender for noun, gender in nouns.items()}


def _instrumental(noun: str, language: str) -> str:
    ending, other = next(pair for pair in _INSTRUMENTALS[language] if noun.endswith(pair[0]))
    return noun.removesuffix(ending) + other
