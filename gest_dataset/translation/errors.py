"""The errors of this room, as those of `gest_dataset.errors`: what happened and what to do."""

from __future__ import annotations

from gest_dataset.errors import GestError


class TranslationError(GestError):
    """A translator that cannot work: no client, no key, a refusal, a file of the wrong form."""


class TranslationStoppedError(TranslationError):
    """A translator that cannot go on for now (quota, network, memory): what is done stays."""
