"""The probe of neutral sentences against the naive reference, on every architecture of the zoo."""

from __future__ import annotations

import functools

import pytest
from datasets import Dataset

from gest_dataset.builders.config import KIND_FIELDS, features_of
from gest_dataset.builders.frames import Frame, frame_sources, read_frames
from gest_dataset.builders.translations import neutral_row
from gest_dataset.data import sources
from gest_dataset.errors import SettingError
from tests.models.test_exact import LANGUAGE_MODELS, Probe, assert_equal, reader, run
from tests.support import naive, zoo
from tests.support.naive import Score

pytestmark = pytest.mark.usefixtures("one_thread")

SENTENCES = [
    ("sk", 1, "Bojím sa búrky!"),
    ("sk", 9, "Rozhodujem rýchlo. Potom spím."),
    ("cs", 3, "Nosím polévku sousedce."),
    ("sl", 14, "Smejem se svojim šalam."),
    ("ru", 5, "Мне нравится петь."),
    ("be", 6, "Я люблю чай."),
    ("sr", 2, "Гајим цвеће."),
    ("sr", 2, "Gajim cveće."),
    ("en", 12, "I pay the rent."),
]
ANIMALS = [animal.name for animal in zoo.ZOO if animal.family in LANGUAGE_MODELS]
ENTRY = Probe("neutral", "own", naive.neutral, 9, labels=("template", "stereotype"))


def frames(language: str, kind: str = "pronoun") -> list[Frame]:
    return read_frames(language, {key: sources.fetch(key) for key in frame_sources(language)}, kind)


@functools.cache
def rows() -> Dataset:
    """Sentences of our own in the frames of the test mirror; only called with that in force."""
    made = [
        neutral_row(None, language, [], stereotype, f"Sentence {i}.", text, frames(language, kind))
        for i, (language, stereotype, text) in enumerate(SENTENCES)
        for kind in ("pronoun", "noun")
    ]
    return Dataset.from_list(made, features_of(KIND_FIELDS["neutral"]))


@functools.cache
def expected(animal: str) -> dict[str, Score]:
    return naive.answer(naive.neutral, reader(animal), rows())


@pytest.mark.parametrize("animal", [name for name in ANIMALS if zoo.BY_NAME[name].family == "causal"])
def test_per_token_is_equal_to_naive(animal: str) -> None:
    scores = run(reader(animal), rows(), {"per_token": True})
    assert_equal(scores, naive.answer(naive.per_token, reader(animal), rows()), ENTRY)
    assert scores.metadata["options"] == {"per_token": True}
    assert "|options:per_token=True|" in scores.signature


def test_only_causal_models_are_scored_per_token() -> None:
    with pytest.raises(SettingError, match="per_token applies to causal models"):
        run(reader("bert"), rows(), {"per_token": True})


@pytest.mark.parametrize("animal", ANIMALS)
def test_equal_to_naive(animal: str) -> None:
    assert_equal(run(reader(animal), rows(), {}), expected(animal), ENTRY)
