"""Runs of several models on the same samples: paired differences from the first of them.

Runs on pairs, or on neutral sentences, of different languages are compared too, on the sources that all of
them have (`runs.across`).
"""

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
from gest_dataset.runs.across import by_source, of_languages
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.runs.manifest import ANSWERS, MANIFEST, Manifest
from gest_dataset.statistics import Comparison, StereotypeDifference, compare_stereotypes, holm
from gest_dataset.statistics import compare as paired
from gest_dataset.statistics.checks import UndefinedWarning
from gest_dataset.statistics.comparison import DRAWS
from gest_dataset.statistics.dif import DifItem, differing_items, shared_sources
from gest_dataset.statistics.masculine_rate import known_in_all

logger = logging.getLogger(__name__)
_TWO = "A comparison needs two runs or more: the first one is the baseline."
# Runs that differ in one of these have not answered the same questions
_SAME: dict[str, Callable[[Manifest], Any]] = {
    "config": lambda manifest: manifest.config,
    "measure": lambda manifest: manifest.measure,
    "data": lambda manifest: manifest.data_fingerprint,
    "prompts": lambda manifest: manifest.settings.get("prompts"),
    "options (templates, words of several tokens)": lambda manifest: manifest.settings.get("options"),
}
_OF_LANGUAGES = ("config", "data")  # these differ from language to language


@dataclass(frozen=True)
class OfTemplate:
    """The difference in one template, of `n` samples; `adjusted` is Holm's p-value over all templates."""

    template: int
    n: int
    missing: int
    found: Comparison
    adjusted: float


@dataclass(frozen=True)
class Difference:
    """A run's headline beside the baseline's: `found`, of the mean over several `templates`.

    Both are of the `n` samples that both runs have (in all of these templates), so the baseline's can be
    another one for each run; `missing` ones are in one of them only. Of translators `unknown` more are in
    both, and left out as one of them shows no gender there. `adjusted` is Holm's p-value over all differences
    that are shown together. `by_stereotype` has the 16 differences of ln q_i of templates and pairs.
    """

    config: str
    run: str
    baseline: str
    templates: tuple[int, ...]
    n: int
    missing: int
    unknown: int
    found: Comparison
    adjusted: float
    by_template: tuple[OfTemplate, ...] = ()
    by_stereotype: tuple[StereotypeDifference, ...] = ()


@dataclass(frozen=True)
class Compared:
    """What became of some runs: `alone` are those without a partner, `left_out` has the reasons.

    Over several `languages` the differences are of the sources that all of them have, and `items` are those
    that behave differently in one language (`statistics.dif`).
    """

    differences: list[Difference]
    alone: list[Path] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    items: tuple[DifItem, ...] = ()

    def notes(self) -> list[str]:
        """Lines on what is in no difference."""
        lines = [f"No partner: {', '.join(map(str, self.alone))}"] if self.alone else []
        return [*lines, *(f"{config} is left out: {reason}" for config, reason in self.left_out.items())]


def compare(paths_or_runs: Sequence[str | Path | Run]) -> Compared:
    """Each run beside the first one: paired differences of the measure that they share, with intervals.

    A path is of a run, or of a folder of runs: of folders, those of one config each are compared, and
    what has no partner is said. Runs on pairs (or on neutral sentences) that are each of another language are
    compared on the sources that all of them have. p-values are Holm's, over all differences that result.
    """
    if len(paths_or_runs) < 2:
        raise ConfigError(_TWO)
    sides = [find_runs([place]) for place in paths_or_runs]
    if all(len(side) == 1 for side in sides) and of_languages([run for (run,) in sides]):
        return _over_languages([run for (run,) in sides])
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


