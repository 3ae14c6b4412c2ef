"""Trankit: messages without it."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gest_dataset.cli import app
from gest_dataset.errors import ConfigError
from gest_dataset.gender import detect
from gest_dataset.gender.parsers import models
from tests.conftest import ROOT

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


def test_the_environment_of_trankit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The plan is shown before anything runs; a stand-in for Python records what it was asked."""
    log = tmp_path / "log"
    fake = tmp_path / "python3.11"
    copy = '[ "$2" = venv ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"'
    fake.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{copy}\nexit 0\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(models, "trankit_environment", lambda: tmp_path / "environment")
    arguments = ["detect-gender", "--parser", "trankit", "--install"]
    refused = CliRunner().invoke(app, arguments, input="n\n")
    assert refused.exit_code == 1
    for text in (str(tmp_path / "environment"), "trankit==1.1.2", "torch==2.0.1", "4.5 GB"):
        assert text in refused.output
    assert not log.exists()
    assert CliRunner().invoke(app, [*arguments, "--yes"]).exit_code == 0
    environment, packages = log.read_text().splitlines()
    assert environment == f"-m venv {tmp_path / 'environment'}"
    assert packages == f"-m pip install {' '.join(models.PACKAGES)}"
    monkeypatch.delenv("GEST_TRANKIT_PYTHON", raising=False)
    assert models.open_trankit("sk", None).signature.startswith("trankit 1.1.2 slovak")  # it is found
    fake.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(ConfigError, match="failed; remove"):
        models.install_trankit(lambda plan: None)
    fake.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"needs python3\.11 or python3\.10"):
        models.install_trankit(lambda plan: None)
    pages = (ROOT / "docs" / "gender.md").read_text(encoding="utf-8")
    assert all(package in pages for package in models.PACKAGES)
