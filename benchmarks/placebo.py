"""Placebo pairs of real models: |d| by class, held-out pairs, and the time that they take.

    python benchmarks/placebo.py MODEL [...] --per-stereotype 250 --templates 3,4
    python benchmarks/placebo.py MODEL [...] --config sk_neutral

For each template and class of words: the pairs that the model could use, the 50, 95 and 100 % quantiles of
|d|, and the share of pairs that the zone of negligible effects alone would call shown or reversed (their t
interval lies outside it). Then the share of held-out pairs that the rule calls shown or reversed, in 200
random halves: the limit comes from one half of the pairs, or of the words, and the other half is tested. Last
the process time with and without placebo words.
"""

from __future__ import annotations

import argparse
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.models import score_run
from gest_dataset.models.loading import load_model
from gest_dataset.probes.templates import PLACEBO_WORDS, TEMPLATES, Template, placebo_words
from gest_dataset.statistics import placebo
from gest_dataset.statistics.verdict import standard_error_in_sds
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

ZONE, Z = 0.2, 1.96


def stratified(config: str, number: int) -> Any:
    """The first rows of each stereotype of a config."""
    rows = rows_of(config)
    stereotypes = np.array(rows["stereotype"][:])
    chosen = [np.flatnonzero(stereotypes == one)[:number] for one in range(1, 17)]
    return rows.select(np.sort(np.concatenate(chosen)).tolist())


def class_of(template: Template, tokenizer: Any) -> dict[int, str]:
    """The class of each word by its index in the template's placebo."""
    classes: dict[int, str] = {}
    for name in list(PLACEBO_WORDS):
        with patch.dict(PLACEBO_WORDS, {other: [] for other in PLACEBO_WORDS if other != name}):
            found = placebo_words(template, tokenizer)
            classes |= dict.fromkeys(found.ids if found else (), name)
    return classes


def shares_of_held_out(effects: Any, beyond: Any, pairs: Any, by_word: bool) -> list[float]:
    """How many of the held-out pairs are beyond the zone and the limit of the others, in 200 halves."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):
        if by_word:
            chosen = (rng.random(pairs.max() + 1) < 0.5)[pairs]
            half, other = chosen.all(axis=1), (~chosen).all(axis=1)
        else:
            half = rng.permutation(len(pairs)) < len(pairs) // 2
            other = ~half
        if other.any():
            shares.append(float(np.mean(beyond[other] & (effects[other] > placebo.limit(effects[half])))))
    return shares


def report(name: str, rows: Any, templates: list[int] | None, timed: bool) -> None:
    loaded = load_model(name)
    pair, tokenizer = (loaded.model, loaded.tokenizer), loaded.reader(None, frozenset())
    seen: dict[int, Any] = {}
    real = score_run._placebo_bands
    keep = patch.object(score_run, "_placebo_bands", lambda found: seen.update(found) or real(found))
    off = patch("gest_dataset.probes.queries.pair_neighbours", lambda *_: None)
    spent = {}
    for label, context in (("off", off), ("on", keep), ("off again", off)) if timed else (("on", keep),):
        with context:
            begin = time.process_time()
            result = gest_dataset.score(pair, rows, templates=templates)
            spent[label] = time.process_time() - begin
        if label == "on":
            numbers = result.result()
    print(f"{name}: {len(rows)} rows of {rows.info.config_name}")
    for template, (words, values, labels) in seen.items():
        effects = placebo.effects(np.stack(values), labels, words.pairs)
        error = standard_error_in_sds(MALE_MINUS_FEMALE, np.bincount(labels, minlength=17)[1:].tolist())
        beyond = effects - Z * error > ZONE
        classes = class_of(TEMPLATES[template], tokenizer) if template else {}
        of_pairs = np.array([classes.get(words.ids[a], "words") for a, _ in words.pairs])
        for one in dict.fromkeys(of_pairs):
            some = of_pairs == one
            quantiles = ", ".join(f"{q:.2f}" for q in np.quantile(effects[some], (0.5, 0.95, 1)))
            print(
                f"  template {template} {one}: {some.sum()} pairs, |d| {quantiles}, "
                f"zone alone {beyond[some].mean():.1%}"
            )
        held_out = [
            np.mean(shares_of_held_out(effects, beyond, np.array(words.pairs), by_word))
            for by_word in (False, True)
        ]
        print(
            f"  template {template}: zone alone {beyond.mean():.1%}, by the rule {held_out[0]:.1%} of "
            f"held-out pairs, {held_out[1]:.1%} of pairs of held-out words"
        )
    for template, part in [("mean", numbers), *numbers.get("by_template", {}).items()]:
        band = part["placebo"]
        print(
            f"  {template}: g_s {part['g_s']:.3f} ({part['g_s_low']:.3f} to {part['g_s_high']:.3f}), "
            f"d {part['d']:.3f}, limit {band['limit']:.3f}, percentile {band['percentile']:.3f}, "
            f"{part['verdict']}"
        )
    print(f"  process time: {', '.join(f'{label} {seconds:.1f} s' for label, seconds in spent.items())}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+")
    parser.add_argument("--config", default="en")
    parser.add_argument("--per-stereotype", type=int, default=10_000)
    parser.add_argument("--templates", default="3,4")
    parser.add_argument("--no-time", action="store_true", help="score once, with placebo words")
    arguments = parser.parse_args()
    numbers = [int(number) for number in arguments.templates.split(",")] if arguments.config == "en" else None
    torch.set_num_threads(1)  # threads that wait for each other count as process time
    data = stratified(arguments.config, arguments.per_stereotype)
    for model in arguments.models:
        report(model, data, numbers, not arguments.no_time)
