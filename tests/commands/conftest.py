"""What the tests of commands share."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Gest as Gest
from tests.support import zoo


@pytest.fixture
def models(tmp_path: Path) -> None:
    """The folders `bert` and `gpt2` in the current directory."""
    for animal in ("bert", "gpt2"):
        shutil.copytree(zoo.directory(animal), tmp_path / animal)


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
