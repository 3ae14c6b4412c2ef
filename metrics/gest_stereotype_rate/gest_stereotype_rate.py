"""The evaluate module `gest_stereotype_rate`: which gender a language model prefers for GEST's speakers."""

from gest_dataset.metrics.modules import GestStereotypeRate as GestStereotypeRate
