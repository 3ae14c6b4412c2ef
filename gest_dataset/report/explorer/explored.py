"""The explorer of some runs: what the page shows of it by itself, and what its script gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from gest_dataset.report.explorer.beside import Compared, beside
from gest_dataset.report.explorer.board import Place, board
from gest_dataset.report.explorer.packed import packed
from gest_dataset.report.explorer.profiles import Profiles, profiles
from gest_dataset.report.explorer.samples import samples
from gest_dataset.report.measured import Measured
from gest_dataset.report.verdict import Verdict

_SCRIPT = Path(__file__).parent / "built.js"


@dataclass(frozen=True)
class Explored:
    """`number` samples, what their scores are, notes on their texts; the script and what it unpacks."""

    number: int
    kinds: list[str]
    notes: list[str]
    beside: list[Compared]
    profiles: list[Profiles]
    board: list[Place]
    packed: str
    script: Markup


def explored(runs: Sequence[Measured], verdicts: Sequence[Verdict]) -> Explored | None:
    """The explorer; None where there are no runs."""
    if not runs:
        return None
    found = samples(runs)
    compared, alike, places = beside(runs), profiles(runs), board(verdicts)
    content = {
        "samples": found,
        "beside": [group.columns() for group in compared if group.others],
        "profiles": [one.packed() for one in alike],
        "board": [place.packed() for place in places],
    }
    return Explored(
        number=sum(len(shared["ids"]) for shared in found["sets"]),
        kinds=list(dict.fromkeys(run.measure.display.score_label for run in runs)),
        notes=found["notes"],
        beside=compared,
        profiles=alike,
        board=places,
        packed=packed(content),
        script=Markup(_SCRIPT.read_text(encoding="utf-8")),
    )
