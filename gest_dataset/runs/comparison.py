"""Runs of several models on the same samples: paired differences from the first of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Pairing
from gest_dataset.runs import reading
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import Comparison, compare, holm
from gest_dataset.statistics.checks import UndefinedWarning

_TWO = "A comparison needs two runs or more: the first one is the baseline."
# What a sample's id stands for: runs that differ here have not answered the same questions
_SAME = {"data_fingerprint": "data", "options": "options (templates, words of several tokens)"}


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


def compared(paths: Sequence[Path]) -> Compared:
    """The runs in some paths beside those in the first; in folders of runs those of one config each."""
    sides = [reading.find([path]) for path in paths]
    if len(sides) < 2:
        raise ConfigError(_TWO)
    if all((path / reading.MANIFEST).exists() for path in paths):
        return Compared(differences([run for (run,) in sides]))
    by_config = [_by_config(path, side) for path, side in zip(paths, sides, strict=True)]
    found = Compared([])
    for config in dict.fromkeys(config for side in by_config for config in side):
        there = [side[config] for side in by_config if config in side]
        if config not in by_config[0] or len(there) < 2:
            found.alone.extend(run.path for run in there)
            continue
        try:
            found.differences.extend(_differences(there))
        except (ConfigError, DataError) as error:
            found.left_out[config] = str(error)
    if not found.differences:
        raise ConfigError("\n".join(["Nothing here can be compared.", *found.notes()]))
    return replace(found, differences=_adjusted(found.differences))


def _by_config(path: Path, found: Sequence[Run]) -> dict[str, Run]:
    """The runs of a folder by what they are about."""
    by_config: dict[str, Run] = {}
    for run in found:
        other = by_config.setdefault(_config(run), run)
        if other is not run:
            raise ConfigError(
                f"{path} holds several runs of {_config(run)}: {other.path} and {run.path}. Give folders "
                f"that have one run of each config."
            )
    return by_config


def _config(run: Run) -> str:
    """The config of a run, and the language that it was translated to."""
    config, language = run.result["config"], run.manifest["settings"].get("language")
    return f"{config} to {language}" if language else str(config)


def differences(found: Sequence[Run]) -> list[Difference]:
    """Each run of a config beside the first one, in every template that both have."""
    if len(found) < 2:
        raise ConfigError(_TWO)
    return _adjusted(_differences(found))


def _adjusted(rows: Sequence[Difference]) -> list[Difference]:
    """Holm's p-values over all differences that are shown together."""
    p_values = holm([row.found.p_value for row in rows])
    return [replace(row, adjusted=p_value) for row, p_value in zip(rows, p_values, strict=True)]


def _differences(found: Sequence[Run]) -> list[Difference]:
    """The differences with p-values as they are."""
    pairing = _pairing(found)
    labels = _labels(found)
    frames = [_frame(run, pairing.strata) for run in found]
    rows = []
    for label, frame in zip(labels[1:], frames[1:], strict=True):
        templates = [t for t in frames[0]["template"].unique() if t in set(frame["template"])]
        if not templates:
            raise ConfigError(f"{label} and {labels[0]} have no template in common.")
        for template in templates:
            a, b, references, missing = _paired(frame, frames[0], template, pairing)
            comparison = _comparison(pairing.measure, label, a, b, references)
            rows.append(
                Difference(
                    _config(found[0]),
                    label,
                    labels[0],
                    int(template),
                    len(a),
                    missing,
                    comparison,
                    comparison.p_value,
                )
            )
    return rows


def _comparison(
    measure: str, label: str, a: list[Any], b: list[Any], references: list[Any] | None
) -> Comparison:
    if not a:
        raise DataError(f"{label} and the baseline have no sample in common.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the error below says it
        found = compare(measure, a, b, references)
    if math.isnan(found.p_value):
        needed = "each stereotype needs two or more" if references else "two or more are needed"
        raise DataError(
            f"{label} and the baseline have too few samples in common for {measure} ({len(a)}): {needed}."
        )
    return found


def _pairing(found: Sequence[Run]) -> Pairing:
    """What the runs can be compared by; different configs are refused."""
    configs = {str(run.path): run.result["config"] for run in found}
    if len(set(configs.values())) > 1:
        listed = "\n".join(f"  {path}: {config}" for path, config in configs.items())
        raise ConfigError(f"Runs of one config can be compared, and these are of several:\n{listed}")
    for name, what in _SAME.items():
        facts = {str(run.path): str(run.manifest["settings"].get(name)) for run in found}
        if len(set(facts.values())) > 1:
            listed = "\n".join(f"  {path}: {fact}" for path, fact in facts.items())
            raise ConfigError(f"Runs on the same {what} can be compared, and these differ:\n{listed}")
    probes = list(dict.fromkeys(run.result["probe"] for run in found))
    if len(probes) > 1:
        raise ConfigError(f"Runs of one kind can be compared, and these are {' and '.join(probes)}.")
    pairings = MEASURES[probes[0]].pairings
    if not pairings:
        offered = [pairing.measure for measure in MEASURES.values() for pairing in measure.pairings]
        raise ConfigError(
            f"Runs of {found[0].result['config']} have no paired comparison; there is one of "
            f"{', '.join(dict.fromkeys(offered))}."
        )
    for pairing in pairings:
        if all(len(run.table.select(pairing.columns).to_pandas().dropna()) for run in found):
            return pairing
    names = " or ".join(pairing.measure for pairing in pairings)
    raise DataError(f"One of the runs has no sample with {names}, so there is nothing to compare.")


def _labels(found: Sequence[Run]) -> list[str]:
    """A name for each run: its model, and its directory where models repeat."""
    models = [_name(run) for run in found]
    return [
        model if models.count(model) == 1 else f"{model} ({run.path})"
        for model, run in zip(models, found, strict=True)
    ]


def _name(run: Run) -> str:
    metadata: dict[str, Any] = run.manifest["metadata"]
    return str(metadata.get("model") or metadata.get("system") or run.path)


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
) -> tuple[list[Any], list[Any], list[Any] | None, int]:
    """Both runs' values on the samples that both have, and how many are in one only."""
    columns = list(pairing.columns)
    a, b = (frame[frame["template"] == template].dropna(subset=columns) for frame in (run, baseline))
    both = b.index.intersection(a.index, sort=False)
    missing = len(a) + len(b) - 2 * len(both)
    values = [_values(frame.loc[both, columns]) for frame in (a, b)]
    references = b.loc[both, pairing.strata].tolist() if pairing.strata else None
    return values[0], values[1], references, missing


def _values(frame: pd.DataFrame) -> list[Any]:
    return list(frame.iloc[:, 0] if frame.shape[1] == 1 else frame.to_numpy().tolist())
