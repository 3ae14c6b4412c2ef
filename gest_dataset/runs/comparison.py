"""Paired comparisons of runs on the same samples, or of languages on the same sources."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError, GestError
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Pairing, Unit
from gest_dataset.measures.result import sample_units
from gest_dataset.runs.cross_language import is_cross_language, scores_with_sources
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.runs.manifest import ANSWERS, MANIFEST, Manifest
from gest_dataset.statistics import Comparison, StereotypeDifference, compare_stereotypes, holm
from gest_dataset.statistics import compare as compare_scores
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.statistics.dif import DifItem, differing_items, shared_sources
from gest_dataset.statistics.masculine_rate import known_in_all

logger = logging.getLogger(__name__)
# What runs must have in common
_SAME: dict[str, Callable[[Manifest], Any]] = {
    "config": lambda manifest: manifest.config,
    "measure": lambda manifest: manifest.measure,
    "data": lambda manifest: manifest.data_fingerprint,
    "prompts": lambda manifest: manifest.settings.get("prompts"),
    "options (templates, words of several tokens)": lambda manifest: manifest.settings.get("options"),
}
_SAME_ACROSS_LANGUAGES = [what for what in _SAME if what not in ("config", "data")]


@dataclass(frozen=True)
class TemplateDifference:
    """The difference in one template, of `n` samples; `p_holm` is corrected over all templates."""

    template: int
    n: int
    missing: int
    comparison: Comparison
    p_holm: float


@dataclass(frozen=True)
class Difference:
    """The difference of a run from the baseline, over several `templates` the mean of theirs.

    Both values are of the `n` samples that both runs have, so the baseline's may differ between runs.
    `missing` samples are in only one of them. `unknown` samples show no gender in one of two translators and
    are left out. `p_holm` is corrected over all differences of a result.
    """

    config: str
    run: str
    baseline: str
    templates: tuple[int, ...]
    n: int
    missing: int
    unknown: int
    comparison: Comparison
    p_holm: float
    by_template: tuple[TemplateDifference, ...] = ()
    by_stereotype: tuple[StereotypeDifference, ...] = ()


@dataclass(frozen=True)
class ComparisonResult:
    """All differences; `unmatched` runs have no counterpart, `skipped` has the reason for each config.

    Over several `languages`, `items` are the sources that behave differently in one of them.
    """

    differences: list[Difference]
    unmatched: list[Path] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    items: tuple[DifItem, ...] = ()

    def notes(self) -> list[str]:
        """Lines about the runs that were not compared."""
        lines = [f"No counterpart: {', '.join(map(str, self.unmatched))}"] if self.unmatched else []
        return [*lines, *(f"{config} is skipped: {reason}" for config, reason in self.skipped.items())]


def compare(paths_or_runs: Sequence[str | Path | Run]) -> ComparisonResult:
    """Compare each run with the first one: paired differences with intervals and p-values (Holm).

    A path is a run, or a folder with one run per config: then the runs of each config are compared. Runs on
    pairs (or neutral sentences) of different languages are compared on the sources that all of them have.
    """
    if len(paths_or_runs) < 2:
        raise ConfigError("A comparison needs two runs or more; the first is the baseline.")
    sides = [find_runs([path]) for path in paths_or_runs]
    firsts = [side[0] for side in sides]
    if all(len(side) == 1 for side in sides) and is_cross_language(firsts):
        return _compare_languages(firsts)
    if all(isinstance(path, Run) or (Path(path) / MANIFEST).exists() for path in paths_or_runs):
        return ComparisonResult(_with_holm(_differences(firsts)))
    by_config = [_by_config(path, side) for path, side in zip(paths_or_runs, sides, strict=True)]
    result = ComparisonResult([])
    for config in dict.fromkeys(config for side in by_config for config in side):
        runs = [side[config] for side in by_config if config in side]
        if config not in by_config[0] or len(runs) < 2:
            result.unmatched.extend(run.path for run in runs)
            continue
        try:
            result.differences.extend(_differences(runs))
        except (ConfigError, DataError) as error:
            result.skipped[config] = str(error)
    if not result.differences:
        raise ConfigError("\n".join(["No two runs can be compared.", *result.notes()]))
    return replace(result, differences=_with_holm(result.differences))


def compare_pairs(runs: Sequence[Run], draws: int = DRAWS) -> Iterator[Difference]:
    """Every run compared with every other: headlines only; `p_holm` is not corrected yet.

    `draws` must grow with the number of comparisons, since no p-value is below 2 / (draws + 1).
    """
    _check_same(runs, list(_SAME))
    pairing = _pairing(runs)
    rows = _rows(runs[0].manifest)
    sides = list(zip(_labels(runs), [_score_frame(run, pairing) for run in runs], strict=True))
    for (label, frame), (other, baseline) in combinations(sides, 2):
        templates = _common_templates(frame, baseline)
        if templates:
            scores = _pair(frame, baseline, templates, pairing, runs[0], rows)
            found = _compare(pairing.measure, label, scores, draws)
            names = (runs[0].manifest.about, label, other)
            yield _difference(pairing.measure, names, templates, scores, found)


def _by_config(path: str | Path | Run, runs: Sequence[Run]) -> dict[str, Run]:
    """The runs of a folder by config and language."""
    by_config: dict[str, Run] = {}
    for run in runs:
        other = by_config.setdefault(run.manifest.about, run)
        if other is not run:
            raise ConfigError(
                f"{path} has several runs of {run.manifest.about}: {other.path} and {run.path}. Give folders "
                f"with one run per config."
            )
    return by_config


def _with_holm(rows: Sequence[Difference]) -> list[Difference]:
    """The p-values corrected over all differences, and those of templates over all templates."""
    p_values = holm([row.comparison.p_value for row in rows])
    single = [part.comparison.p_value for row in rows for part in row.by_template]
    of_templates = iter(holm(single) if single else [])
    return [
        replace(
            row,
            p_holm=p_value,
            by_template=tuple(replace(part, p_holm=next(of_templates)) for part in row.by_template),
        )
        for row, p_value in zip(rows, p_values, strict=True)
    ]


def _differences(runs: Sequence[Run]) -> list[Difference]:
    """The differences from the first run, with uncorrected p-values."""
    _check_same(runs, list(_SAME))
    pairing = _pairing(runs)
    rows = _rows(runs[0].manifest)
    (baseline, first), *others = zip(_labels(runs), [_score_frame(run, pairing) for run in runs], strict=True)
    differences = []
    for label, frame in others:
        templates = _common_templates(frame, first)
        if not templates:
            raise ConfigError(f"{label} and {baseline} have no template in common.")
        scores = _pair(frame, first, templates, pairing, runs[0], rows)
        found = _compare(pairing.measure, label, scores)
        single = []
        for template in templates if len(templates) > 1 else ():
            part = _pair(frame, first, [template], pairing, runs[0], rows)
            of_template = _compare(pairing.measure, label, part)
            p_value = of_template.p_value
            single.append(TemplateDifference(template, len(part.a), part.missing, of_template, p_value))
        names = (runs[0].manifest.about, label, baseline)
        difference = _difference(pairing.measure, names, templates, scores, found)
        by_stereotype = _by_stereotype(pairing.measure, scores)
        differences.append(replace(difference, by_template=tuple(single), by_stereotype=by_stereotype))
    return differences


def _compare_languages(runs: Sequence[Run]) -> ComparisonResult:
    """Runs of different languages on the sources that all of them have."""
    _check_same(runs, _SAME_ACROSS_LANGUAGES)
    measure = _pairing(runs).measure
    frames = {run.manifest.language: scores_with_sources(run, _rows(run.manifest)) for run in runs}
    wide = shared_sources(frames)
    sources = wide.index.get_level_values("source").tolist()
    stereotypes = wide.index.get_level_values("stereotype").tolist()
    labels = [f"{run.manifest.model}, {run.manifest.config}" for run in runs]
    if len({run.manifest.model for run in runs}) > 1:
        logger.warning("The models differ as well as the languages: either may cause a difference.")
    baseline, *others = frames
    differences = []
    for run, language, label in zip(runs[1:], others, labels[1:], strict=True):
        a, b = wide[language].tolist(), wide[baseline].tolist()
        missing = len({*frames[language]["source"], *frames[baseline]["source"]} - {*sources})
        scores = _PairedScores(a, b, stereotypes, sources, missing)
        names = (run.manifest.config, label, labels[0])
        difference = _difference(measure, names, (), scores, _compare(measure, label, scores))
        differences.append(replace(difference, by_stereotype=_by_stereotype(measure, scores)))
    return ComparisonResult(
        _with_holm(differences), languages=tuple(frames), items=tuple(differing_items(wide))
    )


def _rows(manifest: Manifest) -> datasets.Dataset | None:
    """The rows of the dataset if they name the units of the samples; None if the ids do."""
    unit: Unit = MEASURES[manifest.measure].unit
    if unit.column in (None, "id"):
        return None
    if manifest.config not in CONFIGS:
        logger.warning(
            "%s is not a config of gest, so the `%s` of its samples is unknown: samples are resampled "
            "individually.",
            manifest.config,
            unit.column,
        )
        return datasets.Dataset.from_dict({})
    try:
        return rows_of(manifest.config)
    except GestError as error:
        raise DataError(
            f"The samples of {manifest.config} are compared by {unit.label}, in the column `{unit.column}` "
            f"of the dataset, which cannot be read: {error}\nAllow the download, or set GEST_MIRROR."
        ) from error


@dataclass(frozen=True)
class _PairedScores:
    """The values of two runs on their common samples, with stereotypes (or other strata) and units.

    `missing` samples are in only one of the runs.
    """

    a: list[Any]
    b: list[Any]
    references: list[Any] | None
    units: list[Any] | None
    missing: int


def _difference(
    measure: str,
    names: tuple[str, str, str],
    templates: Sequence[int],
    scores: _PairedScores,
    found: Comparison,
) -> Difference:
    known = sum(known_in_all(scores.a, scores.b)) if measure == "f_s" else len(scores.a)
    numbers = tuple(template for template in templates if template)
    counts = (known, scores.missing, len(scores.a) - known)
    return Difference(*names, numbers, *counts, found, found.p_value)


def _by_stereotype(measure: str, scores: _PairedScores) -> tuple[StereotypeDifference, ...]:
    if measure != "g_s" or scores.references is None:
        return ()
    return tuple(compare_stereotypes(scores.a, scores.b, scores.references, scores.units))


def _compare(measure: str, label: str, scores: _PairedScores, draws: int = DRAWS) -> Comparison:
    if not scores.a:
        raise DataError(f"{label} and the baseline have no sample in common.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the error below says so
        found = compare_scores(measure, scores.a, scores.b, scores.references, scores.units, draws=draws)
    if math.isnan(found.p_value):
        units = "" if scores.units is None else " of different units"
        strata = " in each stereotype" if scores.references else ""
        raise DataError(
            f"{label} and the baseline have too few samples in common for {measure} ({len(scores.a)}): "
            f"at least two{units} are needed{strata}."
        )
    return found


def _check_same(runs: Sequence[Run], names: Sequence[str]) -> None:
    """Raise an error if runs differ in something that must be the same."""
    for what in names:
        facts = {str(run.path): str(_SAME[what](run.manifest)) for run in runs}
        if len(set(facts.values())) > 1:
            listed = "\n".join(f"  {path}: {value}" for path, value in facts.items())
            raise ConfigError(f"Runs must have the same {what} to be compared. These differ:\n{listed}")


def _pairing(runs: Sequence[Run]) -> Pairing:
    """The first measure of comparison that all runs have scores for."""
    pairings = MEASURES[runs[0].manifest.measure].pairings
    for pairing in pairings:
        if all(len(run.table.select(pairing.columns).to_pandas().dropna()) for run in runs):
            return pairing
    if pairings:
        names = " or ".join(pairing.measure for pairing in pairings)
        raise DataError(f"One of the runs has no sample with {names}, so there is nothing to compare.")
    offered = dict.fromkeys(pairing.measure for measure in MEASURES.values() for pairing in measure.pairings)
    raise ConfigError(
        f"Runs of {runs[0].manifest.about} have no paired comparison. These have one: {', '.join(offered)}."
    )


def _labels(runs: Sequence[Run]) -> list[str]:
    """The model of each run, with its folder if models repeat."""
    names = [run.manifest.model for run in runs]
    return [
        name if names.count(name) == 1 else f"{name} ({run.path})"
        for name, run in zip(names, runs, strict=True)
    ]


def _score_frame(run: Run, pairing: Pairing) -> pd.DataFrame:
    """The scored samples, indexed by id, number (or prompt) and stereotype."""
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    if run.manifest.table == ANSWERS:
        frame["again"] = frame["variant"] + "#" + frame["repeat"].astype(str)
    else:
        frame["again"] = frame.groupby(["template", "id"]).cumcount()
    key = ["id", "again", *([pairing.strata] if pairing.strata else [])]
    return frame.set_index(key, drop=False).dropna(subset=list(pairing.columns))


def _common_templates(run: pd.DataFrame, baseline: pd.DataFrame) -> list[int]:
    return [number for number in baseline["template"].unique().tolist() if number in set(run["template"])]


def _pair(
    run: pd.DataFrame,
    baseline: pd.DataFrame,
    templates: Sequence[int],
    pairing: Pairing,
    any_run: Run,
    rows: datasets.Dataset | None,
) -> _PairedScores:
    """The samples that both runs have in all of the templates; with several, a row of values each."""
    sides = [
        [frame.loc[frame["template"] == template] for template in templates] for frame in (run, baseline)
    ]
    of_baseline = sides[1][0]
    common = every = of_baseline.index
    for part in (*sides[0], *sides[1]):
        common, every = common.intersection(part.index, sort=False), every.union(part.index, sort=False)
    columns = list(pairing.columns)
    a, b = (np.hstack([part.loc[common, columns].to_numpy() for part in parts]) for parts in sides)
    if a.shape[1] == 1:
        a, b = a[:, 0], b[:, 0]
    references = of_baseline.loc[common, pairing.strata].tolist() if pairing.strata else None
    unit = MEASURES[any_run.manifest.measure].unit
    units = sample_units(unit, of_baseline.loc[common, "id"].tolist(), rows)
    return _PairedScores(a.tolist(), b.tolist(), references, units, len(every) - len(common))
