"""Closed lists of predicate adjectives, masculine and feminine: weak taggers mistake these most.

A word alone is masculine, and its feminine follows from the endings below it; both are written out where it
does not.
"""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import declined, pairs

SLOVAK = pairs(
    "istý dobrý schopný šťastný silný hrdý pripravený slabý jediný zodpovedný smutný vedomý starý naštvaný"
    " mladý prvý úspešný presvedčený nervózny nahnevaný vyčerpaný sebavedomý dospelý odhodlaný vychovaný"
    " chorý pokojný stabilný frustrovaný asertívny empatický ohromený hladný unavený spoločenský"
    " kompetentný povýšený trpezlivý zamilovaný otvorený detinský závislý hrubý spokojný vďačný špinavý"
    " hlúpy priateľský tvrdý lenivý zvolený posledný obklopený vyrovnaný vtipný opálený napadnutý plachý"
    " zdvorilý vystrašený oblečený organizovaný aktívny citlivý nepokojný skúsený spoľahlivý prísny"
    " obľúbený úprimný milý emotívny komunikatívny racionálny slobodný zranený pekný náročný zručný skromný"
    " zvyknutý neschopný malý rozhodnutý vášnivý zamestnaný znechutený vzrušený zhovorčivý nezodpovedný"
    " stratený drsný osamelý taký aký zábavný nútený oddaný sympatický dôležitý živý sklamaný prekvapený"
    " urazený zdravý najlepší lepší mladší silnejší najšťastnejší ten:tá vinný nový",
    "ý:á y:a í:ia",
)

CZECH = pairs(
    "jistý dobrý silný šťastný slabý hrdý smutný naštvaný starý mladý jediný úspěšný sebevědomý vyčerpaný"
    " unavený zodpovědný nemocný dospělý empatický odhodlaný vyrovnaný tvrdý schopný frustrovaný klidný"
    " zkušený zdvořilý hloupý trpělivý připravený dětinský laskavý vtipný vděčný závislý přátelský líný"
    " přísný zamilovaný otevřený chytrý společenský špinavý upovídaný rychlý nezralý oblíbený hezký opálený"
    " hrubý náladový oblečený organizovaný citlivý drsný náročný důležitý jaký skromný spolehlivý vážný"
    " spokojený zvyklý vášnivý upřímný plachý volný nadšený zraněný oddaný neklidný odvážný takový vyděšený"
    " něžný malý hravý znechucený svobodný živý stydlivý napjatý rozrušený zaskočený zdravý nový hladový"
    " překvapený zklamaný přesvědčený ztracený vychovaný zvědavý připraven odhodlán přesvědčen spokojen"
    " unaven uznáván považován obklopen nadšen vyděšen ztracen nucen překvapen zmaten naštván vychován"
    " povýšen vybrán pozván napaden zvolen ohromen zklamán schopen:schopna neschopen:neschopna"
    " ochoten:ochotna vědom jist hotov povinen:povinna vinen:vinna ten:ta zdráv hoden:hodna šťasten:šťastna",
    "ý:á :a",
)

POLISH = pairs(
    "dobry szczęśliwy silny dumny słaby odpowiedzialny gotowy najlepszy smutny zły młodszy lepszy zdolny"
    " młody przekonany zdeterminowany silniejszy zdenerwowany zmęczony świadomy stary przystojny asertywny"
    " wybrany wyczerpany zaproszony wdzięczny nieśmiały empatyczny spokojny brudny leniwy chory"
    " sfrustrowany przygnębiony głodny zabawny opalony wychowany przerażony emocjonalny przyjazny"
    " kompetentny nieodpowiedzialny pierwszy zadowolony najszczęśliwszy twardy doświadczony surowy uczciwy"
    " zrównoważony zatrudniony niegrzeczny stabilny popularny uzależniony aktywny znudzony ważny"
    " zestresowany cierpliwy niedojrzały zakochany otwarty komunikatywny zazdrosny racjonalny zdecydowany"
    " zaangażowany agresywny żywy formalny mały poważny gadatliwy zorganizowany pracowity namiętny wściekły"
    " otoczony dziecinny zaatakowany rozmowny wolny podekscytowany zraniony niespokojny wrażliwy skromny"
    " zdumiony przyzwyczajony szczupły zmuszony oddany zależny ambitny ubrany pijany kruchy wytrwały czuły"
    " odważny zobowiązany nowy zdrowy samotny zdziwiony rozczarowany wykończony bezradny przygotowany"
    " głupi:głupia jaki taki towarzyski przyjacielski ten:ta pewien:pewna pewny gotów:gotowa winien:winna"
    " ciekaw:ciekawa świadom:świadoma",
    "y:a i:a",
)

