"""The probe of neutral sentences against the naive reference, on every architecture of the zoo."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from datasets import Dataset

from gest_dataset.builders.config import features_of
from gest_dataset.builders.frames import Frame, choose_frame, frame_sources, read_frames
from gest_dataset.builders.neutral import FIELDS, neutral_row
from gest_dataset.data import sources
from tests.models.test_exact import LANGUAGE_MODELS, LOG_RATIO, Probe, assert_equal, reader, run
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
ENTRY = Probe(
    "neutral", "own", naive.neutral, LOG_RATIO, LANGUAGE_MODELS, 9, labels=("template", "stereotype")
)


def frames(language: str, kind: str = "pronoun") -> list[Frame]:
    return read_frames(language, {key: sources.fetch(key) for key in frame_sources(language)}, kind)


@functools.cache
def rows() -> Dataset:
    """Sentences of our own in the frames of the test mirror; only called with that in force."""
    made = [
        neutral_row(
            language, [], stereotype, f"Sentence {i}.", text, choose_frame(text, frames(language, kind))
        )
        for i, (language, stereotype, text) in enumerate(SENTENCES)
        for kind in ("pronoun", "noun")
    ]
    return Dataset.from_list(made, features_of(FIELDS))


@functools.cache
def expected(animal: str) -> dict[str, Score]:
    return naive.answer(naive.neutral, reader(animal), rows())


@pytest.mark.parametrize("animal", ANIMALS)
def test_equal_to_naive(animal: str) -> None:
    assert_equal(run(reader(animal), rows(), {}), expected(animal), ENTRY)


@pytest.mark.parametrize("budget", [1, 60])
@pytest.mark.parametrize("animal", ["roberta", "llama", "t5"])
def test_neither_batches_nor_order_change_a_score(animal: str, budget: int) -> None:
    shuffled = rows().shuffle(seed=3)
    scores = run(reader(animal), shuffled, {}, batch_tokens=budget)
    wanted = expected(animal)
    assert_equal(scores, {name: wanted[name] for name in shuffled["id"]}, ENTRY)


def test_words_of_another_number_of_tokens_are_asked() -> None:
    """`сказал` and `говорила` need not be as many tokens: each text has masks for its own."""
    tokenizer = reader("roberta").tokenizer
    lengths = {
        tuple(
            len(tokenizer(row[side][slice(*row[f"{side}_span"])], add_special_tokens=False)["input_ids"])
            for side in ("masculine", "feminine")
        )
        for row in rows()
    }
    assert any(own != other for own, other in lengths)
    assert any(score is not None for score in expected("roberta").values())


def test_the_sides_are_not_mixed_up() -> None:
    """Men and women exchanged, every score has the other sign."""
    sides = {"masculine": "feminine", "masculine_span": "feminine_span"}
    sides |= {woman: man for man, woman in sides.items()}
    exchanged = Dataset.from_list(
        [{name: row[sides.get(name, name)] for name in row} for row in rows()], rows().features
    )
    for animal in ("roberta", "llama", "t5"):
        once, again = (
            run(reader(animal), each, {}).table["log_ratio"].to_pylist() for each in (rows(), exchanged)
        )
        assert again == pytest.approx([-score for score in once], abs=1e-5)
        assert any(abs(score) > 1e-4 for score in once)


def test_a_config_is_scored_by_the_measure(mirror: Any) -> None:
    """`sk_neutral` has all that the templates' probe reads, and belongs to this one."""
    scores = run(reader("gpt2"), "sk_neutral", {})
    assert scores.metadata["measure"] == "neutral"
    assert scores.table.column_names == ["id", "template", "stereotype", "log_ratio"]


def test_unequal_surroundings_are_skipped() -> None:
    row = dict(rows()[0]) | {"feminine": "Něco jiného.", "feminine_span": [0, 4]}
    broken = Dataset.from_list([row, dict(rows()[1])], rows().features)
    skipped = run(reader("roberta"), broken, {}).skipped.to_pylist()
    assert [entry["id"] for entry in skipped] == [row["id"]]
    assert "other tokens" in skipped[0]["reason"]
