"""`gest build`: configs written as Parquet files beside what describes them.

The folder that results is a dataset of its own: `load_dataset(DIR, CONFIG)` reads it without this
package, and so does the Hub.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.builders.builder import tables
from gest_dataset.builders.config import Config
from gest_dataset.data import sources
from gest_dataset.data.folder import (
    BENCHMARK,
    CROISSANT,
    DATA_FILE,
    SUMS,
    is_whole,
    noted,
    path_of,
    write_config,
)
from gest_dataset.errors import OutputError
from gest_dataset.storage import LOCK, check_folder, is_temporary, parse_json
from gest_dataset.version import __version__

CARD = "README.md"
SIGNATURE = "<!-- written by `gest build`: changes to this file are lost -->"
HOMEPAGE = "https://pypi.org/project/gest-dataset/"
_KEY = b"gest"
# The files that are written about the configs, and what each of ours has in it
_ABOUT = {CARD: SIGNATURE, CROISSANT: HOMEPAGE, BENCHMARK: HOMEPAGE}


@dataclass(frozen=True)
class Built:
    """A config on disk: its file, its rows, and how many upstream rows each rule left out."""

    config: Config
    path: Path
    rows: int
    dropped: dict[str, int]
    fingerprint: str


def build_config(config: Config, out: Path) -> tuple[Built, bool]:
    """Write one config; False where the folder already holds exactly this one.

    The file appears under its name only when it is whole.
    """
    there = built_before(config, out)
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
    path = write_config(out, config.name, table)
    return Built(config, path, table.num_rows, dict(dropped), mark), True


def built_before(config: Config, out: Path) -> Built | None:
    """A config that an earlier build has written, if there is one, every byte as it was written."""
    path = path_of(out, config.name)
    if not path.exists():
        return None
    try:
        content = path.read_bytes()
        metadata = pq.read_metadata(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        return None  # cut off by a power failure: as good as not there
    try:
        facts = (metadata.metadata or {})[_KEY]
        if not is_whole(out, config.name, content):
            return None
        told = parse_json(facts)
        return Built(config, path, metadata.num_rows, told["dropped"], told["fingerprint"])
    except (KeyError, TypeError, ValueError) as error:
        raise OutputError(
            f"{path} was not written by `gest build` ({error!r}).\n"
            f"Choose another folder with --output, or remove that file."
        ) from error


def all_built(out: Path) -> list[Built]:
    """All configs in a folder, in the order of the table."""
    builds = (built_before(config, out) for config in CONFIGS.values())
    return [built for built in builds if built is not None]


def present(out: Path) -> list[str]:
    """The configs that have a file in a folder, whatever is in it."""
    return [name for name in CONFIGS if path_of(out, name).exists()]


def claim_folder(out: Path) -> None:
    """Make the folder; one that holds somebody else's files is refused."""
    check_folder(out, _is_ours, "what `gest build` writes")


def _is_ours(path: Path) -> bool:
    """What we write about the configs, a config's folder with its file, what a kill left, or git's own."""
    if path.name in {LOCK, ".git", ".gitattributes"}:
        return True
    if path.is_dir():
        return path.name in CONFIGS and all(
            child.name == DATA_FILE or is_temporary(child) for child in path.iterdir()
        )
    if path.name in _ABOUT:
        return _ABOUT[path.name].encode() in path.read_bytes()
    if path.name == SUMS:
        return bool(noted(path.parent).keys() & CONFIGS.keys())
    return any(path.name == name for name in (*_ABOUT, SUMS))
