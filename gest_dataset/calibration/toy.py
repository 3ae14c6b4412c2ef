"""The tiny model of `gest demo`: a masked model that has learnt planted odds for the demo's own texts.

It is trained on the very pairs and quadruplets that it is then asked about, so it shows what a run
looks like and that planted odds come back, and nothing more. `gest calibrate --demo-model DIR` makes it.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.builders.controls import FIELDS
from gest_dataset.builders.demo import CONTROLS, PAIRS, TOY_MODEL
from gest_dataset.builders.words import core_span
from gest_dataset.calibration.corpus import SPREAD, WORLDS, Gap, evenly, split_odds
from gest_dataset.calibration.learning import Progress, Recipe, save, train
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import OutputError
from gest_dataset.models.device import pick_device
from gest_dataset.storage import atomic_path

SEED = 0
RECIPE_OF_TOY = Recipe("masked", width=64, positions=64, epochs=200, batch=32, spread=0.1)
PLANTED, CARD = "planted.json", "README.md"
# ss of the quadruplets: phi is the same for both groups, as from frequency, and f is gender (keywords.py)
_PHI, _F = (-0.4, 1.4), (-0.2, 1.0)
_COUNT = 10_000


def corpus() -> tuple[list[Gap], dict[str, dict[str, Any]]]:
    """The texts to train on, and what is planted by config and sample.

    Of pairs that is ln(n_m / n_f); of quadruplets ss of the original and of the control group.
    """
    gaps: list[Gap] = []
    planted: dict[str, dict[str, Any]] = {}
    for config in PAIRS.values():
        rows = rows_of(config).to_list()
        planted[config] = {}
        for row, log_odds in zip(rows, _of_pairs(config, rows), strict=True):
            masculine, feminine = split_odds(log_odds, _COUNT)
            start, end = core_span(row["masculine"], row["word_index"])
            counts = {row["masculine_word"]: masculine, row["feminine_word"]: feminine}
            gaps.append(Gap(row["masculine"][:start], row["masculine"][end:], counts))
            planted[config][row["id"]] = math.log(masculine / feminine)
    rows = rows_of(CONTROLS).to_list()
    planted[CONTROLS] = {}
    for row, (phi, f) in zip(rows, _of_quadruplets(len(rows)), strict=True):
        both_ss = []
        for (stereotype, other), ss in zip((FIELDS[:2], FIELDS[2:]), (phi + f / 2, phi - f / 2), strict=True):
            words = [_keyword(row, field) for field in (stereotype, other)]
            counts = dict(zip(words, split_odds(ss, _COUNT), strict=True))
            start, end = row["keywords"][FIELDS.index(stereotype)]
            gaps.append(Gap(row[stereotype][:start], row[stereotype][end:], counts))
            both_ss.append(math.log(counts[words[0]] / counts[words[1]]))
        planted[CONTROLS][row["id"]] = both_ss
    return gaps, planted


def _keyword(row: Mapping[str, Any], field: str) -> str:
    start, end = row["keywords"][FIELDS.index(field)]
    return str(row[field][start:end])


def _of_pairs(config: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """The stereotype's planted log-odds and what the sentence adds, which cancels out over it."""
    draw = random.Random(f"{config} {SEED}")
    added: dict[int, Iterator[float]] = {}
    for i, log_odds in WORLDS["planted"].log_odds.items():
        number = sum(row["stereotype"] == i for row in rows)
        values = [log_odds + effect for effect in evenly(-SPREAD, SPREAD, number)]
        added[i] = iter(draw.sample(values, number))
    return (next(added[row["stereotype"]]) for row in rows)


def _of_quadruplets(number: int) -> Iterator[tuple[float, float]]:
    """phi and f of each quadruplet, in no order."""
    draw = random.Random(f"{CONTROLS} {SEED}")
    return zip(*(draw.sample(evenly(*ends, number), number) for ends in (_PHI, _F)), strict=True)


def make_toy(folder: Path, device: str, progress: Progress) -> None:
    """Train the model and write its folder; one that holds anything else is refused."""
    gaps, planted = corpus()
    if folder.exists() and not (folder.is_dir() and _is_free(folder)):
        raise OutputError(f"{folder} holds something else than the demo's model: choose another directory.")
    told = partial(progress, "Tiny model of the demo")
    model, tokenizer = train(gaps, RECIPE_OF_TOY, SEED, pick_device(device), told)
    model.half()  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        save(made, model, tokenizer, gaps, RECIPE_OF_TOY, SEED)
        text = json.dumps({"toy": True, "log_odds": planted}, indent=1)
        (made / PLANTED).write_text(text + "\n", encoding="utf-8")
        shutil.copyfile(TOY_MODEL / CARD, made / CARD)
        for file in sorted(made.iterdir()):
            with atomic_path(folder / file.name) as unfinished:
                shutil.copyfile(file, unfinished)


def _is_free(folder: Path) -> bool:
    return (folder / PLANTED).exists() or not any(folder.iterdir())
