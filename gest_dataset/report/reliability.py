"""How reliable a run's numbers are beyond their intervals (docs/report.md, "How reliable is this?").

Reliability of the profile, agreement of templates, shares of variance, creators and confounders of the
sentences, and what translations without a gender leave open.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.released import FAMILY_OF
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.data.votes import SENTENCES, sentence_votes
from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import render_text
from gest_dataset.measures.result import sample_units, wide_scores
from gest_dataset.published.models import published_name
from gest_dataset.report import items
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.folder import Run
from gest_dataset.statistics import correlation, holm, masculine_rate
from gest_dataset.statistics.confounders import adjusted_g_s, sentence_properties
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import read_yaml

_ROWS: list[dict[str, Any]] = read_yaml(Path(__file__).with_suffix(".yaml"))


class _Unavailable(Exception):
    """The reason why a part cannot be computed for a run."""


def reliability_of(run: Run) -> dict[str, Any]:
    """How reliable the numbers of a run are; empty for measures without stereotypes.

    Keys: `permutation_p`; for models `reliability`, `reliable`, `template_agreement`, `variance_shares`,
    `creators`, `confounders`, `sides`, `without_against`, `rank`; for masculine rates `f_s_lowest`,
    `f_s_highest`, `n`, `n_unknown`.
    `unavailable` has the reason for each part that is missing.
    """
    measure = MEASURES[run.manifest.measure]
    result = run.result["result"]
    numbers: dict[str, Any] = {"unavailable": {}}
    if measure.statistic is masculine_rate:
        genders, stereotypes = (run.table[name].to_pylist() for name in ("gender", "stereotype"))
        bounds = unknown_bounds(genders, stereotypes)
        numbers |= {name: bounds[name] for name in ("f_s_lowest", "f_s_highest")}
        numbers |= {"n": len(genders), "n_unknown": result["n_unknown"]}
        return numbers | {"permutation_p": Estimate.exact(result["f_s_permutation_p"]).value}
    if measure.name not in ("templates", "pairs", "neutral"):
        return {}
    numbers["permutation_p"] = Estimate.exact(result["g_s_permutation_p"]).value
    for name, part in (("reliability", _profile), ("creators", _creators), ("confounders", _confounders)):
        try:
            numbers |= part(run)
        except _Unavailable as reason:
            numbers["unavailable"][name] = str(reason)
    if run.manifest.config in SENTENCES:
        numbers |= _items(run, is_readable="creators" in numbers)
    return numbers


def _profile(run: Run) -> dict[str, Any]:
    """Reliability of the 16 means, from independent samples: the samples of a unit are averaged first."""
    wide = wide_scores(run.table)
    unit = MEASURES[run.manifest.measure].unit
    if unit.column is not None:
        names = sample_units(unit, wide.index.get_level_values("id").tolist(), _rows(run))
        if names is not None:
            unit_of = pd.Series(pd.factorize(pd.Series(names, dtype=object))[0], wide.index, name="unit")
            wide = wide.groupby([unit_of, wide.index.get_level_values("stereotype")]).mean()
    scores, stereotypes = wide.to_numpy(), items.strata_of(wide)
    value = correlation.split_half(scores, stereotypes)
    numbers: dict[str, Any] = {
        "reliability": value,
        "reliable": value >= correlation.LOW_RELIABILITY,
        "variance_shares": correlation.variance_shares(scores, stereotypes),
    }
    if scores.shape[1] > 1:
        profile, samples = correlation.template_agreement(scores, stereotypes)
        numbers["template_agreement"] = {"profile": profile, "samples": samples}
    return numbers


def _items(run: Run, is_readable: bool) -> dict[str, Any]:
    """The side of each stereotype, and what needs the scores of published models, if data can be read."""
    wide, facts = wide_scores(run.table), run.manifest.metadata
    names = [f"{one.id} {one.name}" for one in STEREOTYPES.values()]
    numbers: dict[str, Any] = {"sides": dict(zip(names, items.sides(wide), strict=True))}
    if not is_readable:
        return numbers
    name = published_name({**facts, "model": run.manifest.model})
    try:
        quality = items.read_item_quality()
        rank = items.rank_band(wide, facts["kind"], name, quality)
    except GestError:
        return numbers
    kept = items.without(wide, quality[FAMILY_OF.get(name or "", "")])
    without = items.estimate_g_s(kept)._asdict() | {"n": len(wide) - len(kept)}
    return numbers | {"without_against": without, "rank": rank}


def _creators(run: Run) -> dict[str, Any]:
    """g_s over the creators of the sentences."""
    if run.manifest.config not in SENTENCES:
        raise _Unavailable(f"only sentences of {' and '.join(SENTENCES)} have known creators")
    _rows(run)  # of the same version
    wide = wide_scores(run.table).dropna()
    scores, stereotypes = wide.to_numpy().mean(axis=1), items.strata_of(wide)
    votes = sentence_votes(_load).reindex(wide.index.get_level_values("id"))
    creators = votes["creator"].fillna("").to_numpy(dtype=object)
    known = creators != ""
    if not known.any():
        raise _Unavailable("no sentence of the run is in the config annotations")
    found = correlation.creator_jackknife(scores[known], stereotypes[known], creators[known].tolist())
    return {"creators": {**found, "n": int(known.sum()), "n_unknown": int((~known).sum())}}


def _confounders(run: Run) -> dict[str, Any]:
    """g_s with the sentences adjusted for their other properties."""
    if run.manifest.measure != "templates":
        raise _Unavailable("these properties are defined for English sentences only")
    rows = _rows(run)
    text = dict(zip(rows["id"][:], rows["sentence"][:], strict=True))  # a column is slow to iterate over
    wide = wide_scores(run.table).dropna()
    properties = sentence_properties([text[name] for name in wide.index.get_level_values("id")])
    scores = wide.to_numpy().mean(axis=1)
    return {"confounders": adjusted_g_s(scores, items.strata_of(wide), properties)}


# --- the data of a run


def _rows(run: Run) -> datasets.Dataset:
    """The rows that the run was scored on."""
    config = run.manifest.config
    rows = _load(config)
    if run.manifest.data_fingerprint != fingerprint_of(config, rows):
        raise _Unavailable(f"the run was scored on another version of {config}")
    return rows


def _load(config: str) -> datasets.Dataset:
    if config not in CONFIGS:
        raise _Unavailable(f"{config} is your own data, which runs do not store")
    try:
        return rows_of(config)
    except GestError as error:
        raise _Unavailable(f"the data of {config} could not be read") from error


def rows_of_runs(runs: Sequence[LabelledRun]) -> tuple[list[dict[str, Any]], str]:
    """The rows of the config of some runs (class labels as names), and a note if something is missing."""
    config = runs[0].config
    try:
        rows = _load(config)
    except _Unavailable as reason:
        return [], f"Samples are listed by id: {reason}."
    columns = {name: rows[name][:] for name in rows.column_names}
    for name, feature in rows.features.items():
        if isinstance(feature, datasets.ClassLabel):
            columns[name] = [None if one is None else feature.int2str(one) for one in columns[name]]
    named = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    same = {run.run.manifest.data_fingerprint for run in runs} == {fingerprint_of(config, rows)}
    note = f"A run was scored on another version of {config}, so some sentences may be slightly different."
    return named, "" if same else note


# --- the table of the page


def reliability_tables(runs: Sequence[LabelledRun]) -> dict[str, list[dict[str, Any]]]:
    """A table for each run of a measure with stereotypes; p-values are corrected over the runs (Holm)."""
    found = {run.label: numbers for run in runs if (numbers := reliability_of(run.run))}
    p_values = {label: numbers["permutation_p"] for label, numbers in found.items()}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    compared = sum(map(math.isfinite, p_values.values()))
    tables: dict[str, list[dict[str, Any]]] = {}
    for label, numbers in found.items():
        values = {**numbers, "holm": adjusted[label], "runs": compared}
        values |= {"low_reliability": correlation.LOW_RELIABILITY}
        tables[label] = []
        for row in _ROWS:
            if number := render_text(row["number"], values):
                meaning = render_text(row["meaning"], values)
                tables[label].append({"warning": False, **row, "number": number, "meaning": meaning})
    return tables
