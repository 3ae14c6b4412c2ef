"""A server fails in the middle of `ask`: what was answered is kept, and nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import GestError
from gest_dataset.models.served import client as http
from gest_dataset.probes.prompt import EMPTY
from tests.support.chats import MODEL, chatting
from tests.support.faults import EACH, hurried

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
LIMIT, AFTER = 4, 25  # sentences, and prompts that are answered before the fault
ALL = LIMIT * 2 * 6


def text_of(request: Any) -> str:
    """What a request asks, but for the greeting."""
    text = request.body["messages"][0]["content"] if "messages" in request.body else "Hi"
    return "" if text == "Hi" else str(text)


@EACH
def test_a_run_goes_on_and_asks_nothing_twice(
    fault: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(monkeypatch)
    answered: Counter[str] = Counter()
    with chatting(lambda text, options: "(b)") as server:
        answer = server.translate

        def failing(request: Any) -> Any:
            text = text_of(request)
            if text and len(answered) >= AFTER:
                return fault
            if text:
                answered[text] += 1
            return answer(request)

        def standing(request: Any) -> Any:
            if text := text_of(request):
                answered[text] += 1
            return answer(request)

        given: dict[str, Any] = {"endpoint": server.url, "limit": LIMIT, "output": tmp_path / "run"}
        server.translate = failing
        with pytest.raises(GestError, match=message):
            gest_dataset.ask(MODEL, connections=2, **given)
        assert len(answered) == AFTER
        server.translate = standing
        answers = gest_dataset.ask(MODEL, connections=2, **given)
    assert answers.table.num_rows == ALL
    assert answers.metadata["scored"] == ALL
    assert len(answered) == len(set(answers.table["prompt"].to_pylist()))
    assert set(answered.values()) == {1}


@pytest.mark.parametrize("fault", [(429, {"Retry-After": "0"}, {}), (503, {}, {}), (500, {}, {})])
def test_a_bad_moment_is_waited_out(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, first=0.001))
    with chatting(lambda text, options: "(b)") as server:
        expected = gest_dataset.ask(MODEL, endpoint=server.url, limit=2)
        server.script += [fault, fault]
        answers = gest_dataset.ask(MODEL, endpoint=server.url, limit=2)
    assert answers.table.equals(expected.table)


@pytest.mark.parametrize(
    "choices", [[], [{}], [{"index": 0, "message": {"content": None}}], [{"message": {"content": " "}}]]
)
def test_an_empty_choice_is_an_answer_that_says_nothing(choices: Any) -> None:
    """It is counted with its reason; the others are read."""
    with chatting(lambda text, options: "(b)") as server:
        answer = server.translate

        def sometimes(request: Any) -> Any:
            if "Who said it?" in text_of(request):
                return 200, {}, {"model": MODEL, "choices": choices}
            return answer(request)

        server.translate = sometimes
        answers = gest_dataset.ask(MODEL, endpoint=server.url, limit=2)
    assert answers.metadata["skipped"] == {EMPTY: 12}
    assert answers.metadata["scored"] == 12
    assert answers.result()["unreadable"] == 0.5
