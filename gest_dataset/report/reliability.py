"""How reliable a run's numbers are beyond their intervals (docs/report.md, "How reliable is this?").

Reliability of the profile, agreement of templates, shares of variance, creators and confounders of the
sentences, and what translations without a gender leave open.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import numpy as np
import pandas as pd
import yaml

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import format_number, format_percent
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import sample_units
from gest_dataset.measures.stereotype_rate import NEUTRAL, PAIRS, TEMPLATES
from gest_dataset.report.labels import LabelledRun
from gest_dataset.runs.folder import Run
from gest_dataset.statistics import confounders, holm, masculine_rate
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.masculine_rate import unknown_bounds
from gest_dataset.statistics.reliability import (
    LOW_RELIABILITY,
    creator_jackknife,
    split_half,
    template_agreement,
    variance_shares,
)

logger = logging.getLogger(__name__)
_ANNOTATED = ("en", "en_1_0")  # the configs whose sentences are in `annotations`
_TEXTS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


class _Unavailable(Exception):
    """The reason why a part cannot be computed for a run."""


# --- the numbers


def reliability_of(run: Run) -> dict[str, Any]:
    """How reliable the numbers of a run are; empty for measures without stereotypes.

    Keys: `permutation_p`; for models `reliability`, `reliable`, `template_agreement`, `variance_shares`,
    `creators`, `confounders`; for masculine rates `f_s_lowest`, `f_s_highest`, `n`, `n_unknown`.
    `unavailable` has the reason for each part that is missing.
    """
    measure = MEASURES[run.manifest.measure]
    result = run.result["result"]
    if measure.statistic is masculine_rate:
        genders, stereotypes = (run.table[name].to_pylist() for name in ("gender", "stereotype"))
        bounds = unknown_bounds(genders, stereotypes)
        return {
            "permutation_p": _number(result["f_s_permutation_p"]),
            "f_s_lowest": bounds.f_s_lowest,
            "f_s_highest": bounds.f_s_highest,
            "n": len(genders),
            "n_unknown": result["n_unknown"],
            "unavailable": {},
        }
    if measure not in (TEMPLATES, PAIRS, NEUTRAL):
        return {}
    found: dict[str, Any] = {"permutation_p": _number(result["g_s_permutation_p"]), "unavailable": {}}
    for name, part in (("reliability", _profile), ("creators", _creators), ("confounders", _confounders)):
        try:
            found |= part(run)
        except _Unavailable as reason:
            found["unavailable"][name] = str(reason)
    return found


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def wide_scores(run: Run) -> pd.DataFrame:
    """ln ratios with a row per sample and a column per template.

    The index is id, the number of the sample among those with this id, and stereotype.
    """
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    return frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio")


def _stereotypes(wide: pd.DataFrame) -> Ints:
    """The stereotype of each row, from 0."""
    return np.asarray(wide.index.get_level_values("stereotype").to_numpy(dtype=np.int64) - 1)


def _profile(run: Run) -> dict[str, Any]:
    """Reliability of the 16 means, from independent samples: the samples of a unit are averaged first."""
    wide = wide_scores(run)
    unit = MEASURES[run.manifest.measure].unit
    if unit.column is not None:
        names = sample_units(unit, wide.index.get_level_values("id").tolist(), _rows(run))
        if names is not None:
            unit_of = pd.Series(pd.factorize(pd.Series(names, dtype=object))[0], wide.index, name="unit")
            wide = wide.groupby([unit_of, wide.index.get_level_values("stereotype")]).mean()
    scores, stereotypes = wide.to_numpy(), _stereotypes(wide)
    value = split_half(scores, stereotypes)
    found: dict[str, Any] = {
        "reliability": value,
        "reliable": value >= LOW_RELIABILITY,
        "variance_shares": asdict(variance_shares(scores, stereotypes)),
    }
    if scores.shape[1] > 1:
        profile, samples = template_agreement(scores, stereotypes)
        found["template_agreement"] = {"profile": profile, "samples": samples}
    return found


def _creators(run: Run) -> dict[str, Any]:
    """g_s over the creators of the sentences, joined by the text of a sentence or of its fix."""
    if run.manifest.config not in _ANNOTATED:
        raise _Unavailable(f"the creators are known for {' and '.join(_ANNOTATED)} only")
    scores, stereotypes, sentences = _sentences(run)
    # `annotations` has the sentences of 1.0; those of 1.1 are the same rows with typos fixed
    older = dict(zip(_load("en")["sentence"], _load("en_1_0")["sentence"], strict=True))
    creator_of: dict[str, str] = {}
    for row in _load("annotations"):
        creator_of |= {row[text].strip(): row["creator"] for text in ("sentence", "fix") if row[text]}
    creators = np.array(
        [creator_of.get(older.get(sentence, sentence).strip(), "") for sentence in sentences], dtype=object
    )
    known = creators != ""
    if not known.any():
        raise _Unavailable("no sentence of the run is in the config annotations")
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


def _confounders(run: Run) -> dict[str, Any]:
    """g_s with the sentences adjusted for their other properties."""
    if MEASURES[run.manifest.measure] is not TEMPLATES:
        raise _Unavailable("the properties are those of English sentences")
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
    """Mean ln ratio over templates, stereotype and sentence of each sample scored in all templates."""
    rows = _rows(run)
    text = dict(zip(rows["id"], rows["sentence"], strict=True))
    wide = wide_scores(run).dropna()
    ids = wide.index.get_level_values("id").tolist()
    return wide.to_numpy().mean(axis=1), _stereotypes(wide), [text[name] for name in ids]


# --- the data of a run


def _rows(run: Run) -> datasets.Dataset:
    """The rows that the run was scored on."""
    config = run.manifest.config
    if config not in CONFIGS:
        raise _Unavailable(f"{config} is your own data, which runs do not store")
    rows = _load(config)
    if run.manifest.data_fingerprint != fingerprint_of(config, rows):
        raise _Unavailable(f"the run was scored on another version of {config}")
    return rows


def _load(config: str) -> datasets.Dataset:
    try:
        return rows_of(config)
    except GestError as error:
        raise _Unavailable(f"the data of {config} could not be read") from error


def rows_of_runs(runs: Sequence[LabelledRun]) -> tuple[list[dict[str, Any]], str]:
    """The rows of the config of some runs (class labels as names), and a note if something is missing."""
    config = runs[0].config
    if config not in CONFIGS:
        return [], f"{config} is your own data: its samples are listed by id."
    try:
        rows = rows_of(config)
    except GestError as error:
        logger.info("Cannot read the sentences of %s: %s", config, error)
        return [], f"The sentences of {config} could not be read when this page was made."
    names = {
        column: feature
        for column, feature in rows.features.items()
        if isinstance(feature, datasets.ClassLabel)
    }
    named = [
        row | {column: feature.int2str(row[column]) for column, feature in names.items()}
        for row in rows.to_list()
    ]
    note = ""
    if {run.run.manifest.data_fingerprint for run in runs} != {fingerprint_of(config, rows)}:
        note = (
            f"A run was scored on another version of {config}, so some sentences may be slightly different."
        )
    return named, note


# --- the table of the page


class Row(NamedTuple):
    """One line of the table; a warning is highlighted."""

    what: str
    number: str
    meaning: str
    warning: bool = False


class Table(NamedTuple):
    """The lines of one run."""

    label: str
    rows: list[Row]


def reliability_tables(runs: Sequence[LabelledRun]) -> list[Table]:
    """A table for each run of a measure with stereotypes; p-values are corrected over the runs (Holm)."""
    found = [(run, numbers) for run in runs if (numbers := reliability_of(run.run))]
    p_values = {
        place: numbers["permutation_p"]
        for place, (_, numbers) in enumerate(found)
        if math.isfinite(numbers["permutation_p"])
    }
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    tables = []
    for place, (run, numbers) in enumerate(found):
        correction = ""
        if len(p_values) > 1:
            p_value = format_number(adjusted.get(place, math.nan))
            correction = f" (Holm over {len(p_values)} runs: {p_value})"
        tables.append(Table(run.label, list(_rows_of_table(numbers, correction))))
    return tables


def _row(key: str, warning: bool = False, **values: Any) -> Row:
    texts = {
        name: format_number(value) if isinstance(value, (int, float)) else value
        for name, value in values.items()
    }
    what, number, meaning = (_TEXTS[key][part].format_map(texts) for part in ("what", "number", "meaning"))
    return Row(what, number, meaning, warning)


def _listed(values: dict[str, float], separator: str) -> str:
    return separator.join(f"{name} {format_number(value)}" for name, value in values.items())


def _rows_of_table(numbers: dict[str, Any], correction: str) -> Iterator[Row]:
    if "reliability" in numbers:
        value = numbers["reliability"]
        key = "undefined" if math.isnan(value) else "reliability" if numbers["reliable"] else "unreliable"
        yield _row(key, not numbers["reliable"], reliability=value, limit=LOW_RELIABILITY)
        agreement = numbers.get("template_agreement")
        if agreement:
            yield _row("template_agreement", **agreement)
        shares = {name: format_percent(share) for name, share in numbers["variance_shares"].items()}
        names = _TEXTS["shares" if agreement else "shares_of_one_template"]
        listed = "; ".join(f"{shares[name]} {where}" for name, where in names.items())
        yield _row("variance_shares", stereotype=shares["stereotype"], shares=listed)
    yield _row("permutation", p=numbers["permutation_p"], correction=correction)
    if "creators" in numbers:
        creators = numbers["creators"]
        yield _row(
            "one_creator" if math.isnan(creators["g_s_low"]) else "creators",
            g_s=creators["g_s"],
            interval=str(Estimate.of(creators, "g_s")),
            by_creator=_listed(creators["by_creator"], ", "),
            unknown=creators["n_unknown"],
            n=creators["n"] + creators["n_unknown"],
        )
    if "confounders" in numbers:
        parts = numbers["confounders"]
        yield _row("confounders", adjusted=str(Estimate.of(parts, "adjusted_g_s")), g_s=parts["g_s"])
        yield _row("correlations", correlations=_listed(parts["correlations"], "; "))
    if "f_s_lowest" in numbers:
        names = {"lowest": "f_s_lowest", "highest": "f_s_highest", "unknown": "n_unknown", "n": "n"}
        yield _row("unknown_genders", **{name: numbers[key] for name, key in names.items()})
    for part, reason in numbers["unavailable"].items():
        yield _row("unavailable", part=_TEXTS["parts"][part], reason=reason)
