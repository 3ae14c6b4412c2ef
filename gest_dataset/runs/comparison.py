"""Runs of several models on the same samples: paired differences from the first of them."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import datasets
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError, GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Pairing, Unit
from gest_dataset.measures.result import units_of
from gest_dataset.runs.manifest import MANIFEST, Manifest
from gest_dataset.runs.reading import Run, find_runs
from gest_dataset.statistics import Comparison, holm
from gest_dataset.statistics import compare as paired
from gest_dataset.statistics.checks import UndefinedWarning

logger = logging.getLogger(__name__)
_TWO = "A comparison needs two runs or more: the first one is the baseline."
# Runs that differ in one of these have not answered the same questions
_SAME: dict[str, Callable[[Manifest], Any]] = {
    "config": lambda manifest: manifest.config,
    "measure": lambda manifest: manifest.measure,
    "data": lambda manifest: manifest.data_fingerprint,
    "options (templates, words of several tokens)": lambda manifest: manifest.settings.get("options"),
}


@dataclass(frozen=True)
class Difference:
    """A run's measure minus the baseline's (`found.a - found.b`), in one template (0: none).

    Both are of the `n` samples that both runs have, so the baseline's can be another one for each run;
    `missing` ones are in one of them only. `adjusted` is Holm's p-value.
    """

    config: str
    run: str
    baseline: str
    template: int
    n: int
    missing: int
    found: Comparison
    adjusted: float


@dataclass(frozen=True)
class Compared:
    """What became of some runs: `alone` are those without a partner, `left_out` has the reasons."""

    differences: list[Difference]
    alone: list[Path] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """Lines on what is in no difference."""
        lines = [f"No partner: {', '.join(map(str, self.alone))}"] if self.alone else []
        return [*lines, *(f"{config} is left out: {reason}" for config, reason in self.left_out.items())]


def compare(paths_or_runs: Sequence[str | Path | Run]) -> Compared:
    """Each run beside the first one: paired differences of the measure that they share, with intervals.

    A path is of a run, or of a folder of runs: of folders, those of one config each are compared, and
    what has no partner is said. p-values are Holm's, over all differences that result.
    """
    if len(paths_or_runs) < 2:
        raise ConfigError(_TWO)
    sides = [find_runs([place]) for place in paths_or_runs]
    if all(isinstance(place, Run) or (Path(place) / MANIFEST).exists() for place in paths_or_runs):
        return Compared(_adjusted(_differences([run for (run,) in sides])))
    by_config = [_by_config(place, side) for place, side in zip(paths_or_runs, sides, strict=True)]
    compared = Compared([])
    for config in dict.fromkeys(config for side in by_config for config in side):
        there = [side[config] for side in by_config if config in side]
        if config not in by_config[0] or len(there) < 2:
            compared.alone.extend(run.path for run in there)
            continue
        try:
            compared.differences.extend(_differences(there))
        except (ConfigError, DataError) as error:
            compared.left_out[config] = str(error)
    if not compared.differences:
        raise ConfigError("\n".join(["Nothing here can be compared.", *compared.notes()]))
    return replace(compared, differences=_adjusted(compared.differences))


def _by_config(place: str | Path | Run, runs: Sequence[Run]) -> dict[str, Run]:
    """The runs of a folder by what they are about."""
    by_config: dict[str, Run] = {}
    for run in runs:
        other = by_config.setdefault(run.manifest.about, run)
        if other is not run:
            raise ConfigError(
                f"{place} holds several runs of {run.manifest.about}: {other.path} and {run.path}. Give "
                f"folders that have one run of each config."
            )
    return by_config


def _adjusted(rows: Sequence[Difference]) -> list[Difference]:
    """Holm's p-values over all differences that are shown together."""
    p_values = holm([row.found.p_value for row in rows])
    return [replace(row, adjusted=p_value) for row, p_value in zip(rows, p_values, strict=True)]


def _differences(runs: Sequence[Run]) -> list[Difference]:
    """The differences with p-values as they are."""
    pairing = _pairing(runs)
    labels = _labels(runs)
    frames = [_frame(run, pairing.strata) for run in runs]
    unit = MEASURES[runs[0].manifest.measure].unit
    rows_of_config = _rows(runs[0].manifest, unit)
    rows = []
    for label, frame in zip(labels[1:], frames[1:], strict=True):
        templates = [t for t in frames[0]["template"].unique() if t in set(frame["template"])]
        if not templates:
            raise ConfigError(f"{label} and {labels[0]} have no template in common.")
        for template in templates:
            a, b, references, ids, missing = _paired(frame, frames[0], template, pairing)
            units = units_of(unit, ids, rows_of_config)
            comparison = _comparison(pairing.measure, label, a, b, references, units)
            facts = (runs[0].manifest.about, label, labels[0], int(template), len(a), missing)
            rows.append(Difference(*facts, comparison, comparison.p_value))
    return rows


