"""Trankit: messages without it."""

import sys
from pathlib import Path

import pytest

from gest_dataset.errors import ConfigError
from gest_dataset.gender import detect
from gest_dataset.gender.parsers import models

TEXT = "Bola som tam."


def test_missing_trankit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(models.PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ConfigError, match="no Trankit environment"):
        detect([TEXT], "sk", "trankit")
    monkeypatch.setenv(models.PYTHON_VARIABLE, sys.executable)
    with pytest.raises(ConfigError, match=r"has no Trankit pipeline"):
        detect([TEXT], "sk", "trankit", tmp_path)