def compare_pairs(runs: Sequence[Run], draws: int = DRAWS) -> Iterator[Difference]:
    """Every run beside every other on the same samples: headlines alone, with p-values as they are.

    `adjusted` is the p-value itself: `statistics.holm` over those that are shown together corrects it. Enough
    `draws` have to be made for their number, as no p-value is below 2 / (draws + 1).
    """
    _check_same(runs, list(_SAME))
    pairing = _pairing(runs)
    about, unit = runs[0].manifest.about, MEASURES[runs[0].manifest.measure].unit
    data = _rows(runs[0].manifest, unit)
    sides = list(zip(_labels(runs), [_frame(run, pairing) for run in runs], strict=True))
    for (label, frame), (other, baseline) in combinations(sides, 2):
        templates = [t for t in baseline["template"].unique().tolist() if t in set(frame["template"])]
        if not templates:
            continue
        both = _paired(frame, baseline, templates, pairing)
        both = replace(both, units=sample_units(unit, both.ids, data))
        found = _comparison(pairing.measure, label, both, draws)
        number = len(both.a)
        known = sum(known_in_all(both.a, both.b)) if pairing.measure == "f_s" else number
        named = tuple(template for template in templates if template)
        counts = (known, both.missing, number - known)
        yield Difference(about, label, other, named, *counts, found, found.p_value)


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
    """Holm's p-values over all differences that are shown together, and over all of single templates."""
    p_values = holm([row.found.p_value for row in rows])
    single = [part.found.p_value for row in rows for part in row.by_template]
    of_templates = iter(holm(single) if single else [])
    return [
        replace(
            row,
            adjusted=p_value,
            by_template=tuple(replace(part, adjusted=next(of_templates)) for part in row.by_template),
        )
        for row, p_value in zip(rows, p_values, strict=True)
    ]


def _differences(runs: Sequence[Run]) -> list[Difference]:
    """The differences with p-values as they are."""
    _check_same(runs, list(_SAME))
    pairing = _pairing(runs)
    about, unit = runs[0].manifest.about, MEASURES[runs[0].manifest.measure].unit
    data = _rows(runs[0].manifest, unit)
    (baseline, first), *others = zip(_labels(runs), [_frame(run, pairing) for run in runs], strict=True)
    rows = []
    for label, frame in others:
        templates = [t for t in first["template"].unique().tolist() if t in set(frame["template"])]
        if not templates:
            raise ConfigError(f"{label} and {baseline} have no template in common.")
        parts = []
        for chosen in [templates, *([t] for t in templates if len(templates) > 1)]:
            both = _paired(frame, first, chosen, pairing)
            both = replace(both, units=sample_units(unit, both.ids, data))
            parts.append((chosen, both, _comparison(pairing.measure, label, both)))
        (_, both, comparison), *single = parts
        of_templates = tuple(
            OfTemplate(template, len(part.a), part.missing, found, found.p_value)
            for (template,), part, found in single
        )
        difference = _of(pairing.measure, (about, label, baseline), both, comparison)
        named = tuple(template for template in templates if template)
        rows.append(replace(difference, templates=named, by_template=of_templates))
    return rows


def _of(measure: str, names: tuple[str, str, str], both: _Both, comparison: Comparison) -> Difference:
    """The difference of a config, a run and the baseline, without templates."""
    number = len(both.a)
    known = sum(known_in_all(both.a, both.b)) if measure == "f_s" else number
    by_stereotype: tuple[StereotypeDifference, ...] = ()
    if measure == "g_s" and both.references is not None:
        by_stereotype = tuple(compare_stereotypes(both.a, both.b, both.references, both.units))
    counts = (known, both.missing, number - known)
    return Difference(*names, (), *counts, comparison, comparison.p_value, by_stereotype=by_stereotype)


def _over_languages(runs: Sequence[Run]) -> Compared:
    """The languages of some runs on pairs or neutral sentences, on the sources that all of them have."""
    _check_same(runs, [what for what in _SAME if what not in _OF_LANGUAGES])
    pairing, unit = _pairing(runs), MEASURES[runs[0].manifest.measure].unit
    frames = {run.manifest.language: by_source(run, _rows(run.manifest, unit)) for run in runs}
    wide = shared_sources(frames)
    sources = wide.index.get_level_values("source").tolist()
    stereotypes = wide.index.get_level_values("stereotype").tolist()
    labels = {run.manifest.language: f"{run.manifest.model}, {run.manifest.config}" for run in runs}
    if len({run.manifest.model for run in runs}) > 1:
        logger.warning("Models differ as well as languages: a difference may be of either.")
    first, *others = runs
    baseline = first.manifest.language
    rows = []
    for run in others:
        language = run.manifest.language
        a, b = wide[language].tolist(), wide[baseline].tolist()
        missing = len({*frames[language]["source"], *frames[baseline]["source"]} - {*sources})
        both = _Both(a, b, stereotypes, sources, missing, sources)
        names = (run.manifest.config, labels[language], labels[baseline])
        rows.append(_of(pairing.measure, names, both, _comparison(pairing.measure, names[1], both)))
    return Compared(_adjusted(rows), languages=tuple(frames), items=tuple(differing_items(wide)))


