"""What was pushed, loaded back: in another process, and by the name `gest` with GEST_REPO."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.data.rows import fingerprint_of, hash_of, rows_of
from gest_dataset.errors import ConfigError, HubError
from tests.support.hub import Hub

pytestmark = pytest.mark.usefixtures("mirror")
SET = "org/gest"
BY_OTHERS = """
from datasets import load_dataset
rows = load_dataset("org/gest", "sk_pairs", split="test")
rows.to_json("rows.jsonl")
print(rows.features == load_dataset("org/gest", "sk_pairs", split="test", streaming=True).features, len(rows))
"""
BY_NAME = """
from gest_dataset.builders import CONFIGS
from datasets import get_dataset_config_names, load_dataset
rows = load_dataset("gest", "sk_pairs", split="test")
print(get_dataset_config_names("gest"), rows.features == CONFIGS["sk_pairs"].features)
rows.to_json("rows.jsonl")
"""


def run(script: str, tmp_path: Path, **variables: str) -> str:
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path / "home"),
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        **variables,
    }
    environment.pop("HF_DATASETS_CACHE", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def expected(tmp_path: Path) -> str:
    path = tmp_path / "expected.jsonl"
    load_dataset("gest", "sk_pairs", split="test").to_json(path)
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_another_process_without_this_package(hub: Hub, tmp_path: Path) -> None:
    gest_dataset.push(SET, "en,sk_pairs", private=True)
    assert run(BY_OTHERS, tmp_path).split() == ["True", "25"]
    assert (tmp_path / "rows.jsonl").read_text(encoding="utf-8") == expected(tmp_path)


@pytest.mark.slow
def test_gest_repo_names_the_published_dataset(hub: Hub, tmp_path: Path) -> None:
    gest_dataset.push(SET, "sk_pairs,en")
    told = run(BY_NAME, tmp_path, GEST_REPO=SET, GEST_MIRROR=str(tmp_path / "nothing"))
    assert told == "['sk_pairs', 'en'] True\n"
    assert (tmp_path / "rows.jsonl").read_text(encoding="utf-8") == expected(tmp_path)


def test_the_fingerprint_depends_on_the_rows_only(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a run on rows of the Hub can be resumed after a push of another config."""
    own = fingerprint_of("sk_pairs")
    gest_dataset.push(SET, "sk_pairs")
    monkeypatch.setenv("GEST_REPO", SET)
    before = fingerprint_of("sk_pairs")
    gest_dataset.push(SET, "en")
    assert own != before == fingerprint_of("sk_pairs") == hash_of(load_dataset(SET, "sk_pairs", split="test"))


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("org/nothing", "doesn't exist"),
        ("no name!", "Repo id must"),
        (SET, "'en' not found. Available: .'sk_pairs'."),
    ],
)
def test_what_cannot_be_read_there(hub: Hub, named: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word of the cache, which is not to blame."""
    gest_dataset.push(SET, "sk_pairs")
    monkeypatch.setenv("GEST_REPO", named)
    with pytest.raises(HubError, match=f"en cannot be read from {named}.*{said}"):
        rows_of("en")


def test_a_name_that_stands_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEST_REPO", "gest")
    with pytest.raises(ConfigError, match="NAMESPACE/NAME"):
        load_dataset("gest", "en")
