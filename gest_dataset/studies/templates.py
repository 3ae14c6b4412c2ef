"""`gest study templates`: do templates and models agree? (Pikuliak et al., 2024, section 4.2.3)

The paper's averages are means of Pearson correlations of the 16 ln q_i:

    between templates   over all pairs of templates of one model, of all models together  0.87
    between models      over all pairs of models in a template, then over templates       0.83

These definitions reproduce the printed numbers from the released ln q_i (`studies.print_checks`); means over
all pairs of models and templates would give 0.82. Correlations of samples use the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.errors import ConfigError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.stereotype_rate import TEMPLATES
from gest_dataset.runs.folder import Run
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.reliability import variance_shares
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies import figures
from gest_dataset.studies.gest_scores import GestScores, read_authors_scores, scores_of_runs
from gest_dataset.studies.inputs import (
    Batch,
    Inputs,
    collect_runs,
    limitations,
    require_runs,
    sources_of,
)
from gest_dataset.studies.study import Row, Study, Table

_PRINTED = {"between-templates": "0.87", "between-models": "0.83"}


def templates(inputs: Inputs | Sequence[str | Path | Run] = (), scores: str | Path | None = None) -> Study:
    """The agreement of templates and models: runs in English, and the authors' files in `scores`."""
    runs = collect_runs(
        inputs,
        "templates",
        [Batch("en")],
        lambda run: run.manifest.measure == TEMPLATES.name,
        group=lambda run: TEMPLATES.name,
    )
    models = scores_of_runs(runs)
    notes = tuple(limitations(runs, [model.name for model in models]))
    sources = sources_of(runs)
    if scores is not None:
        released, hashes = read_authors_scores(Path(scores))
        models += released
        sources |= hashes
    require_runs(models, "templates")
    names = [model.name for model in models]
    if len({*names}) < len(names):
        raise ConfigError(f"Two of {', '.join(names)} have the same name. Give each model once.")
    return templates_study(models, sources, notes)


def templates_study(
    models: Sequence[GestScores], sources: dict[str, str], notes: tuple[str, ...] = ()
) -> Study:
    """The study of some models' scores."""
    tables = [_between_templates(models), _between_models(models), _variance(models), _ranks(models)]
    panels = [figures.rates_in_templates(models)]
    if sum(len(model.templates) for model in models) > 1:
        panels.append(figures.rank_boxes(models))
    return Study(
        "templates",
        "Do the templates agree?",
        tuple(table for table in tables if table.rows),
        tuple(panels),
        notes,
        sources,
    )


def _between_templates(models: Sequence[GestScores]) -> Table:
    """Mean correlations between the templates of each model, and over all pairs of all models."""
    rows: list[Row] = []
    columns: list[Floats] = []
    all_pairs: list[tuple[int, int]] = []
    for model in models:
        ln_q = model.ln_q()
        complete = np.flatnonzero(np.isfinite(ln_q).all(axis=0))
        if len(complete) < 2:
            continue
        pairs = list(combinations(range(len(complete)), 2))
        all_pairs += [(len(columns) + a, len(columns) + b) for a, b in pairs]
        columns += list(ln_q[:, complete].T)
        samples = model.scores.iloc[:, complete].dropna().to_numpy()
        of_rates = Estimate(*mean_correlation(ln_q[:, complete], pairs))
        of_samples = Estimate(*mean_correlation(samples, pairs))
        rows.append((model.name, len(pairs), of_rates, of_samples, len(samples), ""))
    if rows:
        mean = Estimate(*mean_correlation(np.array(columns).T, all_pairs))
        printed = _PRINTED["between-templates"]
        rows.append(("all pairs of all models", len(all_pairs), mean, None, None, printed))
    return Table.create("between-templates", rows)


def _between_models(models: Sequence[GestScores]) -> Table:
    """Mean correlations between models in each template, and the mean of those over templates."""
    rows: list[Row] = []
    columns: list[Floats] = []
    groups: list[list[tuple[int, int]]] = []
    for template in sorted({template for model in models for template in model.templates}):
        # the ln q_i and scores of each model with all 16 stereotypes in the template
        ln_q = []
        scores = []
        for model in models:
            if template in model.templates:
                column = model.ln_q()[:, model.templates.index(template)]
                if np.isfinite(column).all():
                    ln_q.append(column)
                    scores.append(model.scores[template])
        if len(ln_q) < 2:
            continue
        pairs = list(combinations(range(len(ln_q)), 2))
        groups.append([(len(columns) + a, len(columns) + b) for a, b in pairs])
        columns += ln_q
        samples = pd.concat(scores, axis=1, join="inner").dropna().to_numpy()
        of_rates = Estimate(*mean_correlation(np.array(ln_q).T, pairs))
        of_samples = Estimate(*mean_correlation(samples, pairs))
        rows.append((f"template {template}", len(ln_q), of_rates, of_samples, len(samples), ""))
    if groups:
        # pairs are repeated so that each template has the same weight
        common = int(np.lcm.reduce([len(group) for group in groups]))
        weighted = [pair for group in groups for pair in group for _ in range(common // len(group))]
        mean = Estimate(*mean_correlation(np.array(columns).T, weighted))
        rows.append(("mean over templates", None, mean, None, None, _PRINTED["between-models"]))
    return Table.create("between-models", rows)


def _variance(models: Sequence[GestScores]) -> Table:
    """Components of the variance of single scores."""
    rows: list[Row] = []
    for model in models:
        shares = astuple(variance_shares(model.scores.to_numpy(dtype=float), model.stereotypes))
        rows.append((model.name, len(model.templates), *(100 * share for share in shares)))
    return Table.create("variance", rows)


def _ranks(models: Sequence[GestScores]) -> Table:
    """Feminine ranks over all models and templates (figure 5 as numbers)."""
    ranks = np.array([feminine_ranks(column) for model in models for column in model.ln_q().T])
    complete = ranks[np.isfinite(ranks).all(axis=1)]
    rows: list[Row] = []
    if len(complete):
        quantiles = np.percentile(complete, (50, 25, 75, 0, 100), axis=0).T.tolist()
        for stereotype, values in zip(STEREOTYPES.values(), quantiles, strict=True):
            rows.append((f"{stereotype.id:2} {stereotype.name}", stereotype.gender, *values))
    return Table.create("ranks", rows, number=len(complete))
