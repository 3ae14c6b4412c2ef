"""A planted item that behaves differently in one language is listed first."""

import numpy as np
import pandas as pd
import pytest

from gest_dataset.statistics.comparison import differing_items

LANGUAGES = ("cs", "pl", "ru", "sk")


def scores(moved: float = 0.0, seed: int = 0) -> dict[str, pd.DataFrame]:
    generator = np.random.default_rng(seed)
    sources = [f"sentence {i}" for i in range(320)]
    stereotypes = np.repeat(np.arange(1, 17), 20)
    common = generator.normal(size=len(sources))
    frames = {}
    for place, language in enumerate(LANGUAGES):
        values = common + 0.5 * place + 0.3 * generator.normal(size=len(sources))
        if language == "ru":
            values[17] += moved
        frames[language] = pd.DataFrame(
            {"source": sources, "stereotype": stereotypes, "log_ratio": values}
        ).iloc[place:]  # each language lacks other sources
    return frames


def shared_sources(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The scores of the sources that all languages have."""
    indexed = {name: frame.set_index(["source", "stereotype"])["log_ratio"] for name, frame in frames.items()}
    return pd.DataFrame(indexed).dropna()


def test_a_moved_item_is_listed_first() -> None:
    items = differing_items(shared_sources(scores(moved=4.0)))
    assert (items[0]["source"], items[0]["language"], items[0]["stereotype"]) == ("sentence 17", "ru", 1)
    assert items[0]["z"] > 8 > 2 * abs(items[1]["z"])


def test_only_the_largest_are_listed_and_nothing_is_called_significant() -> None:
    items = differing_items(shared_sources(scores()))
    assert len(items) == 20
    assert "p_value" not in items[0]
    assert [abs(item["z"]) for item in items] == sorted((abs(item["z"]) for item in items), reverse=True)


def test_a_language_in_which_the_model_is_more_extreme_is_no_candidate() -> None:
    """Scores that are only three times as large in Russian give the same list."""
    frames = scores(moved=4.0)
    before = differing_items(shared_sources(frames))
    frames["ru"] = frames["ru"].assign(log_ratio=3 * frames["ru"]["log_ratio"])
    after = differing_items(shared_sources(frames))
    assert [(item["source"], item["language"]) for item in after] == [
        (item["source"], item["language"]) for item in before
    ]
    assert [item["z"] for item in after] == pytest.approx([item["z"] for item in before])


def test_one_language_has_nothing_to_differ_from() -> None:
    assert differing_items(shared_sources({"sk": scores()["sk"]})) == []


def test_of_two_languages_an_item_is_listed_once() -> None:
    """What is high in the one is low in the other by as much: one departure, one entry, one test."""
    two = {language: frame for language, frame in scores(moved=4.0).items() if language in ("pl", "ru")}
    items = differing_items(shared_sources(two))
    assert {item["language"] for item in items} == {"ru"}
    assert items[0]["source"] == "sentence 17"
    assert items[0]["z"] > 6
