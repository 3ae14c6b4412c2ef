"""Documents for training: Hub data sets and local files, read as streams and split into sentences."""

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

_TEXT = ".txt"
_READERS = {_TEXT: "text", ".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}
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
    """A file or a data set with one of its configs; each row of `column` is a document."""

    name: str
    config: str | None
    column: str

    @property
    def file(self) -> Path | None:
        return Path(self.name) if Path(self.name).suffix.lower() in _READERS else None

    @property
    def sha256(self) -> str | None:
        """The hash of local files; None for a data set on the Hub."""
        path = Path(self.name)
        files = [path] if self.file is not None else sorted(filter(Path.is_file, path.rglob("*")))
        if not files:
            return None
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
            update_hash(digest, file)
        return digest.hexdigest()

    def documents(self, seed: int) -> Iterator[Document]:
        """The documents; rows of tables are shuffled within a buffer."""
        name = self.name if self.config is None else f"{self.name}:{self.config}"
        hint = "Check the file." if self.file else "Check the name, the network and the config (NAME:CONFIG)."
        with convert_errors(
            lambda error: DataError(f"{name} cannot be read: {describe_error(error)}. {hint}")
        ):
            if self.file is not None and not self.file.stat().st_size:
                raise DataError(f"{name} is empty.")
            column, suffix = self.column, self.file.suffix.lower() if self.file else ""
            options: dict[str, Any] = {"data_files": [self.name]} if self.file else {"name": self.config}
            if suffix == _TEXT:  # a blank line ends a document
                column = "text"
                options |= {"sample_by": "paragraph", "encoding": "utf-8-sig"}
            reader = _READERS.get(suffix, self.name)
            data = datasets.load_dataset(reader, split="train", streaming=True, **options)
            if suffix != _TEXT:
                data = data.shuffle(seed=seed, buffer_size=_SHUFFLE_BUFFER)
            for number, row in enumerate(data, start=1):
                if column not in row:
                    columns = ", ".join(row)
                    raise ConfigError(
                        f"{name} has no column {column!r}. Choose one of {columns} with --text."
                    )
                yield self._sentences(row[column], number)

    def _sentences(self, value: Any, number: int) -> Document:
        """The sentences of a cell, which is a text or a list of sentences."""
        if value is None:
            return []
        if isinstance(value, str):
            return split_sentences(value)
        if isinstance(value, list) and all(isinstance(sentence, str) for sentence in value):
            return [sentence.strip() for sentence in value if sentence.strip()]
        raise DataError.at(self.name, f"row {number}", f"{self.column!r} is not text: {value!r:.60}")


def parse_source(data: str, column: str) -> Source:
    """A file's path, or `NAME` or `NAME:CONFIG` of a data set on the Hub or in a folder.

    >>> parse_source("wikimedia/wikipedia:20231101.de", "text")
    Source(name='wikimedia/wikipedia', config='20231101.de', column='text')
    """
    source = Source(str(Path(data).expanduser()), None, column)
    if source.file is not None:
        if not source.file.is_file():
            raise ConfigError(f"{data} does not exist. Give a file, or a data set as NAME:CONFIG.")
        return source
    name, _, config = data.partition(":")
    if Path(name).is_file():
        raise ConfigError(f"{data} has an unknown file type. Use {', '.join(_READERS)}.")
    return Source(name, config or None, column)


def read_documents(sources: Sequence[Source], seed: int) -> Iterator[Document]:
    """The documents of all sources, one of each in turn."""
    exhausted: Document = []
    turns = zip_longest(*(source.documents(seed) for source in sources), fillvalue=exhausted)
    return (document for document in chain.from_iterable(turns) if document is not exhausted)