def _rows(manifest: Manifest, unit: Unit) -> datasets.Dataset | None:
    """The data of the runs, where the units of their samples stand in it; None where the ids say them."""
    if unit.column is None:
        return None
    if manifest.config not in CONFIGS:
        logger.warning(
            "%s is no config of gest, so its rows are not at hand: each sample is drawn by itself, not with "
            "those of the same `%s`.",
            manifest.config,
            unit.column,
        )
        return datasets.Dataset.from_dict({})
    try:
        return rows_of(manifest.config)
    except GestError as error:
        raise DataError(
            f"The samples of {manifest.config} are compared by {unit.words}, which stands in the column "
            f"`{unit.column}` of the data, and those cannot be read: {error}\nAllow the download, or name a "
            f"mirror with GEST_MIRROR."
        ) from error


def _comparison(
    measure: str,
    label: str,
    a: list[Any],
    b: list[Any],
    references: list[Any] | None,
    units: list[Any] | None,
) -> Comparison:
    if not a:
        raise DataError(f"{label} and the baseline have no sample in common.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the error below says it
        comparison = paired(measure, a, b, references, units)
    if math.isnan(comparison.p_value):
        of_units = "" if units is None else " of different units"
        needed = f"two or more{of_units} are needed{' in each stereotype' if references else ''}"
        raise DataError(
            f"{label} and the baseline have too few samples in common for {measure} ({len(a)}): {needed}."
        )
    return comparison


def _pairing(runs: Sequence[Run]) -> Pairing:
    """What the runs can be compared by; those that have answered other questions are refused."""
    for what, fact in _SAME.items():
        facts = {str(run.path): str(fact(run.manifest)) for run in runs}
        if len(set(facts.values())) > 1:
            listed = "\n".join(f"  {path}: {value}" for path, value in facts.items())
            raise ConfigError(f"Runs on the same {what} can be compared, and these differ:\n{listed}")
    pairings = MEASURES[runs[0].manifest.measure].pairings
    if not pairings:
        offered = [pairing.measure for measure in MEASURES.values() for pairing in measure.pairings]
        raise ConfigError(
            f"Runs of {runs[0].manifest.about} have no paired comparison; there is one of "
            f"{', '.join(dict.fromkeys(offered))}."
        )
    for pairing in pairings:
        if all(len(run.table.select(pairing.columns).to_pandas().dropna()) for run in runs):
            return pairing
    names = " or ".join(pairing.measure for pairing in pairings)
    raise DataError(f"One of the runs has no sample with {names}, so there is nothing to compare.")


def _labels(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its model, and its directory where models repeat."""
    subjects = [run.manifest.subject for run in runs]
    return [
        subject if subjects.count(subject) == 1 else f"{subject} ({run.path})"
        for subject, run in zip(subjects, runs, strict=True)
    ]


def _frame(run: Run, strata: str | None) -> pd.DataFrame:
    """The samples by what makes them the same ones: id, its repetition, stereotype, template."""
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    return frame.set_index([*_KEY, strata] if strata else _KEY, drop=False)


_KEY = ["id", "again"]


def _paired(
    run: pd.DataFrame, baseline: pd.DataFrame, template: Any, pairing: Pairing
) -> tuple[list[Any], list[Any], list[Any] | None, list[str], int]:
    """Both runs' values on the samples that both have, their ids, and how many are in one only."""
    columns = list(pairing.columns)
    a, b = (frame[frame["template"] == template].dropna(subset=columns) for frame in (run, baseline))
    both = b.index.intersection(a.index, sort=False)
    missing = len(a) + len(b) - 2 * len(both)
    values = [_values(frame.loc[both, columns]) for frame in (a, b)]
    references = b.loc[both, pairing.strata].tolist() if pairing.strata else None
    return values[0], values[1], references, b.loc[both, "id"].tolist(), missing


def _values(frame: pd.DataFrame) -> list[Any]:
    return list(frame.iloc[:, 0] if frame.shape[1] == 1 else frame.to_numpy().tolist())
