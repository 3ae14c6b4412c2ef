"""`gest study items`: which stereotypes and sentences drive g_s? (`report.items` has the definitions.)"""

from pathlib import Path

import pandas as pd

from gest_dataset.builders.released import FAMILY_OF
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.models import published_name
from gest_dataset.report import items as report_items
from gest_dataset.report.labels import label_runs
from gest_dataset.runs.folder import Runs
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study
from gest_dataset.studies.templates import read_authors_scores


def items(runs: Runs = (), scores: str | Path | None = None) -> Study:
    """The stereotypes and sentences of runs in English, and of the authors' files in `scores`."""
    released, hashes = read_authors_scores(scores)
    found = collect_runs(
        runs, "items", lambda run: run.manifest.measure == TEMPLATES.name, has_scores=bool(released)
    )
    models: dict[str, tuple[pd.DataFrame, str | None]] = {}
    for one in label_runs(found):
        name = published_name({**one.facts, "model": one.run.manifest.model})
        models[one.label] = wide_scores(one.run.table), FAMILY_OF.get(name or "")
    models |= {f"{name} (authors)": (wide, FAMILY_OF.get(name)) for name, wide in released.items()}
    quality = rows_of("item_quality").to_pandas()
    published = quality.groupby("stereotype")["score"].mean()
    sentences: list[Row] = []
    midpoint: list[Row] = []
    for name, (wide, family) in models.items():
        kept = report_items.without(wide, report_items.against_stereotype(quality, family))
        estimates = (report_items.g_s_of(wide), len(wide) - len(kept), report_items.g_s_of(kept))
        sentences.append((name, family or "", *estimates))
        for one, (label, *side) in zip(STEREOTYPES.values(), report_items.sides(wide), strict=True):
            midpoint.append((name, label, one.gender, *side, published[one.id]))
    tables = [Table.create("items", sentences), Table.create("midpoint", midpoint)]
    return make_study("items", tables, found, [*models], hashes)
