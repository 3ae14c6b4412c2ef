"""The evaluate module `gest_control_bias`: word-filling measures against control groups."""

from gest_dataset.metrics.modules import GestControlBias as GestControlBias
