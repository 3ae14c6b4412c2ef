"""The rows of the data that runs were scored on, and what is said where they cannot be had."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import datasets

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import GestError
from gest_dataset.report.measured import Measured

logger = logging.getLogger(__name__)


def rows_behind(runs: Sequence[Measured]) -> tuple[list[dict[str, Any]], str]:
    """The rows of the config of some runs (labels as words), and a note: empty where all is well."""
    config = runs[0].config
    if config not in CONFIGS:
        return [], f"{config} is data of your own: its samples are listed by id."
    try:
        rows = rows_of(config)
    except GestError as error:
        logger.info("the sentences of %s: %s", config, error)
        return [], f"The sentences of {config} were not at hand when this page was made."
    labels = {
        name: feature for name, feature in rows.features.items() if isinstance(feature, datasets.ClassLabel)
    }
    told = [
        row | {name: feature.int2str(row[name]) for name, feature in labels.items()} for row in rows.to_list()
    ]
    if {run.run.manifest.data_fingerprint for run in runs} == {fingerprint_of(config, rows)}:
        return told, ""
    return told, (
        f"A run was scored with another version of {config} or of this package, so some of its sentences may "
        f"have been a little different."
    )
