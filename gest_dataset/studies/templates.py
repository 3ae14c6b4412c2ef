"""`gest study templates`: do templates and models agree? (Pikuliak et al., 2024, section 4.2.3)

The paper's averages are means of Pearson correlations of the 16 ln q_i:

    between templates   over all pairs of templates of one model, of all models together  0.87
    between models      over all pairs of models in a template, then over templates       0.83

These definitions reproduce the printed numbers from the released ln q_i (`studies.papers`); means over all
pairs of models and templates would give 0.82. Correlations of samples use the same pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.measures.stereotype_rate import TEMPLATES
from gest_dataset.report.figures import Chart, Rows, draw_charts
from gest_dataset.report.labels import label_runs
from gest_dataset.report.panel import Panel, make_panel
from gest_dataset.report.stereotype_panels import COLOURS, NAMES
from gest_dataset.runs.folder import Run, sha256
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.correlation import mean_correlation
from gest_dataset.statistics.reliability import variance_shares
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.inputs import Batch, Inputs, collect_runs, make_study
from gest_dataset.studies.study import Row, Study, Table

AUTHORS_CONFIG = "en_1_0"
_FILE = re.compile(r"(.+)_template-(\d+)\.txt")
# Files count templates from 0; causal models have only the last two
_TEMPLATES = {4: (1, 2, 3, 4), 2: (3, 4)}


@dataclass(frozen=True)
class GestScores:
    """ln r of one model: a row per sample (index: id, again, stereotype), a column per template."""

    name: str
    scores: pd.DataFrame

    @property
    def templates(self) -> list[int]:
        return [int(template) for template in self.scores.columns]

    @property
    def stereotypes(self) -> Ints:
        """The stereotype of each sample, from 0."""
        return np.asarray(self.scores.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)

    def ln_q(self) -> Floats:
        """The mean ln r of each stereotype in each template [16, templates]; nan without samples."""
        means = self.scores.groupby(level="stereotype").mean()
        return np.asarray(means.reindex(list(STEREOTYPES)).to_numpy(dtype=float))


def read_authors_scores(folder: str | Path | None) -> tuple[list[GestScores], dict[str, str]]:
    """The scores in the authors' files MODEL_template-N.txt, and the hash of each file.

    A line is log10 P(w_m) - log10 P(w_f) of a sample, in the order of GEST 1.0. Without a folder: nothing.
    """
    if folder is None:
        return [], {}
    files: dict[str, list[Path]] = {}
    for path in sorted(Path(folder).glob("*")):
        if match := _FILE.fullmatch(path.name):
            files.setdefault(match[1], []).append(path)
    if not files:
        raise ConfigError(f"{folder} contains no files MODEL_template-N.txt, such as gpt2_template-0.txt.")
    rows = rows_of(AUTHORS_CONFIG)
    levels = [rows["id"], np.zeros(len(rows), dtype=int), rows["stereotype"]]
    index = pd.MultiIndex.from_arrays(levels, names=["id", "again", "stereotype"])
    found: list[GestScores] = []
    hashes: dict[str, str] = {}
    for model, paths in files.items():
        if len(paths) not in _TEMPLATES:
            raise DataError(
                f"{folder} has {len(paths)} files of {model}. A masked model needs templates 0 to 3, "
                f"a causal one 0 and 1."
            )
        columns = {}
        for template, path in zip(_TEMPLATES[len(paths)], paths, strict=True):
            try:
                values = np.loadtxt(path, ndmin=1)
            except ValueError as error:
                raise DataError(f"{path} cannot be read: {error}.") from error
            if len(values) != len(rows) or not np.isfinite(values).all():
                raise DataError(f"{path} does not have {len(rows):,} finite numbers ({AUTHORS_CONFIG}).")
            columns[template] = values * LN10
            hashes[path.name] = sha256(path.read_bytes())
        found.append(GestScores(model, pd.DataFrame(columns, index=index)))
    return found, hashes


def templates(inputs: Inputs | Sequence[str | Path | Run] = (), scores: str | Path | None = None) -> Study:
    """The agreement of templates and models: runs in English, and the authors' files in `scores`."""
    released, hashes = read_authors_scores(scores)
    runs = collect_runs(
        inputs,
        "templates",
        [Batch("en")],
        lambda run: run.manifest.measure == TEMPLATES.name,
        group=lambda run: TEMPLATES.name,
        others=released,
    )
    models = [GestScores(one.label, wide_scores(one.run.table)) for one in label_runs(runs)] + released
    names = [model.name for model in models]
    if len({*names}) < len(names):
        raise ConfigError(f"Two of {', '.join(names)} have the same name. Give each model once.")
    tables = agreement_tables(models)
    return make_study(
        "templates", "Do the templates agree?", tables, _rank_boxes(models), runs, names, hashes
    )


