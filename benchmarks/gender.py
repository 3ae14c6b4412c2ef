"""Recall and precision of the detected gender on labelled sentences, by language and by class.

    python benchmarks/gender.py --models DIR_WITH_LANGUAGE.udpipe [--sets tests/gender/unseen]

A set is a folder of LANGUAGE.tsv with the columns `text`, `gender` and `class`. Recall is the share of
the sentences with a gender that get it, precision the share of the genders said that are right: one
that is said of a sentence labelled `unknown` is wrong. `--missed` also prints what was missed or wrong.
`--entities` reads WinoMT's released translations instead: the seconds to parse and to read 3,886 of them.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gest_dataset.data.rows import rows_of
from gest_dataset.gender import Detection, detect, explain
from gest_dataset.gender.entities import entity_genders

SETS = Path(__file__).resolve().parents[1] / "tests" / "gender" / "unseen"


@dataclass(frozen=True)
class Sentence:
    """One labelled sentence."""

    language: str
    text: str
    gender: str
    kind: str


@dataclass(frozen=True)
class Figures:
    """What was said of some sentences, and what was right; `gendered` of them have a gender."""

    gendered: int
    said: int
    right: int

    @property
    def recall(self) -> float:
        return self.right / self.gendered if self.gendered else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0


def read(path: Path) -> list[Sentence]:
    """The sentences of LANGUAGE.tsv."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Sentence(path.stem, row["text"], row["gender"], row["class"]) for row in rows]


def figures(sentences: Sequence[Sentence], found: Sequence[Detection]) -> Figures:
    """Recall and precision of the detections of these sentences."""
    pairs = list(zip(sentences, found, strict=True))
    return Figures(
        gendered=sum(sentence.gender != "unknown" for sentence in sentences),
        said=sum(detection.gender != "unknown" for detection in found),
        right=sum(sentence.gender == detection.gender != "unknown" for sentence, detection in pairs),
    )


def show(title: str, parts: Iterable[tuple[str, Figures]]) -> None:
    """One line of figures a part."""
    table = Table("", title=title)
    for name in ("said", "right", "of", "recall", "precision"):
        table.add_column(name, justify="right")
    for name, part in parts:
        counts = (str(part.said), str(part.right), str(part.gendered))
        table.add_row(name, *counts, f"{part.recall:.1%}", f"{part.precision:.1%}")
    Console().print(table)


def time_entities(models: Path) -> None:
    """How long parsing takes, and reading the genders of WinoMT's persons from the cached parses."""
    indices = rows_of("winomt").to_pandas().set_index("id")["entity_index"]
    made = rows_of("winomt_translations").to_pandas()
    for (language, system), part in made.groupby(["language", "system"]):
        columns = (
            part["source"].tolist(),
            indices[part["sentence_id"]].tolist(),
            part["translation"].tolist(),
        )
        with tempfile.TemporaryDirectory() as folder:
            moments = [time.perf_counter()]
            for _ in range(2):  # the second one has the parses of the first
                options = {"model": models / f"{language}.udpipe", "cache": Path(folder) / "parses"}
                entity_genders(*columns, language, **options)
                moments.append(time.perf_counter())
        both, reading = (after - before for before, after in pairwise(moments))
        share = reading / (both - reading)
        print(f"{language} {system}: {both - reading:.1f} s to parse, {reading:.1f} s to read ({share:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, required=True, help="directory of LANGUAGE.udpipe")
    parser.add_argument("--sets", type=Path, default=SETS, help="directory of LANGUAGE.tsv")
    parser.add_argument("--missed", action="store_true", help="print what was missed or wrong")
    parser.add_argument("--entities", action="store_true", help="time the reading of WinoMT")
    arguments = parser.parse_args()
    if arguments.entities:
        return time_entities(arguments.models)
    results: list[tuple[Sentence, Detection]] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(arguments.sets.glob("*.tsv")):
            sentences = read(path)
            texts = [sentence.text for sentence in sentences]
            model = arguments.models / f"{path.stem}.udpipe"
            results += zip(
                sentences,
                detect(texts, path.stem, "udpipe", model, cache=Path(folder) / "parses"),
                strict=True,
            )

    def of(part: Sequence[tuple[Sentence, Detection]]) -> Figures:
        return figures([sentence for sentence, _ in part], [detection for _, detection in part])

    languages = dict.fromkeys(sentence.language for sentence, _ in results)
    kinds = dict.fromkeys(sentence.kind for sentence, _ in results)
    by_language = [(name, of([pair for pair in results if pair[0].language == name])) for name in languages]
    by_kind = [(name, of([pair for pair in results if pair[0].kind == name])) for name in kinds]
    show("by language", [*by_language, ("all", of(results))])
    show("by class", by_kind)
    if arguments.missed:
        for sentence, detection in results:
            if sentence.gender != detection.gender:
                print(sentence.language, sentence.kind, sentence.gender, explain(sentence.text, detection))


if __name__ == "__main__":
    main()
