"""Documents for training: Hub datasets and local files, read as streams and split into sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import datasets
import regex

from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.storage import update_hash

_READERS = {".txt": "text", ".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}
_SHUFFLE_BUFFER = 1000  # rows: dumps are in the order in which pages were written

Document = list[str]  # its sentences

# A sentence ends with a mark of the classes STerm or ATerm of Unicode's annex 29 and closing marks, followed
# by white space without a small letter; full-width marks need no space. Probable abbreviations, initials and
# ordinals (Dr., J., z.B., 1.) end no sentence: two sentences in one do less harm than half a sentence.
_END = regex.compile(
    r"(?P<word>[\p{L}\p{M}\p{N}.]*)(?P<mark>[\p{Sentence_Break=STerm}\p{Sentence_Break=ATerm}…]+)"
    r"\p{Sentence_Break=Close}*(?:\s+(?!\p{Ll})|(?<=[。．！？｡]\p{Sentence_Break=Close}*))"
)
_ABBREVIATION = regex.compile(r"\p{Lu}\p{L}{0,2}|\d{1,2}|.*\..*")


def split_sentences(text: str) -> list[str]:
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

    def documents(self, seed: int) -> Iterator[Document]:
        """The documents; rows of tables are shuffled within a buffer."""
        column, suffix = self.column, _suffix(self.name)
        options: dict[str, Any] = {"data_files": [self.name]} if suffix else {"name": self.config}
        if suffix == ".txt":  # a blank line ends a document
            column = "text"
            options |= {"sample_by": "paragraph", "encoding": "utf-8-sig"}
        name = f"{self.name}:{self.config}" if self.config else self.name
        with convert_errors(
            lambda error: DataError(
                f"{name} cannot be read: {describe_error(error)}. Check the file, or the dataset's name, "
                f"its config (NAME:CONFIG) and the network."
            )
        ):
            reader: Any = _READERS.get(suffix, self.name)
            data = datasets.load_dataset(reader, split="train", streaming=True, **options)
            if suffix != ".txt":
                data = data.shuffle(seed=seed, buffer_size=_SHUFFLE_BUFFER)
            for row in data:
                if column not in row:
                    raise ConfigError(
                        f"{name} has no column {column!r}. Choose one of {', '.join(row)} with --text."
                    )
                cell = row[column] or []  # a text, or a list of sentences
                sentences = split_sentences(cell) if isinstance(cell, str) else map(str.strip, cell)
                yield [sentence for sentence in sentences if sentence]


def _suffix(name: str) -> str:
    """The type of a file; empty for a dataset."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in _READERS else ""


def parse_source(data: str, column: str) -> Source:
    """A file's path, or `NAME` or `NAME:CONFIG` of a dataset on the Hub or in a folder.

    >>> parse_source("wikimedia/wikipedia:20231101.de", "text")
    Source(name='wikimedia/wikipedia', config='20231101.de', column='text', sha256=None)
    """
    path = Path(data).expanduser()
    if _suffix(data):
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
    """The documents of all sources, one of each in turn."""
    turns = zip_longest(*(source.documents(seed) for source in sources))
    return (document for document in chain.from_iterable(turns) if document is not None)
