"""`gest push` as a fresh process: the plan, what it says of each mishap, and nowhere the token."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.hub.conftest import ANN, BOB, READER
from tests.support.hub import Hub

SET = "org/gest"
Push = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def push(hub: Hub, script_environment: Mapping[str, str], tmp_path: Path) -> Push:
    home = tmp_path / "home"

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**script_environment, "HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HF_TOKEN": ANN}
        environment = {key: text for key, text in (environment | variables).items() if text}
        done = subprocess.run(
            [sys.executable, "-m", "gest_dataset", "push", *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        for token in (ANN, BOB, READER):
            assert token not in done.stdout + done.stderr
            for path in tmp_path.rglob("*"):
                kept = path.is_file() and path.name != "token" and token.encode() in path.read_bytes()
                assert not kept, path
        return done

    return run


def test_the_plan_comes_first_and_a_dry_run_is_only_that(push: Push, hub: Hub) -> None:
    done = push(SET, "--config", "en,sk_pairs", "--dry-run")
    assert done.returncode == 0, done.stderr
    for told in ("the dataset org/gest (new)", "en", "sk_pairs", "README.md", "new", "Loaded where"):
        assert told in done.stdout
    assert not hub.repositories
    assert "nothing was changed" in done.stderr

    done = push(SET, "--config", "en,sk_pairs")
    assert done.returncode == 0, done.stderr
    head = hub.dataset(SET).head
    assert f"Pushed: {hub.url}/datasets/{SET}/commit/{head.oid}" in done.stderr
    done = push(SET, "--config", "sk_pairs")
    assert "nothing has changed" in done.stderr
    assert "Not touched: en" in done.stdout
    assert hub.dataset(SET).head is head


def test_as_json_and_as_a_pull_request(push: Push, hub: Hub) -> None:
    hub.add("dataset", SET, {"README.md": b"Ours.\n"})
    done = push(SET, "--config", "crows_gender", "--create-pr", "--json", HF_TOKEN=BOB)
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)
    assert told["pull_request"] == f"{hub.url}/datasets/{SET}/discussions/1"
    assert [part["what"] for part in told["parts"]] == ["new", "changed", "new"]


def test_the_token_of_a_login_is_used(push: Push, hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "token").write_text(ANN)
    done = push(SET, "--config", "crows_gender", HF_TOKEN="", HF_DEBUG="1")
    assert done.returncode == 0, done.stderr
    assert hub.dataset(SET).head.author == "ann"


def test_what_cannot_be_pushed_says_what_to_do(push: Push, hub: Hub) -> None:
    hub.add("dataset", SET, {"README.md": b"---\na: [\n---\n"})
    asked = (
        ([SET], {"HF_TOKEN": ""}, 1, "hf auth login"),
        (["org/new"], {"HF_TOKEN": READER}, 1, "write rights"),
        (["other/gest"], {}, 1, "below your own"),
        ([SET], {}, 1, "mend its README.md"),
        ([SET], {"HF_HUB_OFFLINE": "1"}, 1, "Unset it"),
        (["gest"], {}, 2, "NAMESPACE/NAME"),
    )
    for arguments, variables, code, advice in asked:
        done = push(*arguments, "--config", "crows_gender", **variables)
        assert (done.returncode, done.stderr.count("Traceback")) == (code, 0), done.stderr
        assert advice in done.stderr


def test_help_has_examples(push: Push) -> None:
    assert "gest push your-name/gest --config" in " ".join(push("--help").stdout.split())
