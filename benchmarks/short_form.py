"""How far the short form (40 sentences per stereotype) is from all sentences, on released scores.

    python benchmarks/short_form.py FOLDER [--draws 300]

FOLDER has files of the authors' scores (MODEL_template-N.txt, a log10 ratio per sentence of GEST 1.0). For
random stratified draws of 640 sentences, `error of ln g_s` and `error of d` are the standard deviations of
the differences from all sentences; means over templates 3 and 4. `published` has the standard deviations of
ln g_s (34 models) and of d (those whose s is known) over the paper's models, and the correlations that such
errors leave: r = sqrt(v / (v + e^2)) with the variance v over models and the mean square e^2 of their errors.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from datasets import load_dataset
from printing import save, show

import gest_dataset  # noqa: F401
from gest_dataset.builders.released import FIRST_TEMPLATE, KIND_OF
from gest_dataset.models.score_run import SHORT
from gest_dataset.published.models import english_models, published_mean_g_s
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

TEMPLATES = (3, 4)


def effects(scores: np.ndarray, groups: list[np.ndarray]) -> tuple[float, float]:
    """ln of the mean g_s over templates, and d."""
    means = np.array([scores[rows].mean(axis=0) for rows in groups])
    variance = np.mean([scores[rows].var(axis=0, ddof=1) for rows in groups])
    ln_g_s = math.log(np.exp(MALE_MINUS_FEMALE @ means).mean())
    return ln_g_s, ln_g_s / math.sqrt(variance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/short_form.json"))
    arguments = parser.parse_args()
    strata = np.array(load_dataset("gest", "en_1_0", split="test")["stereotype"])
    groups = [np.flatnonzero(strata == number) for number in range(1, 17)]
    rng = np.random.default_rng(0)
    report = {}
    for model, kind in KIND_OF.items():
        files = [arguments.folder / f"{model}_template-{t - FIRST_TEMPLATE[kind]}.txt" for t in TEMPLATES]
        if all(file.exists() for file in files):
            columns = [file.read_text(encoding="utf-8").split() for file in files]
            scores = np.array(columns, dtype=float).T * math.log(10)
            whole = np.array(effects(scores, groups))
            draws = [
                np.array(effects(scores, [rng.choice(rows, SHORT, replace=False) for rows in groups])) - whole
                for _ in range(arguments.draws)
            ]
            errors = np.std(draws, axis=0)
            report[model] = {"error of ln g_s": float(errors[0]), "error of d": float(errors[1])}
            show(model, report[model])
    error = float(np.mean([figures["error of d"] for figures in report.values()]))
    spreads: dict[str, list[float]] = {}
    for one in english_models():
        if one.spread and one.where in TEMPLATES:
            spreads.setdefault(one.model, []).append(one.spread**2)
    ln_g_s = {name: math.log(value) for (name, _), value in published_mean_g_s({*TEMPLATES}).items()}
    s = {name: math.sqrt(np.mean(squares)) for name, squares in spreads.items()}
    d = [ln_g_s[name] / spread for name, spread in s.items()]
    # the error of ln g_s is that of d times s; models without a known s have the mean ratio of s to ln g_s
    ratio = float(np.mean([spread / ln_g_s[name] for name, spread in s.items()]))
    squares = [(error * s.get(name, ratio * value)) ** 2 for name, value in ln_g_s.items()]
    variances = {"ln g_s": (np.var([*ln_g_s.values()]), np.mean(squares)), "d": (np.var(d), error**2)}
    published = {"models": len(ln_g_s), "of known s": len(s)}
    for name, (between, noise) in variances.items():
        published |= {
            f"SD of {name}": math.sqrt(between),
            f"r of {name}": math.sqrt(between / (between + noise)),
        }
    show("published", published)
    save(arguments.json, report | {"published": published})


if __name__ == "__main__":
    main()
