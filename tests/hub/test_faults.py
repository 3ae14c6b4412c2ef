"""A fault at every single request of a push: the Hub holds the old or the new state, in one commit."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import HubError
from tests.support.hub import KINDS, Fault, Hub, Request

pytestmark = pytest.mark.usefixtures("mirror", "waits")
SET, THEIRS = "org/gest", "theirs.txt"
CONFIGS, BEFORE = "crows_gender,slovak_gender", "slovak_gender,demo_en"
TITLE = "Push crows_gender, slovak_gender"
FOREVER = 10_000
# Options of a push, and the branch that it writes to
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "main": ({}, "main"),
    "branch": ({"revision": "next"}, "next"),
    "proposed": ({"create_pr": True}, "refs/pr/1"),
}


def files(hub: Hub, branch: str) -> dict[str, bytes] | None:
    """What a branch holds, without what somebody else has committed in between."""
    repository = hub.dataset(SET)
    if branch not in repository.refs:
        return None
    return {path: content for path, content in hub.files(repository, branch).items() if path != THEIRS}


def every_fault(hub: Hub, way: str, kind: str, times: int) -> list[str]:
    """One run for each request of a push to a dataset; returns these requests."""
    options, branch = WAYS[way]
    gest_dataset.push(SET, BEFORE)
    before = hub.files(hub.dataset(SET))

    def begin() -> None:
        hub.fault = None
        hub.repositories.clear()
        hub.large.clear()
        hub.add("dataset", SET, before)

    def ours(request: Request) -> bool:
        """Not what the client asks once in a process, for itself."""
        return "agent-harnesses" not in request.path

    def between() -> None:
        repository = hub.dataset(SET)
        hub.commit(repository, {THEIRS: str(len(repository.commits)).encode()}, "theirs")

    begin()
    old, main = files(hub, branch), files(hub, "main")
    start = len(hub.requests)
    gest_dataset.push(SET, CONFIGS, **options)
    new = files(hub, branch)
    requests = [str(request) for request in hub.requests[start:] if ours(request)]
    for at in range(1, len(requests) + 1):
        begin()
        hub.fault = fault = Fault(kind, at, times, ours, between, retry_after=1)
        fails = times == FOREVER and kind != "lost"
        raised = pytest.raises(HubError, match="the same command again") if fails else nullcontext()
        with raised, suppress(HubError) if kind == "lost" else nullcontext():
            gest_dataset.push(SET, CONFIGS, **options)
        assert fault.happened, requests[at - 1]
        hub.fault = None
        assert files(hub, branch) in (old, new, main), requests[at - 1]
        gest_dataset.push(SET, CONFIGS, **options)
        assert files(hub, branch) == new, requests[at - 1]
        titles = [commit.title for commit in hub.dataset(SET).commits.values()]
        assert titles.count(TITLE) == 1, requests[at - 1]
        assert len(hub.dataset(SET).pull_requests) == ("create_pr" in options)
        assert branch == "main" or files(hub, "main") == main
    return requests


def test_a_lost_answer_at_every_request(hub: Hub) -> None:
    requests = every_fault(hub, "main", "lost", times=1)
    assert {request.split("/")[0] for request in requests} == {"GET ", "POST ", "PUT store:"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_every_fault_of_every_push(hub: Hub, way: str, kind: str) -> None:
    every_fault(hub, way, kind, times=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["500", "429", "cut", "lost"])
def test_every_end_of_the_network(hub: Hub, kind: str) -> None:
    every_fault(hub, "main", kind, FOREVER)
