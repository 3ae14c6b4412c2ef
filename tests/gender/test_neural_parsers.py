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
    with pytest.raises(ConfigError, match=r"no Trankit environment: GEST_TRANKIT_PYTHON is .*python\."):
        detect([TEXT], "sk", "trankit")
    monkeypatch.delenv(models.PYTHON_VARIABLE)
    with pytest.raises(ConfigError, match="GEST_TRANKIT_PYTHON is not set"):
        detect([TEXT], "sk", "trankit")
    monkeypatch.setenv(models.PYTHON_VARIABLE, sys.executable)
    with pytest.raises(ConfigError, match=r"has no Trankit pipeline"):
        detect([TEXT], "sk", "trankit", tmp_path)
