"""`gest study heuristics`: the accuracy of the heuristics (Pikuliak et al., 2024, appendix C).

C.1  the gender of a translation: predicted M, F or U (unknown) against M, F or N (neutral) by people
C.2  which pairs of sentences are gender-swapped: the first-letter rule against C, G and X by people

Shares of a row of the confusion matrix have Agresti-Coull intervals. Shares of all samples are weighted by
the size of each stratum (`statistics.shares`: Wilson's interval of a weighted mean).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from gest_dataset import published
from gest_dataset.builders.pairs import FIRST_LETTER, WordDifference, differing_word
from gest_dataset.data.tables import read_lines, read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.runs.folder import Run, find_runs, sha256
from gest_dataset.statistics.proportions import StratifiedCounts, proportion, rate_contrast
from gest_dataset.studies import sheets
from gest_dataset.studies.sheets import GENDER, KINDS, SWAPS, LabelledSheet, Sample, Stratum
from gest_dataset.studies.study import Row, Study, Table

_OUTCOMES = {"male": "M", "female": "F", "unknown": "U"}
_PAIR_COLUMNS = (("masculine", "feminine"), ("male", "female"))


def draw_sheet(
    sheet: str | Path,
    runs: Sequence[str | Path | Run] = (),
    swaps: str | Path | None = None,
    number: int | None = None,
    seed: int = 0,
) -> dict[Stratum, tuple[int, int]]:
    """Draw a sheet from runs of masculine rates or from a file of pairs; return how many of how many."""
    if bool(runs) == (swaps is not None):
        raise ConfigError("Draw a sheet either from runs of gest masculine-rate or from --swaps FILE.")
    if swaps is None:
        kind = KINDS[GENDER]
        found = [run for run in find_runs(runs) if run.manifest.measure == MASCULINE_RATE.name]
        samples = [
            Sample(run.manifest.language, _OUTCOMES[row["gender"]], (row["source"], row["translation"]))
            for run in found
            for row in run.table.select(["source", "translation", "gender", "problem"]).to_pylist()
            if not row["problem"]
        ]
        source = {str(run.path): run.manifest.signature for run in found}
    else:
        kind, samples, source = KINDS[SWAPS], samples_of_pairs(Path(swaps)), {str(swaps): "pairs"}
    return sheets.draw(kind, samples, number or kind.number, seed, Path(sheet), source)


def samples_of_pairs(file: Path) -> list[Sample]:
    """Pairs of sentences that differ in one word, with the outcome of the first-letter rule.

    The file has the columns masculine and feminine (or male and female), and optionally language.
    """
    table = read_table(file)
    names = next((pair for pair in _PAIR_COLUMNS if {*pair} <= {*table.columns}), None)
    if names is None:
        columns = ", ".join(table.columns)
        raise ConfigError(
            f"{file} needs columns masculine and feminine, or male and female. It has {columns}."
        )
    first, second = map(table.texts, names)
    languages = table.texts("language") if "language" in table.columns else [""] * len(first)
    samples = {
        Sample(language, outcome, (masculine, feminine))
        for language, masculine, feminine in zip(languages, first, second, strict=True)
        if (outcome := first_letter_outcome(masculine, feminine))
    }
    return sorted(samples, key=lambda one: (one.language, one.outcome, one.texts))


def first_letter_outcome(masculine: str, feminine: str) -> str | None:
    """The outcome of the first-letter rule; None if the sentences do not differ in one word."""
    difference = differing_word(masculine, feminine)
    if isinstance(difference, WordDifference):
        return "positive"
    return "negative" if difference == FIRST_LETTER else None


def heuristics(sheet: str | Path) -> Study:
    """The study of a labelled sheet, or of the authors' gender-swap-annotations.txt."""
    path = Path(sheet)
    labelled = (
        parse_authors_labels(read_lines(path), path) if path.suffix.lower() == ".txt" else sheets.read(path)
    )
    tables = [_confusion(labelled), _by_language(labelled), _yield(labelled)]
    return Study(
        "heuristics",
        "How accurate are the heuristics?",
        tuple(table for table in tables if table.rows),
        sources={path.name: sha256(path.read_bytes())},
    )


