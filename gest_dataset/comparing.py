"""Runs of several models on the same samples: paired differences from the first of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.runs import Run
from gest_dataset.statistics import Comparison, compare, holm
from gest_dataset.statistics.checks import UndefinedWarning

_G_S = ("g_s", ["log_ratio"])
_ICAT = ("icat", ["stereotype", "antistereotype", "unrelated"])
_CS = ("cs_mu_original", ["cs_original"])
# Probe -> its measures and the columns that each is made of; the first one that the runs have is shown
_MEASURES: dict[str, tuple[tuple[str, list[str]], ...]] = {
    "templates": (_G_S,),
    "pairs": (_G_S,),
    "masculine-rate": (("f_s", ["gender"]),),
    "quadruplets": (("f_mu", [f"logp_{field}" for field in FIELDS]), _CS),  # not all sets have keywords
    "crows": (_CS,),
    "stereoset_intrasentence": (_ICAT,),
    "stereoset_intersentence": (_ICAT,),
}
_BY_STEREOTYPE = {"g_s", "f_s"}
# What a sample's id stands for: runs that differ here have not answered the same questions
_SAME = {"data_fingerprint": "data", "options": "options (templates, words of several tokens)"}


@dataclass(frozen=True)
class Difference:
    """A run's measure minus the baseline's (`found.a - found.b`), in one template (0: none).

    Both are of the `n` samples that both runs have, so the baseline's can be another one for each run;
    `missing` ones are in one of them only. `adjusted` is Holm's p-value.
    """

    run: str
    baseline: str
    template: int
    n: int
    missing: int
    found: Comparison
    adjusted: float


def differences(runs: Sequence[Run]) -> list[Difference]:
    """Each run beside the first one, in every template that both have."""
    if len(runs) < 2:
        raise ConfigError("A comparison needs two runs or more: the first one is the baseline.")
    measure, columns = _measure(runs)
    about = "stereotype" if measure in _BY_STEREOTYPE else None
    labels = _labels(runs)
    frames = [_frame(run, about) for run in runs]
    rows = []
    for label, frame in zip(labels[1:], frames[1:], strict=True):
        templates = [t for t in frames[0]["template"].unique() if t in set(frame["template"])]
        if not templates:
            raise ConfigError(f"{label} and {labels[0]} have no template in common.")
        for template in templates:
            rows.append((label, int(template), *_paired(frame, frames[0], template, columns, about)))
    comparisons = [_compared(measure, label, a, b, refs) for label, _, a, b, refs, _ in rows]
    adjusted = holm([one.p_value for one in comparisons])
    return [
        Difference(label, labels[0], template, len(a), missing, found, p)
        for (label, template, a, _, _, missing), found, p in zip(rows, comparisons, adjusted, strict=True)
    ]


def _compared(
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


def _measure(runs: Sequence[Run]) -> tuple[str, list[str]]:
    """What the runs can be compared by; different configs are refused."""
    configs = {str(run.path): run.result["config"] for run in runs}
    if len(set(configs.values())) > 1:
        listed = "\n".join(f"  {path}: {config}" for path, config in configs.items())
        raise ConfigError(f"Runs of one config can be compared, and these are of several:\n{listed}")
    for name, what in _SAME.items():
        facts = {str(run.path): str(run.manifest["settings"].get(name)) for run in runs}
        if len(set(facts.values())) > 1:
            listed = "\n".join(f"  {path}: {fact}" for path, fact in facts.items())
            raise ConfigError(f"Runs on the same {what} can be compared, and these differ:\n{listed}")
    probes = list(dict.fromkeys(run.result["probe"] for run in runs))
    if len(probes) > 1:
        raise ConfigError(f"Runs of one kind can be compared, and these are {' and '.join(probes)}.")
    if probes[0] not in _MEASURES:
        raise ConfigError(
            f"Runs of {runs[0].result['config']} have no paired comparison; there is one for "
            f"GEST (g_s, f_s), StereoSet (icat), quadruplets (f_mu) and CrowS-Pairs (cs)."
        )
    for measure, columns in _MEASURES[probes[0]]:
        if all(len(run.table.select(columns).to_pandas().dropna()) for run in runs):
            return measure, columns
    names = " or ".join(measure for measure, _ in _MEASURES[probes[0]])
    raise DataError(f"One of the runs has no sample with {names}, so there is nothing to compare.")


def _labels(runs: Sequence[Run]) -> list[str]:
    """A name for each run: its model, and its directory where models repeat."""
    models = [_name(run) for run in runs]
    return [
        model if models.count(model) == 1 else f"{model} ({run.path})"
        for model, run in zip(models, runs, strict=True)
    ]


def _name(run: Run) -> str:
    metadata: dict[str, Any] = run.manifest["metadata"]
    return str(metadata.get("model") or metadata.get("system") or run.path)


def _frame(run: Run, about: str | None) -> pd.DataFrame:
    """The samples by what makes them the same ones: id, its repetition, stereotype, template."""
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    return frame.set_index([*_KEY, about] if about else _KEY, drop=False)


_KEY = ["id", "again"]


def _paired(
    run: pd.DataFrame, baseline: pd.DataFrame, template: Any, columns: list[str], about: str | None
) -> tuple[list[Any], list[Any], list[Any] | None, int]:
    """Both runs' values on the samples that both have, and how many are in one only."""
    a, b = (frame[frame["template"] == template].dropna(subset=columns) for frame in (run, baseline))
    both = b.index.intersection(a.index, sort=False)
    missing = len(a) + len(b) - 2 * len(both)
    values = [_values(frame.loc[both, columns]) for frame in (a, b)]
    references = b.loc[both, about].tolist() if about else None
    return values[0], values[1], references, missing


def _values(frame: pd.DataFrame) -> list[Any]:
    return list(frame.iloc[:, 0] if frame.shape[1] == 1 else frame.to_numpy().tolist())
