"""A server fails in the middle of `score`: what was answered is kept, and nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import GestError
from gest_dataset.models.served import asking
from tests.models.test_endpoint import assert_same, prompts, score
from tests.support import completions, zoo
from tests.support.completions import served
from tests.support.faults import EACH, hurried

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")
AFTER = 16  # contexts that are answered before the fault


@EACH
def test_a_run_goes_on_and_sends_nothing_twice(
    fault: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(monkeypatch)
    monkeypatch.setattr(asking, "_PROMPTS", 8)
    answered: Counter[tuple[int, ...]] = Counter()
    with served("gpt2") as server:
        answer = server.translate

        def failing(request: Any) -> Any:
            asked = prompts(request)
            if asked and len(answered) >= AFTER:
                return fault
            answered.update(asked)
            return answer(request)

        def standing(request: Any) -> Any:
            answered.update(prompts(request))
            return answer(request)

        server.translate = failing
        with pytest.raises(GestError, match=message):
            score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
        assert len(answered) == AFTER
        server.translate = standing
        finished = score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
    assert set(answered.values()) == {1}
    assert_same(finished, gest_dataset.score(str(zoo.directory("gpt2")), "en"))


def test_a_context_that_is_too_long_is_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server says how much it takes; what is longer is not sent, and counted with its reason."""
    monkeypatch.setattr(completions, "LONGEST", 19)
    with served("gpt2") as server:
        found = score(server, "gpt2", "en", templates=[3])
        sent = [ids for request in server.requests for ids in prompts(request)]
    reasons = set(found.skipped["reason"].to_pylist())
    assert sent
    assert max(map(len, sent)) <= 18
    assert all("the model takes 18" in reason for reason in reasons), reasons
