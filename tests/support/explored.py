"""Runs to explore: planted scores of three models on the test mirror, one of them with samples left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gest_dataset.data.rows import rows_of
from tests.support import planted

MODELS = ("org/alpha-base", "org/alpha-large", "beta")
TEMPLATES = (1, 2, 3, 4)
NO_SCORE = "'He' is 2 tokens of this model, a template needs one"


def english(folder: Path) -> list[Path]:
    """A run of each model on `en` in all templates; `beta` has no score for the last sample in template 2."""
    rows = rows_of("en")
    paths = []
    for number, model in enumerate(MODELS):
        generator = np.random.default_rng(number)
        keys = [(row, t) for t in TEMPLATES for row in rows]
        left_out = [(rows[-1]["id"], 2)] if model == "beta" else []
        keys = [(row, t) for row, t in keys if (row["id"], t) not in left_out]
        columns = {
            "id": [row["id"] for row, _ in keys],
            "template": [t for _, t in keys],
            "stereotype": [row["stereotype"] for row, _ in keys],
            "log_ratio": generator.normal(0.1 * number, 1.0, len(keys)).round(3).tolist(),
        }
        path = folder / model.rpartition("/")[2]
        skipped = [(name, template, NO_SCORE) for name, template in left_out]
        paths.append(
            planted.scored(path, model, "en", columns, skipped=skipped, parameters=10**8 * (1 + number))
        )
    return paths
