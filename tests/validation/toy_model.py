"""The tiny model of `gest demo`: a masked model that has learnt planted odds for the demo's texts.

It is trained on the very pairs and quadruplets that it is scored on, so it only shows that planted odds come
back. `python -m tests.validation --demo-model gest_dataset/demo/model` trains it again.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.demo import CONTROLS, PAIRS
from gest_dataset.builders.words import core_span
from gest_dataset.data.rows import rows_of
from tests.validation.corpus import SPREAD, WORLDS, Gap, evenly, split_odds
from tests.validation.training import Recipe, save, train

SEED = 0
RECIPE = Recipe("masked", width=64, positions=64, epochs=200, batch=32, spread=0.1)
# ss of the quadruplets: phi, as from frequency, is the same for both groups; f is gender (keywords.py)
PHI, F = (-0.4, 1.4), (-0.2, 1.0)
_COUNT = 10_000


def make_toy_model(folder: Path) -> None:
    """Train the model and write it with its planted values."""
    gaps, planted = corpus()
    model, tokenizer = train(gaps, RECIPE, SEED)
    model.half()
    folder.mkdir(parents=True, exist_ok=True)
    save(folder, (model, tokenizer), gaps, RECIPE, SEED)
    text = json.dumps({"toy": True, "log_odds": planted}, indent=1)
    (folder / "planted.json").write_text(text + "\n", encoding="utf-8")


def corpus() -> tuple[list[Gap], dict[str, dict[str, Any]]]:
    """The texts to train on, and the planted values by config and sample.

    For pairs ln(n_m / n_f); for quadruplets ss of the original and of the control group.
    """
    gaps: list[Gap] = []
    planted: dict[str, dict[str, Any]] = {}
    for config in PAIRS.values():
        rows = rows_of(config).to_list()
        planted[config] = {}
        for row, log_odds in zip(rows, _pair_log_odds(config, rows), strict=True):
            masculine, feminine = split_odds(log_odds, _COUNT)
            start, end = core_span(row["masculine"], row["word_index"])
            counts = {row["masculine_word"]: masculine, row["feminine_word"]: feminine}
            gaps.append(Gap(row["masculine"][:start], row["masculine"][end:], counts))
            planted[config][row["id"]] = math.log(masculine / feminine)
    rows = rows_of(CONTROLS).to_list()
    draw = random.Random(f"{CONTROLS} {SEED}")
    phi, f = (draw.sample(evenly(*ends, len(rows)), len(rows)) for ends in (PHI, F))
    planted[CONTROLS] = {}
    for number, row in enumerate(rows):
        ss_values = []
        for fields, sign in ((FIELDS[:2], 1), (FIELDS[2:], -1)):
            spans = [row["keywords"][FIELDS.index(field)] for field in fields]
            words = [row[field][start:end] for field, (start, end) in zip(fields, spans, strict=True)]
            odds = split_odds(phi[number] + sign * f[number] / 2, _COUNT)
            start, end = spans[0]
            gaps.append(
                Gap(row[fields[0]][:start], row[fields[0]][end:], dict(zip(words, odds, strict=True)))
            )
            ss_values.append(math.log(odds[0] / odds[1]))
        planted[CONTROLS][row["id"]] = ss_values
    return gaps, planted


def _pair_log_odds(config: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """The planted log-odds of each stereotype plus a shift of each sentence; the shifts cancel out."""
    draw = random.Random(f"{config} {SEED}")
    shifted: dict[int, Iterator[float]] = {}
    for i, log_odds in WORLDS["planted"].items():
        number = sum(row["stereotype"] == i for row in rows)
        values = [log_odds + shift for shift in evenly(-SPREAD, SPREAD, number)]
        shifted[i] = iter(draw.sample(values, number))
    return (next(shifted[row["stereotype"]]) for row in rows)
