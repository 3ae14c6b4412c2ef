"""A small Hub for each test of this room, the clients of this process pointed at it, and no waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from gest_dataset.hub import commit
from tests.support.hub import Hub, pointed_at, running

ANN, BOB, READER = "hf_token_of_ann", "hf_token_of_bob", "hf_token_that_only_reads"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """Ann owns `org`, Bob owns nothing but his own, and one of Ann's tokens may only read."""
    with running(tmp_path) as hub, pointed_at(hub.url, ANN) as patch:
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        hub.add_account("ann", ANN, organisations=("org",))
        hub.add_account("bob", BOB)
        hub.add_account("ann", READER, may_write=False)
        yield hub


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited, by us and by the client of the Hub."""
    waited: list[float] = []
    monkeypatch.setattr(commit, "sleep", waited.append)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", waited.append)
    return waited
