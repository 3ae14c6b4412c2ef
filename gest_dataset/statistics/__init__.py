"""Exact statistics with honest intervals: pure functions on arrays, one file a measure."""

from gest_dataset.statistics.choice_rate import choice_rate
from gest_dataset.statistics.comparison import Comparison, OfStereotype, compare, compare_stereotypes, holm
from gest_dataset.statistics.control import control_bias
from gest_dataset.statistics.icat import stereoset_icat
from gest_dataset.statistics.masculine_rate import masculine_rate
from gest_dataset.statistics.ranks import feminine_ranks, rank_correlation
from gest_dataset.statistics.stereotype_rate import stereotype_rate
from gest_dataset.statistics.topical import topical_bias
from gest_dataset.statistics.winobias import winobias_rate
from gest_dataset.statistics.word_frequency import word_frequency_check

__all__ = [
    "Comparison",
    "OfStereotype",
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
