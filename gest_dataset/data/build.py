"""`gest build`: writes configs as Parquet files with a dataset card and metadata.

The folder is a dataset of its own: `load_dataset(DIR, CONFIG)` and the Hub read it without this package.
"""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.builders.builder import config_table
from gest_dataset.builders.config import Config
from gest_dataset.data import folder, sources
from gest_dataset.errors import OutputError
from gest_dataset.storage import check_folder, is_temporary, remove_temporary
from gest_dataset.version import __version__

SIGNATURE = "<!-- written by `gest build`: changes to this file are lost -->"
HOMEPAGE = "https://pypi.org/project/gest-dataset/"
_METADATA_KEY = b"gest"
# Metadata file -> a text that it contains if `gest build` wrote it
_SIGNATURES = {folder.CARD: SIGNATURE, folder.BENCHMARK: HOMEPAGE}


@dataclass(frozen=True)
class Built:
    """A config on disk: its file, its rows, and the number of upstream rows that each rule left out."""

    config: Config
    path: Path
    rows: int
    dropped: dict[str, int]
    fingerprint: str


def build_config(config: Config, out: Path) -> tuple[Built, bool]:
    """Write one config; the second value is False if the folder already holds it."""
    current = fingerprint(config)
    existing = find_built(config, out)
    if existing is not None and existing.fingerprint == current:
        sources.verify_mirror(config.sources)
        return existing, False
    if (own := folder.config_path(out, config.name).parent).exists():
        remove_temporary(own)
    dropped: Counter[str] = Counter()
    table = config_table(config, dropped)
    metadata = {"dropped": dict(dropped), "fingerprint": current, "gest_dataset": __version__}
    schema = config.features.arrow_schema
    schema = schema.with_metadata({**schema.metadata, _METADATA_KEY: json.dumps(metadata).encode()})
    path = folder.write_config(out, config.name, table.cast(schema))
    return Built(config, path, table.num_rows, dict(dropped), current), True


def find_built(config: Config, out: Path) -> Built | None:
    """The config in a folder, if an earlier build wrote it and it is intact."""
    path = folder.config_path(out, config.name)
    if not path.exists():
        return None
    content = path.read_bytes()
    try:
        metadata = pq.read_metadata(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        return None
    if _METADATA_KEY not in (metadata.metadata or {}):
        raise OutputError(
            f"{path} was not written by `gest build`. Remove it, or pass another folder to --output."
        )
    if not folder.is_intact(out, config.name, content):
        return None
    facts = json.loads(metadata.metadata[_METADATA_KEY])
    return Built(config, path, metadata.num_rows, facts["dropped"], facts["fingerprint"])


def check_build_folder(out: Path) -> None:
    """Create the folder; refuse it if it holds files that `gest build` did not write."""
    check_folder(out, _is_ours, "a folder written by `gest build`")


def _is_ours(path: Path) -> bool:
    if path.name in {".git", ".gitattributes"}:
        return True
    if path.name == folder.SUMS:
        return bool(folder.read_checksums(path.parent))
    if path.is_dir():
        return path.name in CONFIGS and all(
            child.name == folder.DATA_FILE or is_temporary(child) for child in path.iterdir()
        )
    return path.name in _SIGNATURES and _SIGNATURES[path.name].encode() in path.read_bytes()