def agreement_tables(models: Sequence[GestScores]) -> list[Table]:
    """The tables of some models."""
    return [_between_templates(models), _between_models(models), _variance(models), _ranks(models)]


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
        values = _correlation(ln_q[:, complete], pairs), _correlation(samples, pairs)
        rows.append((model.name, len(pairs), *values, len(samples), ""))
    if rows:
        mean = _correlation(np.array(columns).T, all_pairs)
        rows.append(("all pairs of all models", len(all_pairs), mean, None, None, "0.87"))
    return Table.create("between-templates", rows)


def _between_models(models: Sequence[GestScores]) -> Table:
    """Mean correlations between models in each template, and the mean of those over templates."""
    rows: list[Row] = []
    columns: list[Floats] = []
    groups: list[list[tuple[int, int]]] = []
    for template in sorted({template for model in models for template in model.templates}):
        # the models with all 16 stereotypes in the template
        own = {model.name: model for model in models if template in model.templates}
        ln_q = {name: model.ln_q()[:, model.templates.index(template)] for name, model in own.items()}
        complete = [name for name, column in ln_q.items() if np.isfinite(column).all()]
        if len(complete) < 2:
            continue
        pairs = list(combinations(range(len(complete)), 2))
        groups.append([(len(columns) + a, len(columns) + b) for a, b in pairs])
        columns += [ln_q[name] for name in complete]
        scores = [own[name].scores[template] for name in complete]
        samples = pd.concat(scores, axis=1, join="inner").dropna().to_numpy()
        rates = np.array([ln_q[name] for name in complete]).T
        values = _correlation(rates, pairs), _correlation(samples, pairs)
        rows.append((f"template {template}", len(complete), *values, len(samples), ""))
    if groups:
        # pairs are repeated so that each template has the same weight
        common = int(np.lcm.reduce([len(group) for group in groups]))
        weighted = [pair for group in groups for pair in group for _ in range(common // len(group))]
        mean = _correlation(np.array(columns).T, weighted)
        rows.append(("mean over templates", None, mean, None, None, "0.83"))
    return Table.create("between-models", rows)


def _correlation(values: Floats, pairs: Sequence[tuple[int, int]]) -> Estimate:
    return Estimate(*mean_correlation(values, pairs))


def _variance(models: Sequence[GestScores]) -> Table:
    """Components of the variance of single scores."""
    rows: list[Row] = []
    for model in models:
        shares = variance_shares(model.scores.to_numpy(dtype=float), model.stereotypes)
        rows.append((model.name, len(model.templates), *(100 * share for share in shares.values())))
    return Table.create("variance", rows)


def _feminine_ranks(models: Sequence[GestScores]) -> pd.DataFrame:
    """The feminine ranks of the stereotypes (columns) by model and template, where all have samples."""
    ranks = {
        (model.name, template): feminine_ranks(column)
        for model in models
        for template, column in zip(model.templates, model.ln_q().T, strict=True)
    }
    return pd.DataFrame.from_dict(ranks, orient="index", columns=list(STEREOTYPES)).dropna()


def _ranks(models: Sequence[GestScores]) -> Table:
    """Feminine ranks over all models and templates (figure 5 as numbers)."""
    ranks = _feminine_ranks(models).to_numpy()
    rows: list[Row] = []
    if len(ranks):
        quantiles = np.percentile(ranks, (50, 25, 75, 0, 100), axis=0).T.tolist()
        for stereotype, values in zip(STEREOTYPES.values(), quantiles, strict=True):
            rows.append((f"{stereotype.id:2} {stereotype.name}", stereotype.gender, *values))
    return Table.create("ranks", rows, number=len(ranks))


def _rank_boxes(models: Sequence[GestScores]) -> list[Panel]:
    """Box plots of the feminine ranks of all models and templates (figure 5 of the paper)."""
    ranks = _feminine_ranks(models)
    if len(ranks) < 2:
        return []
    axis = "feminine rank: 1 is the most feminine of the 16"
    chart = Chart(axis, x_limits=(0.4, 16.6), x_ticks=range(1, 17), boxes=ranks.to_numpy())
    figure, _ = draw_charts([chart], 5.0, rows=Rows(NAMES, COLOURS))
    rows = [[*name, *values] for name, values in zip(ranks.index, ranks.to_numpy().tolist(), strict=True)]
    headings = ["model", "template", *(f"rank_{number}" for number in STEREOTYPES)]
    return [make_panel("study-ranks", figure, rows, "rank-boxes", headings, n=len(rows))]
