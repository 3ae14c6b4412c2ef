"""Translation of English sentences by many systems, and what is measured on it."""

from gest_dataset.translation.systems import open_translator, translate, translate_all

__all__ = ["open_translator", "translate", "translate_all"]
