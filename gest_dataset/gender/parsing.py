"""Texts to trees: check, transliterate, parse with the cache, and map words back to the text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import regex
from huggingface_hub.constants import HF_HOME

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import GestError
from gest_dataset.gender.parsers.conllu import Parser, ParserError, parse_conllu
from gest_dataset.gender.tokens import Token, Tree
from gest_dataset.languages import LANGUAGES
from gest_dataset.progress import ProgressBar
from gest_dataset.storage import read_yaml

DEFAULT_CACHE = Path(HF_HOME) / "gest" / "parses.sqlite3"
MAX_LENGTH = 10_000  # characters: parsers take seconds for these, and more and more memory for longer texts
EMPTY = "empty"
TOO_LONG = f"too long: more than {MAX_LENGTH:,} characters"
GARBLED = "garbled: decoded with a wrong encoding"
_LETTER = regex.compile(r"\p{L}")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?")
# letters of Latin-1 or Windows-1252 where UTF-8 of Slavic letters puts them
_GARBLED = re.compile(
    "\ufffd|[ÃÂÄÅÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u2122]|â€"
)
_TABLES = read_yaml(Path(__file__).with_suffix(".yaml"))
_ENGLISH_WORDS = frozenset(_TABLES["english"].split())
_SERBIAN = dict(zip(*map(str.split, _TABLES["serbian"]), strict=True))


@dataclass(frozen=True)
class ParsedText:
    """A text and its trees, or the `problem` why it has none."""

    text: str
    latin: str = ""  # the text in the letters of the parser
    positions: list[int] | None = None  # of its letters in the text, if they are others
    sentences: tuple[Tree, ...] = ()
    problem: str = ""

    def span(self, token: Token) -> tuple[int, int]:
        if self.positions is None:
            return token.start, token.end
        return self.positions[token.start], self.positions[token.end]


def parse_texts(
    texts: Sequence[str], language: str, parser: Parser, path: Path = DEFAULT_CACHE
) -> list[ParsedText]:
    """The trees of each text, in order; `path` is the file of cached parses."""
    problems = {text: problem(text, language) for text in texts}
    valid = [text for text, reason in problems.items() if not reason]
    latin = {text: to_latin(text) if language == "sr" else (text, None) for text in valid}
    documents = _parse(list(dict.fromkeys(written for written, _ in latin.values())), parser, path)
    parses = {
        text: ParsedText(text, written, positions, parse_conllu(documents[written], written))
        for text, (written, positions) in latin.items()
        if written in documents
    }
    return [parses.get(text) or ParsedText(text, problem=problems[text] or "not parsed") for text in texts]


def _parse(texts: Sequence[str], parser: Parser, path: Path) -> dict[str, str]:
    """CoNLL-U of each text: from the cache, or from the parser and then into the cache."""
    with ResponseCache(path if parser.cached else Path(":memory:")) as cache:
        keys = {text: cache_key("parse", parser.signature, text) for text in texts}
        stored = cache.get(keys.values())
        documents = {text: stored[key] for text, key in keys.items() if key in stored}
        missing = [text for text in texts if text not in documents]
        progress = ProgressBar(len(texts), "texts parsed", len(documents), hidden=True)
        try:
            for batch in parser.parse(missing) if missing else ():
                for text, document in batch.items():
                    parse_conllu(document, text)  # a damaged parse is not cached
                cache.put({keys[text]: document for text, document in batch.items()})
                documents.update(batch)
                progress.update(len(batch))
        except GestError as error:
            if not parser.cached:
                raise
            raise ParserError(
                f"{error}\n{len(documents)} of {len(texts)} texts are parsed and cached in {path}; run the "
                f"command again to continue."
            ) from error
    return documents


def damage(text: str) -> str:
    """The reason why a text is no sentence in any language, or the empty string."""
    if not _LETTER.search(text):
        return EMPTY
    if len(text) > MAX_LENGTH:
        return TOO_LONG
    return GARBLED if _GARBLED.search(text) else ""


def problem(text: str, language: str) -> str:
    """The reason why the rules cannot judge a text, or the empty string."""
    if damaged := damage(text):
        return damaged
    cyrillic = language in LANGUAGES and LANGUAGES[language].script == "Cyrl" and language != "sr"
    if cyrillic and not _CYRILLIC.search(text):
        return "not translated: no Cyrillic letter"
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH_WORDS for word in words)
    if (english >= 2 and english >= 0.3 * len(words)) or words[0] in {"i'm", "i've"}:
        return "not translated: English"
    return ""


def to_latin(text: str) -> tuple[str, list[int]]:
    """Serbian text in Latin letters, and for every position in it (and its end) the position in the text.

    >>> to_latin("Љубав")
    ('Ljubav', [0, 0, 1, 2, 3, 4, 5])
    """
    letters: list[str] = []
    positions: list[int] = []
    for position, letter in enumerate(text):
        latin = _SERBIAN.get(letter.lower(), letter)
        if latin is not letter and letter.isupper():
            latin = latin.capitalize()
        letters.append(latin)
        positions.extend([position] * len(latin))
    return "".join(letters), [*positions, len(text)]
