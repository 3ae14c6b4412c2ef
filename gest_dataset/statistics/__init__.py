"""Exact statistics with confidence intervals: pure functions on arrays."""

from gest_dataset.statistics.choice_rate import choice_rate as choice_rate
from gest_dataset.statistics.choice_rate import control_choice_rate as control_choice_rate
from gest_dataset.statistics.comparison import Comparison as Comparison
from gest_dataset.statistics.comparison import StereotypeDifference as StereotypeDifference
from gest_dataset.statistics.comparison import compare as compare
from gest_dataset.statistics.comparison import compare_stereotypes as compare_stereotypes
from gest_dataset.statistics.comparison import holm as holm
from gest_dataset.statistics.confounders import topical_bias as topical_bias
from gest_dataset.statistics.control_bias import control_bias as control_bias
from gest_dataset.statistics.correlation import feminine_ranks as feminine_ranks
from gest_dataset.statistics.correlation import rank_correlation as rank_correlation
from gest_dataset.statistics.gender_accuracy import gender_accuracy as gender_accuracy
from gest_dataset.statistics.masculine_rate import masculine_rate as masculine_rate
from gest_dataset.statistics.stereoset_icat import stereoset_icat as stereoset_icat
from gest_dataset.statistics.stereotype_rate import stereotype_rate as stereotype_rate
from gest_dataset.statistics.stereotype_rate import winobias_rate as winobias_rate
