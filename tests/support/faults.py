"""Faults of a server with the messages that follow, for `score` and `ask`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gest_dataset.models.served import client as http
from tests.support.services import DIES, ENDLESS, HALF, HANGS, Answer, Broken

FAULTS: dict[str, tuple[Answer, str]] = {
    DIES: ((200, {}, Broken(DIES)), "does not answer"),
    HANGS: ((200, {}, Broken(HANGS)), "does not answer: .*timed out"),
    HALF: ((200, {}, Broken(HALF)), "does not answer: .*bytes (missing|remaining)"),
    ENDLESS: ((200, {}, Broken(ENDLESS)), "sent more than 1,048,576 bytes"),
    "too many requests": ((429, {}, {"error": "slow down"}), "status 429: slow down"),
    "an error": ((500, {}, {"error": {"message": "out of memory"}}), "status 500: out of memory"),
    "no table": ((200, {}, "text"), "without choices"),
    "choices that are none": ((200, {}, {"choices": "none"}), "without choices"),
    "another model": ((200, {}, {"model": "another", "choices": [{}]}), "answered as 'another'"),
    "a refused key": ((403, {}, {}), "rejected the API key"),
}
EACH = pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=[*FAULTS])


def fast_retries(monkeypatch: pytest.MonkeyPatch, fault: Answer | None = None) -> None:
    """One retry after a millisecond, 1 MB at most, and a timeout of one second if the server is to hang."""
    monkeypatch.setattr(http, "RETRY", replace(http.RETRY, retries=1, first_delay=0.001))
    monkeypatch.setattr(http, "LARGEST_REPLY", 1 << 20)
    if fault == FAULTS[HANGS][0]:
        monkeypatch.setattr(http, "TIMEOUT", 1.0)
