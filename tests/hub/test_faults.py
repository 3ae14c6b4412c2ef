"""A fault at every single request of a push: the Hub holds the old or the new state, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from huggingface_hub import constants

import gest_dataset
from gest_dataset.errors import HubError
from tests.support.hub import KINDS, Fault, Hub, Request

pytestmark = pytest.mark.usefixtures("mirror", "waits")
SET = "org/gest"
CONFIGS, BEFORE = "crows_gender,slovak_gender", "slovak_gender,demo_en"
TITLE = "Push crows_gender, slovak_gender"
THEIRS = "theirs.txt"
FOREVER = 10_000
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Case:
    """A push: whether the data set is there before, the push's options, and the branch that it writes to."""

    there: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    branch: str = "main"
    pushed_before: dict[str, bytes] = field(default_factory=dict)

    def begin(self, hub: Hub) -> None:
        """The Hub as it is before the push."""
        hub.fault = None
        hub.repositories.clear()
        hub.large.forget()
        if self.there:
            hub.add("dataset", SET, self.pushed_before)

    def push(self) -> None:
        gest_dataset.push(SET, CONFIGS, **self.options)


CASES = {
    "second": Case(),
    "first": Case(there=False),
    "branch": Case(options={"revision": "next"}, branch="next"),
    "proposed": Case(options={"create_pr": True}, branch="refs/pr/1"),
}


def files(hub: Hub, branch: str) -> Files | None:
    """What a branch holds, without what somebody else has committed in between."""
    repository = hub.repositories.get(("dataset", SET))
    if repository is None or branch not in repository.refs:
        return None
    return {path: content for path, content in hub.files(repository, branch).items() if path != THEIRS}


def titles(hub: Hub) -> list[str]:
    return [commit.title for each in hub.repositories.values() for commit in each.commits.values()]


def ours(request: Request) -> bool:
    """Not what the client asks once in a process, for itself."""
    return "agent-harnesses" not in request.path


def every_fault(hub: Hub, case: Case, kind: str, times: int) -> list[str]:
    """One run for each request of a push; says which requests these were."""
    if case.there and not case.pushed_before:
        gest_dataset.push(SET, BEFORE)
        case.pushed_before.update(hub.files(hub.dataset(SET)))
    case.begin(hub)
    main, old = files(hub, "main"), files(hub, case.branch)
    start = len(hub.requests)
    case.push()
    new = files(hub, case.branch)
    asked = [str(request) for request in hub.requests[start:] if ours(request)]
    case.begin(hub)
    made = {".gitattributes": (new or {})[".gitattributes"]}
    allowed: list[Files | None] = [old, new, made if main is None else main]

    for at in range(1, len(asked) + 1):
        case.begin(hub)
        between = _commit_of_theirs(hub)
        hub.fault = fault = Fault(kind, at, times, ours, between, retry_after=1)
        if times == FOREVER and kind != "lost":
            with pytest.raises(HubError, match="the same command again"):
                case.push()
        else:
            with suppress(HubError) if times == FOREVER else nullcontext():
                case.push()
        assert fault.happened, asked[at - 1]
        hub.fault = None
        assert files(hub, case.branch) in allowed, asked[at - 1]
        case.push()
        assert files(hub, case.branch) == new, asked[at - 1]
        assert titles(hub).count(TITLE) == 1, asked[at - 1]
        assert len(hub.dataset(SET).pull_requests) == ("create_pr" in case.options)
        if main is not None and case.branch != "main":
            assert files(hub, "main") == main
    return asked


def _commit_of_theirs(hub: Hub) -> Callable[[], None]:
    def between() -> None:
        for repository in hub.repositories.values():
            hub.commit(repository, {THEIRS: str(len(repository.commits)).encode()}, "theirs")

    return between


def test_a_lost_answer_at_every_request(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    requests = every_fault(hub, CASES["second"], "lost", times=1)
    assert {request.split("/")[0] for request in requests} == {"GET ", "POST ", "PUT store:"}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["lfs", "xet"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_every_fault_of_every_push(
    hub: Hub, case: str, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", way == "lfs")
    asked = every_fault(hub, CASES[case], kind, times=1)
    assert any("xet-write-token" in request for request in asked) == (way == "xet")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["500", "429", "cut", "lost"])
@pytest.mark.parametrize("case", CASES)
def test_every_end_of_the_network(hub: Hub, case: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # hf_xet waits for minutes by itself
    every_fault(hub, CASES[case], kind, FOREVER)
