"""`gest study items`: which stereotypes and sentences drive g_s?

Each stereotype is compared with the midpoint between the two genders:

    e (ln q_i - m) / s     with e = 1 for a stereotype about men, -1 for one about women

where m is the mean of ln q_f and ln q_m, and s the standard deviation of scores within stereotypes. And g_s
is computed again without the sentences for which the scores of published models of other families lean
against the stereotype (config `item_quality`). That is a sensitivity analysis: the result of a model is that
of all sentences.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.builders.released import AGAINST, FAMILIES, FAMILY_OF, TOWARDS, UNDETERMINED
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.models import published_name
from gest_dataset.report.labels import label_runs
from gest_dataset.runs.folder import Runs
from gest_dataset.statistics.bootstrap import (
    DRAWS,
    SEED,
    linear,
    resample,
    squared_deviations,
    standardised,
)
from gest_dataset.statistics.stereotype_rate import LN_MEAN, exp, resample_templates
from gest_dataset.statistics.weights import FEMALE, IS_FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.released import Released
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study


def items(runs: Runs = (), released: str | Path | None = None) -> Study:
    """The stereotypes and sentences of runs in English, and of released scores."""
    files = Released(released)
    of_authors = files.gest
    found = collect_runs(
        runs, "items", lambda run: run.manifest.measure == TEMPLATES.name, has_scores=bool(of_authors)
    )
    models: dict[str, tuple[pd.DataFrame, str | None]] = {}
    for one in label_runs(found):
        name = published_name({**one.facts, "model": one.run.manifest.model})
        models[one.label] = wide_scores(one.run.table), FAMILY_OF.get(name or "")
    models |= {f"{name} (authors)": (wide, FAMILY_OF.get(name)) for name, wide in of_authors.items()}
    quality = rows_of("item_quality").to_pandas().set_index("sentence_id")
    label = rows_of("item_quality").features["quality"].str2int(AGAINST)
    published = quality.groupby("stereotype")["score"].mean()
    sentences: list[Row] = []
    sides: list[Row] = []
    for name, (wide, family) in models.items():
        classes = quality["quality"]
        if family:  # a model has no part in the classes that it is compared with
            classes = quality["quality_without"].str[list(FAMILIES).index(family)]
        is_against = wide.index.get_level_values("id").map(classes == label).to_numpy(dtype=bool)
        kept = wide[~is_against]
        sentences.append((name, family or "", estimate_g_s(wide), int(is_against.sum()), estimate_g_s(kept)))
        sides += [(name, *row) for row in _sides(wide, published)]
    tables = [Table.create("items", sentences), Table.create("midpoint", sides)]
    return make_study("items", tables, found, [*models], files.hashes, files.notes)


def estimate_g_s(wide: pd.DataFrame) -> Estimate:
    """g_s of scores as `wide_scores` has them; with several templates the mean over them."""
    stereotypes = wide.index.get_level_values("stereotype").to_numpy() - 1
    result: Mapping[str, float] = resample_templates(wide.to_numpy(), stereotypes).entries(
        "g_s", LN_MEAN, exp
    )
    return Estimate.of(result, "g_s")


def _sides(wide: pd.DataFrame, published: Mapping[int, float]) -> list[Row]:
    """The distance of each stereotype from the midpoint, next to the mean of the released models."""
    means = wide.dropna().mean(axis=1)
    stereotypes = means.index.get_level_values("stereotype").to_numpy() - 1
    columns = np.column_stack([means, squared_deviations(means.to_numpy(), stereotypes)])
    resamples = resample(columns, stereotypes, len(STEREOTYPES), None, DRAWS, SEED)
    rows: list[Row] = []
    for index, stereotype in enumerate(STEREOTYPES.values()):
        contrast = np.eye(len(STEREOTYPES))[index] - (MALE + FEMALE) / 2
        towards = linear(-contrast if IS_FEMALE[index] else contrast)
        interval = resamples.interval(standardised(towards, stereotypes, len(STEREOTYPES)))
        distance = Estimate(interval.value, interval.low, interval.high)
        side = TOWARDS if distance.low > 0 else AGAINST if distance.high < 0 else UNDETERMINED
        name = f"{stereotype.id:2} {stereotype.name}"
        rows.append((name, stereotype.gender, distance, side, published[stereotype.id]))
    return rows
