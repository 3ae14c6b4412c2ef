"""Pairs of sentences for training: half are consecutive, half have a random sentence of another document.

Section 5.2 and footnote 14 of Öztürk et al. (2023). Every tenth document is held out for the test.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import Dataset
from tqdm.auto import tqdm

from gest_dataset.errors import DataError
from gest_dataset.storage import atomic_path, parse_json, write_json
from gest_dataset.studies.nsp.corpus import Document

NEXT, NOT_NEXT = 0, 1  # labels in the order of BERT's head
HOLD_OUT_EVERY = 10
LEAST_DOCUMENTS = HOLD_OUT_EVERY + 1  # two to train on, two to test on
TEST_PAIRS = 2000
_TEST_SENTENCES = 5  # of a document, for many different documents
_WINDOW = 1000  # documents that random sentences are drawn from
_TRIES = 20
TRAIN, TEST, COUNTS = "train.arrow", "test.arrow", "pairs.json"
_SCHEMA = pa.schema({"first": pa.string(), "second": pa.string(), "label": pa.int8(), "document": pa.int64()})

Numbered = tuple[int, Document]


@dataclass(frozen=True)
class Pair:
    """Two sentences; `document` is the number of the first one's document."""

    first: str
    second: str
    label: int
    document: int


@dataclass(frozen=True)
class Counts:
    """Numbers of documents, of documents with fewer than two sentences, and of pairs."""

    documents: int
    short: int
    train: int
    test: int


def make_pairs(
    documents: Iterable[Numbered], generator: random.Random, max_sentences: int | None = None
) -> Iterator[Pair]:
    """The pairs of numbered documents, from at most `max_sentences` random sentences of each.

    Random sentences come from nearby documents, so few are in memory, and are never the next sentence.
    """
    previous: list[Numbered] = []
    remaining = iter(documents)
    while window := list(islice(remaining, _WINDOW)):
        candidates = window if len(window) > 1 else [*previous, *window]
        for number, sentences in window:
            places: Sequence[int] = range(len(sentences) - 1)
            if max_sentences is not None and len(places) > max_sentences:
                places = sorted(generator.sample(places, max_sentences))
            for place in places:
                first, second = sentences[place : place + 2]
                other = _random_sentence(number, second, candidates, generator)
                if other is not None:
                    yield Pair(first, second, NEXT, number)
                    yield Pair(first, other, NOT_NEXT, number)
        previous = window


def _random_sentence(
    number: int, second: str, candidates: Sequence[Numbered], generator: random.Random
) -> str | None:
    """A sentence of another document that differs from `second`; None if twenty tries find none."""
    for _ in range(_TRIES if len(candidates) > 1 else 0):
        other, sentences = generator.choice(candidates)
        if other != number and (sentence := generator.choice(sentences)) != second:
            return sentence
    return None


def write_pairs(
    documents: Iterable[Document], folder: Path, limit: int, seed: int, progress: bool = True
) -> Counts:
    """Write at most `limit` pairs for training, and those for the test; existing ones are kept."""
    if (folder / COUNTS).exists():
        return Counts(**parse_json((folder / COUNTS).read_text(encoding="utf-8")))
    split = _Split(documents)
    pairs = islice(make_pairs(split.training_documents(), random.Random(seed)), limit)
    bar = tqdm(pairs, desc="pairs", total=limit, unit="", disable=None if progress else True)
    train = _write(folder / TRAIN, bar)
    rest = split.training_documents()
    while not split.is_full and next(rest, None) is not None:
        pass  # read on until enough documents are held out
    test_pairs = make_pairs(split.held_out, random.Random(seed + 1), _TEST_SENTENCES)
    test = _write(folder / TEST, islice(test_pairs, TEST_PAIRS))
    counts = Counts(split.documents, split.short, train, test)
    if not train or not test:
        raise DataError(
            f"The data have {split.documents - split.short} documents with two or more sentences, and at "
            f"least {LEAST_DOCUMENTS} different ones are needed. A document is a row of a table, or a block "
            f"of lines in a text file."
        )
    write_json(folder / COUNTS, asdict(counts))
    return counts


class _Split:
    """A stream of documents, split into training documents and held-out ones."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.stream = iter(documents)
        self.held_out: list[Numbered] = []
        self.documents = self.short = 0

    @property
    def is_full(self) -> bool:
        return len(self.held_out) == TEST_PAIRS // (2 * _TEST_SENTENCES)

    def training_documents(self) -> Iterator[Numbered]:
        for sentences in self.stream:
            self.documents += 1
            if len(sentences) < 2:
                self.short += 1
                continue
            number = self.documents - self.short - 1
            if number % HOLD_OUT_EVERY:
                yield number, sentences
            elif not self.is_full:
                self.held_out.append((number, sentences))


def _write(path: Path, pairs: Iterable[Pair]) -> int:
    """Write an Arrow file, and return the number of pairs."""
    stream, number = iter(pairs), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(path) as partial,
        pa.OSFile(str(partial), "wb") as sink,
        pa.ipc.new_stream(sink, _SCHEMA) as writer,
    ):
        while chunk := list(islice(stream, _WINDOW)):
            writer.write_table(pa.Table.from_pylist([asdict(pair) for pair in chunk], _SCHEMA))
            number += len(chunk)
    return number


def read_pairs(path: Path) -> Any:
    """The pairs of a file, as a memory-mapped `Dataset`."""
    return Dataset.from_file(str(path))
