"""Documents to learn from: data sets of the Hub and files of one's own, read as streams."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import datasets

from gest_dataset.errors import ConfigError, DataError, convert_errors, describe_error
from gest_dataset.storage import update_hash
from gest_dataset.studies.nsp.sentences import split

# What `datasets` calls the reader of each kind of file; a text is read here
_READERS = {".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}
_TEXT = ".txt"
SPLIT = "train"
_BUFFER = 1000  # rows that are shuffled together: a dump is in the order in which pages were made

Document = list[str]  # its sentences


@dataclass(frozen=True)
class Source:
    """A file, or a data set with one of its configs; `column` holds a document in each row."""

    name: str
    config: str | None
    column: str

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        return Path(self.name) if Path(self.name).suffix.lower() in {*_READERS, _TEXT} else None

    def told(self) -> dict[str, Any]:
        """What a training says of it; what lies on this disk is known by its content."""
        return {"name": self.name, "config": self.config, "column": self.column, "sha256": self._hash()}

    def _hash(self) -> str | None:
        """Of the file, or of all files of the folder; None of a data set on the Hub."""
        place = Path(self.name)
        files = [place] if self.path is not None else sorted(filter(Path.is_file, place.rglob("*")))
        if not files:
            return None
        digest = hashlib.sha256()
        with convert_errors(lambda error: _unreadable(self, error)):
            for file in files:
                digest.update(f"{file.relative_to(place)}\0{file.stat().st_size}\0".encode())
                update_hash(digest, file)
        return digest.hexdigest()


def source_of(data: str, column: str) -> Source:
    """A file's path, or `NAME` or `NAME:CONFIG` of a data set on the Hub or in a folder.

    >>> source_of("wikimedia/wikipedia:20231101.de", "text")
    Source(name='wikimedia/wikipedia', config='20231101.de', column='text')
    """
    file = Source(str(Path(data).expanduser()), None, column)
    if file.path is not None:
        if not file.path.is_file():
            raise ConfigError(f"There is no file {data}. Give a file, or a data set as NAME:CONFIG.")
        return file
    name, _, config = data.partition(":")
    if Path(name).is_file():
        offered = ", ".join([_TEXT, *_READERS])
        raise ConfigError(f"{data} is of no kind that can be read: use one of {offered}, or a data set.")
    return Source(name, config or None, column)


def documents(sources: Sequence[Source], seed: int) -> Iterator[Document]:
    """The documents of all sources in turn, one of each: languages learn side by side."""
    missing: Document = []
    turns = zip_longest(*(_documents(source, seed) for source in sources), fillvalue=missing)
    return (document for document in chain.from_iterable(turns) if document is not missing)


def _documents(source: Source, seed: int) -> Iterator[Document]:
    if source.path is not None and source.path.suffix.lower() == _TEXT:
        yield from _blocks(source.path)
        return
    for number, row in enumerate(_rows(source, seed), start=1):
        if source.column not in row:
            raise ConfigError(
                f"{source.name} has no column {source.column!r}: choose one of {', '.join(row)} with --text."
            )
        yield _sentences(row[source.column], source, number)


def _sentences(value: Any, source: Source, number: int) -> Document:
    """The sentences of a cell: a text, or a list of sentences that were told apart before."""
    if value is None:
        return []
    if isinstance(value, str):
        return list(split(value))
    if isinstance(value, list) and all(isinstance(sentence, str) for sentence in value):
        return [sentence.strip() for sentence in value if sentence.strip()]
    raise DataError.at(
        source.name, f"row {number}", f"{source.column!r} holds {value!r:.60}, which is no text"
    )


def _blocks(path: Path) -> Iterator[Document]:
    """Lines of sentences; a blank line ends a document."""
    document: Document = []
    unreadable = f"{path} cannot be read: {{}}. Save it as UTF-8."
    with (
        convert_errors(lambda error: DataError(unreadable.format(describe_error(error)))),
        path.open(encoding="utf-8-sig") as lines,
    ):
        for line in lines:
            if line.strip():
                document += split(line)
            elif document:
                yield document
                document = []
    if document:
        yield document


def _rows(source: Source, seed: int) -> Iterator[dict[str, Any]]:
    with convert_errors(lambda error: _unreadable(source, error)):
        if source.path is not None:
            if not source.path.stat().st_size:
                raise DataError(f"{source.name} is empty.")
            reader = _READERS[source.path.suffix.lower()]
            data = datasets.load_dataset(
                reader, data_files={SPLIT: [str(source.path)]}, split=SPLIT, streaming=True
            )
        else:
            data = datasets.load_dataset(source.name, source.config, split=SPLIT, streaming=True)
        yield from data.shuffle(seed=seed, buffer_size=_BUFFER)


def _unreadable(source: Source, error: BaseException) -> DataError:
    what = source.name if source.config is None else f"{source.name}:{source.config}"
    advice = (
        "Is the file whole?"
        if source.path is not None
        else "Is the name right, is there a network, and does the data set need a config (NAME:CONFIG)?"
    )
    return DataError(f"{what} cannot be read: {describe_error(error)}. {advice}")
