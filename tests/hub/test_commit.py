"""A commit is based on the newest state of the branch, and made once, whatever fails."""

from __future__ import annotations

import socket

import pytest
from huggingface_hub import constants

from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.repository import RETRY, Branch, Committed, Files, Repo, commit
from tests.hub.conftest import BOB, READER, is_commit
from tests.support.hub import Fault, Hub, pointed_at

REPO = Repo("org/set")
LARGE = b"large" * 1000


def build(branch: Branch) -> Files:
    """Increment the number in a file."""
    number = int(branch.read("number")) if "number" in branch.files else 0
    return {"number": str(number + 1).encode(), "a.parquet": LARGE}


def made(**options: bool) -> Committed:
    return commit(REPO, build, "Count", **options)


def number(hub: Hub, revision: str = "main") -> bytes:
    return hub.read(hub.dataset("org/set"), "number", revision)


def test_waits_as_long_as_the_hub_requests(hub: Hub, waits: list[float]) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.fault = Fault("429", where=is_commit, times=2, retry_after=33)
    assert made().made
    assert waits == [33.0, 33.0]
    hub.fault = Fault("429", retry_after=3600)
    with pytest.raises(HubError, match="later"):
        made()
    assert len(waits) == 2


@pytest.mark.parametrize("kind", ["500", "429", "cut"])
def test_gives_up_after_several_attempts(hub: Hub, waits: list[float], kind: str) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.fault = Fault(kind, where=is_commit, times=100)
    with pytest.raises(HubError, match="Run the same command again"):
        made()
    assert number(hub) == b"1"
    assert len(hub.fault.happened) == RETRY.retries + 1


def test_rights(hub: Hub) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.add("dataset", "org/hidden", private=True)
    hub.add("dataset", "org/gated", {"number": b"1"}, gated=True)
    asked = [
        ("no token for the Hub", REPO, None),
        ("Invalid credentials", REPO, "hf_of_nobody"),
        ("403", REPO, READER),
        ("403", Repo("org/new"), BOB),
        ("403", Repo("org/hidden"), BOB),
        ("org/gated is restricted", Repo("org/gated"), BOB),
    ]
    for message, repo, token in asked:
        with pointed_at(hub.url, token), pytest.raises(HubError, match=message) as error:
            commit(repo, build, "Count")
        assert token is None or token not in str(error.value)
    with pointed_at(hub.url, BOB):
        assert made(create_pr=True).made  # everybody may propose
    for nothing in ("org/nothing", "org/hidden"):
        with pointed_at(hub.url, BOB), pytest.raises(HubError, match="Repository Not Found"):
            commit(Repo(nothing), build, "Count", create_pr=True)
    assert number(hub) == b"1"


@pytest.mark.parametrize("name", ["set", "a/b/c", "a/b--c", "a/ b", ""])
def test_invalid_repository_names(name: str) -> None:
    with pytest.raises(ConfigError):
        Repo(name)


def test_no_network(hub: Hub, waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pointed_at(f"http://127.0.0.1:{port}", BOB), pytest.raises(HubError, match="Check the network"):
        made()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match="HF_HUB_OFFLINE"):
        made()
