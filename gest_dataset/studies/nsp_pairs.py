"""Pairs of sentences for training: half are consecutive, half have a random sentence of another document.

Section 5.2 and footnote 14 of Öztürk et al. (2023). Documents are streamed from Hub datasets and local files;
every tenth one is held out for the test.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import regex
from datasets import Dataset, Features, Value
from datasets.arrow_writer import ArrowWriter
from tqdm.auto import tqdm

from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.storage import atomic_path, update_hash

NEXT, NOT_NEXT = 0, 1  # labels in the order of BERT's head
HOLD_OUT_EVERY = 10
TEST_PAIRS = 2000
_WINDOW = 1000  # documents that random sentences are drawn from
_TRIES = 20
_TYPES = {"first": "string", "second": "string", "label": "int8", "document": "int64"}
_FEATURES = Features({name: Value(kind) for name, kind in _TYPES.items()})
_READERS = {".txt": "text", ".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}
_SHUFFLE_BUFFER = 1000  # rows: dumps are in the order in which pages were written

Document = list[str]  # its sentences
Pair = dict[str, Any]

# A sentence ends with a mark of the classes STerm or ATerm of Unicode's annex 29 and closing marks, followed
# by white space without a small letter; full-width marks need no space. Probable abbreviations, initials and
# ordinals (Dr., J., z.B., 1.) end no sentence: two sentences in one do less harm than half a sentence.
_END = regex.compile(
    r"(?P<word>[\p{L}\p{M}\p{N}.]*)(?P<mark>[\p{Sentence_Break=STerm}\p{Sentence_Break=ATerm}…]+)"
    r"\p{Sentence_Break=Close}*(?:\s+(?!\p{Ll})|(?<=[。．！？｡]\p{Sentence_Break=Close}*))"
)
_ABBREVIATION = regex.compile(r"\p{Lu}\p{L}{0,2}|\d{1,2}|.*\..*")


def split_sentences(text: str) -> Document:
    """The sentences of a text in any script; a line break ends a sentence.

    >>> split_sentences("Dr. J. Smith came on 1. June. He said: “No!” Then he left.")
    ['Dr. J. Smith came on 1. June.', 'He said: “No!”', 'Then he left.']
    """
    parts: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in _END.finditer(line):
            if end["mark"] != "." or not _ABBREVIATION.fullmatch(end["word"]):
                parts.append(line[start : end.end()])
                start = end.end()
        parts.append(line[start:])
    return [part.strip() for part in parts if part.strip()]


def hash_of_file(data: str) -> str | None:
    """The SHA-256 of a file of documents; None for `NAME` or `NAME:CONFIG` of a dataset."""
    path = Path(data).expanduser()
    if path.suffix.lower() in _READERS:
        if not path.is_file():
            raise ConfigError(f"{data} does not exist. Give a file, or a dataset as NAME:CONFIG.")
        digest = hashlib.sha256()
        update_hash(digest, path)
        return digest.hexdigest()
    if path.is_file():
        raise ConfigError(f"{data} has an unknown file type. Use {', '.join(_READERS)}.")
    return None


def read_documents(data: Sequence[str], column: str, seed: int) -> Iterator[Document]:
    """The documents of all files and datasets, one of each in turn: the rows of `column`."""
    turns = zip_longest(*(_read_source(name, column, seed) for name in data))
    return (document for document in chain.from_iterable(turns) if document is not None)


def _read_source(name: str, column: str, seed: int) -> Iterator[Document]:
    """The documents of a text, between blank lines, or the rows of a table, shuffled within a buffer."""
    path = Path(name).expanduser()
    reader = _READERS.get(path.suffix.lower())
    dataset, _, config = name.partition(":")
    options: dict[str, Any] = {"data_files": [str(path)]} if reader else {"name": config or None}
    if reader == "text":
        column = "text"
        options |= {"sample_by": "paragraph", "encoding": "utf-8-sig"}
    hint = "Check the file, or the dataset's name, its config (NAME:CONFIG) and the network."
    with convert_errors(lambda error: DataError(f"{name} cannot be read: {describe_error(error)}. {hint}")):
        rows: Any = datasets.load_dataset(reader or dataset, split="train", streaming=True, **options)
        for row in rows if reader == "text" else rows.shuffle(seed=seed, buffer_size=_SHUFFLE_BUFFER):
            if column not in row:
                raise ConfigError(f"{name} has no column {column!r}. Pass one with --text: {', '.join(row)}.")
            cell = row[column] or []  # a text, or a list of sentences
            sentences = split_sentences(cell) if isinstance(cell, str) else map(str.strip, cell)
            yield [sentence for sentence in sentences if sentence]


def make_pairs(documents: Iterable[Document], limit: int, seed: int) -> Iterator[Pair]:
    """At most `limit` pairs for training, and those of the documents that are held out.

    A pair has the number of its first sentence's `document`. Random sentences come from nearby documents that
    are held out as well or not either, and are never the next sentence; if twenty tries find none, there is
    no pair.
    """
    generator = random.Random(seed)
    numbered = enumerate(document for document in documents if len(document) > 1)
    written = 0
    while window := list(islice(numbered, _WINDOW)):
        for held_out in (True, False):
            own = [(number, text) for number, text in window if is_held_out(number) == held_out]
            for number, sentences in own:
                for first, second in pairwise(sentences):
                    if not held_out and written >= limit:
                        return
                    random_one = _random_sentence(own, number, second, generator)
                    if random_one is not None:
                        yield {"first": first, "second": second, "label": NEXT, "document": number}
                        yield {"first": first, "second": random_one, "label": NOT_NEXT, "document": number}
                        written += 0 if held_out else 2


def is_held_out(document: Any) -> Any:
    """Whether the document with a number (or each of an array) is in the test."""
    return document % HOLD_OUT_EVERY == 0


def _random_sentence(
    documents: Sequence[tuple[int, Document]], number: int, unwanted: str, generator: random.Random
) -> str | None:
    """A random sentence of another document than the one with this number."""
    for _ in range(_TRIES):
        other, sentences = generator.choice(documents)
        sentence = generator.choice(sentences)
        if other != number and sentence != unwanted:
            return sentence
    return None


def load_pairs(documents: Iterable[Document], file: Path, limit: int, seed: int) -> tuple[Dataset, Dataset]:
    """The pairs for training, and at most `TEST_PAIRS` for the test; an existing file of them is read."""
    if not file.exists():
        bar = tqdm(make_pairs(documents, limit, seed), desc="pairs", disable=None)
        with atomic_path(file) as partial, ArrowWriter(path=str(partial), features=_FEATURES) as writer:
            for pair in bar:
                writer.write(pair)
            writer.finalize()
    pairs = Dataset.from_file(str(file))
    in_test = is_held_out(np.array(pairs["document"]))
    # of each sentence with its next and a random one
    firsts = np.flatnonzero(in_test)[::2]
    chosen = np.random.default_rng(seed).permutation(firsts)[: TEST_PAIRS // 2]
    train, test = pairs.select(np.flatnonzero(~in_test)), pairs.select(np.r_[chosen, chosen + 1])
    if not len(train) or not len(test):
        raise DataError(f"At least {HOLD_OUT_EVERY + 1} different documents with two sentences are needed.")
    return train, test
