"""Headless Chromium for tests, with a profile of its own; a test is skipped where there is none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; its profile is empty, and nothing is left of it."""
    if _CHROMIUM is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra `test`)")
    with tempfile.TemporaryDirectory() as profile, api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_CHROMIUM, args=[*_FLAGS], env={"HOME": profile, "XDG_CONFIG_HOME": profile}
        )
        yield browser
        browser.close()
