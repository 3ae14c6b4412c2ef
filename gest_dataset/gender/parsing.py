"""Texts to trees: transliterate, parse with the cache, and map words back to the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub.constants import HF_HOME

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import GestError
from gest_dataset.gender.parsers.conllu import Parser, ParserError, parse_conllu
from gest_dataset.gender.texts import problem, to_latin
from gest_dataset.gender.tokens import Token, Tree
from gest_dataset.progress import ProgressWriter

DEFAULT_CACHE = Path(HF_HOME) / "gest" / "parses.sqlite3"


@dataclass(frozen=True)
class ParsedText:
    """A text and its trees, or the `problem` why it has none."""

    text: str
    latin: str = ""  # the text in the letters of the parser
    positions: list[int] | None = None  # of its letters in the text, if they are others
    sentences: tuple[Tree, ...] = ()
    problem: str = ""

    def span(self, token: Token) -> tuple[int, int]:
        """The position of a word in the text."""
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
        progress = ProgressWriter(len(texts), "texts parsed", has_bar=False)
        try:
            for batch in parser.parse(missing) if missing else ():
                for text, document in batch.items():
                    parse_conllu(document, text)  # a damaged parse is not cached
                cache.put({keys[text]: document for text, document in batch.items()})
                documents.update(batch)
                progress.update(len(documents))
        except GestError as error:
            if not parser.cached:
                raise
            raise ParserError(
                f"{error}\n{len(documents)} of {len(texts)} texts are parsed and cached in {path}; run the "
                f"command again to continue."
            ) from error
    return documents
