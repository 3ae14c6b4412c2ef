"""Folders outside of the project that some tests read; environment variables name them.

    GEST_MIRROR          a mirror of the real upstream files
    GEST_UDPIPE_MODELS   small UDPipe models, LANGUAGE.udpipe
    GEST_PAPER_TABLES    clean copies of the papers' tables
    GEST_PAPER_SCORES    the authors' scores of single samples

A test is skipped where its folder is not named. A name without a folder is an error, so that no test is
skipped for a slip of the pen.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def folder(variable: str) -> Path | None:
    """The folder that a variable names."""
    name = os.environ.get(variable)
    if not name:
        return None
    if not Path(name).is_dir():
        raise pytest.UsageError(f"{variable} names {name}, which is no folder.")
    return Path(name)


def needs(variable: str) -> pytest.MarkDecorator:
    """Skips a test where the variable names no folder."""
    return pytest.mark.skipif(folder(variable) is None, reason=f"{variable} names no folder")


def require(variable: str) -> Path:
    """The folder that a variable names; the test is skipped without one."""
    path = folder(variable)
    if path is None:
        pytest.skip(f"{variable} names no folder")
    return path
