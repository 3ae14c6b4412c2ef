"""All configs of `gest`, by name: one file per family, gathered here."""

from __future__ import annotations

import difflib
import hashlib
from functools import lru_cache
from pathlib import Path

from gest_dataset import languages, stereotypes
from gest_dataset.builders import (
    controls,
    crows,
    demo,
    gest,
    pairs,
    slovak,
    stereoset,
    translations,
    winobias,
)
from gest_dataset.builders.config import Config
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError
from gest_dataset.version import __version__

DEFAULT_CONFIG = "en"

CONFIGS: dict[str, Config] = {
    config.name: config
    for family in (gest, translations, pairs, stereoset, controls, crows, slovak, winobias, demo)
    for config in family.CONFIGS
}


def get_config(name: str) -> Config:
    """The config of that name; a wrong name is answered with the list, the nearest first."""
    if name in CONFIGS:
        return CONFIGS[name]
    asked = name.casefold()
    nearest = difflib.get_close_matches(asked, CONFIGS, n=len(CONFIGS), cutoff=0.0)
    close = difflib.get_close_matches(asked, CONFIGS, n=1)
    question = f" Did you mean {close[0]!r}?" if close else ""
    raise ConfigError(
        f"There is no config {name!r}.{question}\nConfigs, the nearest first: {', '.join(nearest)}"
    )


def fingerprint(config: Config | None = None) -> str:
    """What a cache of one config (or of all) has to depend on.

    The package version, the blob ids of the upstream (or embedded) files and the code that turns
    them into rows: a new release, another table of sources, an edited file or an edited builder
    never meets an old cache.
    """
    keys = config.sources if config else sources.table()
    configs = [config] if config else CONFIGS.values()
    embedded = [sources.git_blob_id(each.embedded.read_bytes()) for each in configs if each.embedded]
    parts = [__version__, _code_digest(), *sources.blobs(keys), *embedded]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def _code_digest() -> str:
    digest = hashlib.sha256()
    tables = [Path(module.__file__) for module in (languages, stereotypes) if module.__file__]
    for file in [*sorted(Path(__file__).parent.iterdir()), *tables]:
        if file.suffix in {".py", ".json"}:
            digest.update(file.read_bytes())
    return digest.hexdigest()
