"""`gest build`: configs written as Parquet files beside a dataset card.

The folder that results is a dataset of its own: `load_dataset(DIR, CONFIG)` reads it without this
package, and so does the Hub.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from gest_dataset import sources
from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.builders.builder import tables
from gest_dataset.builders.config import Config
from gest_dataset.errors import OutputError
from gest_dataset.version import __version__

CARD = "README.md"
SIGNATURE = "<!-- written by `gest build`: changes to this file are lost -->"
_KEY = b"gest"
_FILE = "test-00000-of-00001.parquet"
_LOCK = ".lock"


@dataclass(frozen=True)
class Built:
    """A config on disk: its file, its rows, and how many upstream rows each rule left out."""

    config: Config
    path: Path
    rows: int
    dropped: dict[str, int]
    fingerprint: str


def build(config: Config, out: Path) -> tuple[Built, bool]:
    """Write one config; False where the folder already holds exactly this one.

    The file appears under its name only when it is whole.
    """
    there = find(config, out)
    if there is not None and there.fingerprint == fingerprint(config):
        sources.verify_mirror(config.sources)
        return there, False
    files = {key: sources.fetch(key) for key in config.sources}
    dropped: Counter[str] = Counter()
    chunks = list(tables(config, files, dropped))
    schema = config.features.arrow_schema
    mark = fingerprint(config)
    facts = {"dropped": dict(dropped), "fingerprint": mark, "gest_dataset": __version__}
    schema = schema.with_metadata({**schema.metadata, _KEY: json.dumps(facts).encode()})
    table = pa.Table.from_batches([b for c in chunks for b in c.to_batches()], schema=schema)
    path = out / config.name / _FILE
    with replacing(path) as partial:
        pq.write_table(table, partial)
    return Built(config, path, table.num_rows, dict(dropped), mark), True


def find(config: Config, out: Path) -> Built | None:
    """A config that an earlier build has written, if there is one."""
    path = out / config.name / _FILE
    if not path.exists():
        return None
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return None  # cut off by a power failure: as good as not there
    try:
        facts = json.loads((metadata.metadata or {})[_KEY])
        return Built(config, path, metadata.num_rows, facts["dropped"], facts["fingerprint"])
    except (KeyError, ValueError) as error:
        raise OutputError(
            f"{path} was not written by `gest build` ({error!r}).\n"
            f"Choose another folder with --out, or remove that file."
        ) from error


def find_all(out: Path) -> list[Built]:
    """All configs in a folder, in the order of the table."""
    found = (find(config, out) for config in CONFIGS.values())
    return [built for built in found if built is not None]


def prepare(out: Path) -> None:
    """Make the folder; one that holds somebody else's files is refused."""
    card = out / CARD
    try:
        out.mkdir(parents=True, exist_ok=True)
        foreign = [path for path in out.iterdir() if not _is_ours(path)]
        if card.exists() and SIGNATURE.encode() not in card.read_bytes():
            foreign.append(card)
    except OSError as error:
        raise OutputError(f"{out} cannot be used: {error}. Choose another one with --out.") from error
    if foreign:
        raise OutputError(
            f"{out} holds {foreign[0].name}, which `gest build` did not write. Choose an empty or a new "
            f"folder with --out."
        )


def _is_ours(path: Path) -> bool:
    """A card, a config's folder with its one file, what a killed build left of either, or git's own."""
    if path.name in {_LOCK, ".git", ".gitattributes"}:
        return True
    if path.is_dir():
        return path.name in CONFIGS and all(_is_named(child, _FILE) for child in path.iterdir())
    return _is_named(path, CARD)


def _is_named(path: Path, name: str) -> bool:
    return path.name == name or path.name.startswith(f".{name}.")


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Keep other builds out of a folder while this one runs."""
    lock = FileLock(out / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise OutputError(f"Another `gest build` is writing to {out}. Wait for it to end.") from error
    try:
        yield
    finally:
        (out / _LOCK).unlink(missing_ok=True)
        lock.release()


def write_card(out: Path) -> Sequence[Built]:
    """Write the card for all configs that the folder holds as this version builds them."""
    from gest_dataset.card import render

    found = [built for built in find_all(out) if built.fingerprint == fingerprint(built.config)]
    text = render(found)
    with replacing(out / CARD) as partial:
        partial.write_text(text, encoding="utf-8")
    return found


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well."""
    prefix = f".{path.name}."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{prefix}*"):  # by a build that was killed
            left.unlink()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix)
        os.close(handle)
        partial = Path(name)
        try:
            yield partial
            partial.chmod(0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        raise OutputError(
            f"{path} could not be written: {reason}. Nothing half-written was left; make room or "
            f"choose another folder with --out, and run the same command again."
        ) from error
