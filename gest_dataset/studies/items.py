"""`gest study items`: which stereotypes and sentences drive g_s? (`report.items` has the definitions.)"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from gest_dataset.builders.released import FAMILY_OF
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.models import published_name
from gest_dataset.published.released import Released
from gest_dataset.report.items import estimate_g_s, read_item_quality, sides, without
from gest_dataset.report.labels import label_runs
from gest_dataset.runs.folder import Runs
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study


def items(runs: Runs = (), released: str | Path | None = None, where: Sequence[str] = ()) -> Study:
    """The stereotypes and sentences of runs in English, and of released scores."""
    files = Released(released, where)
    found = collect_runs(runs, "items", lambda run: run.manifest.measure == TEMPLATES.name, files)
    models: dict[str, pd.DataFrame] = {}
    families: dict[str, str | None] = {}
    for one in label_runs(found):
        name = published_name({**one.facts, "model": one.run.manifest.model})
        models[one.label], families[one.label] = wide_scores(one.run.table), FAMILY_OF.get(name or "")
    for name, wide in files.gest.items():
        label = f"{name} (authors)"
        models[label], families[label] = wide, FAMILY_OF.get(name)
    quality = read_item_quality()
    published = quality.groupby("stereotype")["score"].mean()
    sentences: list[Row] = []
    midpoint: list[Row] = []
    for name, wide in models.items():
        family = families[name]
        kept = without(wide, quality[family or ""])
        sentences.append((name, family or "", estimate_g_s(wide), len(wide) - len(kept), estimate_g_s(kept)))
        for about, side in zip(STEREOTYPES.values(), sides(wide), strict=True):
            midpoint.append((name, f"{about.id:2} {about.name}", about.gender, *side, published[about.id]))
    tables = [Table.create("items", sentences), Table.create("midpoint", midpoint)]
    return make_study("items", tables, found, [*models], files=files)
