"""`gest study validity`: g_s of GEST against the WinoBias rate over models.

After Pikuliak et al. (2024), appendix B:

    r = Pearson's correlation over models of g_s (GEST, mean over templates) and g_s (WinoBias)

A WinoBias sentence can have several pronouns (22 of the 391 sentences of winobias_type1_test have two). The
authors take the `mean` of their log ratios; the `sum` is the log ratio of all pronouns of the sentence. The
printed numbers are e to the mean log10 ratio; ours are ln g_s.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.words import differing_words
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import statistic_inputs, template_results
from gest_dataset.measures.stereotype_rate import TEMPLATES, WINOBIAS
from gest_dataset.report.reliability import wide_scores
from gest_dataset.runs.folder import Run
from gest_dataset.statistics import winobias_rate
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import FEMALE, MALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.figures import gest_and_winobias
from gest_dataset.studies.inputs import (
    Batch,
    Inputs,
    collect_runs,
    limitations,
    model_names,
    sources_of,
)
from gest_dataset.studies.study import Cell, Row, Study, Table

LEAST_MODELS = 4  # for an interval: Fisher's z needs more than three
MEAN, SUM = "mean", "sum"
PUBLISHED, LN = "g_s as printed", "ln g_s"
_PAPER_CONFIG = "winobias_type1_test"
_GEST_CONFIGS = ("en_1_0", "en")  # in order of preference
Rates = dict[tuple[str, str, str], Estimate]  # model, config, mean or sum -> g_s of WinoBias


@dataclass(frozen=True)
class ModelRuns:
    """A model's GEST run and its WinoBias runs by config."""

    name: str
    gest: Run
    winobias: dict[str, Run]

    @property
    def g_s(self) -> Estimate:
        """The mean ratio over templates."""
        return Estimate.of(self.gest.result["result"], "g_s")

    @property
    def g_s_published(self) -> float:
        """The same mean on the printed scale."""
        ratios = [part["g_s"] for part in template_results(self.gest.result["result"]).values()]
        return float(np.mean([math.nan if g_s is None else g_s ** (1 / LN10) for g_s in ratios]))

    def strengths(self) -> list[float]:
        """ln q_i - ln q_f of stereotypes about men, ln q_m - ln q_i of those about women."""
        scores = wide_scores(self.gest).groupby(level="stereotype").mean().reindex(list(STEREOTYPES))
        ln_q = scores.mean(axis=1).to_numpy(dtype=float)
        q_f, q_m = float(FEMALE @ ln_q), float(MALE @ ln_q)
        return [
            float(value - q_f if stereotype.gender == "male" else q_m - value)
            for value, stereotype in zip(ln_q, STEREOTYPES.values(), strict=True)
        ]


def validity(inputs: Inputs | Sequence[str | Path | Run] = ()) -> Study:
    """g_s of GEST against that of WinoBias, over the models that have runs of both."""
    runs = collect_runs(
        inputs, "validity", [Batch("en,winobias")], _is_suitable, group=lambda run: run.manifest.config
    )
    models, notes = group_by_model(runs)
    if not models:
        raise ConfigError(
            "The study needs models with runs on GEST in English and on WinoBias: gest score MODEL --config "
            "en,winobias, or --model MODEL.\n" + "\n".join(notes)
        )
    configs = [name for name in CONFIGS if any(name in model.winobias for model in models)]
    rates = {
        (model.name, config, how): winobias_g_s(run, how)
        for model in models
        for config, run in model.winobias.items()
        for how in (MEAN, SUM)
    }
    used = [run for model in models for run in (model.gest, *model.winobias.values())]
    used_names = [model.name for model in models for _ in (model.gest, *model.winobias.values())]
    g_s = _models(models, rates)
    return Study(
        "validity",
        "Does g_s predict the WinoBias rate?",
        (_correlations(models, configs, rates), g_s, _stereotypes(models, configs, rates)),
        (gest_and_winobias(g_s),),
        (*notes, *limitations(used, used_names)),
        sources_of(used),
    )


def _is_suitable(run: Run) -> bool:
    is_gest = run.manifest.measure == TEMPLATES.name and run.manifest.config in _GEST_CONFIGS
    return is_gest or run.manifest.measure == WINOBIAS.name


