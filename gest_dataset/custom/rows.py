"""Rows of a user's table: the field of each column, the GEST sentence of each row, and rejected rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

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
ANOTHER = "a second version for the same sentence and system"

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
    cells: Mapping[str, str]
    reason: str


@dataclass
class FileRows:
    """The rows of one file: those that were accepted, and those that were rejected.

    `accepted` has the row and its number by system and id of the sentence.
    """

    path: Path
    rows: int
    other_languages: int = 0
    accepted: dict[tuple[str, str], tuple[Row, int]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    pairs: list[Row] = field(default_factory=list)

    def reject(self, row: int, cells: Mapping[str, str], reason: str) -> None:
        """Leave a row out."""
        self.rejected.append(Rejected(row, cells, reason))

    @property
    def reasons(self) -> Counter[str]:
        """The number of rejected rows by reason."""
        return Counter(rejected.reason for rejected in self.rejected)

    @property
    def accepted_rows(self) -> int:
        """The number of rows that contributed something."""
        return self.rows - self.other_languages - len(self.rejected)


def read_translations(
    table: Table, mapping: Mapping[str, str], language: Language, index: SentenceIndex
) -> FileRows:
    """Read the translations of a file: the first one of each sentence and system."""

    def translate(cells: Mapping[str, str], sentence: GestSentence, source: str) -> Row | str:
        text = _clean(cells["translation"])
        return find_problem(text, source, language.script, index.words) or {
            "id": f"{sentence.id}-{language.code}-{cells['system']}",
            "system": cells["system"],
            "source": source,
            "translation": text,
            "stereotype": sentence.stereotype,
            "gender": STEREOTYPES[sentence.stereotype].gender,
        }

    return _read(table, ("translation",), mapping, language.code, index, translate)


def read_variants(
    table: Table, mapping: Mapping[str, str], language: Language, index: SentenceIndex, first_letter: bool
) -> FileRows:
    """Read the pairs of a file: the first one of each sentence and system, equal ones merged."""

    def pair(cells: Mapping[str, str], sentence: GestSentence, source: str) -> Row | str:
        texts = [_clean(cells[name]) for name in ("masculine", "feminine")]
        for text in texts:
            if problem := find_problem(text, source, language.script, index.words):
                return problem
        stereotype, systems = sentence.stereotype, [cells["system"]]
        return pair_row(language.code, systems, stereotype, source, *texts, first_letter=first_letter)

    rows = _read(table, ("masculine", "feminine"), mapping, language.code, index, pair)
    merged: dict[str, Row] = {}
    for _, (row, number) in sorted(rows.accepted.items(), key=lambda item: item[0]):
        if row["id"] in merged:
            first = merged[row["id"]]
            first["systems"] = sorted({*first["systems"], *row["systems"]})
            rows.reject(number, pair_cells(row), MERGED)
        else:
            merged[row["id"]] = row
    rows.pairs = list(merged.values())
    return rows


def pair_cells(pair: Row) -> dict[str, str]:
    """The cells of a pair, for the report of rejected rows."""
    texts = {name: pair[name] for name in ("source", "masculine", "feminine")}
    return {**texts, "system": ", ".join(pair["systems"])}


def _read(
    table: Table,
    required: Sequence[str],
    mapping: Mapping[str, str],
    code: str,
    index: SentenceIndex,
    make: Callable[[Mapping[str, str], GestSentence, str], Row | str],
) -> FileRows:
    cells_of_rows = list(_rows_by_field(table, required, mapping, code))
    result = FileRows(table.path, len(cells_of_rows))
    for number, cells in enumerate(cells_of_rows, start=1):
        if cells.get("language", code) != code:
            result.other_languages += 1
            continue
        matches = index.match(cells)
        if isinstance(matches, str):
            result.reject(number, cells, matches)
            continue
        made = [make(cells, sentence, source) for sentence, source in matches]
        problem = next((row for row in made if isinstance(row, str)), None)
        if problem is not None:
            result.reject(number, cells, problem)
            continue
        rows = {(cells["system"], match[0].id): row for match, row in zip(matches, made, strict=True)}
        new = {key: (row, number) for key, row in rows.items() if key not in result.accepted}
        result.accepted |= new
        if not new:
            same = all(result.accepted[key][0] == row for key, row in rows.items())
            if not same or len(matches) == 1:  # GEST itself has some sentences twice
                result.reject(number, cells, DUPLICATE if same else ANOTHER)
    if not result.rows:
        raise DataError(f"{table.path} has no rows.")
    if result.other_languages == result.rows:
        raise ConfigError(f"{table.path} has no rows in {code!r}, only in other languages.")
    return result


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
