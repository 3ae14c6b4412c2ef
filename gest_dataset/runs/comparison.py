"""Paired comparisons of runs on the same samples, or of languages on the same sources."""

import math
from collections.abc import Iterator, Sequence
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
from gest_dataset.measures.gest import NEUTRAL, PAIRS
from gest_dataset.measures.measure import Pairing
from gest_dataset.measures.result import sample_units, score_frame
from gest_dataset.runs.folder import Run, Runs, find_runs
from gest_dataset.runs.manifest import ANSWERS, MANIFEST, Manifest
from gest_dataset.statistics import Comparison, StereotypeDifference, compare_stereotypes, holm
from gest_dataset.statistics import compare as compare_scores
from gest_dataset.statistics.comparison import DRAWS, LARGEST, language_deviations
from gest_dataset.statistics.masculine_rate import UNKNOWN

# What runs must have in common: entries of the manifest and of its settings, with their names in messages
_SAME_DATA = {"config": "config", "data_fingerprint": "data"}
_SAME_QUESTIONS = {
    "measure": "measure",
    "prompts": "prompts",
    "options": "options (templates, words of several tokens)",
}
_SECOND = {"g_s": "d", "icat": "ss"}  # the number that is compared beside another one

# The values of two runs on their common samples, with the stereotypes (or other strata) and units of these
_Pairs = tuple[list[Any], list[Any], list[Any] | None, list[Any] | None]


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
    """The difference of a run from the baseline; with several `templates`, their mean.

    Both values are of the `n` samples that both runs have, so the baseline's may differ between runs.
    `missing` samples are in only one of them. `unknown` samples show no gender in one of two translators and
    are left out. `p_holm` is corrected over all differences of a result. `second` is the difference of d
    (beside g_s) or SS (beside ICAT), and `p_holm_second` is corrected over all of these.
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
    second: Comparison | None = None
    p_holm_second: float | None = None

    def disagreement(self) -> str:
        """A sentence about differences of g_s and d with opposite signs; empty if they agree."""
        size = self.second
        if size is None or size.measure != "d" or self.comparison.difference * size.difference >= 0:
            return ""
        higher, lower = ("g_s", "d") if size.difference < 0 else ("d", "g_s")
        return f"g_s and d disagree: {higher} is higher than the baseline's, {lower} is lower."


@dataclass(frozen=True)
class ComparisonResult:
    """All differences; `unmatched` runs have no counterpart, `skipped` has the reason for each config.

    `deviations` are the largest ones of single sources from their means over `languages`.
    """

    differences: list[Difference]
    unmatched: list[Path] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    deviations: tuple[dict[str, Any], ...] = ()

    def notes(self) -> list[str]:
        """Lines about the runs that were not compared."""
        lines = [f"No counterpart: {', '.join(map(str, self.unmatched))}"] if self.unmatched else []
        return [*lines, *(f"{config} is skipped: {reason}" for config, reason in self.skipped.items())]


def compare(paths_or_runs: Runs, by_template: bool = True) -> ComparisonResult:
    """Compare each run with the first one: paired differences with intervals and p-values (Holm).

    A path is a run, or a folder with one run per config: then the runs of each config are compared. Runs on
    pairs (or neutral sentences) of different languages are compared on the sources that all of them have.
    Single templates take most of the time; without `by_template` they are left out.
    """
    if len(paths_or_runs) < 2:
        raise ConfigError("A comparison needs two runs or more; the first is the baseline.")
    sides = [find_runs([path]) for path in paths_or_runs]
    firsts = [side[0] for side in sides]
    if all(len(side) == 1 for side in sides) and _is_cross_language(firsts):
        return _compare_languages(firsts)
    if all(isinstance(path, Run) or (Path(path) / MANIFEST).exists() for path in paths_or_runs):
        return ComparisonResult(with_holm(_differences(firsts, by_template)))
    by_config = [_by_config(path, side) for path, side in zip(paths_or_runs, sides, strict=True)]
    result = ComparisonResult([])
    for config in dict.fromkeys(config for side in by_config for config in side):
        runs = [side[config] for side in by_config if config in side]
        if config not in by_config[0] or len(runs) < 2:
            result.unmatched.extend(run.path for run in runs)
            continue
        try:
            result.differences.extend(_differences(runs, by_template))
        except (ConfigError, DataError) as error:
            result.skipped[config] = str(error)
    if not result.differences:
        raise ConfigError("\n".join(["No two runs can be compared.", *result.notes()]))
    return replace(result, differences=with_holm(result.differences))


def compare_pairs(runs: Sequence[Run], draws: int = DRAWS) -> Iterator[Difference]:
    """Every run compared with every other: headlines only; `p_holm` is not corrected yet.

    `draws` must grow with the number of comparisons, since no p-value is below 2 / (draws + 1).
    """
    sides = _Sides(runs)
    for run, baseline in combinations(range(len(runs)), 2):
        if templates := sides.common_templates(run, baseline):
            yield sides.difference(run, baseline, templates, draws)


def _by_config(path: str | Path | Run, runs: Sequence[Run]) -> dict[str, Run]:
    by_config: dict[str, Run] = {}
    for run in runs:
        other = by_config.setdefault(run.manifest.about, run)
        if other is not run:
            raise ConfigError(
                f"{path} has several runs of {run.manifest.about}: {other.path} and {run.path}. Give folders "
                f"with one run per config."
            )
    return by_config


def with_holm(rows: Sequence[Difference]) -> list[Difference]:
    """The p-values corrected over all differences, and those of templates over all templates."""
    corrected = iter(holm([row.p_holm for row in rows]))
    of_second = iter(holm([row.second.p_value for row in rows if row.second]))
    of_parts = iter(holm([part.p_holm for row in rows for part in row.by_template]))
    return [
        replace(
            row,
            p_holm=next(corrected),
            p_holm_second=next(of_second) if row.second else None,
            by_template=tuple(replace(part, p_holm=next(of_parts)) for part in row.by_template),
        )
        for row in rows
    ]


def _differences(runs: Sequence[Run], by_template: bool) -> list[Difference]:
    """The differences from the first run, with uncorrected p-values."""
    sides = _Sides(runs)
    differences = []
    for run in range(1, len(runs)):
        templates = sides.common_templates(run, 0)
        if not templates:
            raise ConfigError(f"{sides.labels[run]} and {sides.labels[0]} have no template in common.")
        headline = sides.difference(run, 0, templates, details=True)
        parts = []
        for template in templates if by_template and len(templates) > 1 else ():
            part = sides.difference(run, 0, [template])
            parts.append(TemplateDifference(template, part.n, part.missing, part.comparison, part.p_holm))
        differences.append(replace(headline, by_template=tuple(parts)))
    return differences


class _Sides:
    """Runs that can be compared: their labels and their scored samples."""

    def __init__(self, runs: Sequence[Run]) -> None:
        _check_same(runs, _SAME_DATA | _SAME_QUESTIONS)
        manifest = runs[0].manifest
        self.about = manifest.about
        self.pairing = _pairing(runs)
        names = [run.manifest.model for run in runs]
        self.labels = [  # with the folder if models repeat
            name if names.count(name) == 1 else f"{name} ({run.path})"
            for name, run in zip(names, runs, strict=True)
        ]
        self.unit = MEASURES[manifest.measure].unit
        self.rows = None if self.unit.column in (None, "id") else _rows(manifest)
        groups = [self.pairing.group_column] if self.pairing.group_column else []
        self.frames = []  # the scored samples, indexed by id, number (or prompt) and stereotype
        for run in runs:
            frame = score_frame(run.table)
            if run.manifest.table == ANSWERS:
                frame["occurrence"] = frame["variant"] + "#" + frame["repeat"].astype(str)
            frame = frame.set_index(["id", "occurrence", *groups], drop=False)
            self.frames.append(frame.dropna(subset=list(self.pairing.columns)))

    def common_templates(self, run: int, baseline: int) -> list[int]:
        """The templates of the baseline that the run has as well."""
        of_run = set(self.frames[run]["template"])
        return [number for number in self.frames[baseline]["template"].unique().tolist() if number in of_run]

    def difference(
        self, run: int, baseline: int, templates: Sequence[int], draws: int = DRAWS, details: bool = False
    ) -> Difference:
        """The difference of a run from a baseline on the samples that both have in all of the templates."""
        a, b = (
            [frame.loc[frame["template"] == template] for template in templates]
            for frame in (self.frames[run], self.frames[baseline])
        )
        common = every = b[0].index
        for part in (*a, *b):
            common, every = common.intersection(part.index, sort=False), every.union(part.index, sort=False)
        columns = list(self.pairing.columns)
        values = [np.hstack([part.loc[common, columns].to_numpy() for part in parts]) for parts in (a, b)]
        if values[0].shape[1] == 1:  # else each sample has a row of values
            values = [side[:, 0] for side in values]
        group_column = self.pairing.group_column
        references = b[0].loc[common, group_column].tolist() if group_column else None
        units = sample_units(self.unit, b[0].loc[common, "id"].tolist(), self.rows)
        pairs = values[0].tolist(), values[1].tolist(), references, units
        names = (self.about, self.labels[run], self.labels[baseline])
        numbers, missing = tuple(filter(None, templates)), len(every) - len(common)
        return paired_difference(self.pairing.statistic, names, numbers, pairs, missing, draws, details)


def _is_cross_language(runs: Sequence[Run]) -> bool:
    """Whether all runs are on pairs, or all on neutral sentences, each in a different language."""
    languages = {run.manifest.language for run in runs}
    return (
        {run.manifest.measure for run in runs} in ({PAIRS.name}, {NEUTRAL.name})
        and all(run.manifest.config in CONFIGS for run in runs)
        and "" not in languages
        and len(languages) == len(runs)
    )


def _compare_languages(runs: Sequence[Run]) -> ComparisonResult:
    _check_same(runs, _SAME_QUESTIONS)
    measure = _pairing(runs).statistic
    means = {run.manifest.language: _mean_of_sources(run) for run in runs}
    wide = pd.DataFrame(means).dropna()  # the sources that all languages have
    sources, stereotypes = (wide.index.get_level_values(name).tolist() for name in ("source", "stereotype"))
    first, *labels = (f"{run.manifest.model}, {run.manifest.config}" for run in runs)
    baseline, *languages = means
    differences = []
    for run, label, language in zip(runs[1:], labels, languages, strict=True):
        missing = len(means[language].index.union(means[baseline].index).difference(wide.index))
        pairs = wide[language].tolist(), wide[baseline].tolist(), stereotypes, sources
        names = (run.manifest.config, label, first)
        differences.append(paired_difference(measure, names, (), pairs, missing, details=True))
    # the sources that deviate most from their means over languages, each in one language
    deviations, limit = language_deviations(wide.to_numpy(), stereotypes)
    long = pd.DataFrame(deviations, wide.index, wide.columns[-deviations.shape[1] :]).stack()
    long = long.rename_axis([*wide.index.names, "language"]).rename("deviation").reset_index()
    long = long.sort_values("deviation", key=np.abs, ascending=False, kind="stable")
    largest = long.drop_duplicates(["source", "stereotype"]).head(LARGEST)
    stands_out = largest.assign(stands_out=largest["deviation"].abs() > limit).to_dict("records")
    return ComparisonResult(with_holm(differences), [], {}, tuple(means), tuple(stands_out))


def _mean_of_sources(run: Run) -> "pd.Series[float]":
    rows = _rows(run.manifest).select_columns(["id", "source"]).to_pandas()
    frame = run.table.select(["id", "stereotype", "log_ratio"]).to_pandas().dropna()
    frame = frame.merge(rows, on="id", how="left")
    if frame["source"].isna().any():
        name = frame.loc[frame["source"].isna(), "id"].iloc[0]
        raise DataError(
            f"{run.manifest.config} no longer has the sample {name} of {run.path}. Score the model again."
        )
    return frame.groupby(["source", "stereotype"])["log_ratio"].mean()


def _rows(manifest: Manifest) -> datasets.Dataset:
    """The rows of the dataset, which name the units of the samples."""
    unit = MEASURES[manifest.measure].unit
    if manifest.config not in CONFIGS:  # a user's own data, resampled individually
        return datasets.Dataset.from_dict({})
    try:
        return rows_of(manifest.config)
    except GestError as error:
        raise DataError(
            f"A comparison on {manifest.config} resamples by {unit.label}, which needs the column "
            f"`{unit.column}` of the dataset: {error}\nAllow the download, or set GEST_MIRROR."
        ) from error


def paired_difference(
    measure: str,
    names: tuple[str, str, str],
    templates: tuple[int, ...],
    pairs: _Pairs,
    missing: int,
    draws: int = DRAWS,
    details: bool = False,
) -> Difference:
    """The difference of two runs on their common samples; with `details`, also d or SS, and stereotypes."""
    a, b, references, units = pairs
    if not a:
        raise DataError(f"{names[1]} and the baseline have no sample in common.")
    compared = compare_scores(measure, *pairs, draws=draws)
    if math.isnan(compared.p_value) and compared.samples_needed is None:
        raise DataError(
            f"{names[1]} and the baseline have too few samples in common for {measure} ({len(a)}): "
            f"each stereotype or group needs at least two from different units."
        )
    known = sum(UNKNOWN not in pair for pair in zip(a, b, strict=True)) if measure == "f_s" else len(a)
    difference = Difference(*names, templates, known, missing, len(a) - known, compared, compared.p_value)
    if not details or measure not in _SECOND:
        return difference
    by_stereotype = tuple(compare_stereotypes(a, b, references, units)) if references else ()
    second = compare_scores(_SECOND[measure], *pairs, draws=draws)
    return replace(difference, by_stereotype=by_stereotype, second=second)


def _check_same(runs: Sequence[Run], entries: dict[str, str]) -> None:
    for entry, what in entries.items():
        values = {str(run.path): str(run.manifest.identity().get(entry)) for run in runs}
        if len(set(values.values())) > 1:
            listed = "\n".join(f"  {path}: {value}" for path, value in values.items())
            raise ConfigError(f"Runs must have the same {what} to be compared. These differ:\n{listed}")


def _pairing(runs: Sequence[Run]) -> Pairing:
    """The first measure of comparison that all runs have scores for."""
    pairings = MEASURES[runs[0].manifest.measure].pairings
    for pairing in pairings:
        if all(len(run.table.select(pairing.columns).to_pandas().dropna()) for run in runs):
            return pairing
    if pairings:
        raise DataError("One of the runs has no scored sample, so there is nothing to compare.")
    raise ConfigError(f"Runs of {runs[0].manifest.about} cannot be compared by sample.")
