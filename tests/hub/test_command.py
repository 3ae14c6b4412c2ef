"""`gest push`: the plan, the errors, and no token anywhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from gest_dataset import cli
from tests.hub.conftest import ANN, BOB, READER
from tests.support.hub import Hub

SET = "org/gest"
Push = Callable[..., SimpleNamespace]


@pytest.fixture
def push(
    hub: Hub,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Push:
    """Run the command in this process; its output and files must not have a token."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_TOKEN", ANN)

    def run(*arguments: str) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["gest", "push", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        for token in (ANN, BOB, READER):
            assert token not in out + err
            for path in tmp_path.rglob("*"):
                assert not path.is_file() or token.encode() not in path.read_bytes(), path
        return SimpleNamespace(code=ended.value.code or 0, out=out, err=err)

    return run


def test_a_dry_run_shows_the_plan_only(push: Push, hub: Hub) -> None:
    done = push(SET, "--config", "en,sk_pairs", "--dry-run")
    assert done.code == 0, done.err
    for part in ("the dataset org/gest (new)", "en", "sk_pairs", "README.md", "new", "Default config: en"):
        assert part in done.out
    assert not hub.repositories
    assert "nothing was changed" in done.err
    done = push(SET, "--config", "en,sk_pairs")
    assert done.code == 0, done.err
    head = hub.dataset(SET).head
    assert f"Pushed: {hub.url}/datasets/{SET}/commit/{head.oid}" in done.err
    done = push(SET, "--config", "sk_pairs")
    assert "No changes" in done.err
    assert "Unaffected: en" in done.out
    assert hub.dataset(SET).head is head


def test_json_and_a_pull_request(push: Push, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("dataset", SET, {"README.md": b"Ours.\n"})
    monkeypatch.setenv("HF_TOKEN", BOB)
    done = push(SET, "--config", "crows_gender", "--create-pr", "--json")
    assert done.code == 0, done.err
    (result,) = json.loads(done.out)
    assert result["pull_request"] == f"{hub.url}/datasets/{SET}/discussions/1"
    assert [part["status"] for part in result["parts"]] == ["new", "changed", "new"]


@pytest.mark.parametrize(
    ("repo", "token", "code", "advice"),
    [
        ("org/new", "", 1, "hf auth login"),
        ("org/new", READER, 1, "write access"),
        ("other/gest", ANN, 1, "another namespace"),
        (SET, ANN, 1, "fix README.md"),
        ("gest", ANN, 2, "NAMESPACE/NAME"),
    ],
)
def test_errors_say_what_to_do(
    push: Push, hub: Hub, monkeypatch: pytest.MonkeyPatch, repo: str, token: str, code: int, advice: str
) -> None:
    hub.add("dataset", SET, {"README.md": b"---\na: [\n---\n"})
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    monkeypatch.setenv("HF_TOKEN", token)
    done = push(repo, "--config", "crows_gender")
    assert done.code == code, done.err
    assert advice in done.err
