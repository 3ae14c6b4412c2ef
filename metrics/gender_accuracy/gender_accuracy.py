"""The evaluate module `gender_accuracy`: whether translations keep a gender that the source states."""

from gest_dataset.metrics.modules import GenderAccuracy as GenderAccuracy
