"""Translators: from English sentences to another language, nothing translated or paid for twice."""

from __future__ import annotations

from gest_dataset.translation.systems import SPELLINGS, open_translator
from gest_dataset.translation.translator import (
    Batch,
    Translation,
    TranslationError,
    TranslationStoppedError,
    Translator,
)
from gest_dataset.translation.work import Translated, translate, translate_all

__all__ = [
    "SPELLINGS",
    "Batch",
    "Translated",
    "Translation",
    "TranslationError",
    "TranslationStoppedError",
    "Translator",
    "open_translator",
    "translate",
    "translate_all",
]
