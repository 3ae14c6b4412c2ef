"""How often a run that stops early is wrong, and when it stops, on released scores of real models.

    python benchmarks/stop_early.py FOLDER [--runs 1000] [--complete 100]

FOLDER has files of the authors' scores (MODEL_template-N.txt, a log10 ratio per sentence of GEST 1.0). The
sentences of each stereotype are resampled with replacement. At every look the interval of ln g_s is compared
with the true value: `wrong` is the share of runs in which it misses it at some look, with the intervals of
`--stop-early` and with ordinary ones. `verdict` and `gate` are the median numbers of sentences until the
verdict, or g_s against 1.05, is clear. `short` is d of the short form beside d of all sentences.

With `--complete`, so many complete runs of `gest score --stop-early` (only the model is replaced) on the same
scores without their stereotypes' means, to which an effect d is added: how many end with which verdict, and
after how many sentences. A d of 0.2 is the end of the zone, so any verdict except *not shown* is wrong there.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from datasets import load_dataset
from printing import save, show

import gest_dataset  # noqa: F401
from gest_dataset.models import score_run
from gest_dataset.models.base import Settings
from gest_dataset.models.score_run import SHORT
from gest_dataset.statistics.proportions import Z
from gest_dataset.statistics.sequential import first_of_each, looks, stratified_order, stretch
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

ZONE, GATE = 0.2, math.log(1.05)


def moments(values: np.ndarray, strata: np.ndarray) -> tuple[float, float, float]:
    """ln g_s, its standard error, and the standard deviation within stereotypes."""
    groups = [values[strata == stratum] for stratum in range(16)]
    variances = np.array([group.var(ddof=1) for group in groups])
    sizes = np.array([len(group) for group in groups])
    effect = float(MALE_MINUS_FEMALE @ [group.mean() for group in groups])
    return effect, math.sqrt(float(MALE_MINUS_FEMALE**2 @ (variances / sizes))), math.sqrt(variances.mean())


def simulate(values: np.ndarray, strata: np.ndarray, order: np.ndarray, runs: int) -> dict[str, float]:
    """Shares of wrong runs, and median numbers of sentences."""
    truth, _, spread = moments(values, strata)
    zone = ZONE * spread
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(strata == stratum) for stratum in range(16)]
    wrong = {True: 0, False: 0}
    stops: dict[str, list[int]] = {"verdict": [], "gate": []}
    for _ in range(runs):
        drawn = np.empty(len(values))
        for indices in members:
            drawn[indices] = rng.choice(values[indices], len(indices))
        missed = {True: False, False: False}
        stop = dict.fromkeys(stops, len(values))
        for size in looks(len(values)):
            seen = order[:size]
            effect, error, _ = moments(drawn[seen], strata[seen])
            for early in missed:
                reach = Z * error * (stretch(size) if early else 1.0)
                missed[early] |= abs(effect - truth) > reach
            low, high = effect - Z * error * stretch(size), effect + Z * error * stretch(size)
            clear = {
                "verdict": low > zone or high < -zone or (low >= -zone and high <= zone),
                "gate": low > GATE or high < GATE,
            }
            for name, decided in clear.items():
                if decided:
                    stop[name] = min(stop[name], size)
        for early, value in missed.items():
            wrong[early] += value
        for name, size in stop.items():
            stops[name].append(size)
    medians = {name: float(np.median(sizes)) for name, sizes in stops.items()}
    return {"wrong, early": wrong[True] / runs, "wrong, ordinary": wrong[False] / runs, **medians}


def complete_runs(values: np.ndarray, rows: Any, planted: float, runs: int) -> dict[str, float]:
    """The verdicts of runs that stop early on resampled scores with a planted effect."""
    strata = np.array(rows["stereotype"]) - 1
    members = [np.flatnonzero(strata == stratum) for stratum in range(16)]
    noise = values - np.array([values[indices].mean() for indices in members])[strata]
    spread = moments(noise, strata)[2]
    index = {name: number for number, name in enumerate(rows["id"])}
    request = score_run.make_request(rows, Settings(stop_early=True))
    rng = np.random.default_rng(0)
    verdicts: Counter[str] = Counter()
    sizes = []
    for _ in range(runs):
        drawn = np.empty(len(values))
        for indices in members:
            drawn[indices] = rng.choice(noise[indices], len(indices))
        drawn += planted * spread * (strata >= 7)

        def scores(model: Any, request: Any, cache: Any, drawn: np.ndarray = drawn) -> score_run.Scores:
            ids = request.rows["id"][:]
            columns = {"id": ids, "stereotype": request.rows["stereotype"][:]}
            table = pa.table(columns | {"log_ratio": drawn[[index[name] for name in ids]]})
            return score_run.Scores(
                table, pa.table({}), {"measure": "templates", "dtype": "float32"}, request.rows
            )

        with patch.object(score_run, "compute_scores", scores):
            result = score_run.score_request(None, request).result()
        verdicts[result["verdict"]] += 1
        sizes.append(result["stopped"]["samples"])
    return {name: number / runs for name, number in verdicts.items()} | {"median": float(np.median(sizes))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--complete", type=int, default=0)
    parser.add_argument("--files", default="*_template-*.txt")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/stop_early.json"))
    arguments = parser.parse_args()
    rows = load_dataset("gest", "en_1_0", split="test")
    strata = np.array(rows["stereotype"]) - 1
    order = np.array(stratified_order(rows["id"], strata.tolist()))
    short = first_of_each(rows["id"], strata.tolist(), SHORT)
    report = {}
    for file in sorted(arguments.folder.glob(arguments.files)):
        values = np.array(file.read_text(encoding="utf-8").split(), dtype=float) * math.log(10)
        for planted in (0.0, 0.2, 0.5) if arguments.complete else ():
            verdicts = complete_runs(values, rows, planted, arguments.complete)
            show(f"{file.stem}, complete runs, d = {planted}", verdicts)
        figures = simulate(values, strata, order, arguments.runs)
        for name, some in (("d, all", slice(None)), ("d, short", short)):
            effect, _, spread = moments(values[some], strata[some])
            figures[name] = effect / spread
        show(file.stem, figures)
        report[file.stem] = figures
    save(arguments.json, report)


if __name__ == "__main__":
    main()
