"""How sure the numbers of a run are, beyond its intervals (docs/report.md, "How sure is this?").

Reliability of the profile, agreement of templates, what the scores vary by, who wrote the sentences, what
else the sentences differ in, and what translations without a gender leave open. The statistics are those of
`gest_dataset.statistics`; here they get the scores of a run, and its sentences where they can be had.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import datasets
import numpy as np
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.result import sample_units
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import confounders, masculine_rate
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.reliability import (
    LOW_RELIABILITY,
    creator_jackknife,
    split_half,
    template_agreement,
    variance_shares,
)

Sureness = dict[str, Any]
_WRITTEN_BY_KNOWN = ("en", "en_1_0")  # configs whose sentences stand in `annotations`


class Lacking(Exception):
    """Why a part cannot be said of a run."""


def sureness(run: Run) -> Sureness:
    """How sure a run's numbers are: of templates, pairs, neutral sentences, masculine rates; else empty.

    Keys: `permutation_p`; of models `reliability`, `reliable`, `template_agreement`, `variance_shares`,
    `creators`, `confounders`; of masculine rates `f_s_lowest`, `f_s_highest`, `n`, `n_unknown`. `lacking`
    says of each part that is not there why.
    """
    measure = MEASURES[run.manifest.measure]
    if measure.statistic is masculine_rate:
        return _of_genders(run)
    if measure not in (TEMPLATES, PAIRS, NEUTRAL):
        return {}
    told: Sureness = {"permutation_p": _number(run.result["result"]["g_s_permutation_p"]), "lacking": {}}
    for name, part in _PARTS.items():
        try:
            told |= part(run)
        except Lacking as reason:
            told["lacking"][name] = str(reason)
    return told


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _of_genders(run: Run) -> Sureness:
    """What f_s is if the unknown genders all go one way or the other."""
    genders, stereotypes = (run.table[name].to_pylist() for name in ("gender", "stereotype"))
    bounds = unknown_bounds(genders, stereotypes)
    result = run.result["result"]
    return {
        "permutation_p": _number(result["f_s_permutation_p"]),
        "f_s_lowest": bounds.f_s_lowest,
        "f_s_highest": bounds.f_s_highest,
        "n": len(genders),
        "n_unknown": result["n_unknown"],
        "lacking": {},
    }


def wide_scores(run: Run) -> pd.DataFrame:
    """ln ratios, a row a sample and a column a template; the index is id, place among its id, stereotype."""
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    return frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio")


def _reliability(run: Run) -> Sureness:
    """Of the 16 means, from samples that are independent: units are averaged first."""
    wide = wide_scores(run)
    unit = MEASURES[run.manifest.measure].unit
    if unit.column is not None:
        names = sample_units(unit, wide.index.get_level_values("id").tolist(), _rows(run))
        if names is not None:
            unit_of = pd.Series(pd.factorize(pd.Series(names, dtype=object))[0], wide.index, name="unit")
            wide = wide.groupby([unit_of, wide.index.get_level_values("stereotype")]).mean()
    scores = wide.to_numpy()
    stereotypes = _stereotypes(wide)
    reliability = split_half(scores, stereotypes)
    told: Sureness = {
        "reliability": reliability,
        "reliable": reliability >= LOW_RELIABILITY,
        "variance_shares": asdict(variance_shares(scores, stereotypes)),
    }
    if scores.shape[1] > 1:
        profile, samples = template_agreement(scores, stereotypes)
        told["template_agreement"] = {"profile": profile, "samples": samples}
    return told


def _stereotypes(wide: pd.DataFrame) -> Ints:
    """The stereotype of each row, from 0."""
    return np.asarray(wide.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)


def _creators(run: Run) -> Sureness:
    """g_s over those who wrote the sentences, joined by the text of a sentence or of its fix."""
    if run.manifest.config not in _WRITTEN_BY_KNOWN:
        raise Lacking(f"who wrote the sentences is known of {' and '.join(_WRITTEN_BY_KNOWN)} only")
    scores, stereotypes, sentences = _sentences(run)
    # annotations hold the sentences of 1.0; those of 1.1 are the same rows with their slips mended
    older = dict(zip(_loaded("en")["sentence"], _loaded("en_1_0")["sentence"], strict=True))
    creator_of: dict[str, str] = {}
    for row in _loaded("annotations"):
        creator_of |= {row[text].strip(): row["creator"] for text in ("sentence", "fix") if row[text]}
    creators = np.array(
        [creator_of.get(older.get(sentence, sentence).strip(), "") for sentence in sentences], dtype=object
    )
    known = creators != ""
    if not known.any():
        raise Lacking("no sentence of the run stands in the config annotations")
    over = creator_jackknife(scores[known], stereotypes[known], creators[known].tolist())
    return {
        "creators": {
            "g_s": math.exp(over.ln_g_s),
            "g_s_low": math.exp(over.low),
            "g_s_high": math.exp(over.high),
            "by_creator": {name: math.exp(value) for name, value in over.by_creator.items()},
            "n": int(known.sum()),
            "n_unknown": int((~known).sum()),
        }
    }


def _confounders(run: Run) -> Sureness:
    """g_s with sentences made equal in what else they differ in."""
    if MEASURES[run.manifest.measure] is not TEMPLATES:
        raise Lacking("the properties are those of English sentences")
    scores, stereotypes, sentences = _sentences(run)
    adjusted = confounders.adjusted_g_s(scores, stereotypes, confounders.sentence_properties(sentences))
    return {
        "confounders": {
            "g_s": math.exp(adjusted.ln_g_s),
            "adjusted_g_s": math.exp(adjusted.adjusted),
            "adjusted_g_s_low": math.exp(adjusted.low),
            "adjusted_g_s_high": math.exp(adjusted.high),
            "correlations": adjusted.correlations,
        }
    }


def _sentences(run: Run) -> tuple[Floats, Ints, list[str]]:
    """The mean ln ratio over templates of each sample that has all of them, its stereotype and sentence."""
    rows = _rows(run)
    text = dict(zip(rows["id"], rows["sentence"], strict=True))
    wide = wide_scores(run).dropna()
    ids = wide.index.get_level_values("id").tolist()
    return wide.to_numpy().mean(axis=1), _stereotypes(wide), [text[name] for name in ids]


def _rows(run: Run) -> datasets.Dataset:
    """The data that the run was scored on."""
    config = run.manifest.config
    if config not in CONFIGS:
        raise Lacking(f"{config} is data of your own, which a run does not keep")
    rows = _loaded(config)
    if run.manifest.data_fingerprint != fingerprint_of(config, rows):
        raise Lacking(f"the run was scored with another version of {config} or of this package")
    return rows


def _loaded(config: str) -> datasets.Dataset:
    try:
        return rows_of(config)
    except GestError as error:
        raise Lacking(f"the data of {config} were not at hand") from error


_PARTS: dict[str, Callable[[Run], Sureness]] = {
    "reliability": _reliability,
    "creators": _creators,
    "confounders": _confounders,
}
