"""A shallow parser for Bulgarian, whose gendered forms and auxiliaries can be told by the word alone.

It knows the closed classes and a list of adjectives, takes words in -л, -ла for participles where an
auxiliary stands beside them, and hangs every word of a clause on its predicate. Use it where no
parser is at hand; a real one finds more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.gender.grammars.grammar import table
from gest_dataset.gender.grammars.words import BULGARIAN
from gest_dataset.gender.parsers.parser import Parser

_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_FIRST = "Number=Sing|Person=1|VerbForm=Fin"
_CLOSED = {
    "PRON\tCase=Nom|Number=Sing|Person=1": "аз",
    "PRON\tCase=Nom|Number=Sing|Person=2": "ти",
    "PRON\tCase=Nom|Person=3": "той тя то те",
    "PRON\tCase=Nom|Number=Plur|Person=1": "ние",
    "PRON\tCase=Nom|Number=Plur|Person=2": "вие",
    f"AUX\t{_FIRST}": "съм бях бих щях бъда нямах",
    "AUX\tPerson=3|VerbForm=Fin": "е беше би са бяха биха сме бяхме сте бяхте щеше щяха",
    "CCONJ\t_": "и а но или ала обаче",
    "SCONJ\t_": "че ако когато докато защото понеже щом макар дали да как където откакто преди след",
    "PRON\tPronType=Rel": "който която което които какъвто каквато каквото чийто чиято",
    "PRON\tReflex=Yes": "се си",
    "PRON\t_": "ме ми ми́ го му я ѝ й ги им те ти ни ви",
    "ADP\t_": "в във на с със за от до по при без под над пред между през към около срещу заради",
    "PART\t_": "не ще нека дори само нямаше",
    "ADV\t_": "много толкова твърде доста наистина винаги никога вече още пак почти днес вчера сега тук там"
    " така отново съвсем напълно изключително финансово физически емоционално малко най някога"
    " понякога често рядко дълго скоро тогава просто вкъщи прекалено истински безкрайно достатъчно абсолютно"
    " най-накрая",
}
_TAGS = {word: tag for tag, words in reversed(_CLOSED.items()) for word in words.split()}
_PARTICIPLE = re.compile(r"[аиоуъюягшзс]л(а)?|(?<!т)ел(а)?")
_NO_PARTICIPLE = table(
    "бял бяла цял цяла мил мила сила дела тила кола школа мъгла стрела дял отдел модел хотел"
)
# endings of passive participles and adjectives: trusted only beside a copula
_ADJECTIVE = re.compile(
    r"(?:[дзклмнопрствчшжщ]ен|[втрчлнд]ан|[лнрт]ян|нат|[нлв]ят|ут|ив|ичен)(а)?|[бвгджзкмпрстхцчш]н(а)"
)
_LINKING = re.compile(r"(?:чувства|усеща|остава|става|изглежда)[мх]|останах|станах")
_DEFINITE = re.compile(r"(?:ият|ия)$|(?<=а)та$")
_NO_ADJECTIVE = table("член капитан ветеран екран план жена стена страна цена война глина рана храна кухня")


@dataclass(frozen=True)
class _Word:
    text: str
    upos: str
    feats: str


def open_parser(language: str, model: Path | None) -> Parser:
    """The parser of forms; it has no model."""
    if language != "bg":
        raise ConfigError(f"The parser 'forms' knows Bulgarian (bg) only, not {language!r}: use another one.")
    if model is not None:
        raise ConfigError("The parser 'forms' takes no model.")
    return Parser("forms", _parse, cached=False)


def _parse(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        words = [_tag(word) for word in _TOKEN.findall(text)]
        words = [_beside_copula(words, place) for place in range(len(words))]
        yield text, "".join(_lines(words)) + "\n"


def _tag(word: str) -> _Word:
    form = word.lower()
    if form in _TAGS:
        upos, _, feats = _TAGS[form].partition("\t")
        return _Word(word, upos, feats)
    if not form[0].isalpha():
        return _Word(word, "PUNCT", "_")
    plain = _DEFINITE.sub("", form.removeprefix("по-").removeprefix("най-"))
    if plain in BULGARIAN:
        gender = "Masc" if BULGARIAN[plain] == "male" else "Fem"
        return _Word(word, "ADJ", f"Gender={gender}|Number=Sing")
    participle = _PARTICIPLE.search(form, max(0, len(form) - 3))
    if participle and participle.end() == len(form) and form not in _NO_PARTICIPLE:
        return _Word(
            word, "VERB", f"Gender={'Fem' if form.endswith('а') else 'Masc'}|Number=Sing|VerbForm=Part"
        )
    return _Word(word, "NOUN", "Gender=Neut" if form.endswith(("о", "е")) else "_")


def _beside_copula(words: Sequence[_Word], place: int) -> _Word:
    """An unknown word with the ending of an adjective is one next to a copula or *чувствам*."""
    word = words[place]
    form = word.text.lower()
    ending = _ADJECTIVE.search(form, max(0, len(form) - 5))
    if word.upos != "NOUN" or ending is None or ending.end() != len(form) or form in _NO_ADJECTIVE:
        return word
    before = [other for other in words[:place] if other.upos != "ADV"]
    after = words[place + 1 :]
    if not any(near.upos == "AUX" or _LINKING.fullmatch(near.text) for near in (*before[-1:], *after[:1])):
        return word
    return _Word(word.text, "ADJ", f"Gender={'Fem' if ending[1] or ending[2] else 'Masc'}|Number=Sing")


def _lines(words: Sequence[_Word]) -> Iterator[str]:
    """Every clause hangs on its predicate: the last participle or adjective in it."""
    start = 0
    for place, word in [*enumerate(words), (len(words), _Word("", "PUNCT", "_"))]:
        if word.upos in {"PUNCT", "CCONJ", "SCONJ"} or "PronType=Rel" in word.feats:
            clause = range(start, place)
            top = _predicate(words, clause)
            for other in clause:
                yield _line(words, other, top)
            if place < len(words):
                # what the sentence begins with cannot hang on itself
                head, relation = (0, "root") if place == top else (top + 1, "punct")
                yield f"{place + 1}\t{word.text}\t_\t{word.upos}\t_\t{word.feats}\t{head}\t{relation}\t_\t_\n"
            start = place + 1


def _predicate(words: Sequence[_Word], clause: range) -> int:
    chosen = [place for place in clause if words[place].upos in {"VERB", "ADJ"}]
    return chosen[-1] if chosen else (clause.start if len(clause) else 0)


def _line(words: Sequence[_Word], place: int, top: int) -> str:
    word = words[place]
    relation = "dep"
    if word.upos == "AUX" or (word.upos == "VERB" and words[top].upos == "ADJ"):
        relation = "cop" if words[top].upos == "ADJ" else "aux"
    elif "Case=Nom" in word.feats:
        relation = "nsubj"
    head, relation = (0, "root") if place == top else (top + 1, relation)
    return f"{place + 1}\t{word.text}\t_\t{word.upos}\t_\t{word.feats}\t{head}\t{relation}\t_\t_\n"
