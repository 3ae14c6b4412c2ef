"""Adds a config for good, and takes it away: what `gest add-language` and other commands end with.

    keep(NewConfig(name, family, description, languages, licence, fields, dropped), rows) -> Config

A config that is kept is there at once, in this process and in those to come: `load_dataset("gest", NAME)`,
`gest list`, `gest score --config NAME`. A language that is not in the table is added before
(`gest_dataset.languages.keep`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset import builders
from gest_dataset.builders.added import FOLDER, GROUP, NAME, NewConfig, facts_of, rows_file
from gest_dataset.builders.config import Config, Row, features_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.home import FACTS, home, read_facts, remove
from gest_dataset.languages import LANGUAGES
from gest_dataset.storage import atomic_path, folder_lock, write_json


def check_name(name: str) -> None:
    """Whether a config can be added under a name."""
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name of a config: letters, digits, _ and - make one.")
    own = {other.casefold(): other for other in [*builders.BUILT_IN, *builders.GROUPS, GROUP]}
    if name.casefold() in own:
        raise ConfigError(
            f"{own[name.casefold()]} is a name that gest-dataset has itself: choose another one."
        )
    others = {other.casefold(): other for other in builders.CONFIGS if other != name}
    if name.casefold() in others:
        raise ConfigError(f"There is a config {others[name.casefold()]}: choose another name.")


def keep(new: NewConfig, rows: Iterable[Row], replace: bool = False) -> Config:
    """Add a config with its rows; all of it is there, or nothing.

    An equal one that is there already stays as it is; another one gives way where `replace` says so.
    """
    return keep_together([(new, rows)], replace)[0]


def keep_together(configs: Sequence[tuple[NewConfig, Iterable[Row]]], replace: bool = False) -> list[Config]:
    """Add several configs: where one of them cannot be added, none is."""
    ready = []
    for new, rows in configs:
        _check(new)
        content, number = _parquet(new, rows)
        facts = facts_of(new, number, hashlib.sha256(content).hexdigest())
        folder = home() / FOLDER / new.name
        if _is_there(folder, facts, content):
            continue
        if folder.exists() and not replace:
            raise ConfigError(
                f"A config {new.name} was added before, and is another one. Replace it (--replace, or "
                f"replace=True), or remove it first."
            )
        ready.append((folder, facts, content))
    if ready:
        with folder_lock(home()):
            for folder, facts, content in ready:
                _write(folder, facts, content)
    builders.refresh()
    return [builders.get_config(new.name) for new, _ in configs]


def forget(name: str) -> None:
    """Take an added config away, also a damaged one."""
    folder = home() / FOLDER / name
    if not NAME.fullmatch(name) or not folder.exists():
        offered = ", ".join(builders.GROUPS.get(GROUP, ())) or "there is none"
        raise ConfigError(f"No config {name!r} was added. Those that were: {offered}.")
    remove(FOLDER, name)
    builders.refresh()


def _check(new: NewConfig) -> None:
    check_name(new.name)
    families = {config.family.name: config.family for config in builders.BUILT_IN.values()}
    if families.get(new.family.name, new.family) != new.family:
        raise ConfigError(f"{new.family.name!r} is a data set of gest-dataset: give yours another name.")
    for code in new.languages:
        if code not in LANGUAGES:
            raise ConfigError(f"There is no language {code!r}: add it first (gest_dataset.languages.keep).")


def _parquet(new: NewConfig, rows: Iterable[Row]) -> tuple[bytes, int]:
    features = features_of(new.fields)
    encoded = [features.encode_example(row) for row in rows]
    if not encoded:
        raise ConfigError(f"{new.name} has no rows: there is nothing to add.")
    sink = BytesIO()
    pq.write_table(
        pa.Table.from_pylist(encoded, schema=features.arrow_schema), sink, write_page_checksum=True
    )
    return sink.getvalue(), len(encoded)


def _is_there(folder: Path, facts: dict[str, Any], content: bytes) -> bool:
    """Whether exactly this is kept, and whole."""
    file = rows_file(folder, facts["sha256"])
    try:
        return file.read_bytes() == content and read_facts(folder / FACTS).values == facts
    except (OSError, DataError):
        return False


def _write(folder: Path, facts: dict[str, Any], content: bytes) -> None:
    """The rows, then the facts that name them, and then the rows before are of no use any more."""
    file = rows_file(folder, facts["sha256"])
    with atomic_path(file) as partial:
        partial.write_bytes(content)
    write_json(folder / FACTS, facts)
    for other in folder.glob("*.parquet"):
        if other != file:
            other.unlink()
