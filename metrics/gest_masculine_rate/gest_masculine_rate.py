"""The evaluate module `gest_masculine_rate`: which gender a translator gives to GEST's sentences."""

from gest_dataset.metrics.modules import GestMasculineRate as GestMasculineRate
