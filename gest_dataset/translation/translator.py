"""The interface of a translator, and its errors."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from gest_dataset.errors import GestError

EMPTY = "the system gave an empty translation"


@dataclass(frozen=True)
class Translation:
    """A text and its translation; without one, `translation` is empty and `problem` says why."""

    source: str
    translation: str
    problem: str = ""

    @classmethod
    def of(cls, text: str, answer: str) -> "Translation":
        """A system's answer; half of a surrogate pair, which no file can hold, becomes U+FFFD."""
        answer = answer.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return cls(text, answer, "" if answer.strip() else EMPTY)


Batches = Generator[list[Translation], None, None]


@dataclass(frozen=True)
class Translator:
    """A system that translates from one language to another.

    Equal `name`, `revision` and `settings` mean equal translations. `translate` yields every text once, in
    any order, and loads the model or connects when the first batch is requested. `cached` is False if its
    translations need not be stored. `device` is that of a loaded model.
    """

    name: str
    revision: str
    settings: str
    translate: Callable[[Sequence[str]], Batches]
    cached: bool = True
    device: Any = None


class TranslationError(GestError):
    """A translator cannot work: a missing client or key, a rejected request, an invalid file."""


class TranslationStoppedError(TranslationError):
    """A translator cannot continue for now (quota, network, memory); finished translations are cached."""
