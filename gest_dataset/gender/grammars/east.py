"""East Slavic: Russian, Ukrainian, Belarusian."""

from __future__ import annotations

from gest_dataset.gender.grammars import persons, trades, traits, verbs, words
from gest_dataset.gender.grammars.grammar import (
    ANY_CASE,
    ANY_WORD,
    MALE,
    MISTAGGED,
    NEVER,
    PERSONS,
    VERBS,
    Forms,
    Grammar,
    either,
    pairs,
    table,
)

_CONSONANT = "[бвгджзклмнпрстфхцчшщў]"
_PREDICATES = table("ADJ VERB DET")
_OTHERS = either(MISTAGGED, table("VERB NUM SCONJ"))
_NOUN = table("NOUN")
# nouns in the shape of adjectives, and others that taggers take for short ones
_NOUNS = (
    "(ист|ент|ант|тор|нер|ник|тель|ец|ач|арь|лог|граф)|^(уч[её]ный|вчений|вучоны|рабочий|военный|взрослый"
    "|заведующий|управляющий|ведущий|дежурный|против|их|его|её|мыл|носил|самая|кілька|декілька)$"
)
# past tenses without -л, -в, -ў
_RUSSIAN_PAST = (
    "(мог|нёс|нес|вёз|вез|лёг|лег|рос|мёрз|мерз|мер|пёк|пек|стриг|берёг|берег|сох|мок|лез|грыз|пас|бег|шиб|жё"
    "г"
    "|стих|вык|кис|гас|тёр|тер)"
)
_UKRAINIAN_PAST = "(міг|ніс|віз|ліг|ріс|мерз|пік|стриг|беріг|звик|сох|мок|ліз|пас|біг|тер|сяг|вмер)"
_BELARUSIAN_PAST = "(мог|нёс|вёз|лёг|рос|мёрз|пёк|стрыг|бярог|вык|сох|мок|лез|пас|бег|цёр|цяг|памёр)"

GRAMMARS = {
    "ru": Grammar(
        working="работаю|служу|подрабатываю|являюсь|тружусь|буду|стану|становлюсь|остаюсь|считаюсь|числюсь",
        speaking=(
            "запишу|записываю|напишу|подумаю|шепну|повторю|успокаиваю|отшучиваюсь|добавлю|заявлю|"
            "отрезаю|признаю|объясню|восклицаю|утешаю|ругаю|бурчу|напеваю|отмахиваюсь|парирую|ною|"
            "вздохну|роняю|"
            "говорю|скажу|отвечаю|отвечу|повторяю|спрашиваю|пишу|думаю|шепчу|кричу|бормочу|"
            "шучу|объясняю|признаюсь|замечаю|прошу|добавляю|возражаю|заявляю|твержу|ворчу|"
            "смеюсь|вздыхаю|оправдываюсь|жалуюсь|хвастаюсь|произношу|восклицаю|уверяю|обещаю|"
            "убеждаю|извиняюсь"
        ),
        perceiving=(
            "слышу|читаю|прочту|вижу|помню|вспоминаю|получаю|узнаю|слушаю|знаю|цитирую|перевожу|смотрю"
        ),
        pronouns=table("я"),
        certain=verbs.RUSSIAN,
        others=table("ты он она мы вы они кто"),
        datives=table("мне"),
        objects=table("меня"),
        saying="(не)?(сказал|говорил|спросил|ответил|сообщил|попросил|рассказал|крикнул|добавил|заявил|просил|объяснил)а?",
        considering="считаю|нахожу|ощущаю|ощущу|чувствую|почувствую",
        linking="кажусь|покажусь|выгляжу|бываю|являюсь|считаюсь|оказываюсь|окажусь|притворяюсь|остаюсь|становлюсь|стану|буду|останусь",
        infinitives=table("быть стать оставаться остаться чувствовать казаться"),
        infinitive="(ть|ться|ти|тись|чь)",
        forms={
            "instrumental_shape": Forms(
                "(нн|ьн|жн|чн|рн|вн|сн|дн|тн|мн|зн|чив|лив|ат|ит|ист|уж)(ым|им)",
                "(нн|ьн|жн|чн|рн|вн|сн|дн|тн|мн|зн|чив|лив|ат|ит|ист|уж)ой",
                upos=ANY_WORD,
                cases=ANY_CASE,
            ),
            "state": Forms(
                "(ший|вший|енный|анный|тый|лый)(ся)?",
                "(шая|енная|анная|тая|лая)(ся)?",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never=_NOUNS,
            ),
            "shape": Forms(
                "(ый|[гкхжшщн]ий)(ся)?",
                "([^аеиоуыэюя])(ая|яя)(ся)?",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never=_NOUNS + "|[ея]ний|аний",
            ),
            "masculine": Forms(
                "[жч]анин|[влрн]янин", NEVER, upos=ANY_WORD, never="^(гражданин|семьянин|согражданин)$"
            ),
            "feminine": Forms(
                NEVER,
                "((тельниц|щиц|чиц|ниц|истк|антк|ентк|ичк|ерк|орк|ерш|анк|янк|вк|есс|рис|атк|утк)|нтк|менк)(а)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(банка|танка|рынка|единица|пьяница|тупица|убийца|умница|половинка|граница|столица|больница|страница|птица|копия|тройка|девятка|находка|загадка|отличка|частичка|кровинка|улитка|марионетка|сиротка|синичка|чайка|новинка|выскочка|незнайка|всезнайка|зазнайка|хозяйка|птичка|спичка)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((тельниц|щиц|чиц|ниц|истк|антк|ентк|ичк|ерк|орк|ерш|анк|янк|вк|есс|рис|атк|утк)|нтк|менк)(ой|ей)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
            "past": Forms(
                f"л(ся)?|{_RUSSIAN_PAST}(ся)?",
                "ла(сь)?",
                upos=VERBS,
                never="^(зал|бал|вал|пол|стол|стола|вслух|пола|профессионал|генерал|либерал|идеал|адмирал|капрал"
                "|интеллектуал|радикал|провинциал|маргинал|вассал|сила|дела|тела)$",
                tagged=f"{_CONSONANT}(ся)?",
            ),
            # -ой is masculine nominative and feminine instrumental
            "adjective": Forms(
                "(ый|ий)(ся)?", "(ая|яя)(ся)?", upos=_PREDICATES, participles=True, never=_NOUNS
            ),
            "predicate_shape": Forms(
                "([ои]рован|[жшчщ]ен|[лн]ён|[оаяигкд]нут)",
                "(ована|[аояеи]н[еа]на|[лнвжшчщр]ена|ённа|ута|ята)",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(перемена|измена|сирена|арена|гиена|цена|смена|замена|минута|валюта|каюта)$",
            ),
            "short": Forms(_CONSONANT, "а", upos=VERBS | table("ADJ"), participles=True, never=_NOUNS),
            "instrumental": Forms(
                "(ым|им)(ся)?", "(ой|ей|ою|ею)(ся)?", upos=_PREDICATES, participles=True, cases=table("Ins")
            ),
            "past_as_other": Forms("[^иа]л(ся)?", "ла(сь)?", upos=_OTHERS),
            "past_as_noun": Forms("(ир|из)овал(ся)?|[ыи]вал(ся)?", "ла(сь)?", upos=_NOUN, cases=ANY_CASE),
            "adjective_as_other": Forms(
                "(ый|ий|ен|ив|ав|ан|ист|ит)", "(ая|на|ва|ба|та|ра)", upos=_OTHERS, never=_NOUNS
            ),
        },
        words={
            "which": pairs("который:которая"),
            "only": pairs("единственный:единственная первый:первая последний:последняя"),
            "predicate": words.RUSSIAN_SHORT,
            "person": {**trades.RUSSIAN, **persons.RUSSIAN},
            "person_instrumental": persons.instrumentals({**trades.RUSSIAN, **persons.RUSSIAN}, "ru"),
            "known": {
                **traits.nominatives("ru"),
                **words.RUSSIAN,
                **words.RUSSIAN_SHORT,
                **words.MARRIED["ru"],
            },
            "known_instrumental": {**traits.instrumentals("ru"), **words.RUSSIAN_INSTRUMENTAL},
            "agreeing": pairs("сам:сама"),
            "one": pairs("один:одна"),
            "dative": pairs("одному:одной самому:самой"),
            "demonstrative": pairs("тот:та"),
            "known_past": pairs(
                "привык:привыкла мог:могла смог:смогла помог:помогла ошибся:ошиблась вырос:выросла лёг:легла"
            ),
        },
    ),
    "uk": Grammar(
        working="працюю|служу|підробляю|є|буду|стану|стаю|залишаюся|вважаюся|підпрацьовую",
        speaking=(
            "запишу|записую|напишу|подумаю|шепну|повторю|заспокоюю|відбуваюся|додам|заявлю|"
            "відрізаю|визнаю|поясню|вигукую|втішаю|лаю|наспівую|відмахуюся|відповім|промовлю|"
            "зізнаюсь|виправдовуюсь|хвалюсь|"
            "кажу|скажу|говорю|відповідаю|повторюю|питаю|запитую|пишу|думаю|шепочу|кричу|"
            "бурмочу|жартую|пояснюю|зізнаюся|зауважую|прошу|додаю|заперечую|заявляю|бурчу|"
            "сміюся|зітхаю|виправдовуюся|скаржуся|хвалюся|запевняю|обіцяю|переконую|"
            "вибачаюся|промовляю|гукаю"
        ),
        perceiving=(
            "чую|читаю|бачу|пам'ятаю|памятаю|згадую|отримую|дізнаюся|слухаю|знаю|цитую|перекладаю|дивлюся"
        ),
        pronouns=table("я"),
        certain=verbs.UKRAINIAN,
        others=table("ти він вона ми ви вони хто"),
        datives=table("мені"),
        clitics=table("своє"),
        objects=table("мене"),
        saying="(не)?(сказа|говори|спита|запита|відпові|повідоми|попроси|розпові|крикну|дода|заяви|проси|поясни|каза)(в|ла|ів)",
        considering="вважаю|відчуваю|відчую|почуваю|почую",
        linking="здаюся|здаюсь|видаюся|виглядаю|буваю|вважаюся|виявляюся|прикидаюся|почуваюсь|почуваюся|почуваю|залишаюсь|залишаюся|стаю|стану|буду",
        infinitives=table("бути стати залишатися залишитися почуватися відчувати"),
        infinitive="(ти|тися|тись)",
        governing="(не)?(повин|готов|здат|змушен|схильн|рад|згод)(ен|на|ий|а|ний)?",
        forms={
            "instrumental_shape": Forms(
                "(ен|ан|он|ьн|жн|чн|рн|вн|сн|дн|тн|лив|ат|ит|уж)им",
                "(ен|ан|ьн|жн|чн|рн|вн|сн|дн|тн|лив|ат|ит|уж)ою",
                upos=ANY_WORD,
                cases=ANY_CASE,
            ),
            "past_shape": Forms(
                "[аиіїеуяю]в(ся|сь)?",
                "ла(ся|сь)?",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(сила|школа|діла|тіла|мила|правила|бджола|ціла|мала|зла|скла)$",
            ),
            "state": Forms(
                "(ений|аний|лий|тий)",
                "(ена|ана|[аеи]ла)",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never="^(правила|постійна|стіна|ціна|рана|зміна|школа|сила|весна)$",
            ),
            "shape": Forms(
                "([^аеиіоуєюяї]ий|[нжш]ій)",
                "(ен|ан|лив|[вднлчшс]н|йн|ьн|уч|юч|яч|ущ|іл|ат|ит)а",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never=_NOUNS,
            ),
            "masculine": Forms(
                "[жч]анин|[влрн’']янин", NEVER, upos=ANY_WORD, never="^(громадянин|сім’янин)$"
            ),
            "feminine": Forms(
                NEVER,
                "((тельк|[иі]стк|антк|ентк|ниц|чиц|ичк|ерк|орк|арк|ярк|анк|янк|инн?иц|овк|есс|рис|лькк|ачк|чин|кин|нтк|атк))(а|я)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(банка|ринка|одиниця|п'яниця|п’яниця|половинка|сирітка|знахідка|загадка|частинка|пташка|лікарка|синичка|дрібничка|людинка|дитинка|дурниця)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((тельк|[иі]стк|антк|ентк|ниц|чиц|ичк|ерк|орк|арк|ярк|анк|янк|инн?иц|овк|есс|рис|лькк|ачк|чин|кин|нтк|атк))(ою|ею)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
            "past": Forms(
                f"в(ся|сь)?|{_UKRAINIAN_PAST}(ся|сь)?",
                "ла(ся|сь)?",
                upos=VERBS,
                never="^(правила|простирадла|сила|діла|тіла)$",
                tagged=f"{_CONSONANT}(ся|сь)?",
            ),
            "adjective": Forms(
                "(ий|ій)|рад|винен|згоден|певен|здатен|готов|ладен",
                "[ая]",
                upos=_PREDICATES,
                participles=True,
                never=_NOUNS,
            ),
            "instrumental": Forms(
                "(им|ім)", "(ою|ею)", upos=_PREDICATES, participles=True, cases=table("Ins")
            ),
            "past_as_other": Forms("[аиіїеуяю]в(ся|сь)?", "ла(ся|сь)?", upos=_OTHERS),
            "past_as_noun": Forms("[ую]вав(ся)?", "ла(ся|сь)?", upos=_NOUN, cases=ANY_CASE),
            "past_as_genitive": Forms(
                "[аи]в(ся)?|(хвор|вол|терп|жал|навид|[взу]м|розум|сид|гор|лет)ів",
                NEVER,
                upos=_NOUN,
                cases=ANY_CASE,
            ),
        },
        words={
            "which": pairs("який:яка котрий:котра"),
            "only": pairs("єдиний:єдина перший:перша останній:остання"),
            "predicate": pairs(
                "винен:винна повинен:повинна згоден:згодна змушений:змушена певен:певна рад:рада"
                " радий:рада здатен:здатна здатний:здатна ладен:ладна готов:готова"
                " зобов’язаний:зобов’язана зайнятий:зайнята вдячний:вдячна упевнений:упевнена"
                " впевнений:впевнена переконаний:переконана"
            ),
            "person": {**trades.UKRAINIAN, **persons.UKRAINIAN},
            "person_instrumental": persons.instrumentals({**trades.UKRAINIAN, **persons.UKRAINIAN}, "uk"),
            "known": {**traits.nominatives("uk"), **words.UKRAINIAN, **words.MARRIED["uk"]},
            "known_instrumental": {**traits.instrumentals("uk"), **words.UKRAINIAN_INSTRUMENTAL},
            "agreeing": pairs("сам:сама"),
            "one": pairs("один:одна"),
            "dative": pairs("одному:одній самому:самій"),
            "demonstrative": {"той": MALE},
            "one_who": pairs("той:та"),  # та is a conjunction too
            "known_past": pairs(
                "звик:звикла міг:могла зміг:змогла допоміг:допомогла виріс:виросла ліг:лягла"
            ),
        },
    ),
    "be": Grammar(
        working="працую|служу|падпрацоўваю|з’яўляюся|буду|стану|станаўлюся|застаюся|лічуся",
        speaking=(
            "запішу|запісваю|напішу|падумаю|шапну|паўтару|супакойваю|жартую|дадам|заяўлю|адразаю|"
            "прызнаю|патлумачу|выгукваю|суцяшаю|лаю|напяваю|адмахваюся|адкажу|прамоўлю|апраўдваюся|"
            "прызнаюся|"
            "кажу|скажу|гавару|адказваю|паўтараю|пытаю|пытаюся|пішу|думаю|шапчу|крычу|"
            "мармычу|буркчу|жартую|тлумачу|прызнаюся|заўважаю|прашу|дадаю|пярэчу|заяўляю|"
            "смяюся|уздыхаю|апраўдваюся|скарджуся|хвалюся|запэўніваю|абяцаю|пераконваю|"
            "прамаўляю"
        ),
        perceiving=("чую|чытаю|бачу|памятаю|згадваю|атрымліваю|слухаю|ведаю|цытую|перакладаю|гляджу"),
        pronouns=table("я"),
        certain=verbs.BELARUSIAN,
        others=table("ты ён яна мы вы яны хто"),
        datives=table("мне"),
        objects=table("мяне"),
        saying="(не)?(сказа|каза|гавары|спыта|адказа|паведамі|папрасі|расказа|крыкну|дада|заяві|прасі|растлумачы)(ў|ла)",
        considering="лічу|адчуваю|адчую",
        linking="здаюся|выглядаю|бываю|лічуся|застаюся|станаўлюся|стану|буду",
        infinitives=table("быць стаць заставацца застацца адчуваць"),
        infinitive="(ць|цца|чы|ці)",
        forms={
            "instrumental_shape": Forms(
                "(ан|ен|ян|ьн|жн|чн|рн|вн|сн|дн|тн|лів|ат|іт|уж)(ым|ім)",
                "(ан|ен|ян|ьн|жн|чн|рн|вн|сн|дн|тн|лів|ат|іт|уж)(ай|ой)",
                upos=ANY_WORD,
                cases=ANY_CASE,
            ),
            "predicate_shape": Forms(
                NEVER,
                "(авана|явана|[жшчлнрв]ана|[лнвжшчщр]ена|нута|нята)",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(змена|мяжана|рана|страна|сцяна|хвіліна|замена|адмена|сцэна|ўсяляна|палана)$",
            ),
            "past_shape": Forms(
                "[аыіеэуяю]ў(ся)?",
                "ла(ся)?",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never="^(сіла|цела|мыла|школа|справа|бяла|мяла|цэла)$",
            ),
            "state": Forms(
                "(ены|аны|лены|яны|лы|нуты)",
                "(еная|аная|яная|лая|тая)",
                upos=PERSONS | VERBS,
                cases=ANY_CASE,
                never=_NOUNS + "|^(правілы|па-.*)$",
            ),
            "shape": Forms(
                "(ваны|лівы|чны|льны|рны|сны|сты|аты|ены|аны|нуты|елы|алы|яны|рты|гарачы)",
                "[^аеёіоуыэюя](ая|яя)",
                upos=ANY_WORD,
                cases=ANY_CASE,
                never=_NOUNS,
            ),
            "masculine": Forms(
                "[жч]анін|[влрн’']янін", NEVER, upos=ANY_WORD, never="^(грамадзянін|сем’янін)$"
            ),
            "feminine": Forms(
                NEVER,
                "((тэльк|[іы]стк|антк|ентк|ніц|чыц|ічк|эрк|орк|арк|анк|янк|оўк|эс|рыс|ачк|чыц|нтк|чых|атк))(а)",
                upos=PERSONS,
                cases=ANY_CASE,
                never="^(банка|рынка|адзінка|п'яніца|п’яніца|палавінка|сіротка|знаходка|загадка|птушка|сінічка|дробязь)$",
            ),
            "feminine_instrumental": Forms(
                NEVER,
                "((тэльк|[іы]стк|антк|ентк|ніц|чыц|ічк|эрк|орк|арк|анк|янк|оўк|эс|рыс|ачк|чыц|нтк|чых|атк))(ай|яй|ой|ею)",
                upos=PERSONS,
                cases=table("Ins"),
            ),
            # the paper's parser erred here: -ў against -ла decides, whatever the tag
            "past": Forms(
                f"ў(ся)?|{_BELARUSIAN_PAST}(ся)?",
                "ла(ся)?",
                upos=VERBS,
                never="^(сіла|справа|цела)$",
                tagged=f"{_CONSONANT}(ся)?",
            ),
            "adjective": Forms(
                "(ы|і)|рад|вінен", "(ая|яя)", upos=_PREDICATES, participles=True, never=_NOUNS
            ),
            "participle": Forms(NEVER, "([аея]н|[аеяу]т)а", upos=VERBS | table("ADJ"), participles=True),
            "instrumental": Forms(
                "(ым|ім)", "(ай|яй|ой|ею)", upos=_PREDICATES, participles=True, cases=table("Ins")
            ),
            "adjective_as_other": Forms("[тнв]ы", "[тнв]ая", upos=_OTHERS, never=_NOUNS),
            "past_as_other": Forms("[аыіеэуяю]ў(ся)?", "ла(ся)?", upos=_OTHERS),
            "past_as_noun": Forms(
                NEVER, "ла(ся)?", upos=_NOUN, cases=ANY_CASE, never="^(сіла|цела|мыла|школа)$"
            ),
            "past_as_genitive": Forms("[аыіеу]ў(ся)?", NEVER, upos=_NOUN, cases=ANY_CASE),
        },
        words={
            "which": pairs("які:якая каторы:каторая"),
            "only": pairs("адзіны:адзіная першы:першая апошні:апошняя"),
            "predicate": pairs(
                "вінен:вінна павінен:павінна згодзен:згодна згодны:згодная вымушаны:вымушана рад:рада"
                " рады:рада гатоў:гатова гатовы:гатова здольны:здольна абавязаны:абавязана заняты:занята"
                " удзячны:удзячна ўпэўнены:ўпэўнена ўдзячны:ўдзячна перакананы:перакананая"
                " вінаваты:вінавата здаволены:здаволена"
            ),
            "person": {**trades.BELARUSIAN, **persons.BELARUSIAN},
            "person_instrumental": persons.instrumentals({**trades.BELARUSIAN, **persons.BELARUSIAN}, "be"),
            "known": {**traits.nominatives("be"), **words.BELARUSIAN, **words.MARRIED["be"]},
            "known_instrumental": {**traits.instrumentals("be"), **words.BELARUSIAN_INSTRUMENTAL},
            "agreeing": pairs("сам:сама"),
            "one": pairs("адзін:адна"),
            "dative": pairs("аднаму:адной самому:самой"),
            "demonstrative": pairs("той:тая"),
            "known_past": pairs(
                "прывык:прывыкла мог:магла змог:змагла дапамог:дапамагла вырас:вырасла лёг:легла"
            ),
        },
    ),
}
