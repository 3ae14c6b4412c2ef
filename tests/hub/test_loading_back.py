"""What was pushed, loaded back: in another process, and by the name `gest` with GEST_REPO."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import get_dataset_config_names, load_dataset
from huggingface_hub import HfApi

import gest_dataset
from gest_dataset.data.rows import fingerprint_of, hash_of, rows_of
from gest_dataset.errors import ConfigError, HubError
from tests.support.hub import Hub

pytestmark = pytest.mark.usefixtures("mirror")
SET = "org/gest"
WITHOUT_THIS_PACKAGE = """
from datasets import load_dataset
load_dataset("org/gest", "sk_pairs", split="test").to_json("rows.jsonl")
"""
BY_NAME = """
from gest_dataset.builders import CONFIGS
from datasets import load_dataset
rows = load_dataset("gest", "sk_pairs", split="test")
assert rows.features == CONFIGS["sk_pairs"].features
rows.to_json("rows.jsonl")
"""


@pytest.mark.slow
@pytest.mark.parametrize("script", [WITHOUT_THIS_PACKAGE, BY_NAME])
def test_another_process_loads_the_rows(hub: Hub, tmp_path: Path, script: str) -> None:
    gest_dataset.push(SET, "en,sk_pairs", private=True)
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
    environment |= {"GEST_REPO": SET, "GEST_MIRROR": str(tmp_path / "nothing")}
    environment.pop("HF_DATASETS_CACHE", None)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    load_dataset("gest", "sk_pairs", split="test").to_json(tmp_path / "expected.jsonl")
    assert (tmp_path / "rows.jsonl").read_bytes() == (tmp_path / "expected.jsonl").read_bytes()


def test_the_fingerprint_depends_on_the_rows_only(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a run on rows of the Hub can be resumed after a push of another config."""
    own = fingerprint_of("sk_pairs")
    gest_dataset.push(SET, "sk_pairs")
    monkeypatch.setenv("GEST_REPO", SET)
    before = fingerprint_of("sk_pairs")
    gest_dataset.push(SET, "en")
    assert own != before == fingerprint_of("sk_pairs") == hash_of(load_dataset(SET, "sk_pairs", split="test"))


def test_a_revision_is_passed_on(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gest_dataset.push(SET, "sk_pairs")
    first = HfApi().dataset_info(SET).sha
    gest_dataset.push(SET, "en")
    monkeypatch.setenv("GEST_REPO", SET)
    assert get_dataset_config_names("gest", revision=first) == ["sk_pairs"]
    assert load_dataset("gest", "sk_pairs", revision=first, split="test").num_rows > 0
    with pytest.raises(ValueError, match="'en' not found"):
        load_dataset("gest", "en", revision=first)
    for name, message in ((str(tmp_path), "no revision"), ("gest", "NAMESPACE/NAME")):
        monkeypatch.setenv("GEST_REPO", name)
        with pytest.raises(ConfigError, match=message):
            load_dataset("gest", "en", revision=first)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("org/nothing", "doesn't exist"),
        ("no name!", "Repo id must"),
        (SET, "'en' not found. Available: .'sk_pairs'."),
    ],
)
def test_unreadable_repositories(hub: Hub, name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gest_dataset.push(SET, "sk_pairs")
    monkeypatch.setenv("GEST_REPO", name)
    with pytest.raises(HubError, match=f"en cannot be read from {name}.*{message}"):
        rows_of("en")
