"""A commit is based on the newest state of the branch, and made once, whatever fails."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest
from huggingface_hub import CommitOperationAdd, constants

from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.commit import ATTEMPTS, Committed, Operation, commit
from gest_dataset.hub.repository import Branch, Repo
from tests.hub.conftest import BOB, READER
from tests.support.hub import Fault, Hub, Request, pointed_at

REPO = Repo("org/set")
LARGE = b"large" * 1000


def build(branch: Branch) -> Sequence[Operation]:
    """Increment the number in a file."""
    number = int(branch.read("number")) if "number" in branch.files else 0
    return [CommitOperationAdd("number", str(number + 1).encode()), CommitOperationAdd("a.parquet", LARGE)]


def made(**options: bool) -> Committed:
    return commit(REPO, build, "Count", **options)


def number(hub: Hub, revision: str = "main") -> bytes:
    return hub.read(hub.dataset("org/set"), "number", revision)


def build_once(branch: Branch) -> Sequence[Operation]:
    """Set the number to 2."""
    return [] if branch.read("number") == b"2" else [CommitOperationAdd("number", b"2")]


def is_commit(request: Request) -> bool:
    return "/commit/" in request.path and request.method == "POST"


def test_creates_the_repository(hub: Hub) -> None:
    done = made()
    head = hub.dataset("org/set").head
    assert (done.made, done.commit, done.url) == (
        True,
        head.oid,
        f"{hub.url}/datasets/org/set/commit/{head.oid}",
    )
    assert set(head.files) == {".gitattributes", "number", "a.parquet"}
    assert made().made
    assert number(hub) == b"2"
    assert [each.title for each in hub.dataset("org/set").history()] == ["Count", "Count", "initial commit"]


def test_a_dry_run_only_reads(hub: Hub) -> None:
    assert not made(dry_run=True).made
    assert {request.method for request in hub.requests} == {"GET"}
    assert not hub.repositories


def test_a_conflicting_commit_is_rebased(hub: Hub, waits: list[float]) -> None:
    repository = hub.add("dataset", "org/set", {"number": b"1"})
    theirs = {"number": b"41", "theirs": b"!"}
    hub.fault = Fault("conflict", where=is_commit, between=lambda: hub.commit(repository, theirs))
    assert made().made
    assert (number(hub), hub.read(repository, "theirs")) == (b"42", b"!")
    assert len(repository.history()) == 4
    assert len(waits) == 1


@pytest.mark.parametrize("create_pr", [False, True])
def test_a_lost_answer_makes_no_second_commit(hub: Hub, waits: list[float], create_pr: bool) -> None:
    repository = hub.add("dataset", "org/set", {"number": b"1"})
    hub.fault = Fault("lost", where=is_commit)
    done = commit(REPO, build_once, "Count", create_pr=create_pr)
    revision = "refs/pr/1" if create_pr else "main"
    assert done.made == (not create_pr)
    assert done.commit == repository.at(revision).oid
    assert number(hub, revision) == b"2"
    assert len(repository.commits) == 3
    assert sum(is_commit(request) for request in hub.requests) == 1
    assert len(repository.pull_requests) == create_pr


def test_the_same_pull_request_is_opened_once(hub: Hub) -> None:
    repository = hub.add("dataset", "org/set", {"number": b"1"})
    first, second = made(create_pr=True), made(create_pr=True)
    assert (first.made, second.made) == (True, False)
    assert first.pull_request == second.pull_request == f"{hub.url}/datasets/org/set/discussions/1"
    assert (number(hub), number(hub, "refs/pr/1")) == (b"1", b"2")
    hub.commit(repository, {"number": b"5"})
    assert made(create_pr=True).pull_request == f"{hub.url}/datasets/org/set/discussions/2"


def test_a_pull_request_needs_no_right_to_write(hub: Hub) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    with pointed_at(hub.url, BOB):
        assert made(create_pr=True).made
        with pytest.raises(HubError, match="--create-pr"):
            made()


def test_a_branch_is_created_from_main(hub: Hub) -> None:
    repository = hub.add("dataset", "org/set", {"number": b"1", "kept": b"!"})
    done = commit(Repo("org/set", revision="next"), build, "Count")
    assert repository.refs["next"] == done.commit
    assert (number(hub), number(hub, "next"), hub.read(repository, "kept", "next")) == (b"1", b"2", b"!")
    assert commit(Repo("org/set", revision="next"), build, "Count").made
    assert number(hub, "next") == b"3"


def test_waits_as_long_as_the_hub_requests(hub: Hub, waits: list[float]) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.fault = Fault("429", where=is_commit, times=2, retry_after=33)
    assert made().made
    assert waits == [33.0, 33.0]


@pytest.mark.parametrize("kind", ["500", "429", "cut"])
def test_gives_up_after_several_attempts(hub: Hub, waits: list[float], kind: str) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.fault = Fault(kind, where=is_commit, times=100)
    with pytest.raises(HubError, match="run the same command again"):
        made()
    assert number(hub) == b"1"
    assert len(hub.fault.happened) == ATTEMPTS


def test_a_very_long_wait_is_an_error(hub: Hub, waits: list[float]) -> None:
    hub.fault = Fault("429", retry_after=3600)
    with pytest.raises(HubError, match="later"):
        made()
    assert not waits


def test_rights(hub: Hub) -> None:
    hub.add("dataset", "org/set", {"number": b"1"})
    hub.add("dataset", "org/hidden", private=True)
    hub.add("dataset", "org/gated", {"number": b"1"}, gated=True)
    asked = {
        "no token for the Hub": (REPO, None),
        "does not accept the token": (REPO, "hf_of_nobody"),
        "no write access there": (REPO, READER),
        "choose another namespace": (Repo("org/new"), BOB),
        "of an account that owns org": (Repo("org/hidden"), BOB),
        f"ask for access at {hub.url}/datasets/org/gated": (Repo("org/gated"), BOB),
    }
    for message, (repo, token) in asked.items():
        with pointed_at(hub.url, token), pytest.raises(HubError, match=message) as error:
            commit(repo, build, "Count")
        assert token is None or token not in str(error.value)
    for nothing in ("org/nothing", "org/hidden"):
        with pointed_at(hub.url, BOB), pytest.raises(HubError, match="does not exist, or it is private"):
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
    with pytest.raises(HubError, match="Unset it"):
        made()
