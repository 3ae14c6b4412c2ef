"""Runs on pairs, or on neutral sentences, of several languages: what they share is the English source.

Each language's set keeps other sources, as not every translation makes a pair (or is neutral), so that two
g_s of whole sets are about other sentences. Joined by source, with the rows of a source averaged, they are
about the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import datasets
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.errors import DataError
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS
from gest_dataset.runs.folder import Run


def of_languages(runs: Sequence[Run]) -> bool:
    """Whether these are runs on pairs, or all on neutral sentences, each in a language of its own."""
    languages = [run.manifest.language for run in runs]
    measures = {run.manifest.measure for run in runs}
    return (
        measures in ({PAIRS.name}, {NEUTRAL.name})
        and all(run.manifest.config in CONFIGS for run in runs)
        and all(languages)
        and len(set(languages)) == len(languages) > 1
    )


def by_source(run: Run, rows: datasets.Dataset | None) -> pd.DataFrame:
    """The scored samples of a run with the source that each is a translation of."""
    if rows is None:
        raise TypeError("the sources stand in the rows of the data")
    columns = rows.select_columns(["id", "source"])
    sources = dict(zip(columns["id"], columns["source"], strict=True))
    frame = run.table.select(["id", "stereotype", "log_ratio"]).to_pandas().dropna()
    frame["source"] = frame["id"].map(sources)
    if frame["source"].isna().any():
        name = frame.loc[frame["source"].isna(), "id"].iloc[0]
        raise DataError(
            f"The sample {name} of {run.path} is not in {run.manifest.config} of today, so its source is "
            f"unknown: score it again."
        )
    return frame
