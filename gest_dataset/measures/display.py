"""How single samples are shown: what the score means, their texts, and what the run stored about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from gest_dataset.builders.config import Row
from gest_dataset.statistics.checks import Floats

LOG_DECIMALS = 4
PROBABILITY_DECIMALS = 8
NO_PROBABILITY_NOTE = "Genders are read from the text, so there are no probabilities."


@dataclass(frozen=True, kw_only=True)
class SampleDisplay:
    """How the samples of a measure are shown.

    Attributes:
        score_label: what the score is.
        text_fields: the dataset fields with the texts.
        value: the score of each row of a score table.
        topic: what a sample is about, from its score row and its dataset row (empty if unavailable).
        variants: the fields that the score compares.
        sides: the labels of positive and negative scores.
        categorical: scores are only 1, -1 or 0.
        decimals: the decimals shown.
        text_columns: score columns with texts, or with tokens and their ln P.
        number_columns: the score column of each variant.
        number_label: what these numbers are.
        probability_note: which probabilities the run stored.
    """

    score_label: str
    value: Callable[[pa.Table], Floats]
    topic: Callable[[Row, Row], str]
    sides: tuple[str, str]
    probability_note: str
    text_fields: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    categorical: bool = False
    decimals: int = LOG_DECIMALS
    text_columns: tuple[str, ...] = ()
    number_columns: Mapping[str, str] = field(default_factory=dict)
    number_label: str = ""


# Samples scored by ln P(masculine) - ln P(feminine)
gender_display = partial(
    SampleDisplay,
    variants=("masculine", "feminine"),
    sides=("masculine", "feminine"),
    probability_note="The run stores the difference between the two variants, not ln P of each token.",
)


def label_display(
    column: str,
    topic: Callable[[Row, Row], str],
    text_columns: tuple[str, ...],
    score_label: str,
    probability_note: str = NO_PROBABILITY_NOTE,
) -> SampleDisplay:
    """Samples classified as male, female or neither in a column of the score table."""

    def value(table: pa.Table) -> Floats:
        """1 for male, -1 for female, 0 for another label; nan where the answer could not be read."""
        codes = {"male": 1.0, "female": -1.0}
        labels = np.array([codes.get(label, 0.0) for label in table[column].to_pylist()])
        unreadable = np.array([bool(problem) for problem in table["problem"].to_pylist()], dtype=bool)
        return np.where(unreadable, np.nan, labels)

    return SampleDisplay(
        score_label=score_label,
        value=value,
        topic=topic,
        sides=("masculine", "feminine"),
        probability_note=probability_note,
        categorical=True,
        text_columns=text_columns,
    )
