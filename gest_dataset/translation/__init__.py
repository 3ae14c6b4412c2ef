"""Translate English sentences with many systems; masculine rates and pairs from the translations."""

from gest_dataset.translation.systems import open_translator, translate, translate_all

__all__ = ["open_translator", "translate", "translate_all"]
