"""The report in a real browser, headless Chromium: it runs, stays at home, prints, and is accessible.

Skipped where Chromium or the Python packages are not installed: `apt-get install chromium`, and
playwright and axe-playwright-python of the extra `test`.
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
        for figure in tab.locator("figure.panel").all():
            box = figure.locator("svg").bounding_box()
            assert box["width"] > 500
            assert box["height"] > 100
            assert figure.locator("tbody tr").count() > 0
        # nothing is cut off beside the page
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_phone_scrolls_figures_and_not_the_page(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        open_all(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        drawing = tab.locator(".drawing").first
        assert drawing.evaluate("(one) => one.scrollWidth > one.clientWidth")


def test_dark_mode_turns_page_and_figures_over(browser: Any, page_file: Path) -> None:
    lights = {}
    for scheme in ("light", "dark"):
        with opened(browser, page_file, color_scheme=scheme) as tab:
            lights[scheme] = [
                brightness(tab, "getComputedStyle(document.body).backgroundColor"),
                brightness(tab, "getComputedStyle(document.querySelector('figure.panel')).backgroundColor"),
                brightness(tab, "getComputedStyle(document.querySelector('figure.panel svg text')).fill"),
            ]
    ground, card, ink = lights["light"]
    assert ground > 230
    assert card > 230
    assert ink < 110
    ground, card, ink = lights["dark"]
    assert ground < 40
    assert card < 40
    assert ink > 150


def brightness(tab: Any, colour: str) -> float:
    """The mean of red, green and blue of a CSS colour."""
    found: float = tab.evaluate(
        f"{colour}.match(/[0-9]+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"
    )
    return found


def test_print_is_light_and_whole(browser: Any, page_file: Path, tmp_path: Path) -> None:
    with opened(browser, page_file, color_scheme="dark") as tab:
        tab.pdf(path=tmp_path / "page.pdf", format="A4", print_background=True)
        assert (tmp_path / "page.pdf").stat().st_size > 50_000
        # and everything is as it was
        assert not tab.locator("#runs details").first.evaluate("(one) => one.open")
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
    """The cells of a column of the board, as they sort."""
    found: list[str] = tab.evaluate(
        "(n) => [...document.querySelectorAll('#board tbody tr')].map((row) =>"
        " row.cells[n].dataset.value ?? row.cells[n].textContent)",
        number,
    )
    return found


def test_board_sorts_by_mouse(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        heading = tab.locator("#board th[scope=col]").nth(5)
        heading.locator("button").click()
        values = [float(value) for value in column(tab, 5)]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) > 5
        assert heading.get_attribute("aria-sort") == "descending"
        assert tab.locator("#board-sorted").text_content() == "Sorted by Value, descending."
        heading.locator("button").click()
        assert [float(value) for value in column(tab, 5)] == sorted(values)


def test_board_sorts_by_keyboard(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        tab.locator("#board .scroll").focus()
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Run"
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        tab.keyboard.press("Enter")
        first = column(tab, 0)
        assert tab.locator("#board th[scope=col]").first.get_attribute("aria-sort") == "ascending"
        assert tab.locator("#board th[scope=col]").nth(1).get_attribute("aria-sort") is None
        tab.keyboard.press("Space")
        second = column(tab, 0)
        assert sorted(first) == sorted(second)
        assert first[0] == second[-1] != second[0]


def test_first_tab_skips_to_the_content(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert tab.locator(".skip").bounding_box()["y"] >= 0
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"


def test_motion_is_reduced_on_request(browser: Any, page_file: Path) -> None:
    for wish, behaviour in (("reduce", "auto"), ("no-preference", "smooth")):
        with opened(browser, page_file, reduced_motion=wish) as tab:
            assert tab.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == behaviour


WIDE = {"width": 1180, "height": 900}


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", WIDE),
        ("dark", PHONE),
        pytest.param("dark", WIDE, marks=pytest.mark.slow),
        pytest.param("light", PHONE, marks=pytest.mark.slow),
    ],
)
def test_accessible(browser: Any, page_file: Path, scheme: str, size: dict[str, int]) -> None:
    """axe-core with all its rules finds nothing serious or critical, with everything opened."""
    with opened(browser, page_file, color_scheme=scheme, viewport=size, bypass_csp=True) as tab:
        open_all(tab)
        tab.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 25  # it did look
    grave = [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert grave == []
    assert [one["id"] for one in found["violations"]] == []


def test_policy_stops_what_data_would_bring_along(browser: Any, page_file: Path, tmp_path: Path) -> None:
    """Were something not escaped, the page's own policy would not run it."""
    evil = tmp_path / "evil.html"
    html = page_file.read_text(encoding="utf-8")
    evil.write_text(
        html.replace("<footer", "<script>document.title = 'evil'</script><footer"), encoding="utf-8"
    )
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(evil.as_uri())
    assert tab.title() != "evil"
    context.close()
