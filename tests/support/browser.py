"""Headless Chromium for tests, with a profile of its own; a test is skipped where there is none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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


@contextmanager
def opened(browser: Any, file: Path, at: str = "", **options: Any) -> Iterator[Any]:
    """The page in a tab, `at` an anchor; in the end there was no message, no error, no request but for it."""
    context = browser.new_context(**{"color_scheme": "light", **options})
    tab = context.new_page()
    requests: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(file.as_uri() + at)
    yield tab
    assert {address.partition("#")[0] for address in requests} == {file.as_uri()}
    assert said == []
    context.close()


def open_all(tab: Any) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def ready(tab: Any) -> None:
    """Wait until the page's explorer has unpacked its data."""
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