CROATIAN = pairs(
    "viši niži veći manji siguran sretan dobar:dobra uvjeren spreman ponosan svjestan:svjesna jak tužan"
    " najbolji sposoban uspješan jedini odgovoran umoran odlučan jači ljut bolji otvoren slab"
    " bolestan:bolesna zadužen okružen glup izabran:izabrana samouvjeren miran prvi nervozan ovisan"
    " iscrpljen zahvalan odgojen sklon pametan ljubomoran nov sramežljiv zaljubljen popularan uplašen"
    " raspoložen posvećen pouzdan:pouzdana pozvan:pozvana objektivan emotivan zadovoljan aktivan napadnut"
    " lijen mrzovoljan prestar star rođen lijep iskren preslab samopouzdan:samopouzdana uravnotežen"
    " ljubazan društven uzbuđen ozbiljan slobodan pričljiv uznemiren smiren zabrinut usamljen smiješan"
    " frustriran:frustrirana prisiljen pošten racionalan stabilan neodgovoran tvrd izgubljen hrabar:hrabra"
    " povrijeđen gladan iskusan uvrijeđen važan strpljiv skroman uporan mlad mlađi strog strastven"
    " pristojan takav:takva kakav:kakva grub napet krhak:krhka predan:predana čvršći tvrđi teži djetinjast"
    " zdrav iznenađen razočaran:razočarana dužan malen mali taj:ta kriv",
    "an:na i:a :a",
)

SERBIAN = pairs(
    "srećan svestan:svesna uspešan uveren ubeđen samouveren unapređen zavisan smešan strpljiv osetljiv"
    " stidljiv lep ružan detinjast uključen primoran:primorana lenj povređen uvređen",
    "an:na :a",
)

SLOVENIAN = pairs(
    "prepričan močan:močna ponosen dober:dobra jezen mlajši pripravljen:pripravljena sposoben mlad srečen"
    " žalosten odločen:odločena najboljši odgovoren uspešen utrujen:utrujena lep prijazen edini boljši"
    " močnejši lačen bolan:bolna samozavesten prvi obkrožen:obkrožena neumen star živčen pameten hvaležen"
    " miren racionalen odvisen pogumen sramežljiv zadolžen:zadolžena zaljubljen:zaljubljena odprt izčrpan"
    " vzgojen:vzgojena prestar formalen potrpežljiv zanesljiv len:lena agresiven prestrašen:prestrašena"
    " empatičen zadovoljen razburjen:razburjena izvoljen:izvoljena izkušen:izkušena užaljen:užaljena"
    " navajen:navajena vpleten:vpletena strog prešibek:prešibka razočaran čustven:čustvena ljubosumen"
    " napaden:napadena stabilen svoboden izbran obseden:obsedena izgubljen:izgubljena aktiven"
    " osredotočen:osredotočena šibek:šibka rojen:rojena smešen strasten povabljen:povabljena kriv otročji"
    " zaposlen:zaposlena družaben razpoložen:razpoložena navdušen:navdušena vljuden zavezan nervozen kakšen"
    " zaskrbljen:zaskrbljena dolžan:dolžna prisiljen:prisiljena glasen slaboten objektiven komunikativen"
    " zmožen zdrav nagnjen:nagnjena kompetenten občutljiv grob trd nov osamljen:osamljena vztrajen majhen"
    " napet organiziran takšen vesel težak:težka klepetljiv grd presenečen:presenečena tisti",
    "en:na i:a :a",
)

