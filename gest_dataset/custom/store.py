"""Stores and removes custom configs. A stored config is available at once and in later processes."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq

from gest_dataset import added_data, builders
from gest_dataset.builders import FOLDER, GROUP, NAME, metadata_digest
from gest_dataset.builders.config import KIND_FIELDS, Config, Family, Row, features_of
from gest_dataset.errors import ConfigError
from gest_dataset.storage import folder_lock, sha256, write_file, write_json


@dataclass(frozen=True)
class NewConfig:
    """The metadata of a config to add."""

    name: str
    family: Family
    description: str
    languages: tuple[str, ...]  # codes, that of the texts first
    licence: str
    kind: str  # a key of `KIND_FIELDS`
    dropped: dict[str, int] = field(default_factory=dict)  # rows that were left out, by reason


def check_name(name: str) -> None:
    """Raise an error if a config cannot be added under this name."""
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is not a valid config name. Use letters, digits, _ and -.")
    built_in = {other.casefold(): other for other in [*builders.BUILT_IN, *builders.GROUPS, GROUP]}
    if name.casefold() in built_in:
        raise ConfigError(f"{built_in[name.casefold()]} is built into gest-dataset and cannot be replaced.")


def add_configs(configs: Sequence[tuple[NewConfig, Iterable[Row]]], replace: bool = False) -> list[Config]:
    """Add configs with their rows, or none if one of them cannot be added."""
    prepared = []
    for new, rows in configs:
        check_name(new.name)
        features, buffer = features_of(KIND_FIELDS[new.kind]), BytesIO()
        encoded = [features.encode_example(row) for row in rows]
        if not encoded:
            raise ConfigError(f"{new.name} has no rows.")
        pq.write_table(pa.Table.from_pylist(encoded, schema=features.arrow_schema), buffer)
        digest = sha256(buffer.getvalue())
        metadata = {**asdict(new), "rows": len(encoded), "sha256": digest}
        folder = added_data.gest_home() / FOLDER / new.name
        existing = new.name in builders.CONFIGS and builders.CONFIGS[new.name].custom
        same = existing and existing.digest == metadata_digest(metadata)
        if folder.exists() and not replace and not same:
            differs = "metadata, such as the licence" if existing and existing.path.stem == digest else "rows"
            raise ConfigError(f"{new.name} already exists with different {differs}. Use --replace.")
        prepared.append((folder, metadata, buffer.getvalue()))
    with folder_lock(added_data.gest_home()):
        for folder, metadata, content in prepared:
            file = folder / f"{metadata['sha256']}.parquet"
            write_file(file, content)
            write_json(folder / added_data.METADATA, metadata)
            for old in set(folder.glob("*.parquet")) - {file}:
                old.unlink()
    builders.refresh()
    return [builders.get_config(new.name) for new, _ in configs]


def remove_config(name: str) -> None:
    """Remove a custom config, even if it is damaged."""
    if not NAME.fullmatch(name) or not (added_data.gest_home() / FOLDER / name).exists():
        added = ", ".join(builders.GROUPS.get(GROUP, ())) or "none"
        raise ConfigError(f"{name!r} is not a config that you added. Added configs: {added}.")
    added_data.remove(FOLDER, name)
    builders.refresh()