def parse_authors_labels(lines: Sequence[str], file: Path) -> LabelledSheet:
    """The authors' 160 pairs: two lines and a label each, with the outcome of our first-letter rule."""
    kind = KINDS[SWAPS]
    stripped = [line.strip() for line in lines]
    rows = []
    for place, ((first, second), label) in enumerate(
        zip(pairwise(stripped), stripped[2:], strict=False), start=3
    ):
        if len(label) == 1 and first and second:
            if label not in kind.labels:
                raise DataError.at(file, place, f"the label {label!r} is not one of {kind.legend}")
            is_positive = isinstance(differing_word(first, second), WordDifference)
            rows.append(("", "positive" if is_positive else "negative", label))
    if not rows:
        raise DataError(f"{file} has no labelled pairs: two lines with sentences and one with a label.")
    return LabelledSheet(kind, tuple(rows), {})


def confusion_matrix(labelled: LabelledSheet) -> Counter[tuple[str, str]]:
    """The number of rows by outcome and label."""
    return Counter((outcome, label) for _, outcome, label in labelled.rows)


def _confusion(labelled: LabelledSheet) -> Table:
    kind, counts = labelled.kind, confusion_matrix(labelled)
    printed = {row["predicted"]: row for row in published.load("gest_heuristics")["rows"]}
    rows: list[Row] = []
    for outcome in kind.outcomes:
        own = [counts[outcome, label] for label in kind.labels]
        right = _share_right(labelled, {outcome: kind.right[outcome]}) if outcome in kind.right else None
        paper = " ".join(str(printed[outcome][label]) for label in kind.labels)
        rows.append((outcome, *own, sum(own), right, paper))
    return Table.create(
        "confusion",
        rows,
        columns=("predicted", *kind.labels, "n", "right, %", "the paper's counts"),
        number=4 if kind.name == GENDER else 5,
        labels=kind.legend,
    )


def _share_right(labelled: LabelledSheet, right: Mapping[str, str], language: str | None = None) -> Estimate:
    """The percentage of rows with the label `right[outcome]`, among those with one of these outcomes."""
    values = [
        label == right[outcome]
        for code, outcome, label in labelled.rows
        if outcome in right and language in (None, code)
    ]
    return Estimate.of(proportion("share", values, scale=100), "share")


def _by_language(labelled: LabelledSheet) -> Table:
    """The share of right labels by language and outcome; empty for one language."""
    languages = sorted({language for language, _, _ in labelled.rows})
    right = labelled.kind.right
    rows: list[Row] = []
    for language in languages if len(languages) > 1 else []:
        shares = [_share_right(labelled, {outcome: label}, language) for outcome, label in right.items()]
        rows.append((language, *shares))
    columns = ("language", *(f"predicted {outcome}" for outcome in right))
    return Table.create("languages", rows, columns=columns)


def weighted_share(labelled: LabelledSheet, right: Mapping[str, str]) -> tuple[Estimate, int]:
    """The share of samples whose label is one of the letters in `right[outcome]`, weighted by stratum.

    Also the number of all samples with these outcomes.
    """
    strata = [stratum for stratum in labelled.population if stratum[1] in right]
    number = sum(labelled.population[stratum] for stratum in strata)
    drawn = Counter((code, outcome) for code, outcome, _ in labelled.rows)
    hits = Counter((code, o) for code, o, label in labelled.rows if label in right.get(o, ""))
    if not number or any(not drawn[stratum] for stratum in strata):
        return Estimate(math.nan, math.nan, math.nan), number
    weights = np.array([labelled.population[stratum] / number for stratum in strata])
    positive, total = (np.array([count[s] for s in strata], dtype=float) for count in (hits, drawn))
    interval = rate_contrast(StratifiedCounts(positive, total), weights)
    return Estimate(interval.value, interval.low, interval.high), number


def _yield(labelled: LabelledSheet) -> Table:
    """Shares of all samples, and the expected numbers of samples."""
    questions: dict[str, dict[str, str]] = (
        {
            "predicted M or F: right": {"M": "M", "F": "F"},
            "predicted U: shows a gender after all": {"U": "MF"},
        }
        if labelled.kind.name == GENDER
        else {"accepted: right": {"positive": "C"}, "rejected: right after all": {"negative": "C"}}
    )
    rows: list[Row] = []
    for question, right in questions.items() if labelled.population else ():
        share, number = weighted_share(labelled, right)
        percent, times = (Estimate(*(factor * value for value in share)) for factor in (100, number))
        rows.append((question, number, percent, times))
    return Table.create("yield", rows)