_RUSSIAN = pairs(
    "высокий низкий толстый сильный слабый умный глупый добрый старый новый красивый счастливый спокойный"
    " успешный голодный свободный честный опытный взрослый грязный уверенный неуверенный смелый храбрый"
    " скромный решительный прекрасный привлекательный активный рациональный эмоциональный чувствительный"
    " общительный надёжный надежный ответственный терпеливый настойчивый напористый упорный ленивый"
    " застенчивый ревнивый одинокий здоровый уставший грустный веселый жизнерадостный виноватый беспомощный"
    " стабильный независимый зависимый полезный нужный важный дружелюбный вежливый грубый строгый жёсткий"
    " жесткий мягкий нежный заботливый агрессивный объективный компетентный подавленный разбитый"
    " расстроенный напряжённый напряженный довольный недовольный удовлетворённый удовлетворенный"
    " реализованный измотанный измождённый любимый единственный первый последный лучший серьёзный серьезный"
    " идеальный малый маленький",
    "ый:ая ий:ая",
)

RUSSIAN = _RUSSIAN | pairs(
    "должен уверен:уверена счастлив готов способен силён:сильна силен:сильна убеждён:убеждена"
    " убежден:убеждена спокоен:спокойна успешен рад голоден благодарен доволен:довольна хорош свободен"
    " дружелюбен вежлив болен:больна настойчив обязан влюблён:влюблена влюблен:влюблена честен терпелив"
    " эмоционален:эмоциональна горд застенчив стабилен:стабильна красив активен слаб стар молод умён:умна"
    " умен глуп строг согласен вынужден:вынуждена намерен:намерена виноват знаком занят одинок ревнив ленив"
    " напряжён:напряжена напряжен:напряжена капризен объективен чувствителен:чувствительна"
    " настроен:настроена расстроен:расстроена приглашён:приглашена приглашен:приглашена избран ранен:ранена"
    " удивлён:удивлена удивлен:удивлена потрясён:потрясена потрясен:потрясена такой:такая рождён:рождена"
    " рожден:рождена хрупок:хрупка уродлив смел добр",
    "ен:на :а",
)

RUSSIAN_INSTRUMENTAL = declined(_RUSSIAN, "ый:ым ий:им шая:шей ая:ой яя:ей") | pairs(
    "худым:худой злым:злой молодым:молодой больным:больной"
)

_UKRAINIAN = pairs(
    "високий низький худий товстий щасливий слабкий сильний готовий переконаний впевнений упевнений здатний"
    " добрий відкритий гарний злий хороший старий збуджений виснажений вдячний досвідчений задоволений"
    " зосереджений сповнений голодний надійний наполегливий правий популярний спокійний успішний закоханий"
    " розчарований грубий розумний примхливий одержимий стабільний активний напружений змушений схильний"
    " чесний емоційний комунікативний раціональний компетентний жорсткий чутливий покірний відданий"
    " відповідальний неспокійний засмучений хворий кваліфікований важливий скромний ніжний молодий рішучий"
    " привабливий суворий врівноважений брудний співчутливий залежний незалежний дурний симпатичний"
    " втомлений стомлений перший єдиний наймолодший найкращий талановитий одягнений ображений малий"
    " терплячий лінивий сміливий самотний сумний веселий беззахисний безпорадний сильніший здивований"
    " запрошений наляканий реалізований народжений обраний вільний спроможний зобов'язаний бідний багатий"
    " турботливий дорослий самотній останній",
    "ий:а ій:я",
)

UKRAINIAN = _UKRAINIAN | pairs(
    "повинен:повинна радий рад згоден:згодна певен:певна винен:винна здатен:здатна ладен:ладна готов"
    " такий який",
    "ий:а :а",
)

UKRAINIAN_INSTRUMENTAL = declined(_UKRAINIAN, "ий:им ій:ім ня:ньою а:ою") | pairs("маленьким:маленькою")

