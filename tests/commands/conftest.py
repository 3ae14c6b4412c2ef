"""The command line as a fresh process, and in this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from gest_dataset import cli

Called = Callable[..., SimpleNamespace]
Gest = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def gest(script_environment: Mapping[str, str], tmp_path: Path) -> Gest:
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gest_dataset", *arguments],
            env={**script_environment, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def gest_here(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Called:
    """The command in this process, on the test mirror: a fresh one takes seconds more to import torch."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        stdout, stderr = capsys.readouterr()
        return SimpleNamespace(returncode=ended.value.code or 0, stdout=stdout, stderr=stderr)

    return run
