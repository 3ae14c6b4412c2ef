"""A run on GEST among the published models whose scores were released, sentence by sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.measures.gest import TEMPLATES
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.released import AUTHORS_CONFIG, Released
from gest_dataset.runs.comparison import Difference, paired_difference, with_holm
from gest_dataset.runs.folder import Run

_DRAWS = 4000  # Holm's correction over 34 models needs a p-value below 0.05 / 34
_SHOWN = 0.05


@dataclass(frozen=True)
class Neighbour:
    """A published model beside a run: the run's difference from it, and their agreement.

    `agreement` is Pearson's r of the scores of single sentences (means over templates) within stereotypes.
    """

    difference: Difference
    agreement: float


@dataclass(frozen=True)
class Population:
    """A run beside the published models that were scored in its templates."""

    neighbours: tuple[Neighbour, ...]
    notes: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        """The rank in g_s (1 is the highest), and the ranks that the differences allow (Holm, 5 %)."""
        differences = [one.difference for one in self.neighbours]
        shown = [one.comparison.difference for one in differences if one.p_holm < _SHOWN]
        lowest = 1 + len(differences) - sum(value > 0 for value in shown)
        rank = 1 + sum(one.comparison.difference < 0 for one in differences)
        return rank, 1 + sum(value < 0 for value in shown), lowest

    def text(self) -> str:
        """The rank and the agreement in sentences."""
        rank, best, worst = self.rank
        ranks = f"{best}" if best == worst else f"{best} to {worst}"
        closest = max(self.neighbours, key=lambda one: one.agreement)
        return (
            f"g_s has rank {rank} of {len(self.neighbours) + 1} (1 is the highest); the paired differences "
            f"allow {ranks}. In single sentences the run agrees most with {closest.difference.baseline} "
            f"(r = {closest.agreement:.2f})."
        )


Populations = dict[Path, Population]  # by the folder of the run


def compare_released(run: Run, released: Released) -> Population:
    """Compare a run on `en` or `en_1_0` with each released model that has all of its templates.

    Sentences that differ between the two releases of GEST are left out.
    """
    if not _is_comparable(run):
        raise ConfigError(
            f"{run.path} is not a run on en or {AUTHORS_CONFIG}, which the released scores are of."
        )
    scores = wide_scores(run.table).dropna()
    sentences, originals = (
        dict(zip(rows["id"], rows["sentence"], strict=True))
        for rows in map(rows_of, (run.manifest.config, AUTHORS_CONFIG))
    )
    same = [sentences.get(name) == originals.get(name) for name in scores.index.get_level_values("id")]
    scores, left_out = scores[same], len(scores) - sum(same)
    usable = {model: wide for model, wide in released.gest.items() if {*scores.columns} <= {*wide.columns}}
    templates = ", ".join(map(str, scores.columns))
    if not usable:
        raise ConfigError(f"No released model has scores in all of the run's templates ({templates}).")
    compared = [_compare(run.manifest.model, scores, model, wide) for model, wide in usable.items()]
    corrected = with_holm([one.difference for one in compared])
    notes = list(released.notes)
    if left_out:
        notes.append(f"{left_out:,} sentences are left out, since they were corrected in GEST 1.1.")
    if others := [model for model in released.gest if model not in usable]:
        notes.append(f"Without scores in all of the run's templates ({templates}): {', '.join(others)}.")
    neighbours = map(Neighbour, corrected, [one.agreement for one in compared])
    return Population(tuple(neighbours), tuple(notes))


def populations_of(runs: Sequence[Run], released: Released) -> Populations:
    """Each run on `en` or `en_1_0` beside the released models; an error if there is none."""
    comparable = [run for run in runs if _is_comparable(run)] or runs[:1]
    return {run.path: compare_released(run, released) for run in comparable}


def _is_comparable(run: Run) -> bool:
    return run.manifest.measure == TEMPLATES.name and run.manifest.config in ("en", AUTHORS_CONFIG)


def _compare(name: str, scores: pd.DataFrame, model: str, other: pd.DataFrame) -> Neighbour:
    common = scores.index.intersection(other.index, sort=False)
    a, b = scores.loc[common], other.loc[common, [*scores.columns]]
    stereotypes = common.get_level_values("stereotype")
    values = [side.to_numpy() if side.shape[1] > 1 else side.to_numpy()[:, 0] for side in (a, b)]
    missing = len(scores.index.union(other.index)) - len(common)
    templates = tuple(int(template) for template in scores.columns)
    pairs = values[0].tolist(), values[1].tolist(), stereotypes.tolist(), None
    difference = paired_difference("g_s", ("en", name, model), templates, pairs, missing, _DRAWS)
    means = [side.mean(axis=1) for side in (a, b)]
    residuals = [one - one.groupby(stereotypes).transform("mean") for one in means]
    return Neighbour(difference, float(np.corrcoef(*residuals)[0, 1]))
