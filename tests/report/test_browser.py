"""The report in headless Chromium: figures, themes, print, keyboard, accessibility.

The tests need Chromium (`apt-get install chromium`), playwright and axe-playwright-python.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import report_runs
from tests.support.browser import chromium, open_all, opened

axe = pytest.importorskip(
    "axe_playwright_python.base", reason="axe-playwright-python is not installed (extra `test`)"
)

PHONE = {"width": 360, "height": 740}
WIDE = {"width": 1180, "height": 900}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_runs.made(tmp_path_factory) / "r.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


def test_figures_and_tables_are_drawn(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        open_all(tab)
        sizes = tab.locator("figure.panel svg").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect()).map((box) => [box.width, box.height])"
        )
        assert sizes
        assert all(width > 500 and height > 100 for width, height in sizes)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def brightness(tab: Any, colour: str) -> float:
    """The mean of red, green and blue of a CSS colour."""
    found: float = tab.evaluate(
        f"{colour}.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"
    )
    return found


def test_page_and_figures_follow_the_theme(browser: Any, page_file: Path) -> None:
    lights = {}
    for scheme in ("light", "dark"):
        with opened(browser, page_file, color_scheme=scheme) as tab:
            lights[scheme] = [
                brightness(tab, "getComputedStyle(document.body).backgroundColor"),
                brightness(tab, "getComputedStyle(document.querySelector('figure.panel svg text')).fill"),
            ]
    assert lights["light"][0] > 230
    assert lights["light"][1] < 110
    assert lights["dark"][0] < 40
    assert lights["dark"][1] > 150


def test_print_is_light_and_complete(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file, color_scheme="dark") as tab:
        tab.emulate_media(media="print", color_scheme="dark")
        assert not tab.locator("nav").is_visible()
        assert not tab.locator("#samples").is_visible()
        assert tab.locator("figure.panel").last.is_visible()
        assert brightness(tab, "getComputedStyle(document.querySelector('h1')).color") < 60
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("#runs dl").first.is_visible()
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert not tab.locator("#runs dl").first.is_visible()


def column(tab: Any, number: int) -> list[str]:
    """The sort keys of a column of the table of runs."""
    found: list[str] = tab.evaluate(
        "(n) => [...document.querySelectorAll('#board tbody tr')].map((row) =>"
        " row.cells[n].dataset.value ?? row.cells[n].textContent)",
        number,
    )
    return found


def test_table_of_runs_sorts_by_mouse_and_keyboard(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        heading = tab.locator("#board th[scope=col]").nth(3)
        heading.locator("button").click()
        values = [float(value) for value in column(tab, 3)]
        assert values == sorted(values, reverse=True)
        assert heading.get_attribute("aria-sort") == "descending"
        assert tab.locator("#board-sorted").text_content() == "Sorted by Value, descending."
        tab.locator("#board .scroll").focus()
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Run"
        tab.keyboard.press("Enter")
        first = column(tab, 0)
        assert tab.locator("#board th[scope=col]").first.get_attribute("aria-sort") == "ascending"
        tab.keyboard.press("Space")
        assert column(tab, 0)[-1] == first[0]


def test_first_tab_skips_to_the_content(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", WIDE),
        pytest.param("dark", PHONE, marks=pytest.mark.slow),
        pytest.param("dark", WIDE, marks=pytest.mark.slow),
        pytest.param("light", PHONE, marks=pytest.mark.slow),
    ],
)
def test_accessible(browser: Any, page_file: Path, scheme: str, size: dict[str, int]) -> None:
    """axe-core with all its rules finds no violation, with everything opened."""
    with opened(browser, page_file, color_scheme=scheme, viewport=size, bypass_csp=True) as tab:
        open_all(tab)
        tab.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 25
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []
