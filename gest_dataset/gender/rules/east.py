"""East Slavic: Russian, Ukrainian, Belarusian."""

from __future__ import annotations

from gest_dataset.gender import words
from gest_dataset.gender.engine import Example, Rule
from gest_dataset.gender.grammar import (
    ANY_CASE,
    FEMALE,
    MALE,
    MISTAGGED,
    NEVER,
    VERBS,
    Forms,
    Grammar,
    either,
    pairs,
    table,
)

RULES = (
    Rule(
        "past-pronoun",
        "past",
        "pronoun",
        examples=(
            Example("be", "Я стала маці.", FEMALE, ("стала",)),
            Example("ru", "Я не смог ей помочь.", MALE, ("смог",)),
        ),
    ),
    Rule(
        "adjective-pronoun",
        "adjective",
        "pronoun",
        examples=(
            Example("be", "Я гатовы да дарогі.", MALE, ("гатовы",)),
            Example("ru", "Я ленивая и неряшливая.", FEMALE, ("ленивая",)),
        ),
    ),
    Rule(
        "short-pronoun",
        "short",
        "pronoun",
        examples=(Example("ru", "Я готов к дороге.", MALE, ("готов",)),),
    ),
    Rule(
        "past-coordinated",
        "past",
        "coordinated",
        rank=2,
        examples=(
            Example("be", "Я вельмі стаміўся і адразу заснуў.", MALE, ("заснуў",)),
            Example("ru", "Я пришла домой и заснула.", FEMALE, ("заснула",)),
        ),
    ),
    Rule(
        "adjective-coordinated",
        "adjective",
        "coordinated",
        rank=2,
        examples=(
            Example("be", "Я лянівая і неахайная.", FEMALE, ("неахайная",)),
            Example("ru", "Я ленивая и неряшливая.", FEMALE, ("неряшливая",)),
        ),
    ),
    Rule(
        "past-nearby",
        "past",
        "nearby",
        rank=2,
        examples=(
            Example("be", "Калі-небудзь я хацела б убачыць мора.", FEMALE, ("хацела",)),
            Example("ru", "Я не смог ей помочь.", MALE, ("смог",)),
        ),
    ),
    Rule(
        "adjective-nearby",
        "adjective",
        "nearby",
        rank=2,
        examples=(
            Example("be", "Я павінен больш спаць.", MALE, ("павінен",)),
            Example("uk", "Я радий тебе бачити.", MALE, ("радий",)),
        ),
    ),
    Rule(
        "short-nearby",
        "short",
        "nearby",
        rank=2,
        examples=(Example("ru", "Я готов к дороге.", MALE, ("готов",)),),
    ),
    Rule(
        "known-nearby",
        "known",
        "nearby",
        rank=2,
        examples=(
            Example("be", "Я рады цябе бачыць.", MALE, ("рады",)),
            Example("ru", "Я слаба.", FEMALE, ("слаба",)),
        ),
    ),
    Rule(
        "instrumental-linking",
        "instrumental",
        "linking",
        rank=2,
        examples=(
            Example("be", "Я хачу быць моцным.", MALE, ("моцным",)),
            Example("ru", "Я хочу быть сильной.", FEMALE, ("сильной",)),
        ),
    ),
    Rule(
        "instrumental-linking-nearby",
        "instrumental",
        "linking_nearby",
        rank=2,
        examples=(
            Example("be", "Я хачу быць моцным.", MALE, ("моцным",)),
            Example("ru", "Я хочу быть сильной.", FEMALE, ("сильной",)),
        ),
    ),
    Rule(
        "instrumental-object",
        "instrumental",
        "object_complement",
        rank=2,
        examples=(
            Example("be", "Мяне часта лічаць слабым.", MALE, ("слабым",)),
            Example("uk", "Люди вважають мене сильною.", FEMALE, ("сильною",)),
        ),
    ),
    Rule(
        "known-instrumental",
        "known_instrumental",
        "linking_nearby",
        rank=2,
        examples=(
            Example("be", "Я хачу быць моцнай.", FEMALE, ("моцнай",)),
            Example("ru", "Я чувствую себя слабой.", FEMALE, ("слабой",)),
        ),
    ),
    Rule(
        "agreeing",
        "agreeing",
        "spoken",
        rank=2,
        examples=(
            Example("be", "Я застаўся дома адзін.", MALE, ("адзін",)),
            Example("ru", "Я осталась дома одна.", FEMALE, ("одна",)),
        ),
    ),
    Rule(
        "agreeing-nearby",
        "agreeing",
        "around_first",
        rank=2,
        examples=(
            Example("be", "Я застаўся дома адзін.", MALE, ("адзін",)),
            Example("ru", "Я осталась дома одна.", FEMALE, ("одна",)),
        ),
    ),
    Rule(
        "dative",
        "dative",
        "dative",
        rank=2,
        examples=(
            Example("ru", "Мне пришлось идти одному.", MALE, ("одному",)),
            Example("uk", "Мені довелося йти самій.", FEMALE, ("самій",)),
        ),
    ),
    Rule(
        "known-past",
        "known_past",
        "nearby",
        rank=2,
        examples=(
            Example("be", "Я прывык рана ўставаць.", MALE, ("прывык",)),
            Example("ru", "Я привык рано вставать.", MALE, ("привык",)),
        ),
    ),
    Rule(
        "demonstrative",
        "demonstrative",
        "lone",
        rank=2,
        examples=(
            Example("be", "Я той, хто заўсёды плаціць.", MALE, ("той",)),
            Example("ru", "Я тот, кто всегда платит.", MALE, ("тот",)),
        ),
    ),
    Rule(
        "past-as-other",
        "past_as_other",
        "lone",
        rank=2,
        examples=(
            Example("be", "Я зразумела ўсё.", FEMALE, ("зразумела",)),
            Example("ru", "Я нервничала.", FEMALE, ("нервничала",)),
        ),
    ),
    Rule(
        "past-as-noun",
        "past_as_noun",
        "lone",
        rank=2,
        examples=(Example("ru", "Я много работала.", FEMALE, ("работала",)),),
    ),
    Rule(
        "adjective-as-other",
        "adjective_as_other",
        "lone",
        rank=2,
        examples=(Example("ru", "Я застенчивая.", FEMALE, ("застенчивая",)),),
    ),
    Rule(
        "past-subordinate",
        "past",
        "subordinate",
        rank=2,
        examples=(
            Example("be", "Думаю, што зрабіла правільна.", FEMALE, ("зрабіла",)),
            Example("ru", "Думаю, что поступила правильно.", FEMALE, ("поступила",)),
        ),
    ),
    Rule(
        "known-subordinate",
        "known",
        "subordinate",
        rank=2,
        examples=(Example("ru", "Я знаю, что способна на большее.", FEMALE, ("способна",)),),
    ),
    Rule(
        "past-alone",
        "past",
        "alone",
        rank=2,
        examples=(
            Example("be", "Усю ноч працаваў і зусім не спаў.", MALE, ("працаваў",)),
            Example("ru", "Всю ночь работала и совсем не спала.", FEMALE, ("работала",)),
        ),
    ),
    Rule(
        "adjective-alone",
        "adjective",
        "alone",
        rank=2,
        examples=(
            Example("be", "Забыў ключы ў машыне.", MALE, ("ключы",)),
            Example("uk", "Впевнена, що впораюся.", FEMALE, ("Впевнена",)),
        ),
    ),
    Rule(
        "known-alone",
        "known",
        "alone",
        rank=2,
        examples=(
            Example("ru", "Уверена, что справлюсь.", FEMALE, ("Уверена",)),
            Example("uk", "Радий, що ти прийшов.", MALE, ("Радий",)),
        ),
    ),
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
    "(мог|нёс|нес|вёз|вез|лёг|лег|рос|мёрз|мерз|мер|пёк|пек|стриг|берёг|берег|сох|мок|лез|грыз|пас|бег|шиб|жёг"
    "|стих|вык|кис|гас|тёр|тер)"
)
_UKRAINIAN_PAST = "(міг|ніс|віз|ліг|ріс|мерз|пік|стриг|беріг|звик|сох|мок|ліз|пас|біг|тер|сяг|вмер)"
_BELARUSIAN_PAST = "(мог|нёс|вёз|лёг|рос|мёрз|пёк|стрыг|бярог|вык|сох|мок|лез|пас|бег|цёр|цяг|памёр)"

