"""`gest study validity`: g_s of GEST against the WinoBias rate over models.

After Pikuliak et al. (2024), appendix B:

    r = Pearson's correlation over models of g_s (GEST, mean over templates) and g_s (WinoBias)

A WinoBias sentence can have several pronouns (22 of the 391 sentences of winobias_type1_test have two). The
authors take the `mean` of their log ratios; the `sum` is the log ratio of all pronouns of the sentence. The
printed numbers are e to the mean log10 ratio; ours are ln g_s.

`gest study validity --translators` correlates f_s of masculine rates with delta_s of WinoMT over pairs of a
system and a language, and over the systems' means. n points tell an |r| above
tanh(1.96 / sqrt(n - 3)) from 0.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.words import differing_words
from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import DataError
from gest_dataset.measures.gest import ENTITY_GENDER, MASCULINE_RATE, TEMPLATES, WINOBIAS
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import statistic_inputs, wide_scores
from gest_dataset.published.released import Released
from gest_dataset.report.items import estimate_g_s
from gest_dataset.runs.folder import Run, Runs
from gest_dataset.statistics import winobias_rate
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.proportions import Z
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import FEMALE, IS_FEMALE, MALE, MALE_MINUS_FEMALE
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study, missing_runs, model_names

LEAST_MODELS = 4  # for an interval: Fisher's z needs more than three
MEAN, SUM = "mean", "sum"
_GEST_CONFIGS = ("en_1_0", "en")  # in order of preference
COLUMNS = ["model", "config", "g_s", "g_s_published", "strengths", MEAN, SUM]
_HEADLINES = {MASCULINE_RATE.name: "f_s", ENTITY_GENDER.name: "delta_s"}
_ALIASES = {"aws": "amazon"}  # names of one system in WinoMT and GEST


def validity(runs: Runs = (), released: str | Path | None = None, translators: bool = False) -> Study:
    """g_s of GEST against that of WinoBias, over the models that have runs, or released scores, of both.

    With `translators`, f_s against delta_s over systems and languages.
    """
    if translators:
        return _translators(runs)
    files = Released(released)
    of_authors = released_rates(files)
    measures = dict.fromkeys(_GEST_CONFIGS, TEMPLATES.name)
    used = collect_runs(
        runs,
        "validity",
        lambda run: run.manifest.measure == measures.get(run.manifest.config, WINOBIAS.name),
        files,
        group=lambda run: run.manifest.config,
    )
    by_model: dict[str, dict[str, Run]] = {}
    for name, run in zip(model_names(used), used, strict=True):
        by_model.setdefault(name, {})[run.manifest.config] = run
    rates = pd.DataFrame(rates_of_models(by_model) + of_authors, columns=COLUMNS)
    alone = {name: members for name, members in by_model.items() if name not in set(rates["model"])}
    notes = []
    for name, members in alone.items():
        lacking = "WinoBias" if {*members} & {*_GEST_CONFIGS} else "GEST"
        notes.append(f"{name} is left out: it has no run on {lacking}.")
    if rates.empty:
        raise missing_runs("validity", *files.notes, *notes)
    rows = rates[["model", "g_s", "config", MEAN, SUM]].itertuples(index=False, name=None)
    overall, by_stereotype = _correlations(rates)
    tables = [overall, Table.create("models", list(rows)), by_stereotype]
    return make_study("validity", tables, used, notes=notes, files=files)


def _translators(runs: Runs) -> Study:
    """f_s against delta_s, of the systems and languages with runs of both."""
    used = collect_runs(
        runs,
        "translators",
        lambda run: run.manifest.measure in _HEADLINES,
        group=lambda run: (run.manifest.measure, run.manifest.language),
    )
    points: dict[tuple[str, str], dict[str, Estimate]] = {}
    for run in used:
        system = run.manifest.model.removeprefix("published:")
        point = points.setdefault((_ALIASES.get(system, system), run.manifest.language or ""), {})
        name = _HEADLINES[run.manifest.measure]
        point[name] = Estimate.of(run.result["result"], name)
    rows = [(*key, one["f_s"], one["delta_s"]) for key, one in points.items() if len(one) == 2]
    alone = [(" to ".join(key), *one) for key, one in points.items() if len(one) == 1]
    notes = [f"{name} is left out: it has a run with {number} only." for name, number in alone]
    if not rows:
        raise missing_runs("translators", *notes)
    numbers = [(system, f_s.value, delta_s.value) for system, _, f_s, delta_s in rows]
    values = pd.DataFrame(numbers, columns=["system", *_HEADLINES])
    groups = {"pairs of system and language": values, "means of systems": values.groupby("system").mean()}
    correlations: list[Row] = []
    for name, part in groups.items():
        needed = math.tanh(Z / math.sqrt(len(part) - 3)) if len(part) >= LEAST_MODELS else math.nan
        correlations.append((name, len(part), *correlate(*part[[*_HEADLINES]].to_numpy().T), needed))
    tables = [Table.create("translators", correlations, least=LEAST_MODELS), Table.create("systems", rows)]
    return make_study("translators", tables, used, notes=notes)


def rates_of_models(by_model: dict[str, dict[str, Run]]) -> list[tuple[Any, ...]]:
    """A row of `COLUMNS` for each model and WinoBias config, of the models with both kinds of runs."""
    rows: list[tuple[Any, ...]] = []
    for name, runs in by_model.items():
        gest = next((runs[config] for config in _GEST_CONFIGS if config in runs), None)
        winobias = [run for run in runs.values() if run.manifest.measure == WINOBIAS.name]
        if gest is None or not winobias:
            continue
        g_s = Estimate.of(gest.result["result"], "g_s")
        rates = _rates_of_scores(wide_scores(gest.table))
        for run in winobias:
            both = winobias_g_s(run, MEAN), winobias_g_s(run, SUM)
            rows.append((name, run.manifest.config, g_s, *rates, *both))
    return rows


def _rates_of_scores(scores: pd.DataFrame) -> tuple[float, Floats]:
    """g_s on the printed scale, the mean over templates, and the strength of each stereotype.

    A strength is ln q_i - ln q_f of a stereotype about men, ln q_m - ln q_i of one about women.
    """
    ln_q = scores.groupby(level="stereotype").mean().reindex(list(STEREOTYPES))
    printed = np.exp(MALE_MINUS_FEMALE @ ln_q.to_numpy(dtype=float) / LN10)
    mean = ln_q.mean(axis=1).to_numpy(dtype=float)
    return float(printed.mean()), np.where(IS_FEMALE, MALE @ mean - mean, mean - FEMALE @ mean)


def released_rates(files: Released) -> list[tuple[Any, ...]]:
    """The same rows from released scores. Their WinoBias rates are means over pronouns, without bounds."""
    if files.where is None:
        return []
    rows = []
    for row in files.winobias:
        if row["model"] in files.gest:
            scores = files.gest[row["model"]]
            both = Estimate(math.exp(row["male"] - row["female"]), math.nan, math.nan), Estimate.exact(None)
            rates = estimate_g_s(scores), *_rates_of_scores(scores), *both
            rows.append((f"{row['model']} (authors)", row["config"], *rates))
    if missing := {row["model"]: None for row in files.winobias if row["model"] not in files.gest}:
        files.notes.append(f"Left out, without scores on GEST: {', '.join(missing)}.")
    return rows


def count_pronouns(config: str) -> dict[str, int]:
    """The number of pronouns of each sentence of a WinoBias config."""
    rows = rows_of(config).to_list()
    return {row["id"]: len(differing_words(row["masculine"], row["feminine"]) or ()) for row in rows}


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
    return Estimate.of(winobias_rate(**inputs), "g_s")


def correlate(first: ArrayLike, second: ArrayLike) -> tuple[Estimate, float]:
    """Pearson's r with Fisher's interval, and its p-value; nan for fewer than three points."""
    pairs = np.array([first, second], dtype=float)
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if pairs.shape[1] < 3 or (np.ptp(pairs, axis=1) == 0).any():
        return Estimate.exact(None), math.nan
    result = stats.pearsonr(*pairs)
    if pairs.shape[1] < LEAST_MODELS:
        return Estimate(float(result.statistic), math.nan, math.nan), math.nan
    return Estimate(float(result.statistic), *result.confidence_interval(LEVEL)), float(result.pvalue)


def _correlations(rates: pd.DataFrame) -> tuple[Table, Table]:
    """The correlations of g_s, and of each stereotype's strength, with the WinoBias rate in each config."""
    printed = published.load("winobias")["rows"][0]
    groups = dict(list(rates.groupby("config")))
    rows: list[Row] = []
    columns: dict[str, list[Any]] = {"stereotype": [f"{one.id:2} {one.name}" for one in STEREOTYPES.values()]}
    configs = [config for config in CONFIGS if config in groups]
    for config in configs:
        members = groups[config]
        g_s, mean, total = (members[column].str[0].to_numpy(dtype=float) for column in ("g_s", MEAN, SUM))
        paper = f"{printed['pearson']} ({printed['models']} models)" if config == printed["config"] else ""
        on_print = correlate(members["g_s_published"], mean ** (1 / LN10))
        rows.append((config, MEAN, "g_s as printed", len(members), *on_print, paper))
        for how, values in ((MEAN, mean), (SUM, total)):
            if number := int(np.isfinite(values).sum()):  # released rates are means only
                rows.append((config, how, "ln g_s", number, *correlate(np.log(g_s), np.log(values)), ""))
        strengths = np.stack(members["strengths"]).T
        columns[config.removeprefix("winobias_")] = [correlate(one, np.log(mean))[0] for one in strengths]
    return (
        Table.create("validity", rows, least=LEAST_MODELS),
        Table.create("stereotypes", list(zip(*columns.values(), strict=True)), columns=columns),
    )
