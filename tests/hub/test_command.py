"""`gest push`: the plan, the errors, and no token anywhere."""

from __future__ import annotations

import pytest
from huggingface_hub import constants

from tests.hub.conftest import ANN, Gest
from tests.support.hub import Hub

SET = "org/gest"


def test_a_dry_run_shows_the_plan_only(gest: Gest, hub: Hub) -> None:
    done = gest("push", SET, "--config", "en,sk_pairs", "--dry-run")
    assert done.code == 0, done.err
    for part in ("the dataset org/gest (new)", "en", "sk_pairs", "README.md", "new", "Default config: en"):
        assert part in done.out
    assert not hub.repositories
    assert "nothing was changed" in done.err
    done = gest("push", SET, "--config", "en,sk_pairs")
    assert done.code == 0, done.err
    head = hub.dataset(SET).head
    assert f"Pushed: {hub.url}/datasets/{SET}/commit/{head.oid}" in done.err
    done = gest("push", SET, "--config", "sk_pairs")
    assert "No changes" in done.err
    assert "Unaffected: en" in done.out
    assert hub.dataset(SET).head is head
    done = gest("push", SET, "--config", "crows_gender", "--create-pr")
    assert f"Opened: {hub.url}/datasets/{SET}/discussions/1" in done.err


@pytest.mark.parametrize(
    ("repo", "token", "code", "advice"),
    [
        ("org/new", "", 1, "hf auth login"),
        (SET, ANN, 1, "fix README.md"),
        ("gest", ANN, 2, "NAMESPACE/NAME"),
    ],
)
def test_errors_say_what_to_do(
    gest: Gest, hub: Hub, monkeypatch: pytest.MonkeyPatch, repo: str, token: str, code: int, advice: str
) -> None:
    hub.add("dataset", SET, {"README.md": b"---\na: [\n---\n"})
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    monkeypatch.setenv("HF_TOKEN", token)
    done = gest("push", repo, "--config", "crows_gender")
    assert done.code == code, done.err
    assert advice in done.err
