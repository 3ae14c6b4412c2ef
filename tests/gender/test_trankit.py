"""Trankit in its own environment: messages without one, and the real thing where there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.gender import detect
from gest_dataset.gender.parsers import trankit, workers

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get(trankit.PYTHON_VARIABLE)


def test_no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(trankit.PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ConfigError, match="no Trankit environment"):
        detect(["Som doma."], "sk", "trankit")


def test_no_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(trankit.PYTHON_VARIABLE, sys.executable)
    with pytest.raises(ConfigError, match=r"has no Trankit pipeline"):
        detect(["Som doma."], "sk", "trankit", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason=f"set {trankit.PYTHON_VARIABLE}: docs/gender.md says how")
def test_a_pipeline_that_trankit_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trankit's own TPipeline, trained on a few sentences over a tiny XLM-R, through the worker."""
    script = ROOT / "tests" / "gender" / "train_trankit.py"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    done = subprocess.run([str(PYTHON), str(script), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    texts = ["Bola som veľmi unavená.", "Bol som vždy silný.", "Bola som vtedy pekná. Bola som vždy smutná."]
    where = tmp_path / "parses.sqlite3"
    found = detect(texts, "sk", "trankit", tmp_path / "saved", cache=where)
    assert [d.gender for d in found] == ["female", "male", "female"]
    assert found[0].evidence == ("Bola", "unavená")
    monkeypatch.setattr(workers, "SCRIPT", tmp_path / "nowhere.py")
    assert detect(texts, "sk", "trankit", tmp_path / "saved", cache=where) == found
