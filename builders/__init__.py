"""The registry of all configs of `gest`: `configs.yaml` describes them, the other modules read their rows.

Configs that a user added are in the folder of user data; `gest_dataset.custom.store` writes them:

    GEST_HOME/configs/NAME/facts.json       the metadata, with the SHA-256 of the rows
    GEST_HOME/configs/NAME/SHA256.parquet   the rows
"""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from gest_dataset import added_data
from gest_dataset.builders.config import FAMILIES, KIND_FIELDS, PACKAGE, Config, CustomData, Family
from gest_dataset.builders.reading import read_custom_rows
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import LANGUAGES
from gest_dataset.stereotypes import OWN_SENTENCES, OWN_TABLE
from gest_dataset.storage import read_yaml, sha256

DEFAULT_CONFIG = "en"
FOLDER = "configs"
GROUP = "added"
# Valid as a folder name, in a shell and for `datasets`
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def _read_config(name: str, entry: Mapping[str, Any]) -> Config:
    module, function = entry["read"].split(".")
    reader = getattr(import_module(f"gest_dataset.builders.{module}"), function)
    return Config(
        name=name,
        family=FAMILIES[entry["family"]],
        description=entry["description"],
        sources=tuple(chain.from_iterable(map(sources.expand, entry.get("sources", ())))),
        fields=KIND_FIELDS[entry["fields"]],
        reader=partial(reader, *entry.get("arguments", ())),
        published_rows=entry["rows"],
        languages=tuple(entry.get("languages", ["en"])),
        exact=entry.get("exact", True),
        version=entry.get("version", 1),
        embedded=PACKAGE / entry["embedded"] if "embedded" in entry else None,
    )


_ENTRIES = read_yaml(Path(__file__).with_name("configs.yaml"))
BUILT_IN = {name: _read_config(name, entry) for name, entry in _ENTRIES.items()}
if OWN_SENTENCES:
    _about, _en = f"Your own sentences: {OWN_SENTENCES}", BUILT_IN[DEFAULT_CONFIG]
    _en = replace(_en, description=_about, sources=(), embedded=OWN_SENTENCES, exact=False)
    BUILT_IN[DEFAULT_CONFIG] = _en

# Group -> its configs. `all` contains neither the demo's data nor released scores, which are not test sets.
_BUILT_IN_GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(config.name for config in BUILT_IN.values() if config.family.name in families)
    for group, families in read_yaml(Path(__file__).with_name("groups.yaml")).items()
}
_NO_TESTS = {*_BUILT_IN_GROUPS["demo"], *_BUILT_IN_GROUPS["released"]}
_BUILT_IN_GROUPS["all"] = tuple(name for name in BUILT_IN if name not in _NO_TESTS)

# The built-in configs and those that a user added. The latter are a group of their own and not part of
# `all`, which is the same on every machine.
CONFIGS: dict[str, Config] = {}
GROUPS: dict[str, tuple[str, ...]] = {}
_DAMAGED: dict[str, str] = {}  # custom config -> error message


def metadata_digest(metadata: dict[str, Any]) -> str:
    return sha256(json.dumps(metadata, sort_keys=True).encode())


def _custom_config(folder: Path, metadata: dict[str, Any]) -> Config:
    if not NAME.fullmatch(folder.name) or folder.name in {*BUILT_IN, *_BUILT_IN_GROUPS, GROUP}:
        raise ValueError(f"{folder.name!r} is not a valid name for a custom config")
    unknown = [code for code in metadata["languages"] if code not in LANGUAGES]
    if unknown:
        raise ValueError(f"its language {unknown[0]!r} is missing")
    fields = KIND_FIELDS[metadata["kind"]]
    path = folder / f"{metadata['sha256']}.parquet"
    return Config(
        name=folder.name,
        family=Family(**metadata["family"]),
        description=metadata["description"],
        sources=(),
        fields=fields,
        reader=partial(read_custom_rows, path, fields, metadata["dropped"]),
        published_rows=metadata["rows"],
        languages=tuple(metadata["languages"]),
        custom=CustomData(path, metadata_digest(metadata), metadata["licence"]),
    )


def refresh() -> None:
    custom, damaged = added_data.read_all(FOLDER, _custom_config)
    custom = dict(sorted(custom.items(), key=lambda item: (item[1].family.name, item[0])))
    for table in (CONFIGS, GROUPS, _DAMAGED):
        table.clear()
    CONFIGS.update(BUILT_IN | custom)
    GROUPS.update(_BUILT_IN_GROUPS | ({GROUP: tuple(custom)} if custom else {}))
    _DAMAGED.update(damaged)


def added_name(name: str) -> str:
    """The name of a language's config with the user's own stereotypes; built-in ones have those of GEST."""
    return f"own_{name}" if OWN_TABLE and name in BUILT_IN else name


def get_config(name: str) -> Config:
    """The config of that name. The error for an unknown name suggests similar ones."""
    if name in CONFIGS:
        return CONFIGS[name]
    if name in _DAMAGED:
        raise DataError(_DAMAGED[name])
    if name in GROUPS or "," in name:
        raise ConfigError(
            f"{name!r} is a group of configs; load one at a time. "
            f"gest_dataset.builders.select_configs({name!r}) lists them."
        )
    similar = difflib.get_close_matches(name.casefold(), [*CONFIGS, *GROUPS], n=1)
    suggestion = f" Did you mean {similar[0]!r}?" if similar else ""
    raise ConfigError(f"There is no config {name!r}.{suggestion} `gest list` shows all configs and groups.")


def select_configs(names: str) -> dict[str, bool]:
    """Expand a comma-separated list of configs and groups.

    The value says whether a config was named itself, and not only by its group.

    >>> select_configs("en, crows")
    {'en': True, 'crows_gender': False, 'crows_gender_revised': False}
    """
    selected: dict[str, bool] = {}
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name in GROUPS:
            selected |= {config: selected.get(config, False) for config in GROUPS[name]}
        else:
            selected[get_config(name).name] = True
    if not selected:
        raise ConfigError(f"{names!r} names no config. `gest list` shows all configs and groups.")
    return selected


def fingerprint(config: Config | None = None) -> str:
    """A hash of everything that the rows of one config, or of all configs, depend on.

    These are the blob ids of its files, the version of its builder, and the content of a custom config.
    """
    parts: list[str] = []
    for each in [config] if config else CONFIGS.values():
        parts += [each.name, str(each.version), *(sources.find_source(key).blob for key in each.sources)]
        if each.embedded:
            parts.append(sources.git_blob_id(each.embedded.read_bytes()) + OWN_TABLE)
        if each.custom:
            parts.append(each.custom.digest)
    return sha256("\n".join(parts).encode())


refresh()