_BELARUSIAN = pairs(
    "высокі нізкі худы тоўсты ўпэўнены упэўнены гатовы шчаслівы здольны моцны лепшы вымушаны добры малады"
    " адкрыты знясілены засмучаны стары дурны прыязны паспяховы галодны надзейны эмацыйны камунікабельны"
    " рацыянальны узбуджаны ўзбуджаны злы удзячны ўдзячны сарамлівы спагадлівы залежны папулярны спакойны"
    " мацнейшы вопытны прыгожы таленавіты схільны строгі расчараваны настойлівы кампетэнтны стомлены вольны"
    " актыўны засяроджаны адданы першы неспакойны працавіты цярплівы капрызны абавязаны напружаны слабы"
    " малы хворы здаровы сумны вясёлы самотны адзінокі запрошаны абраны задаволены незадаволены разумны"
    " смелы ганарысты чэсны адказны важны рэўнівы лянівы брудны",
    "ы:ая і:ая",
)

BELARUSIAN = _BELARUSIAN | pairs(
    "перакананы апошні:апошняя павінен:павінна рад рады:рада такі які вінаваты гатоў:гатова маленькі",
    "ы:ая і:ая :а",
)

BELARUSIAN_INSTRUMENTAL = (
    declined(_BELARUSIAN, "ы:ым і:ім ая:ай")
    | declined(_BELARUSIAN, "ы:ым і:ім ая:ой")
    | pairs("маленькім:маленькай")
)

BULGARIAN = pairs(
    "уморен щастлив готов сигурен:сигурна уверен добър:добра силен:силна слаб умен:умна глупав красив"
    " тъжен:тъжна ядосан изморен болен:болна здрав млад стар сам гладен:гладна жаден:жадна нервен:нервна"
    " притеснен горд доволен:доволна разочарован изненадан влюбен женен омъжен длъжен:длъжна"
    " способен:способна благодарен:благодарна спокоен:спокойна свободен:свободна зает самотен:самотна богат"
    " беден:бедна строг честен:честна отговорен:отговорна успешен:успешна емоционален:емоционална"
    " чувствителен:чувствителна логичен:логична рационален:рационална смел страхлив мързелив упорит ревнив"
    " грижовен:грижовна нежен:нежна висок нисък:ниска бърз бавен:бавна убеден решен принуден обиден"
    " възбуден изтощен объркан уплашен роден облечен независим зависим единствен пръв:първа"
    " последен:последна трудолюбив амбициозен:амбициозна малък:малка голям нов съгласен:съгласна прав крив"
    " виновен:виновна невинен:невинна известен:известна",
    "ен:ена :а",
)

# being married, divorced, engaged: a closed class that taggers often do not know
MARRIED = {
    "be": pairs("жанаты:замужам разведзены:разведзеная заручаны:заручаная"),
    "ru": pairs("женат:замужем разведён:разведена разведен:разведена помолвлен:помолвлена"),
    "uk": pairs("одружений:заміжня неодружений:незаміжня розлучений:розлучена заручений:заручена"),
    "hr": pairs("oženjen:udana neoženjen:neudana razveden:razvedena zaručen:zaručena"),
    "sr": pairs("oženjen:udata neoženjen:neudata razveden:razvedena veren:verena"),
    "sl": pairs("poročen:poročena neporočen:neporočena ločen:ločena zaročen:zaročena"),
    "bg": pairs("женен:омъжена неженен:неомъжена разведен:разведена сгоден:сгодена"),
    "cs": pairs("ženatý:vdaná svobodný:svobodná rozvedený:rozvedená zasnoubený:zasnoubená"),
    "pl": pairs("żonaty:zamężna nieżonaty:niezamężna rozwiedziony:rozwiedziona zaręczony:zaręczona"),
    "sk": pairs("ženatý:vydatá slobodný:slobodná rozvedený:rozvedená zasnúbený:zasnúbená"),
}

