"""`gest study heuristics`: the accuracy of the heuristics (Pikuliak et al., 2024, appendix C).

C.1  the gender of a translation: predicted M, F or U (unknown) against M, F or N (neutral) by people
C.2  which pairs of sentences are gender-swapped: the first-letter rule against C, G and X by people

Samples are drawn by language and outcome into a sheet, a CSV file in random order that does not show the
outcomes. SHEET.key.json has the outcome of each row and the size of each stratum (a language and an outcome).
Shares of a row of the confusion matrix have Agresti-Coull intervals. Shares of all samples are weighted by
the size of each stratum (`statistics.proportions`: Wilson's interval of a weighted mean).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gest_dataset import published
from gest_dataset.builders.pairs import FIRST_LETTER, WordDifference, differing_word
from gest_dataset.data.user_tables import read_lines, read_user_table
from gest_dataset.errors import ConfigError, DataError, convert_errors
from gest_dataset.measures.gest import MASCULINE_RATE
from gest_dataset.measures.grid import Estimate
from gest_dataset.runs.folder import Runs, find_runs
from gest_dataset.statistics.proportions import StratifiedCounts, proportion, rate_contrast
from gest_dataset.storage import csv_text, parse_json, read_bytes, read_yaml, sha256, write_file, write_json
from gest_dataset.studies.study import Row, Study, Table, make_study

_OUTCOMES = {"male": "M", "female": "F", "unknown": "U"}
_STRATUM = ["language", "outcome"]
_LISTED = 8  # lines in a message
GENDER, SWAPS = "gender", "swaps"
Stratum = tuple[str, str]  # language, outcome
KINDS: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_suffix(".yaml"))  # of sheets


@dataclass(frozen=True)
class LabelledSheet:
    """A sheet of sampled rows that a person has labelled: language, outcome, label, size of the stratum."""

    kind: Mapping[str, Any]
    rows: pd.DataFrame

    @property
    def counts(self) -> pd.DataFrame:
        """The confusion matrix: the number of rows by outcome and label."""
        counts = pd.crosstab(self.rows["outcome"], self.rows["label"])
        return counts.reindex(index=self.kind["outcomes"], columns=list(self.kind["labels"]), fill_value=0)

    @property
    def legend(self) -> str:
        return ", ".join(f"{label} ({meaning})" for label, meaning in self.kind["labels"].items())

    def share_right(self, outcome: str, rows: pd.DataFrame) -> Estimate:
        """The percentage of the rows of an outcome whose label agrees with it."""
        labels = rows.loc[rows["outcome"] == outcome, "label"]
        right = (labels == self.kind["right"][outcome]).tolist()
        return Estimate.of(proportion("share", right, scale=100), "share")


def key_path(sheet: Path) -> Path:
    return sheet.with_suffix(".key.json")


def draw_sheet(
    sheet: str | Path,
    runs: Runs = (),
    swaps: str | Path | None = None,
    number: int | None = None,
    seed: int = 0,
) -> dict[Stratum, tuple[int, int]]:
    """Draw a sheet from runs of masculine rates or from pairs; return drawn and all counts by stratum."""
    sheet = Path(sheet)
    if bool(runs) == (swaps is not None):
        raise ConfigError("Draw a sheet either from runs of gest masculine-rate or from --swaps FILE.")
    if sheet.suffix.lower() != ".csv":
        raise ConfigError(f"A sheet is a CSV file, so {sheet} should end with .csv.")
    if sheet.exists() or key_path(sheet).exists():
        raise ConfigError(f"{sheet} or its key already exists and may have labels. Choose another name.")
    if swaps is not None:
        name, samples, source = SWAPS, _pairs(Path(swaps)), {str(swaps): "pairs"}
    else:
        used = [run for run in find_runs(runs) if run.manifest.measure == MASCULINE_RATE.name]
        tables = [run.table.to_pandas().assign(language=run.manifest.language) for run in used]
        translations = pd.concat(tables) if tables else pd.DataFrame(columns=["problem", "gender"])
        translations = translations[translations["problem"] == ""]
        name, samples = GENDER, translations.assign(outcome=translations["gender"].map(_OUTCOMES))
        source = {str(run.path): run.manifest.signature for run in used}
    if samples.empty:
        raise DataError("There are no samples to draw from.")
    number = number or KINDS[name]["number"]
    generator = np.random.default_rng(seed)
    samples = samples.assign(size=samples.groupby(_STRATUM)[_STRATUM[0]].transform("size"))
    shuffled = samples.iloc[generator.permutation(len(samples))]
    drawn = shuffled.groupby(_STRATUM).head(number)
    drawn = drawn.assign(id=[f"{row:04d}" for row in range(1, len(drawn) + 1)], label="")
    key = {"kind": name, "seed": seed, "number": number, "source": source}
    key["rows"] = drawn[["id", *_STRATUM, "size"]].to_dict("records")
    columns = ["id", "language", *KINDS[name]["texts"], "label"]
    write_json(key_path(sheet), key)
    write_file(sheet, csv_text(columns, drawn[columns].to_numpy().tolist()))
    return {
        (language, outcome): (len(group), int(group["size"].iloc[0]))
        for (language, outcome), group in drawn.groupby(_STRATUM)
    }


def _pairs(file: Path) -> pd.DataFrame:
    """Pairs of sentences that differ in one word, with the outcome of the first-letter rule."""
    table = read_user_table(file)
    frame = pd.DataFrame({name: table.texts(name) for name in KINDS[SWAPS]["texts"]})
    frame["language"] = table.texts("language") if "language" in table.columns else ""
    frame["outcome"] = list(map(first_letter_outcome, frame["masculine"], frame["feminine"]))
    return frame.dropna().drop_duplicates()


def first_letter_outcome(masculine: str, feminine: str) -> str | None:
    """The outcome of the first-letter rule; None if the sentences do not differ in one word."""
    difference = differing_word(masculine, feminine)
    if isinstance(difference, WordDifference):
        return "positive"
    return "negative" if difference == FIRST_LETTER else None


def read_sheet(sheet: Path) -> LabelledSheet:
    """A labelled sheet; it needs all rows that were drawn, each once and with a label."""
    file = key_path(sheet)
    if not (sheet.is_file() and file.is_file()):
        raise ConfigError(f"{sheet} or {file.name} does not exist. Draw a sheet with --draw {sheet}.")
    with convert_errors(lambda error: DataError(f"{file} is damaged ({error!r}). Restore the drawn file.")):
        key = parse_json(read_bytes(file))
        kind, drawn = KINDS[key["kind"]], pd.DataFrame(key["rows"]).set_index("id")[[*_STRATUM, "size"]]
    table = read_user_table(sheet)
    ids = [name.strip().zfill(4) for name in table.texts("id")]  # spreadsheets drop leading zeros
    labels = [label.strip().upper() for label in table.texts("label")]
    counts = Counter(ids)
    if wrong := sorted(name for name in {*ids, *drawn.index} if counts[name] != (name in drawn.index)):
        listed = ", ".join(wrong[:_LISTED])
        raise DataError(f"{sheet} must contain each of the {len(drawn)} drawn rows once. Check id {listed}.")
    labelled = LabelledSheet(kind, drawn.loc[ids].assign(label=labels))
    lines = [str(line) for line, label in enumerate(labels, start=2) if label not in kind["labels"]]
    if lines:
        some = ", ".join(lines[:_LISTED]) + (", …" if len(lines) > _LISTED else "")
        number = f"{len(lines)} of {len(labels)} rows (lines {some})"
        raise DataError(f"{sheet}: {number} have no valid label. Valid labels: {labelled.legend}.")
    return labelled


def parse_authors_labels(lines: Sequence[str], file: Path) -> LabelledSheet:
    """The authors' 160 pairs: two lines and a label each, with the outcome of our first-letter rule."""
    stripped = [line.strip() for line in lines]
    rows = []
    for first, second, label in zip(stripped, stripped[1:], stripped[2:], strict=False):
        if label in KINDS[SWAPS]["labels"] and first and second:
            rows.append(("", first_letter_outcome(first, second) or "negative", label))
    if not rows:
        raise DataError(
            f"{file} has no labelled pairs. A pair is two lines with sentences and a line with its label."
        )
    return LabelledSheet(KINDS[SWAPS], pd.DataFrame(rows, columns=[*_STRATUM, "label"]))