def _rows(manifest: Manifest, unit: Unit) -> datasets.Dataset | None:
    """The data of the runs, where the units of their samples stand in it; None where the ids say them."""
    if unit.column in (None, "id"):
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
            f"The samples of {manifest.config} are compared by {unit.label}, which stands in the column "
            f"`{unit.column}` of the data, and those cannot be read: {error}\nAllow the download, or name a "
            f"mirror with GEST_MIRROR."
        ) from error


@dataclass(frozen=True)
class _Both:
    """Both runs' values on the samples that both have, what those are about, their ids and units.

    `missing` samples are in one of the runs only.
    """

    a: list[Any]
    b: list[Any]
    references: list[Any] | None
    ids: list[str]
    missing: int
    units: list[Any] | None = None


def _comparison(measure: str, label: str, both: _Both, draws: int = DRAWS) -> Comparison:
    if not both.a:
        raise DataError(f"{label} and the baseline have no sample in common.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)  # the error below says it
        comparison = paired(measure, both.a, both.b, both.references, both.units, draws=draws)
    if math.isnan(comparison.p_value):
        of_units = "" if both.units is None else " of different units"
        needed = f"two or more{of_units} are needed{' in each stereotype' if both.references else ''}"
        raise DataError(
            f"{label} and the baseline have too few samples in common for {measure} ({len(both.a)}): "
            f"{needed}."
        )
    return comparison


def _check_same(runs: Sequence[Run], names: Sequence[str]) -> None:
    """Refuse runs that have answered other questions."""
    for what in names:
        facts = {str(run.path): str(_SAME[what](run.manifest)) for run in runs}
        if len(set(facts.values())) > 1:
            listed = "\n".join(f"  {path}: {value}" for path, value in facts.items())
            raise ConfigError(f"Runs on the same {what} can be compared, and these differ:\n{listed}")


def _pairing(runs: Sequence[Run]) -> Pairing:
    """What the runs can be compared by."""
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
    subjects = [run.manifest.model for run in runs]
    return [
        subject if subjects.count(subject) == 1 else f"{subject} ({run.path})"
        for subject, run in zip(subjects, runs, strict=True)
    ]


_KEY = ["id", "again"]


def _frame(run: Run, pairing: Pairing) -> pd.DataFrame:
    """The samples with a score by what makes them the same ones: id, repetition or prompt, stereotype."""
    frame = run.table.to_pandas()
    if "template" not in frame:
        frame["template"] = 0
    if run.manifest.table == ANSWERS:
        frame["again"] = frame["variant"] + "#" + frame["repeat"].astype(str)
    else:
        frame["again"] = frame.groupby(["template", "id"]).cumcount()
    key = [*_KEY, pairing.strata] if pairing.strata else _KEY
    return frame.set_index(key, drop=False).dropna(subset=list(pairing.columns))


def _paired(run: pd.DataFrame, baseline: pd.DataFrame, templates: Sequence[int], pairing: Pairing) -> _Both:
    """The samples that both runs have in all of the templates; a row of values each, if several."""
    sides = [
        [frame.loc[frame["template"] == template] for template in templates] for frame in (run, baseline)
    ]
    of_baseline = sides[1][0]
    keys = [part.index for parts in sides for part in parts]
    common, every = of_baseline.index, of_baseline.index
    for key in keys:
        common, every = common.intersection(key, sort=False), every.union(key, sort=False)
    columns = list(pairing.columns)
    a, b = ([part.loc[common, columns].to_numpy() for part in parts] for parts in sides)
    references = of_baseline.loc[common, pairing.strata].tolist() if pairing.strata else None
    ids = of_baseline.loc[common, "id"].tolist()
    return _Both(_values(a), _values(b), references, ids, len(every) - len(common))


def _values(parts: Sequence[Any]) -> list[Any]:
    """One value a sample, or a row of them."""
    table = np.hstack(parts)
    return list(table[:, 0] if table.shape[1] == 1 else table.tolist())
