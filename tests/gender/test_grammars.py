"""Words that look like forms of the past and are none, whatever a tagger takes them for."""

from __future__ import annotations

import pytest

from gest_dataset.gender.grammars import GRAMMARS
from gest_dataset.gender.parsers.tokens import Token

# All that take a word in -l for a past: by its tag, by another one, and by its shape alone
CZECH_PASTS = ["past", "past_as_other", "past_as_noun", "past_shape"]


def gender(language: str, kind: str, word: str) -> str | None:
    """The gender that a word says, with a tag that this kind of word may have."""
    forms = GRAMMARS[language].forms[kind]
    return forms.gender(Token(1, word, min(forms.upos), {}, 0, "root", word))


@pytest.mark.parametrize("kind", CZECH_PASTS)
@pytest.mark.parametrize("word", ["učitel", "ředitel", "spisovatel", "přítel", "velitel"])
def test_czech_nouns_in_tel_are_no_past(kind: str, word: str) -> None:
    assert gender("cs", kind, word) is None


@pytest.mark.parametrize("kind", CZECH_PASTS)
def test_czech_past_is_one(kind: str) -> None:
    assert [gender("cs", kind, word) for word in ("seděl", "seděla")] == ["male", "female"]
