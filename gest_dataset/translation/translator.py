"""What a translator is: what it is called, a function that translates batch by batch, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from gest_dataset.errors import GestError


@dataclass(frozen=True)
class Translation:
    """A text and its translation; where there is none it is empty and `problem` says why."""

    source: str
    translation: str
    problem: str = ""


EMPTY = "the system gave an empty translation"


def answered(text: str, translation: str) -> Translation:
    """What a system has answered; nothing is an answer too, and was paid for.

    Half of a surrogate pair, which no file takes, becomes U+FFFD: it is seen as garbled later.
    """
    translation = translation.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Translation(text, translation, "" if translation.strip() else EMPTY)


@dataclass(frozen=True)
class Batch:
    """Some finished translations, and the work that they were: `units` of the translator's unit."""

    translations: Sequence[Translation]
    units: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Translator:
    """A system that translates from English to one language.

    Equal `name`, `revision` and `settings` promise equal translations. `translate` gives every text
    of what it is asked once, in any order, and opens model or connection when its first batch is
    wanted: where everything is in the store, neither weights nor a key are needed. `unit` is what
    its work is counted in. `stored`: whether its translations are worth keeping.
    """

    name: str
    revision: str
    settings: str
    translate: Callable[[Sequence[str]], Generator[Batch, None, None]]
    unit: str
    stored: bool = True


class TranslationError(GestError):
    """A translator that cannot work: no client, no key, a refusal, a file of the wrong form."""


class TranslationStoppedError(TranslationError):
    """A translator that cannot go on for now (quota, network, memory): what is done stays."""
