"""A loopback Hub for each test, with the clients of this process pointed at it; built data; the command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from gest_dataset import cli
from gest_dataset.builders import CONFIGS
from gest_dataset.commands.console import err, out
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.hub import repository
from gest_dataset.hub.results import write_benchmark
from tests.conftest import MIRROR, use
from tests.support.hub import Hub, Request, pointed_at, running

ANN, BOB, READER = "hf_token_of_ann", "hf_token_of_bob", "hf_token_that_only_reads"
Gest = Callable[..., SimpleNamespace]


def is_commit(request: Request) -> bool:
    return "/commit/" in request.path and request.method == "POST"


def built(folder: Path, names: Iterable[str]) -> Path:
    """A folder of `gest build` from the test mirror, with all that describes it."""
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        for name in names:
            build.build_config(CONFIGS[name], folder)
        builds = write_card(folder)
        write_benchmark(folder, [one.config for one in builds])
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder, as a repository has it."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """Ann owns `org`, Bob owns nothing but his own, and one of Ann's tokens may only read."""
    with running() as hub, pointed_at(hub.url, ANN) as patch:
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        hub.add_account("ann", ANN, organisations=("org",))
        hub.add_account("bob", BOB)
        hub.add_account("ann", READER, may_write=False)
        yield hub


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What would have been waited, by us and by the client of the Hub."""
    waited: list[float] = []
    monkeypatch.setattr(repository, "sleep", waited.append)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", waited.append)
    return waited


@pytest.fixture
def gest(
    hub: Hub,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Gest:
    """Run a command in this process: its code and output. No token may be printed or written."""
    monkeypatch.chdir(tmp_path)
    for console in (err, out):
        monkeypatch.setattr(console, "_width", 100)

    def run(*arguments: str) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed, logged = capsys.readouterr()
        for token in (ANN, BOB, READER):
            assert token not in printed + logged
            assert not any(token.encode() in content for content in files_of(tmp_path).values())
        return SimpleNamespace(code=ended.value.code or 0, out=printed, err=logged)

    return run