# how one comes home or goes to bed
STATES = {
    "sk": pairs(
        "hladný:hladná smädný:smädná mokrý:mokrá premočený:premočená bosý:bosá nahý:nahá opitý:opitá"
        " triezvy:triezva oddýchnutý:oddýchnutá vyspatý:vyspatá nevyspatý:nevyspatá premrznutý:premrznutá"
        " zmrznutý:zmrznutá bledý:bledá červený:červená rozospatý:rozospatá spotený:spotená"
        " nadšený:nadšená dojatý:dojatá zmätený:zmätená uplakaný:uplakaná vyplašený:vyplašená"
        " zadychčaný:zadychčaná zablatený:zablatená"
    ),
    "cs": pairs(
        "žíznivý:žíznivá mokrý:mokrá promočený:promočená bosý:bosá nahý:nahá opilý:opilá"
        " střízlivý:střízlivá odpočatý:odpočatá vyspalý:vyspalá nevyspalý:nevyspalá promrzlý:promrzlá"
        " zmrzlý:zmrzlá bledý:bledá rozespalý:rozespalá zpocený:zpocená dojatý:dojatá zmatený:zmatená"
        " uplakaný:uplakaná udýchaný:udýchaná utahaný:utahaná ospalý:ospalá sytý:sytá"
    ),
    "pl": pairs(
        "spragniony:spragniona mokry:mokra przemoczony:przemoczona bosy:bosa nagi:naga pijany:pijana"
        " trzeźwy:trzeźwa wypoczęty:wypoczęta wyspany:wyspana niewyspany:niewyspana zmarznięty:zmarznięta"
        " blady:blada zaspany:zaspana spocony:spocona wzruszony:wzruszona zdezorientowany:zdezorientowana"
        " zapłakany:zapłakana zdyszany:zdyszana senny:senna syty:syta"
    ),
    "hr": pairs(
        "gladan:gladna žedan:žedna mokar:mokra bos:bosa gol:gola pijan:pijana trijezan:trijezna"
        " trezan:trezna odmoran:odmorna naspavan:naspavana neispavan:neispavana nenaspavan:nenaspavana"
        " promrzao:promrzla smrznut:smrznuta blijed:blijeda bled:bleda pospan:pospana oznojen:oznojena"
        " ganut:ganuta zbunjen:zbunjena uplakan:uplakana zadihan:zadihana sit:sita premoren:premorena"
        " budan:budna"
    ),
    "sl": pairs(
        "lačen:lačna žejen:žejna moker:mokra bos:bosa gol:gola pijan:pijana trezen:trezna spočit:spočita"
        " naspan:naspana neprespan:neprespana zmrznjen:zmrznjena premražen:premražena bled:bleda"
        " zaspan:zaspana prepoten:prepotena ganjen:ganjena zmeden:zmedena objokan:objokana"
        " zadihan:zadihana sit:sita utrujen:utrujena buden:budna"
    ),
    "bg": pairs(
        "мокър:мокра бос:боса гол:гола пиян:пияна трезвен:трезвена отпочинал:отпочинала наспан:наспана"
        " недоспал:недоспала сънен:сънена измръзнал:измръзнала бледен:бледна потен:потна трогнат:трогната"
        " разплакан:разплакана задъхан:задъхана сит:сита усмихнат:усмихната буден:будна"
        " премръзнал:премръзнала гладен:гладна запъхтян:запъхтяна"
    ),
}

RUSSIAN_SHORT = pairs(
    "здоров:здорова готов:готова прав:права рад:рада болен:больна жив:жива сыт:сыта пьян:пьяна"
    " стар:стара молод:молода умён:умна глуп:глупа богат:богата беден:бедна счастлив:счастлива"
    " голоден:голодна свободен:свободна занят:занята согласен:согласна доволен:довольна"
    " уверен:уверена обязан:обязана должен:должна виноват:виновата благодарен:благодарна"
    " знаком:знакома похож:похожа способен:способна намерен:намерена склонен:склонна горд:горда"
    " силён:сильна слаб:слаба одинок:одинока зол:зла спокоен:спокойна расстроен:расстроена"
    " поражён:поражена удивлён:удивлена влюблён:влюблена"
)
