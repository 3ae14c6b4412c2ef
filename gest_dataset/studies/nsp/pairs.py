"""Pairs of sentences for training: half are consecutive, half have a random sentence of another document.

Section 5.2 and footnote 14 of Öztürk et al. (2023). Every tenth document is held out for the test.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from datasets import Features, Value
from datasets.arrow_writer import ArrowWriter
from tqdm.auto import tqdm

from gest_dataset.errors import DataError
from gest_dataset.storage import parse_json, write_json
from gest_dataset.studies.nsp.corpus import Document

NEXT, NOT_NEXT = 0, 1  # labels in the order of BERT's head
HOLD_OUT_EVERY = 10
TEST_PAIRS = 2000
_TEST_SENTENCES = 5  # of a document, for many different documents
_TEST_DOCUMENTS = TEST_PAIRS // (2 * _TEST_SENTENCES)
_WINDOW = 1000  # documents that random sentences are drawn from
_TRIES = 20
TRAIN, TEST, COUNTS = "train.arrow", "test.arrow", "pairs.json"
_TYPES = {"first": "string", "second": "string", "label": "int8", "document": "int64"}
_FEATURES = Features({name: Value(kind) for name, kind in _TYPES.items()})

Numbered = tuple[int, Document]
Pair = dict[str, Any]


def make_pairs(
    documents: Iterable[Numbered], generator: random.Random, max_sentences: int | None = None
) -> Iterator[Pair]:
    """The pairs of numbered documents, from at most `max_sentences` random sentences of each.

    A pair has the number of its first sentence's `document`. Random sentences come from nearby documents, so
    few are in memory, and are never the next sentence; if twenty tries find none, there is no pair.
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
                for _ in range(_TRIES if len(candidates) > 1 else 0):
                    other, others = generator.choice(candidates)
                    if other != number and (random_one := generator.choice(others)) != second:
                        yield {"first": first, "second": second, "label": NEXT, "document": number}
                        yield {"first": first, "second": random_one, "label": NOT_NEXT, "document": number}
                        break
        previous = window


def write_pairs(
    documents: Iterable[Document], folder: Path, limit: int, seed: int, progress: bool = True
) -> dict[str, int]:
    """Write at most `limit` pairs for training, and those for the test; existing ones are kept.

    Returns the numbers of documents, of `short` ones with fewer than two sentences, and of pairs.
    """
    if (folder / COUNTS).exists():
        counts: dict[str, int] = parse_json((folder / COUNTS).read_text(encoding="utf-8"))
        return counts
    counts = {"documents": 0, "short": 0}
    held_out: list[Numbered] = []

    def read() -> Iterator[Numbered]:
        """Count the documents and hold out some; yield the others with their numbers."""
        for sentences in documents:
            counts["documents"] += 1
            counts["short"] += len(sentences) < 2
            number = counts["documents"] - counts["short"] - 1
            if len(sentences) > 1 and number % HOLD_OUT_EVERY:
                yield number, sentences
            elif len(sentences) > 1 and len(held_out) < _TEST_DOCUMENTS:
                held_out.append((number, sentences))

    training = read()
    pairs = islice(make_pairs(training, random.Random(seed)), limit)
    bar = tqdm(pairs, desc="pairs", total=limit, unit="", disable=None if progress else True)
    counts["train"] = _write(folder / TRAIN, bar)
    while len(held_out) < _TEST_DOCUMENTS and next(training, None) is not None:
        pass  # read on until enough documents are held out
    test_pairs = make_pairs(held_out, random.Random(seed + 1), _TEST_SENTENCES)
    counts["test"] = _write(folder / TEST, islice(test_pairs, TEST_PAIRS))
    if not counts["train"] or not counts["test"]:
        number = counts["documents"] - counts["short"]
        raise DataError(
            f"The data have {number} documents with two or more sentences, and at least {HOLD_OUT_EVERY + 1} "
            f"different ones are needed. A document is a row of a table, or a block of lines in a text file."
        )
    write_json(folder / COUNTS, counts)
    return counts


def _write(path: Path, pairs: Iterable[Pair]) -> int:
    """Write an Arrow file that `Dataset.from_file` maps into memory, and return the number of pairs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ArrowWriter(path=str(path), features=_FEATURES) as writer:
        for pair in pairs:
            writer.write(pair)
        return int(writer.finalize()[0])
