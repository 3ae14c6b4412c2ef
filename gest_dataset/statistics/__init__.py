"""Exact statistics with honest intervals: pure functions on arrays, one file a measure."""

from gest_dataset.statistics.choice_rate import choice_rate
from gest_dataset.statistics.comparison import (
    Comparison,
    StereotypeDifference,
    compare,
    compare_stereotypes,
    holm,
)
from gest_dataset.statistics.confounders import topical_bias, word_frequency_check
from gest_dataset.statistics.control_bias import control_bias
from gest_dataset.statistics.correlation import feminine_ranks, rank_correlation
from gest_dataset.statistics.masculine_rate import masculine_rate
from gest_dataset.statistics.stereoset_icat import stereoset_icat
from gest_dataset.statistics.stereotype_rate import stereotype_rate, winobias_rate

__all__ = [
    "Comparison",
    "StereotypeDifference",
    "choice_rate",
    "compare",
    "compare_stereotypes",
    "control_bias",
    "feminine_ranks",
    "holm",
    "masculine_rate",
    "rank_correlation",
    "stereoset_icat",
    "stereotype_rate",
    "topical_bias",
    "winobias_rate",
    "word_frequency_check",
]
