"""The evaluate module `winobias_rate`: which pronoun a language model gives to occupations."""

from gest_dataset.metrics.modules import WinobiasRate as WinobiasRate
