"""CoNLL-U, the one form in which every parser hands over its trees, read into tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.gender.parsers.parser import Parser
from gest_dataset.gender.parsers.tokens import Token, Tree

_COLUMNS = 10
# Digits of other scripts are none here, and thousands of digits are more than `int` takes
_HEAD = re.compile(r"[0-9]{1,9}")
_ID = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_TEXT = re.compile(r"#\s*text\s*=")
_NEW = ("# newpar", "# newdoc")


def blocks(document: str) -> Iterator[list[tuple[int, str]]]:
    """The sentences of a document: their lines, with numbers from 1."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(document.splitlines(), start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def parse_conllu(document: str, text: str, file: object = "the parser's CoNLL-U") -> tuple[Tree, ...]:
    """The sentences of one text; words are looked up in the text from left to right.

    Empty nodes (`8.1`) are left out. A word that the text does not contain (a parser that has
    normalised it) gets the empty span where it should have stood.
    """
    sentences, cursor = [], 0
    for block in blocks(document):
        tokens: list[Token] = []
        surface, last, start, end = "", 0, cursor, cursor
        for number, line in block:
            if line.startswith("#"):
                continue
            cells = line.split("\t")
            if len(cells) != _COLUMNS:
                raise DataError.at(file, number, f"{len(cells)} columns, expected {_COLUMNS}")
            name, form = cells[0], cells[1]
            if "." in name:
                continue
            numbers = _ID.fullmatch(name)
            if numbers is None:
                raise DataError.at(file, number, f"{name!r} is no id of a word")
            first, final = int(numbers[1]), int(numbers[2] or 0)
            expected = len(tokens) + 1
            # a multiword token stands before its words, and not within another one
            if first != expected or (final and not last < first <= final):
                raise DataError.at(file, number, f"id {name!r}, expected {expected}")
            if final or first > last:
                surface, last = form, final or first
                place = text.find(form, cursor)
                start = cursor if place < 0 else place
                end = cursor = start if place < 0 else place + len(form)
            if final:
                continue
            if not _HEAD.fullmatch(cells[6]):
                raise DataError.at(file, number, f"{cells[6]!r} is no head: is the file parsed?")
            tokens.append(
                Token(
                    id=first,
                    text=form,
                    upos=cells[3],
                    feats=_features(cells[5]),
                    head=int(cells[6]),
                    deprel=cells[7],
                    surface=surface,
                    start=start,
                    end=end,
                )
            )
        if last != len(tokens):
            raise DataError.at(file, number, f"words up to {last}, found {len(tokens)}")
        if tokens:
            _check_heads(tokens, file, block[0][0])
            sentences.append(Tree(tuple(tokens)))
    return tuple(sentences)


def _check_heads(tokens: Sequence[Token], file: object, line: int) -> None:
    """From every word of the sentence that begins at a line, its heads lead to the root."""
    for token in tokens:
        if token.head > len(tokens):
            reason = f"word {token.id} has the head {token.head}, of {len(tokens)} words"
            raise DataError.at(file, line, reason)
    try:
        TopologicalSorter({token.id: [token.head] for token in tokens}).prepare()
    except CycleError as error:
        circle = ", ".join(map(str, sorted(set(error.args[1]))))
        raise DataError.at(file, line, f"the heads of the words {circle} go round in a circle") from error


def _features(cell: str) -> dict[str, str]:
    return {} if cell == "_" else dict(pair.split("=", 1) for pair in cell.split("|") if "=" in pair)


def open_parser(language: str, model: Path | None) -> Parser:
    """Trees of a file that was parsed elsewhere: `model` is its path; texts that it lacks are left out."""
    if model is None:
        raise ConfigError("The parser 'conllu' reads a file: give its path as the model.")
    parses, digest = read_file(model), hashlib.sha256(model.read_bytes()).hexdigest()

    def parse(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        for text in texts:
            document = parses.get(normal(text))
            if document is not None:
                yield text, document

    return Parser(f"conllu {model.name} {digest}", parse, cached=False)


def normal(text: str) -> str:
    """A text as it is looked up: white space does not count."""
    return " ".join(text.split())


def read_file(path: Path) -> dict[str, str]:
    """The parses in a file, by their `# text =`.

    A text of several sentences is found if they stand in a paragraph or document of their own (from
    one `# newpar` or `# newdoc` to the next); a sentence is also found alone.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The CoNLL-U file {path} cannot be read: {error}.") from error
    parses: dict[str, str] = {}
    paragraphs: list[list[tuple[str, str]]] = []
    for block in blocks(content):
        comments = [line for _, line in block if line.startswith("#")]
        text = next((line[1:].partition("=")[2] for line in comments if _TEXT.match(line)), None)
        if text is None:
            raise DataError.at(path, block[0][0], "a sentence without `# text = ...`")
        lines = "\n".join(line for _, line in block) + "\n\n"
        parses.setdefault(normal(text), lines)
        if any(line.startswith(_NEW) for line in comments):
            paragraphs.append([])
        if paragraphs:
            paragraphs[-1].append((normal(text), lines))
    for paragraph in paragraphs:
        together = "".join(lines for _, lines in paragraph)
        parses.setdefault(" ".join(text for text, _ in paragraph), together)
        # where a sentence ends in SpaceAfter=No, the next one follows at once: *„…!“, zatímco*
        written = "".join(text + ("" if _unspaced(lines) else " ") for text, lines in paragraph)
        parses.setdefault(normal(written), together)
    return parses


def _unspaced(lines: str) -> bool:
    return "SpaceAfter=No" in lines.rstrip().rpartition("\n")[2]
