"""A shallow parser for Bulgarian, whose gendered forms and auxiliaries show in the word alone.

It tags the closed classes and a list of adjectives, takes words in -л, -ла for participles and, beside an
auxiliary, words with the ending of an adjective for adjectives. Every word of a clause depends on its
predicate. Use it if no real parser is available, which finds more.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from gest_dataset.errors import ConfigError
from gest_dataset.gender.parsers.conllu import Parser

_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_PARTICIPLE = re.compile(r"([аиоъуюягшзс]|(?<!т)е)л(а)?$")
_ADJECTIVE = re.compile(
    r"(?:[дзклмнопрствчшжщ]ен|[втрчлнд]ан|[лнрт]ян|нат|[нлв]ят|ут|ив|ичен)(а)?|[бвгджзкмпрстхцчш]н(а)"
)
_LINKING = re.compile(r"(?:чувства|усеща|остава|става|изглежда)[мх]|останах|станах")
_DEFINITE = re.compile(r"(?:ият|ия)$|(?<=а)та$")
_COMPARISON = re.compile("^(по-)?(най-)?")
_DATA = yaml.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"), yaml.BaseLoader)
# a word of two classes belongs to the first
_TAGS = {word: (upos, feats) for upos, feats, words in reversed(_DATA["words"]) for word in words}
_ADJECTIVES = {
    word: ("ADJ", f"Gender={gender}|Number=Sing")
    for pair in _DATA["adjectives"]
    for word, gender in zip(pair.split(":"), ("Masc", "Fem"), strict=True)
}


class _Word(NamedTuple):
    text: str
    upos: str
    feats: str


def open_parser(language: str, model: Path | None) -> Parser:
    """The parser of forms; it has no model."""
    if language != "bg":
        raise ConfigError(f"The parser 'forms' is for Bulgarian (bg) only, not for {language!r}.")
    if model is not None:
        raise ConfigError("The parser 'forms' takes no model.")
    return Parser("forms", _parse, cached=False)


def _parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
    for text in texts:
        words = [_tag(word) for word in _TOKEN.findall(text)]
        words = [_tag_beside_copula(words, place) for place in range(len(words))]
        yield {text: "".join(_lines(words)) + "\n"}


def _tag(word: str) -> _Word:
    form = word.lower()
    if tag := _TAGS.get(form) or _ADJECTIVES.get(_DEFINITE.sub("", _COMPARISON.sub("", form))):
        return _Word(word, *tag)
    if not form[0].isalpha():
        return _Word(word, "PUNCT", "_")
    participle = _PARTICIPLE.search(form)
    if participle and form not in _DATA["no_participles"]:
        return _Word(word, "VERB", f"Gender={'Fem' if participle[2] else 'Masc'}|Number=Sing|VerbForm=Part")
    return _Word(word, "NOUN", "Gender=Neut" if form.endswith(("о", "е")) else "_")


def _tag_beside_copula(words: Sequence[_Word], place: int) -> _Word:
    """An unknown word with the ending of an adjective is one next to a copula or *чувствам*."""
    word = words[place]
    form = word.text.lower()
    ending = _ADJECTIVE.search(form, max(0, len(form) - 5))
    if word.upos != "NOUN" or ending is None or ending.end() < len(form) or form in _DATA["no_adjectives"]:
        return word
    before = [other for other in words[:place] if other.upos != "ADV"]
    near = (*before[-1:], *words[place + 1 :][:1])
    if not any(other.upos == "AUX" or _LINKING.fullmatch(other.text) for other in near):
        return word
    return _Word(word.text, "ADJ", f"Gender={'Fem' if ending[1] or ending[2] else 'Masc'}|Number=Sing")


def _lines(words: Sequence[_Word]) -> Iterator[str]:
    """CoNLL-U: the words of a clause depend on its last participle or adjective."""
    start = 0
    for place, border in [*enumerate(words), (len(words), _Word("", "PUNCT", "_"))]:
        if border.upos not in {"PUNCT", "CCONJ", "SCONJ"} and "PronType=Rel" not in border.feats:
            continue
        clause = range(start, place)
        top = max((i for i in clause if words[i].upos in {"VERB", "ADJ"}), default=start if clause else 0)
        for index in clause:
            yield _line(words, index, top, _relation(words[index], words[top]))
        if place < len(words):
            yield _line(words, place, top, "punct")
        start = place + 1


def _relation(word: _Word, top: _Word) -> str:
    if word.upos == "AUX" or (word.upos == "VERB" and top.upos == "ADJ"):
        return "cop" if top.upos == "ADJ" else "aux"
    return "nsubj" if "Case=Nom" in word.feats else "dep"


def _line(words: Sequence[_Word], index: int, top: int, relation: str) -> str:
    word = words[index]
    head, relation = (0, "root") if index == top else (top + 1, relation)
    return f"{index + 1}\t{word.text}\t_\t{word.upos}\t_\t{word.feats}\t{head}\t{relation}\t_\t_\n"
