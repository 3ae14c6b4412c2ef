"""The board: all runs of a report by their headlines, with families and sizes to group them by."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.published.models import language_models
from gest_dataset.report.measured import Measured, language_name, short
from gest_dataset.report.verdict import Verdict
from gest_dataset.storage import json_value

# Up to how many parameters, in millions, a model is of this size
_SIZES = ((200, "up to 200 M"), (1_000, "200 M to 1 B"), (10_000, "1 to 10 B"), (math.inf, "over 10 B"))
_NOT_KNOWN = "not known"
_FAMILY = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Place:
    """A run on the board."""

    verdict: Verdict
    about: str
    family: str
    size: str
    millions: float | None

    def packed(self) -> dict[str, Any]:
        """What the page's script draws."""
        told = self.verdict
        numbers = dict(zip(("value", "low", "high"), told.estimate, strict=True))
        drawn: dict[str, Any] = json_value(
            {
                "run": told.run.number,
                "label": told.run.label,
                "about": self.about,
                "family": self.family,
                "size": self.size,
                "symbol": told.headline.symbol,
                "ratio": told.headline.ratio,
                "null": told.headline.null,
                "said": told.said,
                **numbers,
            }
        )
        return drawn


def board(verdicts: Sequence[Verdict]) -> list[Place]:
    """The places of all runs; a single run needs no board."""
    if len(verdicts) < 2:
        return []
    return [
        Place(told, _about(told.run), family_of(told.run.model), *_size(told.run.facts.get("parameters")))
        for told in verdicts
    ]


def _about(run: Measured) -> str:
    about = run.run.manifest.about
    return f"{about} · {language_name(run.language)}" if run.language and run.language not in about else about


def family_of(model: str) -> str:
    """The family of a model: of the paper's ones what it says, else the first letters of the name.

    >>> family_of("EleutherAI/pythia-70m"), family_of("google-bert/bert-base-uncased"), family_of("123")
    ('pythia', 'bert', 'not known')
    """
    for known in language_models().values():
        if model in known.hub_ids and known.family:
            return known.family.lower()
    found = _FAMILY.search(short(model))
    return found[0].lower() if found else _NOT_KNOWN


def _size(parameters: Any) -> tuple[str, float | None]:
    if not isinstance(parameters, (int, float)) or parameters <= 0:
        return _NOT_KNOWN, None
    millions = parameters / 1e6
    return next(name for most, name in _SIZES if millions <= most), millions
