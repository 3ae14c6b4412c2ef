"""What a server does in a bad moment, and what is said of it: the same for `score` and `ask`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gest_dataset.models.served import client as http
from tests.support.services import DIES, HALF, HANGS, Answer, Broken

FAULTS: dict[str, tuple[Answer, str]] = {
    DIES: ((200, {}, Broken(DIES)), "does not answer"),
    HANGS: ((200, {}, Broken(HANGS)), "does not answer: .*timed out"),
    HALF: ((200, {}, Broken(HALF)), "does not answer: .*bytes (missing|remaining)"),
    "too many requests": ((429, {}, {"error": "slow down"}), "status 429: slow down"),
    "an error": ((500, {}, {"error": {"message": "out of memory"}}), "status 500: out of memory"),
    "no table": ((200, {}, "text"), "of another form"),
    "choices that are none": ((200, {}, {"choices": "none"}), "no choices"),
    "another model": ((200, {}, {"model": "another", "choices": [{}]}), "answered for 'another'"),
    "a refused key": ((403, {}, {}), "refuses the key"),
}
EACH = pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=[*FAULTS])


def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience of a minute in a fraction of a second: two tries, and no answer after half a second."""
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, again=1, first=0.001, answer=0.5))
