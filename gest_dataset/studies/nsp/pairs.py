"""Pairs of sentences for training: half are consecutive, half have a random sentence of another document.

Section 5.2 and footnote 14 of Öztürk et al. (2023). Documents are streamed from Hub datasets and local files;
every tenth one is held out for the test.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import datasets
import regex
from datasets import Features, Value
from datasets.arrow_writer import ArrowWriter
from tqdm.auto import tqdm

from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.storage import parse_json, update_hash, write_json

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
_READERS = {".txt": "text", ".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}
_SHUFFLE_BUFFER = 1000  # rows: dumps are in the order in which pages were written

Document = list[str]  # its sentences
Numbered = tuple[int, Document]
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


@dataclass(frozen=True)
class Source:
    """A file (with its hash) or a dataset with one of its configs; each row of `column` is a document."""

    name: str
    config: str | None
    column: str
    sha256: str | None = None


def parse_source(data: str, column: str) -> Source:
    """A file's path, or `NAME` or `NAME:CONFIG` of a dataset on the Hub or in a folder.

    >>> parse_source("wikimedia/wikipedia:20231101.de", "text")
    Source(name='wikimedia/wikipedia', config='20231101.de', column='text', sha256=None)
    """
    path = Path(data).expanduser()
    if path.suffix.lower() in _READERS:
        if not path.is_file():
            raise ConfigError(f"{data} does not exist. Give a file, or a dataset as NAME:CONFIG.")
        digest = hashlib.sha256()
        update_hash(digest, path)
        return Source(str(path), None, column, digest.hexdigest())
    name, _, config = data.partition(":")
    if Path(name).is_file():
        raise ConfigError(f"{data} has an unknown file type. Use {', '.join(_READERS)}.")
    return Source(name, config or None, column)


def read_documents(sources: Sequence[Source], seed: int) -> Iterator[Document]:
    """The documents of all sources, one of each in turn; rows of tables are shuffled within a buffer."""
    turns = zip_longest(*(_read_source(source, seed) for source in sources))
    return (document for document in chain.from_iterable(turns) if document is not None)


def _read_source(source: Source, seed: int) -> Iterator[Document]:
    reader, column = _READERS.get(Path(source.name).suffix.lower()), source.column
    options: dict[str, Any] = {"data_files": [source.name]} if reader else {"name": source.config}
    if reader == "text":  # a blank line ends a document
        column = "text"
        options |= {"sample_by": "paragraph", "encoding": "utf-8-sig"}
    name = f"{source.name}:{source.config}" if source.config else source.name
    hint = "Check the file, or the dataset's name, its config (NAME:CONFIG) and the network."
    with convert_errors(lambda error: DataError(f"{name} cannot be read: {describe_error(error)}. {hint}")):
        data: Any = datasets.load_dataset(reader or source.name, split="train", streaming=True, **options)
        for row in data if reader == "text" else data.shuffle(seed=seed, buffer_size=_SHUFFLE_BUFFER):
            if column not in row:
                raise ConfigError(
                    f"{name} has no column {column!r}. Choose one of {', '.join(row)} with --text."
                )
            cell = row[column] or []  # a text, or a list of sentences
            sentences = split_sentences(cell) if isinstance(cell, str) else map(str.strip, cell)
            yield [sentence for sentence in sentences if sentence]


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
        return dict(parse_json((folder / COUNTS).read_text(encoding="utf-8")))
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
