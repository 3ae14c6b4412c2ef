"""More predicate adjectives, by their masculine: if nothing else is written the feminine follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from gest_dataset.gender.grammars.grammar import FEMALE, MALE

# the end of the masculine, those of the feminine and of both instrumentals; the first that fits is taken
_ENDINGS: Mapping[str, tuple[tuple[str, str, str, str], ...]] = {
    "ru": (
        ("шийся", "шаяся", "шимся", "шейся"),
        ("ний", "няя", "ним", "ней"),
        ("щий", "щая", "щим", "щей"),
        ("ший", "шая", "шим", "шей"),
        ("ий", "ая", "им", "ой"),
        ("ый", "ая", "ым", "ой"),
        ("ой", "ая", "ым", "ой"),
    ),
    "uk": (("ій", "я", "ім", "ьою"), ("ий", "а", "им", "ою")),
    "be": (("ні", "няя", "нім", "няй"), ("ы", "ая", "ым", "ай"), ("і", "ая", "ім", "ай")),
    "sk": (("ý", "á", "ým", "ou"), ("y", "a", "ym", "ou"), ("í", "ia", "ím", "ou")),
    "cs": (("ý", "á", "ým", "ou"), ("án", "ána", "", ""), ("n", "na", "", ""), ("t", "ta", "", "")),
    "pl": (("ki", "ka", "kim", "ką"), ("gi", "ga", "gim", "gą"), ("y", "a", "ym", "ą")),
}

_MASCULINE: Mapping[str, str] = {
    "ru": (
        "талантливый старший главный крайний лишний некрасивый загорелый отдохнувший измученный"
        " выспавшийся невыспавшийся промокший мокрый злой"
        " пьяный загоревший трезвый босой голый усталый разочарованный окрылённый воодушевлённый"
        " взволнованный"
        " заплаканный растрёпанный нарядный накрашенный сонный бодрый сытый простуженный опустошённый"
        " обиженный вдохновлённый возбуждённый растерянный потерянный замёрзший продрогший вспотевший"
        " запыхавшийся побритый причёсанный одетый раздетый хмурый мрачный радостный довольный"
        " недовольный больной здоровый рассеянный замкнутый капризный щедрый жадный скупой ловкий"
        " неловкий неуклюжий наивный вредный суеверный впечатлительный внимательный невнимательный"
        " аккуратный неаккуратный болтливый молчаливый ранимый обидчивый мстительный доверчивый"
        " бережливый расточительный любопытный придирчивый сдержанный требовательный сентиментальный"
        " романтичный ироничный чуткий вспыльчивый раздражительный незаметный невидимый лишний чужой"
        " бывалый незрячий близорукий полный стройный рыжий седой лысый смуглый"
    ),
    "uk": (
        "старший головний крайній засмаглий відпочилий мокрий злий п'яний тверезий босий голий"
        " розчарований натхненний"
        " схвильований заплаканий розпатланий ошатний нафарбований сонний бадьорий ситий застуджений"
        " спустошений розгублений загублений змерзлий спітнілий захеканий поголений роздягнений похмурий"
        " радісний незадоволений неуважний замкнутий вередливий щедрий жадібний скупий спритний"
        " незграбний наївний забобонний вразливий уважний охайний неохайний балакучий мовчазний"
        " образливий мстивий довірливий ощадливий допитливий прискіпливий стриманий вимогливий"
        " сентиментальний романтичний іронічний чуйний запальний дратівливий непомітний зайвий чужий"
        " короткозорий повний стрункий рудий сивий лисий смаглявий винний завинний зобов’язаний непитущий"
        " невиспаний невдячний непохитний затишний упертий впертий охоплений зворушений вражений"
        " приголомшений зайнятий занятий зневірений"
    ),
    "be": (
        "старшы галоўны крайні таленавіты скупы шчодры прагны загарэлы мокры п’яны п'яны цвярозы"
        " босы голы натхнёны ўсхваляваны"
        " усхваляваны заплаканы растрапаны сонны бадзёры сыты прастуджаны спустошаны разгублены згублены"
        " змерзлы спацелы паголены апрануты распрануты пахмурны радасны няўважлівы замкнёны наравісты"
        " спрытны нязграбны наіўны забабонны ўражлівы уражлівы ўважлівы уважлівы акуратны неахайны"
        " балбатлівы маўклівы крыўдлівы помслівы даверлівы ашчадны цікаўны прыдзірлівы стрыманы"
        " патрабавальны сентыментальны рамантычны іранічны чулы запальчывы раздражнёны незаўважны лішні"
        " чужы блізарукі поўны стройны рыжы сівы лысы смуглявы ўпарты упарты непрадказальны заняты"
        " здзіўлены ўражаны уражаны крануты ашаломлены прыгнечаны надакучлівы самаўпэўнены няўпэўнены"
        " асцярожны хітры вынослівы непаваротлівы бледны цвёрды мяккі строгі выхаваны невыспаны выспаны"
        " прамоклы галодны ўзрушаны"
    ),
    "sk": (
        "zablatený prechladnutý namosúrený nazlostený učesaný namaľovaný oholený vyobliekaný spálený"
        " ospalý čulý sýty vyprahnutý skleslý otrávený zničený ubolený dobitý ubitý bezradný podráždený"
        " roztržitý pomalý rýchly šikovný nešikovný zábudlivý poverčivý lakomý štedrý tvrdohlavý prchký"
        " urážlivý zvedavý mlčanlivý neposedný sebecký naivný rojčivý opatrný neopatrný zaneprázdnený"
        " nezamestnaný očkovaný zadlžený prihlásený ubytovaný povinný nútený ochotný neochotný oprávnený"
        " poverený dlžný"
    ),
    "cs": (
        "zablácený nachlazený rozmrzelý načesaný nalíčený oholený spálený čilý sytý zničený bezradný"
        " podrážděný roztržitý pomalý šikovný nešikovný zapomnětlivý pověrčivý lakomý štědrý tvrdohlavý"
        " prchlivý urážlivý mlčenlivý neposedný sobecký opatrný neopatrný zaneprázdněný nezaměstnaný"
        " očkovaný zadlužený přihlášený ubytovaný zaměstnán nezaměstnán ubytován přihlášen očkován"
        " zadlužen pověřen oprávněn ženat rozveden zasnouben narozen pokřtěn vdán zván dojat zaujat vázán"
        " svázán placen odsouzen propuštěn jmenován oceněn vyznamenán přijat odmítnut okraden podveden"
        " zraněn operován léčen veden poctěn potěšen zahlcen znechucen otráven rozčarován zděšen šokován"
        " fascinován inspirován motivován dán"
    ),
    "pl": (
        "zabłocony przeziębiony rozczochrany umalowany ogolony spalony ospały rześki zniszczony"
        " rozdrażniony roztargniony powolny szybki zręczny niezdarny zapominalski przesądny skąpy hojny"
        " uparty porywczy obrażalski ciekawski milczący ruchliwy samolubny naiwny ostrożny nieostrożny"
        " zajęty bezrobotny zaszczepiony zadłużony zapisany zameldowany upoważniony winny wzruszony"
        " oczarowany zachwycony zawiedziony przemarznięty zziębnięty skostniały rozespany załamany"
        " odprężony zrelaksowany"
    ),
    "bg": (
        "гневен:гневна разочарован:разочарована наспан:наспана ненаспан:ненаспана намръщен:намръщена"
        " кален:кална окалян:окаляна настинал:настинала сресан:сресана гримиран:гримирана"
        " избръснат:избръсната обезверен:обезверена съсипан:съсипана безпомощен:безпомощна"
        " раздразнен:раздразнена разсеян:разсеяна бавен:бавна сръчен:сръчна несръчен:несръчна"
        " суеверен:суеверна стиснат:стисната щедър:щедра инатлив:инатлива упорит:упорита обидчив:обидчива"
        " мълчалив:мълчалива наивен:наивна предпазлив:предпазлива безработен:безработна"
        " ваксиниран:ваксинирана задлъжнял:задлъжняла трогнат:трогната очарован:очарована"
        " възхитен:възхитена изненадан:изненадана смутен:смутена развълнуван:развълнувана скаран:скарана"
        " недоволен:недоволна весел:весела радостен:радостна сърдит:сърдита нервен:нервна бодър:бодра"
        " изтощен:изтощена капнал:капнала пребледнял:пребледняла преоблечен:преоблечена гузен:гузна"
        " ядосан:ядосана блажен:блажена объркан:объркана потен:потна изпотен:изпотена окрилен:окрилена"
        " обнадежден:обнадеждена късметлия:късметлийка"
    ),
    "hr": (
        "gotov:gotova talentiran:talentirana talentovan:talentovana blatan:blatna voljan:voljna"
        " obavezan:obavezna obvezan:obvezna temeljit:temeljita spor:spora"
        " malaksao:malaksala namirisan:namirisana ispeglan:ispeglana mokar:mokra prljav:prljava"
        " prehlađen:prehlađena raščupan:raščupana našminkan:našminkana obrijan:obrijana opečen:opečena"
        " čio:čila uništen:uništena bespomoćan:bespomoćna razdražljiv:razdražljiva rastresen:rastresena"
        " brz:brza spretan:spretna nespretan:nespretna zaboravan:zaboravna praznovjeran:praznovjerna"
        " sujeveran:sujeverna škrt:škrta darežljiv:darežljiva tvrdoglav:tvrdoglava plah:plaha"
        " radoznao:radoznala znatiželjan:znatiželjna šutljiv:šutljiva ćutljiv:ćutljiva sebičan:sebična"
        " naivan:naivna oprezan:oprezna neoprezan:neoprezna zauzet:zauzeta nezaposlen:nezaposlena"
        " zaposlen:zaposlena cijepljen:cijepljena vakcinisan:vakcinisana zadužen:zadužena"
        " prijavljen:prijavljena ovlašten:ovlaštena ovlašćen:ovlašćena dirnut:dirnuta očaran:očarana"
        " oduševljen:oduševljena zbunjen:zbunjena ozlojeđen:ozlojeđena zabrinut:zabrinuta"
        " nestrpljiv:nestrpljiva naviknut:naviknuta naviknuo:naviknula tih:tiha brižan:brižna"
        " vrijedan:vrijedna vredan:vredna uredan:uredna neuredan:neuredna točan:točna tačan:tačna"
        " precizan:precizna spontan:spontana bučan:bučna ćudljiv:ćudljiva nesretan:nesretna"
        " nesrećan:nesrećna srdit:srdita bijesan:bijesna besan:besna veseo:vesela odmoran:odmorna"
        " ponizan:ponizna ćelav:ćelava visok:visoka nizak:niska mršav:mršava debeo:debela nemiran:nemirna"
        " nesiguran:nesigurna osjetljiv:osjetljiva snalažljiv:snalažljiva kriv:kriva nedužan:nedužna"
        " nevin:nevina stran:strana slijep:slijepa gluh:gluha gluv:gluva"
    ),
    "sl": (
        "blaten:blatna voljan:voljna obvezan:obvezna temeljit:temeljita počasen:počasna moker:mokra"
        " umazan:umazana prehlajen:prehlajena razmršen:razmršena naličen:naličena obrit:obrita"
        " opečen:opečena čil:čila uničen:uničena nemočen:nemočna razdražljiv:razdražljiva"
        " raztresen:raztresena hiter:hitra spreten:spretna neroden:nerodna pozabljiv:pozabljiva"
        " vraževeren:vraževerna skop:skopa radodaren:radodarna trmast:trmasta plah:plaha"
        " radoveden:radovedna redkobeseden:redkobesedna sebičen:sebična naiven:naivna previden:previdna"
        " nepreviden:neprevidna zaseden:zasedena brezposeln:brezposelna cepljen:cepljena"
        " zadolžen:zadolžena prijavljen:prijavljena pooblaščen:pooblaščena ganjen:ganjena očaran:očarana"
        " navdušen:navdušena zmeden:zmedena nestrpen:nestrpna tih:tiha skrben:skrbna priden:pridna"
        " urejen:urejena neurejen:neurejena točen:točna natančen:natančna spontan:spontana glasen:glasna"
        " nesrečen:nesrečna besen:besna vesel:vesela spočit:spočita izčrpan:izčrpana ponižen:ponižna"
        " plešast:plešasta visok:visoka nizek:nizka suh:suha debel:debela nemiren:nemirna"
        " negotov:negotova iznajdljiv:iznajdljiva nedolžen:nedolžna tuj:tuja slep:slepa gluh:gluha"
        " premočen:premočena premražen:premražena čustven:čustvena"
    ),
}


def nominatives(language: str) -> dict[str, str]:
    """The nominatives of a language's further adjectives, with their genders.

    >>> nominatives("pl")["uparta"]
    'female'
    """
    genders: dict[str, str] = {}
    for word in _MASCULINE[language].split():
        male, _, female = word.partition(":")
        genders[male] = MALE
        genders[female or _inflected(male, language)[0]] = FEMALE
    return {form: gender for form, gender in genders.items() if form}


def instrumentals(language: str) -> dict[str, str]:
    """Their instrumentals.

    >>> instrumentals("ru")["некрасивой"]
    'female'
    """
    genders: dict[str, str] = {}
    for male in _MASCULINE[language].split():
        _, male_instrumental, female_instrumental = _inflected(male, language)
        genders[male_instrumental] = MALE
        genders[female_instrumental] = FEMALE
    return genders


def _inflected(male: str, language: str) -> tuple[str, str, str]:
    """The feminine and the two instrumentals of a masculine."""
    ending, *others = next(row for row in _ENDINGS[language] if male.endswith(row[0]))
    feminine, male_instrumental, female_instrumental = (male.removesuffix(ending) + other for other in others)
    return feminine, male_instrumental, female_instrumental