def heuristics(sheet: str | Path) -> Study:
    """The study of a labelled sheet, or of the authors' gender-swap-annotations.txt."""
    path = Path(sheet)
    is_authors = path.suffix.lower() == ".txt"
    labelled = parse_authors_labels(read_lines(path), path) if is_authors else read_sheet(path)
    kind, right = labelled.kind, labelled.kind["right"]
    printed = {row["predicted"]: row for row in published.load("gest_heuristics")["rows"]}
    rows: list[Row] = []
    for outcome, counts in labelled.counts.iterrows():
        name = str(outcome)
        share = labelled.share_right(name, labelled.rows) if name in right else None
        paper = " ".join(str(printed[name][label]) for label in kind["labels"])
        rows.append((name, *counts.tolist(), int(counts.sum()), share, paper))
    columns = ["predicted", *kind["labels"], "n", "right, %", "the paper's counts"]
    confusion = Table.create("confusion", rows, columns=columns, number=kind["table"], labels=labelled.legend)
    rows = [
        (str(language), *(labelled.share_right(outcome, own) for outcome in right))
        for language, own in labelled.rows.groupby("language")
    ]
    columns = ["language", *(f"predicted {outcome}" for outcome in right)]
    by_language = Table.create("languages", rows if len(rows) > 1 else [], columns=columns)
    rows = []
    for question, letters in kind["questions"].items() if not is_authors else ():
        estimate, number = weighted_share(labelled, letters)
        percent, times = (Estimate(*(factor * value for value in estimate)) for factor in (100, number))
        rows.append((question, number, percent, times))
    tables = [confusion, by_language, Table.create("yield", rows)]
    return make_study("heuristics", tables, sources={path.name: sha256(path.read_bytes())})


def weighted_share(labelled: LabelledSheet, right: Mapping[str, str]) -> tuple[Estimate, int]:
    """The share, weighted by stratum, with a label in `right[outcome]`; the number with these outcomes."""
    rows = labelled.rows[labelled.rows["outcome"].isin(list(right))]
    hits = [label in right[outcome] for outcome, label in zip(rows["outcome"], rows["label"], strict=True)]
    strata = rows.assign(hit=np.array(hits, dtype=float)).groupby(_STRATUM)
    counts = strata.agg(hits=("hit", "sum"), drawn=("hit", "size"), size=("size", "first")).astype(float)
    number = int(counts["size"].sum())
    if not number:
        return Estimate(math.nan, math.nan, math.nan), number
    drawn = StratifiedCounts(counts["hits"].to_numpy(), counts["drawn"].to_numpy())
    interval = rate_contrast(drawn, counts["size"].to_numpy() / number)
    return Estimate(interval.value, interval.low, interval.high), number
