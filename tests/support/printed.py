"""Runs of the papers' models, as they would be: real runs of a small model with printed numbers in them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.runs.folder import sha256
from gest_dataset.runs.manifest import MANIFEST, RESULT
from gest_dataset.storage import write_json

Result = dict[str, Any]


def planted(real: Path, folder: Path, config: str, model: str, plant: Callable[[Result], None]) -> Path:
    """A copy of a run as one of a model from the Hub, with the numbers that `plant` puts into its result."""
    path = folder / "runs" / model.replace("/", "--") / config
    shutil.copytree(real / config, path)
    told = json.loads((path / RESULT).read_text())
    plant(told["result"])
    write_json(path / RESULT, told)
    manifest = json.loads((path / MANIFEST).read_text())
    manifest["model"] = model
    manifest["metadata"] |= {"model": model, "from_hub": True, "requested_revision": None}
    manifest["files"][RESULT] = sha256((path / RESULT).read_bytes())
    write_json(path / MANIFEST, manifest)
    return path


def put(result: Result, name: str, value: float, place: int | None = None, reach: float = 0.001) -> None:
    """A value with its bounds, as a statistic gives them."""
    for end, number in (("", value), ("_low", value - reach), ("_high", value + reach)):
        if place is None:
            result[f"{name}{end}"] = number
        else:
            result[f"{name}{end}"][place] = number


def english(model: str, off: float = 1.0) -> Callable[[Result], None]:
    """The printed table of a masked model; `off` is a factor on q_7 in template 3."""

    def plant(result: Result) -> None:
        for row in published.load("gest_english_mlm")["rows"]:
            if row["model"] == model:
                own = result["by_template"][str(row["template"])]
                put(own, "g_s", row["g_s"])
                for place, mean in enumerate(row["mean_log10_ratio"]):
                    shifted = off if (place, row["template"]) == (6, 3) else 1.0
                    put(own, "q", shifted * 10**mean, place)

    return plant
