"""A config of pairs on disk: Parquet, a card that plain `load_dataset` reads, and the yields."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
from datasets import ClassLabel, Features, List

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import features_of
from gest_dataset.builders.families import PAIRS
from gest_dataset.builders.pairs import FIELDS
from gest_dataset.builders.translations import FOLDER_OF_SYSTEM
from gest_dataset.data.card import card_header, dataset_info
from gest_dataset.data.folder import CARD, SUMS, write_config
from gest_dataset.languages import LANGUAGES
from gest_dataset.runs.claims import claim_same
from gest_dataset.storage import LOCK, atomic_path, write_json
from gest_dataset.translation.pairing import Pairs
from gest_dataset.version import __version__

YIELDS = "yields.json"


def config_name(language: str) -> str:
    """A config as `gest build` would call it."""
    return f"{language}_pairs"


def claim_pairs(out: Path, language: str, settings: Mapping[str, Any]) -> None:
    """Make a folder of pairs, or take one that the same settings have made; any other one is refused."""
    own = {CARD, SUMS, YIELDS, config_name(language)} if (out / YIELDS).exists() else set()
    claim_same(out / YIELDS, {*own, LOCK}, settings, "gest pairs", "a folder of pairs")


def features(label: str) -> Features:
    """The pairs format; a system that GEST's own pairs do not have is one more label."""
    labels = list(dict.fromkeys([*FOLDER_OF_SYSTEM, label]))
    return Features({**features_of(FIELDS), "systems": List(ClassLabel(names=labels))})


def write_pairs(
    out: Path, language: str, label: str, pairs: Pairs, settings: Mapping[str, Any], command: Sequence[str]
) -> None:
    """Write the settings first and the card last: what a card names is whole."""
    write_json(out / YIELDS, told(pairs, settings, command))
    data = datasets.Dataset.from_list(pairs.rows, features=features(label))
    path = write_config(out, config_name(language), data.data.table)
    with atomic_path(out / CARD) as partial:
        partial.write_text(_card(path, data, language, pairs, settings, command), encoding="utf-8")


def told(pairs: Pairs, settings: Mapping[str, Any], command: Sequence[str]) -> dict[str, Any]:
    """What yields.json holds: the number of sentences that each rule left out, and their ids."""
    return {
        "command": list(command),
        "settings": dict(settings),
        "gest_dataset": __version__,
        "frame": pairs.frame,
        "sentences": pairs.sentences,
        "dropped": {reason: len(ids) for reason, ids in pairs.left_out.items()},
        "pairs": len(pairs.rows),
        "left_out": pairs.left_out,
    }


def _card(
    path: Path,
    data: datasets.Dataset,
    language: str,
    pairs: Pairs,
    settings: Mapping[str, Any],
    command: Sequence[str],
) -> str:
    name, spoken = config_name(language), LANGUAGES[language].name
    title = f"GEST, gender-swapped pairs in {spoken}"
    info = dataset_info(data.features, data.data.table, path)
    dropped = "\n".join(f"| {reason} | {len(ids):,} |" for reason, ids in pairs.left_out.items())
    return f"""---
{card_header(title, [language, "en"], {name: info})}
---

# {title}

The sentences of GEST as `{settings["system"]}` translated them, in a masculine and a feminine variant that
differ in one word. The second variant was asked for with the prompt `{pairs.frame}`. Written by `gest pairs`
of gest-dataset {__version__}:

```bash
{shlex.join(command)}
```

| sentences of GEST | {pairs.sentences:,} |
| --- | ---: |
{dropped}
| **pairs** | **{len(pairs.rows):,}** |

The sentences state stereotypes, to measure models with: never train on them. {PAIRS.limits}

The English sentences are GEST's ({CONFIGS["en"].licence}, <{PAIRS.homepage}>); the
translations come with the terms of the system that made them. To cite:

```bibtex
{PAIRS.citation}
```
"""
