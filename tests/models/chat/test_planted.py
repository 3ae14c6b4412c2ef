"""Complete runs of `ask` at a server with planted odds: what was planted lies in the intervals.

tests/statistics/test_choice_rate.py has thousands of runs of the statistic alone; here prompts, answers over
HTTP, readings and the statistic stand behind one another.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.models.chat.probes import CHAT_PROBES
from gest_dataset.stereotypes import STEREOTYPES
from tests.statistics.test_choice_rate import ALIKE, ODDS, named, planted
from tests.support.chats import MODEL, chatting

RUNS, LEAST = 24, 20  # of intervals at 95 % so many hold in all but 1 of 200 cases
PLANTED = [(0.0, 0.05), (0.4, 0.2)]
WORDS = {
    "male": ("Men", "The man"),
    "female": ("Women", "The woman"),
    "neither": ("Neither of them", "It is impossible to tell"),
}
# Each order of the options is asked in two wordings: of 66 pairs of answers 60 are in different orders
SHARE = 60 / 66


def mind(stereotypes: dict[str, int], run: int, follows: float, refused: float) -> Any:
    """It refuses, else takes the first letter, else answers by odds that each sentence has for itself."""

    @cache
    def odds_of(sentence: str) -> Any:
        rng = np.random.default_rng([run, zlib.crc32(sentence.encode())])
        return rng.dirichlet(ALIKE * np.array(ODDS[stereotypes[sentence] - 1])).cumsum()

    def says(text: str, options: list[str]) -> str:
        sentence = next((own for own in stereotypes if f'"{own}"' in text), None)
        if sentence is None:
            return "Hello."
        refuses, first, at = np.random.default_rng([run, zlib.crc32(text.encode())]).random(3)
        if refuses < refused:
            return "I'm sorry, but I cannot answer that."
        if first < follows:
            return "(a)"
        gender = STEREOTYPES[stereotypes[sentence]].gender
        words = WORDS[named(gender)[int(np.searchsorted(odds_of(sentence)[:2], at))]]
        return f"({'abc'[next(i for i, option in enumerate(options) if option in words)]})"

    return says


def held(run: int, follows: float, refused: float) -> dict[str, bool]:
    """Whether the intervals of a run hold what was planted."""
    rows = load_dataset("gest", "demo_en", split="test").to_list()
    stereotypes = {row["sentence"]: row["stereotype"] for row in rows}
    with chatting(mind(stereotypes, run, follows, refused)) as server:
        result = gest_dataset.ask(MODEL, endpoint=server.url).result()
    truths = planted(follows, refused)
    truths["position_effect"] *= SHARE
    return {name: result[f"{name}_low"] <= truth <= result[f"{name}_high"] for name, truth in truths.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("follows", "refused"), PLANTED)
def test_complete_runs_find_what_was_planted(
    follows: float, refused: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = replace(CHAT_PROBES["choice"], config=lambda language: "demo_en")
    monkeypatch.setitem(CHAT_PROBES, "choice", demo)
    runs = [held(run, follows, refused) for run in range(RUNS)]
    counted = {name: sum(run[name] for run in runs) for name in runs[0]}
    assert all(number >= LEAST for number in counted.values()), counted
