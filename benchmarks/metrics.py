"""How long the metrics take, what memory they need, and how much faster they are than plain loops.

    python benchmarks/metrics.py

`compute` is timed through `evaluate.load(NAME)`, intervals included, on lists as users have them;
loading in a fresh process without network, after `import evaluate` (which brings torch by itself).
The plain loop is the same bootstrap (2,000 draws, the same statistic and standard error) in Python.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import evaluate
import numpy as np
from printing import machine, save, show

import gest_dataset
from gest_dataset import statistics

SIZES = (3565, 1_000_000)
_LOAD = """
import json, sys, time
start = time.perf_counter()
import evaluate
imported = time.perf_counter()
import gest_dataset
for name in gest_dataset.register.METRICS:
    evaluate.load(name)
print(json.dumps([imported - start, time.perf_counter() - imported]))
"""


def inputs(name: str, size: int) -> dict[str, list]:
    """Random samples for a module, as lists."""
    rng = np.random.default_rng(size)
    stereotypes = (np.arange(size) % 16 + 1).tolist()
    return {
        "gest_choice_rate": lambda: {
            "predictions": rng.choice(["male", "female", "neither", "other"], size=size).tolist(),
            "references": stereotypes,
        },
        "gest_masculine_rate": lambda: {
            "predictions": rng.choice(["male", "female", "unknown"], size=size).tolist(),
            "references": stereotypes,
        },
        "gest_stereotype_rate": lambda: {
            "predictions": rng.normal(size=size).tolist(),
            "references": stereotypes,
        },
        "gest_control_bias": lambda: {
            "predictions": rng.normal(size=(size, 4)).tolist(),
            "cs": rng.normal(size=(size, 2)).tolist(),
        },
        "stereoset_icat": lambda: {
            "predictions": rng.normal(size=(size, 3)).tolist(),
            "references": [f"target {i % 79}" for i in range(size)],
            "bias_types": [f"type {i % 4}" for i in range(size)],
        },
        "winobias_rate": lambda: {
            "predictions": rng.normal(size=size).tolist(),
            "references": rng.choice(["male", "female"], size=size).tolist(),
        },
    }[name]()


def seconds(call: Callable[[], object], times: int = 3) -> float:
    """The shortest of a few runs."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def naive_g_s(ratios: list[float], stereotypes: list[int], draws: int) -> tuple[float, float, float]:
    """g_s with its bootstrap-t bounds, in plain Python."""
    random.seed(0)
    groups = [[x for x, i in zip(ratios, stereotypes, strict=True) if i == k] for k in range(1, 17)]
    weights = [-1 / 7] * 7 + [1 / 9] * 9

    def measure(samples: list[list[float]]) -> tuple[float, float]:
        value = variance = 0.0
        for weight, sample in zip(weights, samples, strict=True):
            mean = sum(sample) / len(sample)
            spread = sum((x - mean) ** 2 for x in sample) / (len(sample) - 1)
            value += weight * mean
            variance += weight**2 * spread / len(sample)
        return value, math.sqrt(variance)

    value, error = measure(groups)
    found = []
    for _ in range(draws):
        again = measure([random.choices(group, k=len(group)) for group in groups])
        found.append((again[0] - value) / again[1])
    found.sort()
    low, high = found[int(draws * 0.975)], found[int(draws * 0.025)]
    return math.exp(value), math.exp(value - low * error), math.exp(value - high * error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/metrics.json"))
    arguments = parser.parse_args()
    done = subprocess.run(
        [sys.executable, "-c", _LOAD],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    imported, loaded = json.loads(done.stdout.splitlines()[-1])
    figures: dict[str, float | str] = {
        "import evaluate, seconds": imported,
        "import gest_dataset and load all five by name, seconds": loaded,
    }
    for name in gest_dataset.register.METRICS:
        metric = evaluate.load(name)
        for size in SIZES:
            samples = inputs(name, size)
            figures[f"{name}, {size:,} samples, seconds"] = seconds(lambda: metric.compute(**samples))  # noqa: B023
    data = inputs("gest_stereotype_rate", SIZES[0])
    ours = seconds(lambda: statistics.stereotype_rate(**data))
    other = inputs("gest_stereotype_rate", SIZES[0] + 1)
    compared = (data["predictions"], other["predictions"][: SIZES[0]], data["references"])
    figures["compare g_s, 3,565 samples, 10,000 draws, seconds"] = seconds(
        lambda: statistics.compare("g_s", *compared)
    )
    start = time.perf_counter()
    naive = naive_g_s(data["predictions"], data["references"], 2000)
    plain = time.perf_counter() - start
    result = statistics.stereotype_rate(**data)
    figures |= {
        "stereotype_rate with 19 intervals, seconds": ours,
        "plain loop with the interval of g_s alone, seconds": plain,
        "plain loop over ours": plain / ours,
        "g_s with bounds": ", ".join(f"{result[key]:.4f}" for key in ("g_s", "g_s_low", "g_s_high")),
        "g_s with bounds, plain loop": ", ".join(f"{value:.4f}" for value in naive),
        "peak memory of this run, megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "machine": machine(),
    }
    show("metrics", figures)
    save(arguments.json, figures)


if __name__ == "__main__":
    main()
