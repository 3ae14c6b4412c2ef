"""The interface of parsers, their format CoNLL-U, and the parser that reads a file of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gest_dataset.errors import ConfigError, DataError, GestError, convert_errors
from gest_dataset.gender.tokens import Token, Tree
from gest_dataset.storage import read_bytes, sha256

_COLUMNS = 10
_ID = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_TEXT = re.compile(r"#\s*text\s*=")


@dataclass(frozen=True)
class Parser:
    """A parser of one language."""

    signature: str  # everything that a parse depends on but the text
    # yields batches of texts with their CoNLL-U, in any order; it may leave texts out
    parse: Callable[[Sequence[str]], Iterator[Mapping[str, str]]]
    cached: bool = True


class ParserError(GestError):
    """A parser that cannot start, or has stopped. The parses before that are in the cache."""


def blocks(document: str) -> Iterator[list[tuple[int, str]]]:
    """The sentences of a document: their lines, with numbers from 1."""
    lines = enumerate(document.splitlines(), start=1)
    for is_blank, block in groupby(lines, key=lambda line: not line[1].strip()):
        if not is_blank:
            yield list(block)


def parse_conllu(document: str, text: str, file: object = "the parser's CoNLL-U") -> tuple[Tree, ...]:
    """The sentences of one text, with the positions of their words in it.

    Empty nodes (`8.1`) are skipped; a word that a parser normalised gets an empty span where it should be.
    """
    sentences, cursor = [], 0
    for block in blocks(document):
        tokens: list[Token] = []
        surface, last, start, end = "", 0, cursor, cursor
        for number, line in block:
            cells = line.split("\t")
            if line.startswith("#") or "." in cells[0]:
                continue
            if len(cells) != _COLUMNS:
                raise DataError.at(file, number, f"{len(cells)} columns, expected {_COLUMNS}")
            ids = _ID.fullmatch(cells[0])
            first, final = (int(ids[1]), int(ids[2] or 0)) if ids else (0, 0)
            # a multiword token comes before its words, and not within another one
            if first != len(tokens) + 1 or (final and not last < first <= final):
                raise DataError.at(file, number, f"id {cells[0]!r}, expected {len(tokens) + 1}")
            if final or first > last:
                surface, last = cells[1], final or first
                place = text.find(surface, cursor)
                start = cursor if place < 0 else place
                end = cursor = start if place < 0 else place + len(surface)
            if final:
                continue
            form, upos, head, relation = cells[1], cells[3], cells[6], cells[7]
            if not re.fullmatch("[0-9]{1,9}", head):
                raise DataError.at(file, number, f"{head!r} is not the number of a head. Is the file parsed?")
            feats = dict(pair.split("=", 1) for pair in cells[5].split("|") if "=" in pair)
            tokens.append(Token(first, form, upos, feats, int(head), relation, surface, start, end))
        if last != len(tokens):
            raise DataError.at(file, block[-1][0], f"{len(tokens)} words, expected {last}")
        if tokens:
            sentences.append(Tree(tuple(tokens)))
    return tuple(sentences)


def open_parser(language: str, model: Path | None) -> Parser:
    """The trees in a file, whose path is `model`. Texts that it lacks are left out."""
    if model is None:
        raise ConfigError("The parser 'conllu' needs a CoNLL-U file: pass its path as the parser's model.")
    parses = read_file(model)

    def parse(texts: Sequence[str]) -> Iterator[Mapping[str, str]]:
        yield {text: parses[normalized(text)] for text in texts if normalized(text) in parses}

    return Parser(f"conllu {model.name} {sha256(model.read_bytes())}", parse, cached=False)


def normalized(text: str) -> str:
    """A text with single spaces only."""
    return " ".join(text.split())


def read_file(path: Path) -> dict[str, str]:
    """The parses of the sentences, paragraphs and documents in a file, by their `# text =`."""
    with convert_errors(lambda error: DataError(f"The CoNLL-U file {path} cannot be read: {error}.")):
        content = read_bytes(path).decode("utf-8-sig")
    parses: dict[str, str] = {}
    paragraphs: list[list[tuple[str, str]]] = []
    for block in blocks(content):
        text = next((line.partition("=")[2] for _, line in block if _TEXT.match(line)), None)
        if text is None:
            raise DataError.at(path, block[0][0], "the sentence has no line `# text = ...`")
        lines = "\n".join(line for _, line in block) + "\n\n"
        parses.setdefault(normalized(text), lines)
        if any(line.startswith(("# newpar", "# newdoc")) for _, line in block):
            paragraphs.append([])
        for paragraph in paragraphs[-1:]:
            paragraph.append((normalized(text), lines))
    for paragraph in paragraphs:
        together = "".join(lines for _, lines in paragraph)
        parses.setdefault(" ".join(text for text, _ in paragraph), together)
        # after SpaceAfter=No the next sentence follows at once: *„…!“, zatímco*
        spaces = ("" if "SpaceAfter=No" in lines.splitlines()[-2] else " " for _, lines in paragraph)
        joined = "".join(text + space for (text, _), space in zip(paragraph, spaces, strict=True))
        parses.setdefault(normalized(joined), together)
    return parses
