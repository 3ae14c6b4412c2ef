"""Runs commands, in this process where possible: a fresh one takes seconds to import torch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gest_dataset import cli
from gest_dataset.report import page
from tests.support import zoo

Gest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def gest(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Gest:
    """Run a command in this process, on the test mirror and in `tmp_path`; keywords are variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")  # in a dumb terminal, rich ignores COLUMNS

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        code = 0
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["gest", *map(str, arguments)])
            try:
                cli.main()
            except SystemExit as ended:
                code = int(ended.code or 0)
        stdout, stderr = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, stdout, stderr)

    return run


@pytest.fixture
def models(tmp_path: Path) -> None:
    """The folders `bert` and `gpt2` in the current directory."""
    for animal in ("bert", "gpt2"):
        shutil.copytree(zoo.directory(animal), tmp_path / animal)


@pytest.fixture
def short_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports say only how many runs they have; their own tests are elsewhere."""
    monkeypatch.setattr(page, "write_report", lambda found, path: path.write_text(str(len(found))))


@pytest.fixture
def gest_process(script_environment: Mapping[str, str], tmp_path: Path) -> Gest:
    """Run a command in a fresh process."""

    def run(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gest_dataset", *arguments],
            env={**script_environment, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
