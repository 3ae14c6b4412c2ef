"""Translators: from English sentences to another language, nothing translated or paid for twice."""

from __future__ import annotations

from gest_dataset.translation.errors import TranslationError, TranslationStoppedError
from gest_dataset.translation.systems import SYSTEMS, open_translator
from gest_dataset.translation.translator import Batch, Translation, Translator
from gest_dataset.translation.work import Work, run, translate

__all__ = [
    "SYSTEMS",
    "Batch",
    "Translation",
    "TranslationError",
    "TranslationStoppedError",
    "Translator",
    "Work",
    "open_translator",
    "run",
    "translate",
]
