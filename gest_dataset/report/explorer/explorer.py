"""The data of the page's script, compressed, and what the page shows without the script."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from gest_dataset.published.models import language_models
from gest_dataset.report.explorer.comparisons import RunGroup, compare_groups
from gest_dataset.report.explorer.profiles import Profiles, profiles_of
from gest_dataset.report.explorer.samples import samples_of
from gest_dataset.report.labels import LabelledRun, language_name, short_name
from gest_dataset.report.verdict import RunVerdict
from gest_dataset.storage import json_value

_SCRIPT = Path(__file__).parent / "built.js"
# Upper bounds of model sizes, in millions of parameters
_SIZES = ((200, "up to 200 M"), (1_000, "200 M to 1 B"), (10_000, "1 to 10 B"), (math.inf, "over 10 B"))
_UNKNOWN = "not known"
_FAMILY = re.compile(r"[^\W\d_]+")


class BoardRow(NamedTuple):
    """A run in the table of all runs."""

    verdict: RunVerdict
    about: str
    family: str
    size: str
    millions: float | None

    def to_json(self) -> dict[str, Any]:
        """The row for the page's script."""
        verdict = self.verdict
        row: dict[str, Any] = json_value(
            {
                "run": verdict.run.number,
                "label": verdict.run.label,
                "about": self.about,
                "family": self.family,
                "size": self.size,
                "symbol": verdict.headline.symbol,
                "ratio": verdict.headline.ratio,
                "null": verdict.headline.null,
                "verdict": verdict.verdict,
                **verdict.estimate._asdict(),
            }
        )
        return row


def board_of(verdicts: Sequence[RunVerdict]) -> list[BoardRow]:
    """All runs with their families and sizes; empty for a single run."""
    if len(verdicts) < 2:
        return []
    rows = []
    for verdict in verdicts:
        run = verdict.run
        about = run.run.manifest.about
        if run.language and run.language not in about:
            about = f"{about} · {language_name(run.language)}"
        rows.append(BoardRow(verdict, about, family_of(run.model), *_size(run.facts.get("parameters"))))
    return rows


def family_of(model: str) -> str:
    """The family of a model: the paper's if it has one, else the first letters of the name.

    >>> family_of("EleutherAI/pythia-70m"), family_of("google-bert/bert-base-uncased"), family_of("123")
    ('pythia', 'bert', 'not known')
    """
    for published in language_models().values():
        if model in published.hub_ids and published.family:
            return published.family.lower()
    letters = _FAMILY.search(short_name(model))
    return letters[0].lower() if letters else _UNKNOWN


def _size(parameters: Any) -> tuple[str, float | None]:
    if not isinstance(parameters, (int, float)) or parameters <= 0:
        return _UNKNOWN, None
    millions = parameters / 1e6
    return next(name for most, name in _SIZES if millions <= most), millions


class Explorer(NamedTuple):
    """The interactive part of a page: `packed` is the data for its `script`."""

    samples: int
    scores: list[str]
    notes: list[str]
    groups: list[RunGroup]
    profiles: list[Profiles]
    board: list[BoardRow]
    packed: str
    script: Markup


def explorer_of(runs: Sequence[LabelledRun], verdicts: Sequence[RunVerdict]) -> Explorer | None:
    """The explorer of some runs; None without runs."""
    if not runs:
        return None
    samples = samples_of(runs)
    groups, profiles, board = compare_groups(runs), profiles_of(runs), board_of(verdicts)
    content = {
        "samples": samples,
        "comparisons": [group.to_json() for group in groups if group.others],
        "profiles": [one.to_json() for one in profiles],
        "board": [row.to_json() for row in board],
    }
    return Explorer(
        samples=sum(len(one["ids"]) for one in samples["sets"]),
        scores=list(dict.fromkeys(run.measure.display.score_label for run in runs)),
        notes=samples["notes"],
        groups=groups,
        profiles=profiles,
        board=board,
        packed=pack(content),
        script=Markup(_SCRIPT.read_text(encoding="utf-8")),
    )


def pack(content: dict[str, Any]) -> str:
    """Base64 of compressed JSON, which the script unpacks with the browser's `DecompressionStream`.

    No letter of base64 is markup, and equal content gives equal text.
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()
