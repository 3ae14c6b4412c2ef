"""The rows that commands read: from verified files, never from a cache that nothing verifies."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import rows_of
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")


@pytest.mark.parametrize("config", CONFIGS)
def test_rows_are_those_of_load_dataset(config: str) -> None:
    rows, loaded = rows_of(config), load_dataset("gest", config, split="test")
    assert rows.features == loaded.features
    assert rows.to_list() == loaded.to_list()
    assert rows.info.config_name == config


def test_a_damaged_cache_changes_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    sentences = load_dataset("gest", "en", split="test")["sentence"][:]
    before = gest_dataset.score(zoo.load("gpt2"), "en", device="cpu", limit=5)
    (file,) = tmp_path.rglob("gest-test.arrow")
    content = file.read_bytes()
    word = max(sentences[0].rstrip(".").split(), key=len).encode()
    file.write_bytes(content.replace(word, word[::-1]))
    assert file.read_bytes() != content
    after = gest_dataset.score(zoo.load("gpt2"), "en", device="cpu", limit=5)
    assert after.metadata["data_fingerprint"] == before.metadata["data_fingerprint"]
    assert after.table.equals(before.table)
