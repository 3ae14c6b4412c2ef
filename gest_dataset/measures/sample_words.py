"""How single samples of a measure are shown: what their score is, their texts, what a run knows of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.statistics.checks import Floats

_NOTHING: Mapping[str, str] = MappingProxyType({})
LOGARITHMS = 4  # decimals
PROBABILITIES = 8


@dataclass(frozen=True)
class SampleWords:
    """How single samples are shown: what their score is, the fields with their text, what they are about.

    `value` makes a score for each row of a table of scores; `topic` takes a row of that table and the
    row of the data (empty where the data are not at hand). `variants` are the fields that the score compares,
    and `sides` what it says above and below 0; with `labels` it is 1, -1 or 0, and says no more than that.
    Scores are shown to `decimals`: those of logarithms lie around 1, probabilities far below it. `kept` are
    texts in the table itself (or lists of tokens with their ln P), `numbers` its columns with a number of a
    field, which `number` names, and `has` says what a run knows of probabilities.
    """

    score: str
    fields: tuple[str, ...]
    value: Callable[[pa.Table], Floats]
    topic: Callable[[Row, Row], str]
    variants: tuple[str, ...]
    sides: tuple[str, str]
    labels: bool
    decimals: int
    kept: tuple[str, ...]
    numbers: Mapping[str, str]
    number: str
    has: str


# Samples whose score is ln P(masculine) - ln P(feminine)
of_genders = partial(
    SampleWords,
    variants=("masculine", "feminine"),
    sides=("masculine", "feminine"),
    labels=False,
    decimals=LOGARITHMS,
    kept=(),
    numbers=_NOTHING,
    number="",
    has="The probe compares the two variants, so the run has their difference and not ln P of each token.",
)


NO_NUMBER = "Genders are read from the text: there is no probability."


def of_labels(
    column: str, topic: Callable[[Row, Row], str], kept: tuple[str, ...], what: str, has: str = NO_NUMBER
) -> SampleWords:
    """Samples that have been read as male, female or neither; `column` of the table has what."""
    return SampleWords(
        what,
        (),
        lambda table: _labels(table, column),
        topic,
        variants=(),
        sides=("masculine", "feminine"),
        labels=True,
        decimals=LOGARITHMS,
        kept=kept,
        numbers=_NOTHING,
        number="",
        has=has,
    )


def _labels(table: pa.Table, column: str) -> Floats:
    """1 for male, -1 for female, 0 for another answer; nan where nothing could be read."""
    places = {"male": 1.0, "female": -1.0}
    told = np.array([places.get(label, 0.0) for label in table[column].to_pylist()])
    problems = np.array([bool(problem) for problem in table["problem"].to_pylist()], dtype=bool)
    return np.where(problems, np.nan, told)
