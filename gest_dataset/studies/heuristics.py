"""`gest study heuristics`: how often the heuristics are right (Pikuliak et al., 2024, appendix C).

C.1  which gender a translation shows: predicted M, F or U (unknown) against M, F or N (neutral) by people
C.2  which pairs of sentences are gender-swapped: the first-letter rule against C, G and X by people

Shares of a row of the confusion matrix have Agresti-Coull's interval. Of a sheet the strata (a language and
an outcome) are known, so that shares are also weighted by how many samples each stratum has
(`statistics.shares`: Wilson's interval of a weighted mean); the expected yield is

    sum over languages of N(language, unknown) times the share of them that show a gender
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from gest_dataset import published
from gest_dataset.builders.pairs import FIRST_LETTER, WordDifference, differing_word
from gest_dataset.data.tables import read_lines, read_table
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import format_number, format_percent
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.runs.reading import Run, find_runs, sha256
from gest_dataset.statistics.proportions import StratifiedCounts, proportion, rate_contrast
from gest_dataset.studies import sheets
from gest_dataset.studies.sheets import GENDER, KINDS, SWAPS, Candidate, Labelled
from gest_dataset.studies.study import Cell, Study, Table

TITLE = "How often are the heuristics right?"
# The paper draws 20 of each language and outcome; 80 of each outcome of pairs
NUMBERS = {GENDER: 20, SWAPS: 80}
_OUTCOMES = {"male": "M", "female": "F", "unknown": "U"}
# What it is to be right, by outcome; the unknown ones claim nothing
_RIGHT = {"M": "M", "F": "F", "U": "N", "positive": "C"}
_NAMES = (("masculine", "feminine"), ("male", "female"))  # of the columns of pairs
RELEASED = ".txt"  # the suffix of the authors' gender-swap-annotations


def candidates_of_runs(paths: Sequence[str | Path | Run]) -> tuple[list[Candidate], dict[str, str]]:
    """The translations of runs of masculine rates, with what was found; and what they are from."""
    runs = [run for run in find_runs(paths) if run.manifest.measure == MASCULINE_RATE.name]
    if not runs:
        raise ConfigError(
            "A sheet of genders is drawn from runs of gest masculine-rate; none was given. For "
            "gender-swapped pairs give --swaps FILE."
        )
    found = [
        Candidate(run.manifest.language, _OUTCOMES[row["gender"]], (row["source"], row["translation"]))
        for run in runs
        for row in run.table.select(["source", "translation", "gender", "problem"]).to_pylist()
        if not row["problem"]
    ]
    return found, {str(run.path): run.manifest.signature for run in runs}


def candidates_of_pairs(file: Path) -> list[Candidate]:
    """Pairs of sentences that differ in one word, as the first-letter rule judges them.

    The file has the columns masculine and feminine, or male and female (upstream's gender_variants.csv), and
    language where there are several. Others are no candidates, for the rule was never asked about them.
    """
    table = read_table(file)
    names = next((pair for pair in _NAMES if {*pair} <= {*table.columns}), None)
    if names is None:
        raise ConfigError(
            f"{file}: pairs stand in the columns masculine and feminine, or male and female; there are "
            f"{', '.join(table.columns)}."
        )
    languages = table.texts("language") if "language" in table.columns else [""] * len(table.texts(names[0]))
    found = {
        Candidate(language, outcome, (masculine, feminine))
        for language, masculine, feminine in zip(languages, *map(table.texts, names), strict=True)
        if (outcome := judged(masculine, feminine))
    }
    return sorted(found, key=lambda one: (one.language, one.outcome, one.texts))


def judged(masculine: str, feminine: str) -> str | None:
    """What the first-letter rule says of two sentences; None where they do not differ in one word."""
    difference = differing_word(masculine, feminine)
    if isinstance(difference, WordDifference):
        return "positive"
    return "negative" if difference == FIRST_LETTER else None


def draw(
    sheet: str | Path,
    runs: Sequence[str | Path | Run] = (),
    swaps: str | Path | None = None,
    number: int | None = None,
    seed: int = 0,
) -> dict[tuple[str, str], tuple[int, int]]:
    """Draw a sheet from runs of masculine rates, or from a file of pairs; how many of how many, by
    stratum.
    """
    if bool(runs) == (swaps is not None):
        raise ConfigError(
            "Draw a sheet from runs of gest masculine-rate, or from --swaps FILE: one of the two."
        )
    if swaps is None:
        kind, (candidates, source) = KINDS[GENDER], candidates_of_runs(runs)
    else:
        kind, candidates, source = KINDS[SWAPS], candidates_of_pairs(Path(swaps)), {str(swaps): "pairs"}
    return sheets.draw(
        kind, candidates, NUMBERS[kind.name] if number is None else number, seed, Path(sheet), source
    )


def heuristics(sheet: str | Path) -> Study:
    """The study of a sheet that is filled in, or of the authors' gender-swap-annotations.txt."""
    path = Path(sheet)
    labelled = released(path) if path.suffix.lower() == RELEASED else sheets.read(path)
    tables = [_matrix(labelled), _by_language(labelled), _weighted(labelled)]
    return Study(
        "heuristics",
        TITLE,
        tuple(table for table in tables if table.rows),
        sentences=tuple(_sentences(labelled)),
        sources={path.name: sha256(path.read_bytes())},
    )


def released(file: Path) -> Labelled:
    """The authors' 160 pairs: two lines and a label each, judged by our first-letter rule."""
    return of_lines(read_lines(file), file)


def of_lines(text: Sequence[str], file: Path) -> Labelled:
    """The same from the lines of that file."""
    lines = [line.strip() for line in text]
    kind = KINDS[SWAPS]
    rows = []
    for place, ((first, second), label) in enumerate(zip(pairwise(lines), lines[2:], strict=False), start=3):
        if label in kind.labels and first and second:
            outcome = "positive" if isinstance(differing_word(first, second), WordDifference) else "negative"
            rows.append(("", outcome, label))
        elif len(label) == 1 and first and second:
            raise DataError.at(file, place, f"the label {label!r} is none of {', '.join(kind.labels)}")
    if not rows:
        raise DataError(
            f"{file} holds no labelled pair: two sentences, each on a line, and {'/'.join(kind.labels)}."
        )
    return Labelled(kind, tuple(rows), {})


def counts(labelled: Labelled) -> Counter[tuple[str, str]]:
    """The confusion matrix: how often an outcome got a label."""
    return Counter((outcome, label) for _, outcome, label in labelled.rows)


def _matrix(labelled: Labelled) -> Table:
    """Counts, and each outcome's share that is right, beside the paper's."""
    kind, found = labelled.kind, counts(labelled)
    printed = {row["predicted"]: row for row in published.load("gest_heuristics")["rows"]}
    rows: list[tuple[Cell, ...]] = []
    for outcome in kind.outcomes:
        own = [found[outcome, label] for label in kind.labels]
        right = _share(labelled, (outcome,), _RIGHT) if outcome in _RIGHT else None
        paper = " ".join(str(printed[outcome][label]) for label in kind.labels)
        rows.append((outcome, *own, sum(own), right, paper))
    number = 4 if kind.name == GENDER else 5
    return Table(
        "confusion",
        f"What people say of what the heuristic says (like table {number})",
        ("predicted", *kind.labels, "n", "right, %", "the paper's counts"),
        tuple(rows),
        "; ".join(f"{label}: {meaning}" for label, meaning in kind.labels.items())
        + ". Right: what is predicted is what people say; of unknown ones, that the sentence shows no "
        "gender. Intervals: Agresti-Coull, at 95 %, of the rows of the sheet as they are.",
    )


def _share(
    labelled: Labelled, outcomes: Sequence[str], right: Mapping[str, str], language: str | None = None
) -> Estimate:
    """The share of the rows with some outcomes, in per cent, whose label is the one that is right for
    theirs.
    """
    values = [
        label == right[outcome]
        for code, outcome, label in labelled.rows
        if outcome in outcomes and language in (None, code)
    ]
    return Estimate.of(proportion("share", values, scale=100), "share")


def _by_language(labelled: Labelled) -> Table:
    """The share that is right by language and outcome; nothing where there is one language."""
    languages = sorted({language for language, _, _ in labelled.rows})
    outcomes = [outcome for outcome in labelled.kind.outcomes if outcome in _RIGHT]
    rows: list[tuple[Cell, ...]] = []
    for language in languages if len(languages) > 1 else []:
        cells = [_share(labelled, (outcome,), _RIGHT, language) for outcome in outcomes]
        rows.append((language, *cells))
    return Table(
        "languages",
        "Right by language, in per cent",
        ("language", *(f"predicted {outcome}" for outcome in outcomes)),
        tuple(rows),
        "Few samples of each language: the intervals say how little is known of one of them.",
    )


def weighted_share(
    labelled: Labelled, outcomes: Sequence[str], right: Mapping[str, Sequence[str]]
) -> tuple[Estimate, int]:
    """The share of samples of some outcomes with one of the `right` labels, weighted by stratum; their
    number.
    """
    strata = [stratum for stratum in labelled.population if stratum[1] in outcomes]
    hits = Counter((code, o) for code, o, label in labelled.rows if o in outcomes and label in right[o])
    drawn = Counter((code, o) for code, o, _ in labelled.rows)
    number = sum(labelled.population[stratum] for stratum in strata)
    if not number or any(not drawn[stratum] for stratum in strata):
        return Estimate(math.nan, math.nan, math.nan), number
    weights = np.array([labelled.population[stratum] / number for stratum in strata])
    positive, asked = (np.array([count[s] for s in strata], dtype=float) for count in (hits, drawn))
    interval = rate_contrast(StratifiedCounts(positive, asked), weights)
    return Estimate(interval.value, interval.low, interval.high), number


def _weighted(labelled: Labelled) -> Table:
    """Shares of all samples, not of those of the sheet, and the expected yield."""
    rows: list[tuple[Cell, ...]] = []
    if labelled.population:
        if labelled.kind.name == GENDER:
            asked = [
                ("predicted M or F: right", ("M", "F"), {"M": "M", "F": "F"}),
                ("predicted U: shows a gender after all", ("U",), {"U": "MF"}),
            ]
        else:
            asked = [
                ("accepted: right", ("positive",), {"positive": "C"}),
                ("rejected: right after all", ("negative",), {"negative": "C"}),
            ]
        for what, outcomes, right in asked:
            share, number = weighted_share(labelled, outcomes, right)
            times = [number * value for value in share]
            rows.append((what, number, Estimate(*(100 * value for value in share)), Estimate(*times)))
    return Table(
        "yield",
        "Of all samples that the sheet was drawn from",
        ("", "samples", "per cent", "expected number"),
        tuple(rows),
        "Strata (language and outcome) are weighted by their numbers of samples; Wilson's interval of a "
        "weighted mean.",
    )


def _sentences(labelled: Labelled) -> Iterator[str]:
    decided = [outcome for outcome in labelled.kind.outcomes if outcome in ("M", "F", "positive")]
    right = _share(labelled, decided, _RIGHT)
    if labelled.kind.name == GENDER:
        yield (
            f"Where a gender is predicted it is right in {_percent(right)} of the labelled samples; the "
            f"paper says 98.8 % (its table gives 356 of 360, which is 98.9 %)."
        )
        if labelled.population:
            hidden, unknown = weighted_share(labelled, ("U",), {"U": "MF"})
            known = sum(number for (_, outcome), number in labelled.population.items() if outcome != "U")
            if known and not math.isnan(hidden.value):
                low, high = (format_percent(end * unknown / known) for end in hidden[1:])
                yield (
                    f"If all unknown samples that show a gender were found, there would be "
                    f"{format_percent(hidden.value * unknown / known)} more samples ({low} to {high}); the "
                    f"paper expects 2.0 % to 3.9 %."
                )
    else:
        missed = _share(labelled, ("negative",), {"negative": "C"})
        yield (
            f"Of the accepted pairs {_percent(right)} are gender-swapped with the same words, of the "
            f"rejected ones {_percent(missed)}; the paper's table 5 has 79 of 80 and none of 80."
        )


def _percent(share: Estimate) -> str:
    if math.isnan(share.value):
        return "– %"
    return f"{format_number(share.value)} % ({format_number(share.low)} to {format_number(share.high)})"
