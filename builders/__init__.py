"""All configs of `gest`, by name: one file per family, gathered here."""

from __future__ import annotations

import difflib
import hashlib
from functools import lru_cache
from pathlib import Path

from gest_dataset import languages, stereotypes
from gest_dataset.builders import (
    added,
    controls,
    crows,
    demo,
    gest,
    neutral,
    pairs,
    slovak,
    stereoset,
    translations,
    winobias,
)
from gest_dataset.builders.config import Config
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.version import __version__

DEFAULT_CONFIG = "en"

BUILT_IN: dict[str, Config] = {
    config.name: config
    for family in (gest, translations, pairs, neutral, stereoset, controls, crows, slovak, winobias, demo)
    for config in family.CONFIGS
}

# Name of a group -> the families of its configs
_FAMILIES = {
    "slavic": ("pairs",),
    "neutral": ("neutral",),
    "controls": ("stereoset_control", "crows_control", "slovak_gender"),
    "crows": ("crows",),
    "stereoset": ("stereoset",),
    "winobias": ("winobias",),
    "demo": ("demo", "demo_control"),
}
# Name of a group -> its configs; the demo's own data are no test set and not in `all`
_GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(config.name for config in BUILT_IN.values() if config.family.name in families)
    for group, families in _FAMILIES.items()
} | {"all": tuple(config.name for config in BUILT_IN.values() if not config.embedded)}
_NEAREST = 5

# Those of this package, and those that a user has added. The latter are a group of their own: `all` is the
# same on every machine, and nobody publishes an added config unasked.
CONFIGS: dict[str, Config] = {}
GROUPS: dict[str, tuple[str, ...]] = {}
_DAMAGED: dict[str, str] = {}  # an added config -> why it cannot be used


def refresh() -> None:
    """Read again what is added: what an import does."""
    found, damaged = added.read_added({*BUILT_IN, *_GROUPS, added.GROUP})
    for table in (CONFIGS, GROUPS, _DAMAGED):
        table.clear()
    CONFIGS.update(BUILT_IN | found)
    GROUPS.update(_GROUPS | ({added.GROUP: tuple(found)} if found else {}))
    _DAMAGED.update(damaged)


def get_config(name: str) -> Config:
    """The config of that name; a wrong name is answered with the nearest, the best first."""
    if name in CONFIGS:
        return CONFIGS[name]
    if name in _DAMAGED:
        raise DataError(_DAMAGED[name])
    if name in GROUPS or "," in name:
        raise ConfigError(
            f"{name!r} names several configs, and one is needed here. Take them one by one:\n"
            f"    from gest_dataset.data.selection import names\n"
            f"    for config in names({name!r}): ...\n"
            f"or score them together: gest_dataset.score(MODEL, {name!r}), gest score MODEL --config {name}"
        )
    asked = name.casefold()
    nearest = difflib.get_close_matches(asked, CONFIGS, n=_NEAREST, cutoff=0.0)
    meant = [repr(config) for config in difflib.get_close_matches(asked, CONFIGS, n=1)]
    meant += [f"the group {group!r}" for group in difflib.get_close_matches(asked, GROUPS, n=1)]
    question = f" Did you mean {' or '.join(meant)}?" if meant else ""
    raise ConfigError(
        f"There is no config {name!r}.{question}\n"
        f"The nearest are {', '.join(nearest)}. All configs and groups: gest list"
    )


def fingerprint(config: Config | None = None) -> str:
    """What a cache of one config (or of all) has to depend on.

    The package version, the blob ids of the upstream (or embedded) files, what tells the content of an
    added config, and the code that turns files into rows: a new release, another table of sources, an
    edited file, a replaced config or an edited builder never meets an old cache.
    """
    keys = config.sources if config else sources.table()
    configs = [config] if config else CONFIGS.values()
    embedded = [sources.git_blob_id(each.embedded.read_bytes()) for each in configs if each.embedded]
    kept = [each.added.mark for each in configs if each.added]
    parts = [__version__, _code_digest(), *sources.blobs(keys), *embedded, *kept]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def _code_digest() -> str:
    digest = hashlib.sha256()
    tables = [Path(module.__file__) for module in (languages, stereotypes) if module.__file__]
    for file in [*sorted(Path(__file__).parent.iterdir()), *tables]:
        if file.suffix in {".bib", ".ini", ".json", ".py"}:
            digest.update(file.read_bytes())
    return digest.hexdigest()


refresh()
