"""Rows of a user's table: the field of each column, the GEST sentence of each row, and rejected rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gest_dataset.builders.config import Row
from gest_dataset.builders.gest import sentence_id
from gest_dataset.builders.pairs import MERGED, pair_row
from gest_dataset.builders.words import composed
from gest_dataset.custom.checks import STRAIGHT_QUOTES, find_problem, words
from gest_dataset.data.tables import Table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import Language
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.translation.sentences import GestSentence

# Field -> the column names that stand for it, best first; upstream's own files are among them
COLUMNS: dict[str, tuple[str, ...]] = {
    "source": ("source", "original", "from", "english", "sentence", "en"),
    "id": ("id", "sentence_id", "gest_id", "row"),
    "translation": ("translation", "to", "target", "translated"),
    "masculine": ("masculine", "male", "masc", "m"),
    "feminine": ("feminine", "female", "fem", "f"),
    "system": ("system", "translator", "model"),
    "language": ("language", "lang"),
    "stereotype": ("stereotype",),
}
DEFAULT_SYSTEM = "own"  # in files without a column for the system

# Reasons for rejecting a row, besides those of `checks` and `pairs`
NO_SOURCE = "no source"
UNKNOWN = "not a sentence of GEST"
DISAGREE = "id and source are of different sentences"
STEREOTYPE = "not the stereotype of the sentence"
DUPLICATE = "a duplicate"

_ROW_NUMBER = re.compile(r"[0-9]{1,4}")
_LINE_BREAKS = re.compile(r"[\t\r\n]+")
Match = tuple[GestSentence, str]  # a sentence, and its text in the release that the row quotes


def parse_map(arguments: Sequence[str]) -> dict[str, str]:
    """Parse arguments `COLUMN=FIELD`; the name of a column may contain a =.

    >>> parse_map(["Hindi=translation"])
    {'Hindi': 'translation'}
    """
    mapping = {}
    for argument in arguments:
        column, equals, name = argument.rpartition("=")
        if not equals or name not in COLUMNS:
            raise ConfigError(f"--map {argument}: use COLUMN=FIELD with a field of {', '.join(COLUMNS)}.")
        mapping[column] = name
    return mapping


@dataclass(frozen=True)
class SentenceIndex:
    """GEST's sentences by id and by text; texts of both releases are known."""

    sentences: Sequence[GestSentence]

    @cached_property
    def by_id(self) -> dict[str, GestSentence]:
        """Each sentence by its id."""
        return {sentence.id: sentence for sentence in self.sentences}

    @cached_property
    def by_text(self) -> dict[str, dict[str, Match]]:
        """The matches of a normalised text, by id: a text can be of two sentences, for two stereotypes."""
        matches: dict[str, dict[str, Match]] = {}
        for sentence in self.sentences:
            for text in (sentence.text, sentence.text_1_0):
                matches.setdefault(_normalise(text), {}).setdefault(sentence.id, (sentence, text))
        return matches

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the sentences, as a dictionary of English."""
        return frozenset(word for sentence in self.sentences for word in words(sentence.text))

    def match(self, cells: Mapping[str, str]) -> list[Match] | str:
        """The sentences that a row is about, or the reason why there are none."""
        name, source = cells.get("id", "").strip(), cells.get("source", "").strip()
        if not name and not source:
            return NO_SOURCE
        if name and _ROW_NUMBER.fullmatch(name):
            name = sentence_id(int(name))
        if source:
            matches = list(self.by_text.get(_normalise(source), {}).values())
            if matches and name in self.by_id:
                matches = [match for match in matches if match[0].id == name]
                if not matches:
                    return DISAGREE
        else:
            matches = [(self.by_id[name], self.by_id[name].text)] if name in self.by_id else []
        stereotype = cells.get("stereotype", "").strip()
        if matches and stereotype:
            return [match for match in matches if str(match[0].stereotype) == stereotype] or STEREOTYPE
        return matches or UNKNOWN


def _normalise(text: str) -> str:
    return " ".join(composed(text).translate(STRAIGHT_QUOTES).split())


@dataclass(frozen=True)
class Rejected:
    """A row that was left out: its number, its cells by field, and the reason."""

    row: int
    cells: Mapping[str, Any]
    reason: str


@dataclass
class FileRows:
    """What became of the rows of one file.

    `accepted` has a row and its number by system and id of the sentence; `rows` are those of the config.
    """

    path: Path
    number: int
    other_languages: int = 0
    accepted: dict[tuple[str, str], tuple[Row, int]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def reject(self, row: int, cells: Mapping[str, Any], reason: str) -> None:
        """Leave a row out."""
        self.rejected.append(Rejected(row, {"system": ", ".join(cells.get("systems", ())), **cells}, reason))

    @property
    def reasons(self) -> Counter[str]:
        """The number of rejected rows by reason."""
        return Counter(rejected.reason for rejected in self.rejected)


def read_rows(
    table: Table,
    kind: str,
    mapping: Mapping[str, str],
    language: Language,
    index: SentenceIndex,
    first_letter: bool,
) -> FileRows:
    """Read the translations or the pairs of a file: the first one of each sentence and system."""
    columns = ["translation"] if kind == "translations" else ["masculine", "feminine"]
    lines = list(_rows_by_field(table, columns, mapping, language.code))
    result = FileRows(table.path, len(lines))
    for number, cells in enumerate(lines, start=1):
        if cells.get("language", language.code) != language.code:
            result.other_languages += 1
            continue
        matches = index.match(cells)
        if isinstance(matches, str):
            result.reject(number, cells, matches)
            continue
        texts = [_clean(cells[column]) for column in columns]
        problems = (find_problem(text, matches[0][1], language.script, index.words) for text in texts)
        problem = next((problem for problem in problems if problem), None)
        new: dict[tuple[str, str], tuple[Row, int]] = {}
        for sentence, source in matches:
            if kind == "translations":
                row: Row | str = _translation(language.code, cells["system"], sentence, source, *texts)
            else:
                facts = (language.code, [cells["system"]], sentence.stereotype, source)
                row = pair_row(*facts, *texts, first_letter=first_letter)
            if isinstance(row, str):
                problem = problem or row
            elif (cells["system"], sentence.id) not in result.accepted:
                new[cells["system"], sentence.id] = row, number
        if problem:
            result.reject(number, cells, problem)
        elif not new and len(matches) == 1:  # GEST itself has some sentences twice
            result.reject(number, cells, DUPLICATE)
        else:
            result.accepted |= new
    if not result.number:
        raise DataError(f"{table.path} has no rows.")
    if result.other_languages == result.number:
        raise ConfigError(f"{table.path} has no rows in {language.code!r}, only in other languages.")
    merged: dict[str, Row] = {}
    for row, number in (result.accepted[key] for key in sorted(result.accepted)):
        if row["id"] in merged:
            first = merged[row["id"]]
            first["systems"] = sorted({*first["systems"], *row["systems"]})
            result.reject(number, row, MERGED)
        else:
            merged[row["id"]] = row
    result.rows = list(merged.values())
    return result


def _translation(code: str, system: str, sentence: GestSentence, source: str, text: str) -> Row:
    return {
        "id": f"{sentence.id}-{code}-{system}",
        "system": system,
        "source": source,
        "translation": text,
        "stereotype": sentence.stereotype,
        "gender": STEREOTYPES[sentence.stereotype].gender,
    }


def _rows_by_field(
    table: Table, required: Sequence[str], mapping: Mapping[str, str], code: str
) -> Iterator[dict[str, str]]:
    """Yield the cells of each row by field."""
    columns = _find_columns(table, required, mapping, code)
    texts: dict[str, list[str]] = {}
    for name, column in columns.items():
        if name in ("id", "stereotype"):  # may be numbers
            texts[name] = ["" if value is None else str(value) for value in table.columns[column]]
        else:
            texts[name] = table.texts(column)
    for values in zip(*texts.values(), strict=True):
        cells = dict(zip(texts, values, strict=True))
        yield {**cells, "system": cells.get("system", "").strip() or DEFAULT_SYSTEM}


def _find_columns(
    table: Table, required: Sequence[str], mapping: Mapping[str, str], code: str
) -> dict[str, str]:
    """The column of each field; a translation may also be in the column named like the language."""
    by_name: dict[str, str] = {}
    for column in table.columns:
        by_name.setdefault(column.strip().casefold(), column)
    columns: dict[str, str] = {}
    for name, names in COLUMNS.items():
        mapped = [column for column in table.columns if mapping.get(column) == name]
        if len(mapped) > 1:
            raise ConfigError(f"{table.path}: --map gives {name} to several columns.")
        known = [*names, *([code.casefold()] if name == "translation" else [])]
        guessed = [by_name[one] for one in known if one in by_name and by_name[one] not in mapping]
        if mapped or guessed:
            columns[name] = [*mapped, *guessed][0]
    for group in [*([name] for name in required), ["source", "id"]]:
        if not any(name in columns for name in group):
            raise ConfigError(
                f"{table.path} has no column for {' or '.join(group)}, only {', '.join(table.columns)}. "
                f"Use --map COLUMN={group[0]}."
            )
    return columns


def _clean(text: str) -> str:
    """A text on one line, without white space around it, in Unicode's form NFC."""
    return composed(_LINE_BREAKS.sub(" ", text).strip())
