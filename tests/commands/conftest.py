"""The command line as a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

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