GRAMMARS = {
    "ru": Grammar(
        pronouns=table("я"),
        others=table("ты он она мы вы они кто"),
        datives=table("мне"),
        objects=table("меня"),
        saying="(не)?(сказал|говорил|спросил|ответил|сообщил|попросил|рассказал|крикнул|добавил|заявил|просил|объяснил)а?",
        considering="считаю|нахожу|ощущаю|чувствую",
        linking="остаюсь|становлюсь|стану|буду|останусь",
        infinitives=table("быть стать оставаться остаться чувствовать казаться"),
        infinitive="(ть|ться|ти|тись|чь)",
        forms={
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
            "short": Forms(_CONSONANT, "а", upos=VERBS | table("ADJ"), participles=True, never=_NOUNS),
            "instrumental": Forms(
                "(ым|им)(ся)?", "(ой|ей|ою|ею)(ся)?", upos=_PREDICATES, participles=True, cases=table("Ins")
            ),
            "past_as_other": Forms("[^иа]л(ся)?", "ла(сь)?", upos=_OTHERS),
            "past_as_noun": Forms(NEVER, "ла(сь)?", upos=_NOUN, cases=ANY_CASE),
            "adjective_as_other": Forms(
                "(ый|ий|ен|ив|ав|ан|ист|ит)", "(ая|на|ва|ба|та|ра)", upos=_OTHERS, never=_NOUNS
            ),
        },
        words={
            "known": words.RUSSIAN,
            "known_instrumental": words.RUSSIAN_INSTRUMENTAL,
            "agreeing": pairs("один:одна сам:сама"),
            "dative": pairs("одному:одной самому:самой"),
            "demonstrative": pairs("тот:та"),
            "known_past": pairs(
                "привык:привыкла мог:могла смог:смогла помог:помогла ошибся:ошиблась вырос:выросла лёг:легла"
            ),
        },
    ),
    "uk": Grammar(
        pronouns=table("я"),
        others=table("ти він вона ми ви вони хто"),
        datives=table("мені"),
        objects=table("мене"),
        saying="(не)?(сказа|говори|спита|запита|відпові|повідоми|попроси|розпові|крикну|дода|заяви|проси|поясни|каза)(в|ла|ів)",
        considering="вважаю|відчуваю",
        linking="почуваюсь|почуваюся|почуваю|залишаюсь|залишаюся|стаю|стану|буду",
        infinitives=table("бути стати залишатися залишитися почуватися відчувати"),
        infinitive="(ти|тися|тись)",
        forms={
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
            "past_as_noun": Forms(NEVER, "ла(ся|сь)?", upos=_NOUN, cases=ANY_CASE),
        },
        words={
            "known": words.UKRAINIAN,
            "known_instrumental": words.UKRAINIAN_INSTRUMENTAL,
            "agreeing": pairs("один:одна сам:сама"),
            "dative": pairs("одному:одній самому:самій"),
            "demonstrative": {"той": MALE},  # та is a conjunction too
            "known_past": pairs(
                "звик:звикла міг:могла зміг:змогла допоміг:допомогла виріс:виросла ліг:лягла"
            ),
        },
    ),
    "be": Grammar(
        pronouns=table("я"),
        others=table("ты ён яна мы вы яны хто"),
        datives=table("мне"),
        objects=table("мяне"),
        saying="(не)?(сказа|каза|гавары|спыта|адказа|паведамі|папрасі|расказа|крыкну|дада|заяві|прасі|растлумачы)(ў|ла)",
        considering="лічу|адчуваю",
        linking="застаюся|станаўлюся|стану|буду",
        infinitives=table("быць стаць заставацца застацца адчуваць"),
        infinitive="(ць|цца|чы|ці)",
        forms={
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
            "instrumental": Forms(
                "(ым|ім)", "(ай|яй|ой|ею)", upos=_PREDICATES, participles=True, cases=table("Ins")
            ),
            "past_as_other": Forms("[аыіеэуяю]ў(ся)?", "ла(ся)?", upos=_OTHERS),
            "past_as_noun": Forms(
                NEVER, "ла(ся)?", upos=_NOUN, cases=ANY_CASE, never="^(сіла|цела|мыла|школа)$"
            ),
        },
        words={
            "known": words.BELARUSIAN,
            "known_instrumental": words.BELARUSIAN_INSTRUMENTAL,
            "agreeing": pairs("адзін:адна сам:сама"),
            "dative": pairs("аднаму:адной самому:самой"),
            "demonstrative": pairs("той:тая"),
            "known_past": pairs(
                "прывык:прывыкла мог:магла змог:змагла дапамог:дапамагла вырас:вырасла лёг:легла"
            ),
        },
    ),
}
