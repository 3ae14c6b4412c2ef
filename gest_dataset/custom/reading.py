"""From the rows of a user's files to translations and pairs; each row that is left out has a reason.

Files of any size are read row by row: what is kept is at most one translation, or pair, of a sentence and a
system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gest_dataset.builders.pairs import MERGED, pair_row
from gest_dataset.builders.words import composed
from gest_dataset.custom.checks import problem
from gest_dataset.custom.columns import cells, places
from gest_dataset.custom.rejected import Rejected
from gest_dataset.custom.sentences import Sentences
from gest_dataset.data.tables import Stream
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.translation.sentences import GestSentence

Row = dict[str, Any]
Seen = Callable[[int], None]  # told now and then how many rows are read

# Why a row is left out, beside what is wrong with its source or its texts
DOUBLED = "a doubled row"
ANOTHER = "another one of the same sentence and system"

OWN = "own"  # the system where a file names none
_MOST_SYSTEMS = 100
_BREAKS = re.compile(r"[\t\r\n]+")
_TOLD = 1000  # rows


@dataclass
class Read:
    """What became of one file: the rows read, those that are kept by sentence and system, and notes.

    `composed` counts the rows that had to be written in Unicode's NFC, `unlike` those of them whose two
    variants came in different forms.
    """

    rejected: Rejected
    kept: dict[tuple[str, str], Row] = field(default_factory=dict)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    pairs: list[Row] = field(default_factory=list)  # of variants: those that are kept, each once
    rows: int = 0
    others: int = 0  # rows of other languages
    composed: int = 0
    unlike: int = 0

    @property
    def kept_rows(self) -> int:
        """The rows that something is kept of."""
        return self.rows - self.others - self.rejected.counts.total()

    def first_row(self, pair: Row) -> int:
        """The row that a pair comes from."""
        return min(self.numbers[key] for key, row in self.kept.items() if row["id"] == pair["id"])


@dataclass(frozen=True)
class Wanted:
    """What rows are compared with."""

    code: str
    script: str
    sentences: Sentences
    first_letter: bool


def read_translations(
    table: Stream, own: Mapping[str, str], wanted: Wanted, rejected: Rejected, seen: Seen
) -> Read:
    """The translations of one file: the first of each sentence and system."""
    read = Read(rejected)
    for row, given, found in _rows(table, ("translation",), own, wanted, read, seen):
        text = _clean(given["translation"])
        wrong = problem(text, found[0][1], wanted.script, wanted.sentences.words)
        if wrong:
            rejected.add(row, given, wrong)
            continue
        made = [
            {
                "id": f"{sentence.id}-{wanted.code}-{given['system']}",
                "system": given["system"],
                "source": source,
                "translation": text,
                "stereotype": sentence.stereotype,
                "gender": STEREOTYPES[sentence.stereotype].gender,
            }
            for sentence, source in found
        ]
        if _keep(read, row, given, found, made):
            read.composed += text != _cut(given["translation"])
    return _checked(read, table, wanted)


def read_variants(
    table: Stream, own: Mapping[str, str], wanted: Wanted, rejected: Rejected, seen: Seen
) -> Read:
    """The pairs of one file: the first of each sentence and system."""
    read = Read(rejected)
    for row, given, found in _rows(table, ("masculine", "feminine"), own, wanted, read, seen):
        texts = [_clean(given[name]) for name in ("masculine", "feminine")]
        script, english = wanted.script, wanted.sentences.words
        wrong = next(filter(None, (problem(text, found[0][1], script, english) for text in texts)), None)
        made = [
            pair_row(
                wanted.code,
                [given["system"]],
                sentence.stereotype,
                source,
                masculine=texts[0],
                feminine=texts[1],
                first_letter=wanted.first_letter,
            )
            for sentence, source in found
        ]
        if wrong or isinstance(made[0], str):
            rejected.add(row, given, wrong or str(made[0]))
        elif _keep(read, row, given, found, made):
            changed = [
                text != _cut(given[name]) for text, name in zip(texts, ("masculine", "feminine"), strict=True)
            ]
            read.composed += any(changed)
            read.unlike += changed[0] != changed[1]
    return _checked(read, table, wanted)


def merged(read: Read) -> list[Row]:
    """The pairs with each once: the same one of several systems is one row that lists them."""
    pairs: dict[str, Row] = {}
    for key, row in sorted(read.kept.items()):
        if row["id"] in pairs:
            pairs[row["id"]]["systems"] = sorted({*pairs[row["id"]]["systems"], *row["systems"]})
            read.rejected.add(read.numbers[key], told_of(row), MERGED)
        else:
            pairs[row["id"]] = row
    return list(pairs.values())


def told_of(row: Row) -> dict[str, str]:
    """A pair as a rejected row tells it."""
    texts = {name: row[name] for name in ("source", "masculine", "feminine")}
    return {**texts, "system": ", ".join(row["systems"])}


def _rows(
    table: Stream, needed: tuple[str, ...], own: Mapping[str, str], wanted: Wanted, read: Read, seen: Seen
) -> Iterator[tuple[int, dict[str, str], list[tuple[GestSentence, str]]]]:
    """The rows of this language that are about a sentence of GEST, with it."""
    where = places(table, needed, own, wanted.code)
    systems: set[str] = set()
    for row, values in table.rows:
        if row % _TOLD == 0:
            seen(row)
        read.rows = row
        given = cells(table, where, row, values)
        if given.get("language", wanted.code) != wanted.code:
            read.others += 1
            continue
        given["system"] = given.get("system", "").strip() or OWN
        systems.add(given["system"])
        if len(systems) > _MOST_SYSTEMS:
            raise DataError.at(
                table.path,
                f"row {row}",
                f"more than {_MOST_SYSTEMS} systems: is {table.names[where['system']]!r} the translator?",
            )
        found = wanted.sentences.find(given)
        if isinstance(found, str):
            read.rejected.add(row, given, found)
        else:
            yield row, given, found


def _keep(
    read: Read, row: int, given: Mapping[str, str], found: list[tuple[GestSentence, str]], made: list[Any]
) -> bool:
    """Keep what a row gives of sentences that have none of its system yet; False where it gives nothing."""
    new = False
    for (sentence, _), one in zip(found, made, strict=True):
        key = (given["system"], sentence.id)
        if key not in read.kept:
            read.kept[key], read.numbers[key], new = one, row, True
    if not new:
        same = [read.kept[given["system"], sentence.id] for sentence, _ in found] == made
        if not same or len(found) == 1:  # GEST itself has some sentences twice
            read.rejected.add(row, given, DOUBLED if same else ANOTHER)
    return new


def _checked(read: Read, table: Stream, wanted: Wanted) -> Read:
    if read.rows and read.others == read.rows:
        raise ConfigError(f"{table.path} has no row of {wanted.code!r}, only of other languages.")
    if not read.rows:
        raise DataError(f"{table.path} has no rows, only the names of its columns.")
    return read


def _clean(text: str) -> str:
    return composed(_cut(text))


def _cut(text: str) -> str:
    """A text in one line, without white space around it."""
    return _BREAKS.sub(" ", text).strip()
