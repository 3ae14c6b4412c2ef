"""Comparing languages: runs on pairs or neutral sentences, on the English sources that all of them have.

The dataset of each language has different sources, since not every translation makes a pair (or is neutral).
"""

from __future__ import annotations

from collections.abc import Sequence

import datasets
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.errors import DataError
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS
from gest_dataset.runs.folder import Run


def is_cross_language(runs: Sequence[Run]) -> bool:
    """Whether all runs are on pairs, or all on neutral sentences, each in a different language."""
    languages = [run.manifest.language for run in runs]
    return (
        {run.manifest.measure for run in runs} in ({PAIRS.name}, {NEUTRAL.name})
        and all(run.manifest.config in CONFIGS for run in runs)
        and all(languages)
        and len(set(languages)) == len(languages) > 1
    )


def scores_with_sources(run: Run, rows: datasets.Dataset | None) -> pd.DataFrame:
    """The scores of a run with the English source of each sample."""
    if rows is None:
        raise TypeError("The sources are in the rows of the dataset.")
    columns = rows.select_columns(["id", "source"])
    sources = dict(zip(columns["id"], columns["source"], strict=True))
    frame = run.table.select(["id", "stereotype", "log_ratio"]).to_pandas().dropna()
    frame["source"] = frame["id"].map(sources)
    if frame["source"].isna().any():
        name = frame.loc[frame["source"].isna(), "id"].iloc[0]
        raise DataError(
            f"The sample {name} of {run.path} is not in the current {run.manifest.config}. Score it again."
        )
    return frame
