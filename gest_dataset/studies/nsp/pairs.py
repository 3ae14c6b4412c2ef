"""Pairs of sentences: each sentence with the one behind it, and with a random one of another document.

Section 5.2 of Oeztuerk et al. (2023): consecutive sentences are the positive examples, the negative ones have
a random sentence, of another article (footnote 14). Each sentence that has a next one gives one of either, so
half of all pairs follow. Every tenth document is held out: none of its sentences is learnt from.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm.auto import tqdm

from gest_dataset.errors import DataError
from gest_dataset.storage import atomic_path, parse_json, write_json
from gest_dataset.studies.nsp.corpus import Document

NEXT, NOT_NEXT = 0, 1  # the labels, in the order of BERT's head
EVERY = 10  # the document of that number, and the first one, is held out
LEAST = EVERY + 1  # documents: two to learn from, two to test on
HELD_OUT = 2000  # pairs to test on
_EACH = 5  # sentences of a held-out document: many documents say more than many of its pairs
_TOGETHER = 1000  # documents among which the random sentences are drawn
_TRIES = 20
TRAIN, TEST, COUNTS = "train.arrow", "test.arrow", "pairs.json"

_SCHEMA = pa.schema({"first": pa.string(), "second": pa.string(), "label": pa.int8(), "document": pa.int64()})


@dataclass(frozen=True)
class Pair:
    """Two sentences; `document` is the number of the first one's."""

    first: str
    second: str
    label: int
    document: int


@dataclass(frozen=True)
class Counts:
    """What was read, and the pairs that came of it; `short` documents have less than two sentences."""

    documents: int
    short: int
    train: int
    test: int


Numbered = tuple[int, Document]


def pairs_of(documents: Iterable[Numbered], draw: random.Random, each: int | None = None) -> Iterator[Pair]:
    """The pairs of numbered documents; `each`: of so many sentences of a document, drawn at random.

    The random sentences come from the documents that stand near in the data, so that no more than these are
    in memory. One that is the next sentence, as in a copy of the document, is drawn again.
    """
    before: list[Numbered] = []
    remaining = iter(documents)
    while together := list(islice(remaining, _TOGETHER)):
        around = together if len(together) > 1 else [*before, *together]
        for number, sentences in together:
            places: Sequence[int] = range(len(sentences) - 1)
            if each is not None and len(places) > each:
                places = sorted(draw.sample(places, each))
            for place in places:
                first, second = sentences[place : place + 2]
                other = _of_another(number, second, around, draw)
                if other is not None:
                    yield Pair(first, second, NEXT, number)
                    yield Pair(first, other, NOT_NEXT, number)
        before = together


def _of_another(number: int, second: str, around: Sequence[Numbered], draw: random.Random) -> str | None:
    """A sentence of another document that is not this one; None where twenty tries find none."""
    for _ in range(_TRIES if len(around) > 1 else 0):
        other, sentences = draw.choice(around)
        if other != number and (sentence := draw.choice(sentences)) != second:
            return sentence
    return None


def prepare(
    documents: Iterable[Document], folder: Path, most: int, seed: int, progress: bool = True
) -> Counts:
    """Write the pairs to learn from, at most so many, and those to test on; what is there is taken."""
    done = folder / COUNTS
    if done.exists():
        return Counts(**parse_json(done.read_text(encoding="utf-8")))
    read = _Parted(documents)
    made = islice(pairs_of(read.to_learn(), random.Random(seed)), most)
    bar = tqdm(made, desc="pairs", total=most, unit="", disable=None if progress else True)
    train = _write(folder / TRAIN, bar)
    read.to_the_end_of_the_test()
    test = islice(pairs_of(read.held_out, random.Random(seed + 1), _EACH), HELD_OUT)
    counts = Counts(read.documents, read.short, train, _write(folder / TEST, test))
    if not counts.train or not counts.test:
        usable = read.documents - read.short
        raise DataError(
            f"The data have {usable} documents of two sentences or more (and {read.short} shorter ones); at "
            f"least {LEAST} different ones are needed, because random sentences come from other documents "
            f"and every tenth document is held out. A document is a row of a table, or the lines of a text "
            f"up to a blank line."
        )
    write_json(done, asdict(counts))
    return counts


class _Parted:
    """A stream of documents, parted into those to learn from and those to test on."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.stream = iter(documents)
        self.held_out: list[Numbered] = []
        self.documents = self.short = 0

    def to_learn(self) -> Iterator[Numbered]:
        for sentences in self.stream:
            self.documents += 1
            if len(sentences) < 2:
                self.short += 1
                continue
            number = self.documents - self.short - 1
            if number % EVERY:
                yield number, sentences
            elif not self.enough:
                self.held_out.append((number, sentences))

    @property
    def enough(self) -> bool:
        return len(self.held_out) == HELD_OUT // (2 * _EACH)

    def to_the_end_of_the_test(self) -> None:
        """Where few pairs were to be learnt, the documents to test on are behind them."""
        rest = self.to_learn()
        while not self.enough and next(rest, None) is not None:
            pass


def _write(path: Path, pairs: Iterable[Pair]) -> int:
    """A file that `datasets` maps into memory; the number of pairs."""
    stream, number = iter(pairs), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(path) as partial,
        pa.OSFile(str(partial), "wb") as sink,
        pa.ipc.new_stream(sink, _SCHEMA) as writer,
    ):
        while some := list(islice(stream, _TOGETHER)):
            writer.write_table(pa.Table.from_pylist([asdict(pair) for pair in some], _SCHEMA))
            number += len(some)
    return number


def columns_of(path: Path) -> Any:
    """The pairs of a file, as a `Dataset` on the disk."""
    from datasets import Dataset

    return Dataset.from_file(str(path))
