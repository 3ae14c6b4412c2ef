"""`gest study all --papers`: what can be reproduced of every table and figure of the papers, and what agrees.

`papers.json` lists them: content, status, the command that makes them with models, the published tables, the
checks (`studies.printed`), and what is missing. docs/reproduce.md is made from the same list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gest_dataset.measures.formatting import format_number
from gest_dataset.studies.printed import CHECKS, Pair, Unavailable
from gest_dataset.studies.printed.comparison import score_folder
from gest_dataset.studies.study import Row, Study, Table

STATUSES = {
    "data": "reproduced from released data",
    "part": "partly from released data, the rest with models",
    "models": "reproducible with models",
    "none": "not reproducible",
}


@dataclass(frozen=True)
class Paper:
    """One of the four papers."""

    title: str
    authors: str
    year: int


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    paper: str
    item: str
    what: str
    status: str
    command: str
    published: Sequence[str]
    checks: Sequence[str]
    why: str


@dataclass(frozen=True)
class CheckResult:
    """The pairs of numbers of a check, or the reason why it could not be made."""

    pairs: tuple[Pair, ...] = ()
    unavailable: str = ""

    @property
    def agreeing(self) -> int:
        return sum(pair.agrees for pair in self.pairs)

    @property
    def differing(self) -> list[Pair]:
        return [pair for pair in self.pairs if not pair.agrees]

    def __str__(self) -> str:
        return "not computed" if self.unavailable else f"{self.agreeing:,} of {len(self.pairs):,}"


@cache
def load_papers() -> tuple[Mapping[str, Paper], tuple[Item, ...]]:
    """The papers by name, and their tables and figures."""
    content = json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))
    papers = {name: Paper(**values) for name, values in content["papers"].items()}
    return papers, tuple(Item(**values) for values in content["items"])


def run_check(name: str, scores: Path | None) -> CheckResult:
    """Run one check."""
    try:
        return CheckResult(tuple(CHECKS[name](scores)))
    except Unavailable as reason:
        return CheckResult(unavailable=str(reason))


def papers_study(scores: str | Path | None = None) -> Study:
    """The study of the papers; `scores` is the folder of the authors' score files."""
    folder = score_folder() if scores is None else Path(scores)
    papers, items = load_papers()
    results = {name: run_check(name, folder) for item in items for name in item.checks}
    tables = [_paper_table(name, paper, items, results) for name, paper in papers.items()]
    tables += [_differences(results), _checks(results)]
    return Study(
        "all",
        "What can be reproduced of the papers",
        tuple(table for table in tables if table.rows),
        notes=tuple(_notes(items, results)),
        sources={name: str(one) for name, one in results.items()},
    )


def _paper_table(name: str, paper: Paper, items: Sequence[Item], results: Mapping[str, CheckResult]) -> Table:
    rows: list[Row] = []
    for item in items:
        if item.paper == name:
            own = [results[check] for check in item.checks]
            agreement = ""
            if own:
                pairs = tuple(pair for result in own for pair in result.pairs)
                agreement = str(CheckResult(pairs, "" if pairs else own[0].unavailable))
            rows.append((item.item, item.what, STATUSES[item.status], agreement, item.command, item.why))
    values = {"title": paper.title, "authors": paper.authors, "year": paper.year}
    return replace(Table.create("papers", rows, **values), name=name)


def _differences(results: Mapping[str, CheckResult]) -> Table:
    rows: list[Row] = [
        (name, pair.label, pair.computed, pair.printed, pair.difference, pair.why or "not explained")
        for name, result in results.items()
        for pair in result.differing
    ]
    return Table.create("differences", rows)


def _checks(results: Mapping[str, CheckResult]) -> Table:
    rows: list[Row] = [
        (name, len(result.pairs), result.agreeing, max(abs(pair.difference) for pair in result.pairs))
        for name, result in results.items()
        if result.pairs
    ]
    return Table.create("checks", rows)


def _notes(items: Sequence[Item], results: Mapping[str, CheckResult]) -> Iterator[str]:
    counts = [f"{sum(item.status == key for item in items)} {text}" for key, text in STATUSES.items()]
    yield f"{len(items)} tables and figures: {'; '.join(counts)}."
    pairs = [pair for result in results.values() for pair in result.pairs]
    unexplained = sum(not pair.agrees and not pair.why for pair in pairs)
    agree = sum(pair.agrees for pair in pairs)
    yield (
        f"{agree:,} of {len(pairs):,} numbers that released data allow to compute agree to the last printed "
        f"digit; of the other {len(pairs) - agree:,}, {format_number(unexplained)} have no explanation."
    )
    for name, result in results.items():
        if result.unavailable:
            yield f"{name}: {result.unavailable}"
