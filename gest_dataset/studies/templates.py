"""`gest study templates`: do templates and models agree? (Pikuliak et al., 2024, section 4.2.3)

The paper's averages are means of Pearson correlations of the 16 ln q_i:

    between templates   over all pairs of templates of one model, of all models together  0.87
    between models      over all pairs of models in a template, then over templates       0.83

These definitions reproduce the printed numbers from the released ln q_i (`studies.papers`); means over all
pairs of models and templates would give 0.82. Correlations of samples use the same pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.errors import ConfigError
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.released import Released
from gest_dataset.report.labels import label_runs
from gest_dataset.runs.folder import Runs
from gest_dataset.statistics.correlation import mean_correlation, variance_shares
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study


def templates(runs: Runs = (), released: str | Path | None = None, where: Sequence[str] = ()) -> Study:
    """The agreement of templates and models: runs in English, and released scores."""
    files = Released(released, where)
    of_authors = files.gest
    found = collect_runs(
        runs, "templates", lambda run: run.manifest.measure == TEMPLATES.name, files, lambda run: ""
    )
    models = {one.label: wide_scores(one.run.table) for one in label_runs(found)}
    names = [*models, *of_authors]
    if len({*names}) < len(names):
        raise ConfigError(f"Two of {', '.join(names)} have the same name. Give each model once.")
    tables = agreement_tables(models | of_authors)
    return make_study("templates", tables, found, names, files=files)


def agreement_tables(models: Mapping[str, pd.DataFrame]) -> list[Table]:
    """The tables of models, from their names and their scores as `wide_scores` has them."""
    scores_of_all = pd.concat(models, axis=1, names=["model", "template"])
    # [stereotypes, (model, template)], where all 16 stereotypes have samples
    ln_q = scores_of_all.groupby(level="stereotype").mean().reindex(list(STEREOTYPES)).dropna(axis=1)
    variance: list[Row] = []  # components of the variance of single scores
    for name, scores in models.items():
        stereotypes = scores.index.get_level_values("stereotype").to_numpy() - 1
        shares = variance_shares(scores.to_numpy(dtype=float), stereotypes)
        variance.append((name, scores.shape[1], *(100 * share for share in shares.values())))
    feminine_ranks = ln_q.rank().T.to_numpy()  # figure 5 as numbers
    ranks: list[Row] = []
    if len(feminine_ranks):
        quantiles = np.percentile(feminine_ranks, (50, 25, 75, 0, 100), axis=0).T.tolist()
        for stereotype, values in zip(STEREOTYPES.values(), quantiles, strict=True):
            ranks.append((f"{stereotype.id:2} {stereotype.name}", stereotype.gender, *values))
    return [
        *_correlations(scores_of_all, ln_q),
        Table.create("variance", variance),
        Table.create("ranks", ranks, number=len(feminine_ranks)),
    ]


def _correlations(scores: pd.DataFrame, ln_q: pd.DataFrame) -> Iterator[Table]:
    """Mean correlations of q_i and of samples between templates and between models, and overall."""
    places = pd.Series(range(ln_q.shape[1]), index=ln_q.columns)
    for level, name in (("model", "between-templates"), ("template", "between-models")):
        rows: list[Row] = []
        groups: list[list[tuple[int, int]]] = []  # pairs of columns of ln_q
        for key, own in places.groupby(level=level, sort=level == "template"):
            if len(own) < 2:
                continue
            samples = scores[own.index].dropna().to_numpy()
            pairs = list(combinations(range(len(own)), 2))
            q_i = Estimate(*mean_correlation(ln_q[own.index].to_numpy(), pairs))
            first = (key, len(pairs)) if level == "model" else (f"template {key}", len(own))
            rows.append((*first, q_i, Estimate(*mean_correlation(samples, pairs)), len(samples), ""))
            groups.append(list(combinations(own, 2)))
        if rows and level == "model":
            every = list(chain(*groups))
            mean = Estimate(*mean_correlation(ln_q.to_numpy(), every))
            rows.append(("all pairs of all models", len(every), mean, None, None, "0.87"))
        elif rows:
            # pairs are repeated so that each template has the same weight
            common = int(np.lcm.reduce([len(pairs) for pairs in groups]))
            weighted = [pair for pairs in groups for pair in pairs * (common // len(pairs))]
            mean = Estimate(*mean_correlation(ln_q.to_numpy(), weighted))
            rows.append(("mean over templates", None, mean, None, None, "0.83"))
        yield Table.create(name, rows)
