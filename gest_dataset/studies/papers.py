"""`gest study all --papers`: of every table and figure of the four papers what can be had, and what agrees.

`papers.json` lists them: what each shows, the command that makes it with models, the published tables that
hold its numbers, the checks (`studies.printed`) that compute what released data allow, and why not more.
docs/reproduce.md is made from the same list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gest_dataset.measures.formatting import format_number
from gest_dataset.studies.printed import CHECKS, Lacking, Pair
from gest_dataset.studies.printed.pair import score_folder
from gest_dataset.studies.study import Cell, Study, Table

TITLE = "What of the papers can be reproduced"
# What a status says; with checks and without
STATUSES = {
    "data": "reproduced from released data",
    "part": "in part from released data, the rest with models",
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
    """A table or figure of a paper, as `papers.json` lists it."""

    paper: str
    item: str
    what: str
    status: str
    command: str
    published: tuple[str, ...]
    checks: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Checked:
    """What a check gave: pairs of numbers, or why it could not be made."""

    pairs: tuple[Pair, ...] = ()
    lacking: str = ""

    @property
    def agreeing(self) -> int:
        return sum(pair.agrees for pair in self.pairs)

    @property
    def differing(self) -> list[Pair]:
        return [pair for pair in self.pairs if not pair.agrees]

    @property
    def told(self) -> str:
        """How many numbers agree, in a cell."""
        if self.lacking:
            return "not computed here"
        return f"{self.agreeing:,} of {len(self.pairs):,}"


@cache
def listed() -> tuple[Mapping[str, Paper], tuple[Item, ...]]:
    """The papers by name, and their tables and figures in the order of print."""
    told = json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))
    papers = {name: Paper(**facts) for name, facts in told["papers"].items()}
    items = tuple(
        Item(**{**entry, "published": tuple(entry["published"]), "checks": tuple(entry["checks"])})
        for entry in told["items"]
    )
    return papers, items


def check(name: str, scores: Path | None) -> Checked:
    """One check by its name."""
    try:
        return Checked(tuple(CHECKS[name](scores)))
    except Lacking as reason:
        return Checked(lacking=str(reason))


def papers(scores: str | Path | None = None) -> Study:
    """The study of the papers; `scores` holds the authors' score files, else GEST_PAPER_SCORES does."""
    folder = score_folder() if scores is None else Path(scores)
    known, items = listed()
    done = {
        name: check(name, folder) for name in dict.fromkeys(name for item in items for name in item.checks)
    }
    tables = [_of_paper(name, known[name], items, done) for name in known]
    tables += [_differences(done), _checks(done)]
    return Study(
        "all",
        TITLE,
        tuple(table for table in tables if table.rows),
        sentences=tuple(_sentences(items, done)),
        notes=tuple(f"{name}: {one.lacking}" for name, one in done.items() if one.lacking),
        sources={name: one.told for name, one in done.items()},
    )


def _of_paper(name: str, paper: Paper, items: Sequence[Item], done: Mapping[str, Checked]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (item.item, item.what, STATUSES[item.status], _agreement(item, done), item.command, item.why)
        for item in items
        if item.paper == name
    ]
    return Table(
        name,
        f"{paper.title} ({paper.authors}, {paper.year})",
        ("", "what", "", "numbers that agree", "command", "remark"),
        tuple(rows),
    )


def _agreement(item: Item, done: Mapping[str, Checked]) -> str:
    """The numbers of an item's checks that agree to the last printed digit."""
    own = [done[name] for name in item.checks]
    if not own:
        return ""
    if all(one.lacking for one in own):
        return own[0].told
    pairs = [pair for one in own for pair in one.pairs]
    return Checked(tuple(pairs)).told


def _differences(done: Mapping[str, Checked]) -> Table:
    """Each number that is not the printed one, with the reason."""
    return Table(
        "differences",
        "Numbers that are not the printed ones",
        ("check", "number", "ours", "printed", "difference", "why"),
        tuple(
            (name, pair.what, pair.ours, pair.printed, pair.difference, pair.why or "not explained")
            for name, one in done.items()
            for pair in one.differing
        ),
    )


def _checks(done: Mapping[str, Checked]) -> Table:
    return Table(
        "checks",
        "What was computed",
        ("check", "numbers", "agree", "largest difference"),
        tuple(
            (name, len(one.pairs), one.agreeing, max(abs(pair.difference) for pair in one.pairs))
            for name, one in done.items()
            if one.pairs
        ),
        "A number agrees if it is the printed one when it is rounded to the printed digits.",
    )


def _sentences(items: Sequence[Item], done: Mapping[str, Checked]) -> Iterator[str]:
    counts = {status: sum(item.status == status for item in items) for status in STATUSES}
    told = "; ".join(f"{number} {STATUSES[status]}" for status, number in counts.items())
    yield f"{len(items)} tables and figures: {told}."
    pairs = [pair for one in done.values() for pair in one.pairs]
    unexplained = [pair for pair in pairs if not pair.agrees and not pair.why]
    agree = sum(pair.agrees for pair in pairs)
    yield (
        f"{agree:,} of {len(pairs):,} numbers that released data allow agree to the last printed digit; of "
        f"the {len(pairs) - agree:,} others {format_number(len(unexplained))} are not explained."
    )
    lacking = sum(bool(one.lacking) for one in done.values())
    if lacking:
        yield f"{lacking} of {len(done)} checks could not be made here: the notes say what they need."
