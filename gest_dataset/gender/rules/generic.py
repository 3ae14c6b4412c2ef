"""Words that only look like evidence: *osoba otvorená* agrees with the noun, *Мусала* is a name."""

from __future__ import annotations

from gest_dataset.gender.grammars.grammar import Grammar, table
from gest_dataset.gender.parsers.tokens import Token, Tree
from gest_dataset.gender.rules.clauses import BETWEEN, first_finite

# nouns that women and men say of themselves alike: their adjective shows the noun's gender
NEUTRAL = table(
    "hlava ruka opora podpora legenda ikona hanba kópia kopie kopia glava kopija głowa ręka глава рука"
    " опора легенда икона копия гордость надежда голова копія опора гордість надія легенда галава капія апора"
    " легенда звездата жертвата душата личността главата опората ръката човекът детето копие"
    " človek človekom osoba osobou povaha povahou typ typom tvor tvorom bytosť bytosťou duša dušou"
    " osobnosť osobnosťou hviezda hviezdou obeť obeťou dieťa dieťaťom člen členom sirota sirotou"
    " talent talentom génius člověk člověkem typem tvorem bytost bytostí duše duší osobnost osobností"
    " nátura hvězda hvězdou oběť obětí dítě dítětem géniem człowiek człowiekiem osobą istota istotą"
    " dusza duszą natura naturą charakter charakterem osobowość osobowością gwiazda gwiazdą ofiara"
    " ofiarą dziecko dzieckiem członek członkiem talentem geniusz čovjek čovjekom čovek čovekom"
    " osobom tip tipom biće bićem dušom narav naravi karakter ličnost ličnošću stvorenje zvijezda"
    " zvezda žrtva žrtvom dijete dete detetom djetetom član članom genij genije oseba osebo bitje"
    " narava značaj osebnost žrtev otrok човек личност натура характер душа тип особа същество звезда"
    " жертва дете член талант гений человек человеком личность личностью натурой душой типом особой"
    " существо существом персона персоной звездой жертвой ребёнок ребёнком ребенок ребенком дитя"
    " членом людина людиною особистість особистістю душею особою істота істотою зірка зіркою жертвою"
    " дитина дитиною натурою чалавек чалавекам асоба асобай асобаю істотай істотаю тыпам тып зорка"
    " зоркай ахвяра ахвярай дзіця натурай сябар"
)
DESCRIBING = table(
    "adjective short known shape state participle participle_as_other adjective_as_verb"
    " adjective_as_third adjective_as_noun adjective_as_other instrumental instrumental_shape"
    " known_instrumental accusative"
)
_PASTS = table("past past_as_noun past_as_other past_as_genitive past_shape")
_AS = table("ako jako kao kot като как як")
_FARTHEST = 6  # words between a noun and its second adjective


def misleading(sentence: Tree, token: Token, kind: str, grammar: Grammar) -> bool:
    """The word agrees with a noun that says nothing of the speaker, is a name, or has a preposition."""
    if _neutral(token) and kind not in _PASTS:
        return True
    if kind in DESCRIBING:
        return _before_neutral(sentence, token) or _after_neutral(sentence, token, grammar)
    if kind in _PASTS:
        return _is_name(sentence, token) or (not grammar.auxiliaries and _after_preposition(sentence, token))
    return False


def _neutral(noun: Token) -> bool:
    """*osoba*, not the genitive plural of *do otrok*, which looks like a nominative."""
    return noun.form in NEUTRAL and (
        noun.feats.get("Case") not in {"Gen", "Dat", "Loc"} or noun.feats.get("Number") != "Plur"
    )


def _after_neutral(sentence: Tree, token: Token, grammar: Grammar) -> bool:
    """*Я личность творческая и немного рассеянная*; after *as*, *jako osoba*, the speaker comes first."""
    place = sentence.tokens.index(token)
    before = sentence.tokens[max(0, place - _FARTHEST) : place]
    for step, other in enumerate(reversed(before), start=1):
        if _neutral(other):
            first = place - step
            return first == 0 or sentence.tokens[first - 1].form not in _AS
        if other.upos in {"SCONJ", "ADP"} or (other.upos == "PUNCT" and other.text != ","):
            return False
        if other.form in grammar.pronouns or (first_finite(other) and other.form not in grammar.auxiliaries):
            return False
    return False


def _before_neutral(sentence: Tree, token: Token) -> bool:
    """*jsem docela klidný člověk*, whatever the tagger makes of the words."""
    for other in sentence.tokens[sentence.tokens.index(token) + 1 :][:3]:
        if _neutral(other):
            return True
        if other.upos not in BETWEEN:
            return False
    return False


def _is_name(sentence: Tree, token: Token) -> bool:
    """A capital letter that no beginning explains: *Изкачвал съм Мусала*."""
    place = sentence.tokens.index(token)
    return token.text[:1].isupper() and place > 0 and sentence.tokens[place - 1].upos != "PUNCT"


def _after_preposition(sentence: Tree, token: Token) -> bool:
    """Belarusian *да пераездаў*: a genitive for all but the tagger."""
    place = sentence.tokens.index(token)
    return place > 0 and sentence.tokens[place - 1].upos == "ADP"