def group_by_model(runs: Sequence[Run]) -> tuple[list[ModelRuns], list[str]]:
    """The models with both kinds of runs, and a note for each of the others."""
    by_model: dict[str, dict[str, Run]] = {}
    for name, run in zip(model_names(runs), runs, strict=True):
        by_model.setdefault(name, {})[run.manifest.config] = run
    models, notes = [], []
    for name, own in by_model.items():
        gest = next((own[config] for config in _GEST_CONFIGS if config in own), None)
        winobias = {config: run for config, run in own.items() if run.manifest.measure == WINOBIAS.name}
        if gest is not None and winobias:
            models.append(ModelRuns(name, gest, winobias))
        else:
            notes.append(f"{name} is left out: it has no run on {'GEST' if gest is None else 'WinoBias'}.")
    return models, notes


def count_pronouns(config: str) -> dict[str, int]:
    """The number of pronouns of each sentence of a WinoBias config."""
    rows = rows_of(config)
    return {
        name: len(differing_words(masculine, feminine) or ())
        for name, masculine, feminine in zip(rows["id"], rows["masculine"], rows["feminine"], strict=True)
    }


def winobias_g_s(run: Run, how: str) -> Estimate:
    """g_s of a WinoBias run with the pronouns of a sentence averaged (`mean`) or added (`sum`).

    The score of a causal model is of the whole sentence, so a sum; that of any other model is a mean.
    """
    config = run.manifest.config
    rows = rows_of(config)
    if run.manifest.data_fingerprint != fingerprint_of(config, rows):
        raise DataError(f"{run.path} was scored on another version of {config}. Score it again.")
    inputs = statistic_inputs(WINOBIAS, run.table, rows)
    pronouns = count_pronouns(config)
    is_sum = run.manifest.settings.get("kind") == "causal"
    inputs["predictions"] = [
        value * (pronouns[name] if how == SUM else 1) / (pronouns[name] if is_sum else 1)
        for name, value in zip(run.table["id"].to_pylist(), inputs["predictions"], strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the table shows a dash
        return Estimate.of(winobias_rate(**inputs), "g_s")


def correlate(first: ArrayLike, second: ArrayLike) -> tuple[Estimate, float]:
    """Pearson's r with Fisher's interval, and its p-value; nan for fewer than three points."""
    pairs = np.array([first, second], dtype=float)
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if pairs.shape[1] < 3 or (np.ptp(pairs, axis=1) == 0).any():
        return Estimate(math.nan, math.nan, math.nan), math.nan
    result = stats.pearsonr(*pairs)
    if pairs.shape[1] < LEAST_MODELS:
        return Estimate(float(result.statistic), math.nan, math.nan), math.nan
    low, high = result.confidence_interval(0.95)
    return Estimate(float(result.statistic), float(low), float(high)), float(result.pvalue)


def _correlations(models: Sequence[ModelRuns], configs: Sequence[str], rates: Rates) -> Table:
    printed = published.load("winobias")["rows"][0]
    rows: list[Row] = []
    for config in configs:
        scored = [model for model in models if config in model.winobias]
        for how, scale in ((MEAN, PUBLISHED), (MEAN, LN), (SUM, LN)):
            gest = np.array([model.g_s.value for model in scored])
            winobias = np.array([rates[model.name, config, how].value for model in scored])
            if scale == PUBLISHED:
                r, p_value = correlate([model.g_s_published for model in scored], winobias ** (1 / LN10))
            else:
                r, p_value = correlate(np.log(gest), np.log(winobias))
            is_printed = config == _PAPER_CONFIG and scale == PUBLISHED
            paper = f"{printed['pearson']} ({printed['models']} models)" if is_printed else ""
            rows.append((config, how, scale, len(scored), r, p_value, paper))
    return Table.create("validity", rows, least=LEAST_MODELS)


def _models(models: Sequence[ModelRuns], rates: Rates) -> Table:
    rows: list[Row] = [
        (model.name, model.g_s, config, rates[model.name, config, MEAN], rates[model.name, config, SUM])
        for model in models
        for config in model.winobias
    ]
    return Table.create("models", rows)


def _stereotypes(models: Sequence[ModelRuns], configs: Sequence[str], rates: Rates) -> Table:
    """The correlation of each stereotype's strength with the WinoBias rate."""
    strengths = {model.name: model.strengths() for model in models}
    rows: list[Row] = []
    for place, stereotype in enumerate(STEREOTYPES.values()):
        cells: list[Cell] = [f"{stereotype.id:2} {stereotype.name}"]
        for config in configs:
            scored = [model.name for model in models if config in model.winobias]
            ln_rates = [math.log(rates[name, config, MEAN].value) for name in scored]
            cells.append(correlate([strengths[name][place] for name in scored], ln_rates)[0])
        rows.append(tuple(cells))
    columns = ("stereotype", *(config.removeprefix("winobias_") for config in configs))
    return Table.create("stereotypes", rows, columns=columns)
