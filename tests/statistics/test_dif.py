"""A planted item that behaves differently in one language is found, and nothing else."""

import numpy as np
import pandas as pd

from gest_dataset.statistics.comparison import differing_items, shared_sources

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


def test_languages_meet_on_the_sources_that_all_have() -> None:
    wide = shared_sources(scores())
    assert list(wide.columns) == list(LANGUAGES)
    assert len(wide) == 317


def test_a_moved_item_is_listed_first() -> None:
    items = differing_items(shared_sources(scores(moved=4.0)))
    assert (items[0].source, items[0].language, items[0].stereotype) == ("sentence 17", "ru", 1)
    assert items[0].residual > 2


def test_without_such_items_there_is_rarely_one() -> None:
    assert sum(bool(differing_items(shared_sources(scores(seed=seed)))) for seed in range(40)) <= 6


def test_one_language_has_nothing_to_differ_from() -> None:
    assert differing_items(shared_sources({"sk": scores()["sk"]})) == []


def test_of_two_languages_an_item_is_listed_once() -> None:
    """What is high in the one is low in the other by as much: one departure, one entry, one test."""
    two = {language: frame for language, frame in scores(moved=4.0).items() if language in ("pl", "ru")}
    items = differing_items(shared_sources(two))
    assert [(item.source, item.language) for item in items] == [("sentence 17", "ru")]
    assert items[0].residual > 1
