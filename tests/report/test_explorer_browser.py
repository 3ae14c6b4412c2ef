"""The explorer in headless Chromium: search, sort, filter, open a row, follow a link."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.report import reliability
from gest_dataset.runs.folder import Run, find_runs
from tests.support import explored, report_runs
from tests.support.browser import chromium, open_all, opened, ready

axe = pytest.importorskip(
    "axe_playwright_python.base", reason="axe-playwright-python is not installed (extra `test`)"
)
pytestmark = pytest.mark.usefixtures("one_thread")
PHONE = {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored")
    with report_runs.small_world():
        explored.english(path)
        gest_dataset.report([path], path / "r.html")
    return path


@pytest.fixture(scope="module")
def page_file(folder: Path) -> Path:
    return folder / "r.html"


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    return find_runs([folder])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


def open_samples(tab: Any) -> Any:
    """Open the sample browser."""
    ready(tab)
    if not tab.locator("#samples-box").evaluate("(one) => one.open"):
        tab.locator("#samples-box > summary").click()
    return tab


def rows(tab: Any) -> int:
    return int(tab.evaluate("document.documentElement.dataset.rows"))


def search(tab: Any, words: str) -> int:
    """How many rows there are after words were typed."""
    tab.locator("#search").fill("")
    tab.locator("#search").press_sequentially(words)
    asked = "(words) => new URLSearchParams(location.hash.slice('#samples?'.length)).get('q') === words"
    tab.wait_for_function(asked, arg=words)  # the list waits for the last letter
    return rows(tab)


def choose(tab: Any, name: str, value: str) -> None:
    tab.locator(f"#filters select[name={name}]").select_option(value)


def means(run: Run) -> dict[str, float]:
    """The mean score over all templates, naively."""
    frame = run.table.to_pandas()
    wide = frame.pivot(index="id", columns="template", values="log_ratio").dropna()
    return dict(wide.mean(axis=1))


def first_scores(tab: Any, name: str = "score") -> list[float]:
    texts = tab.locator(f"#rows .cell.{name}").all_text_contents()
    return [float(text.removeprefix(f"{name} ").replace("−", "-")) for text in texts]


def test_typing_finds_sentences(browser: Any, page_file: Path) -> None:
    sentences = rows_of("en")["sentence"]
    with opened(browser, page_file) as tab:
        open_samples(tab)
        assert rows(tab) == len(sentences)
        word = sentences[4].split()[-1].strip(".")
        assert search(tab, word.upper()) == sum(word.lower() in one.lower() for one in sentences) > 0
        assert sentences[4] in tab.locator("#rows button.sample").all_text_contents()
        assert tab.locator("#found").text_content().startswith(f"{rows(tab)} row")
        assert search(tab, "zzzz") == 0


def test_sorting_by_score_difference_and_disagreement(browser: Any, page_file: Path, runs: list[Run]) -> None:
    expected = sorted(means(runs[0]).values())
    with opened(browser, page_file) as tab:
        open_samples(tab)
        choose(tab, "sort", "score")
        assert first_scores(tab)[:5] == pytest.approx(expected[::-1][:5], abs=6e-4)
        choose(tab, "sort", "score-up")
        assert first_scores(tab)[:5] == pytest.approx(expected[:5], abs=6e-4)
        choose(tab, "against", "2")
        second = means(runs[1])
        apart = sorted((value - second[name] for name, value in means(runs[0]).items()), key=abs)
        assert first_scores(tab, "difference")[:5] == pytest.approx(apart[::-1][:5], abs=6e-4)
        choose(tab, "against", "")
        choose(tab, "sort", "spread")
        frame = runs[0].table.to_pandas().groupby("id")["log_ratio"]
        widest = (frame.max() - frame.min()).max()
        told = tab.locator("#rows .cell.templates").first.text_content()
        assert float(told.removeprefix("templates differ by ")) == pytest.approx(widest, abs=6e-4)


def test_an_opened_row_has_variants_and_other_runs(browser: Any, page_file: Path, runs: list[Run]) -> None:
    row = rows_of("en")[0]
    with opened(browser, page_file) as tab:
        open_samples(tab)
        opener = tab.locator("#rows button.sample").first
        opener.click()
        assert opener.get_attribute("aria-expanded") == "true"
        variants = tab.locator(".variant p").all_text_contents()
        assert variants == [f'He said: "{row["sentence"]}"', f'She said: "{row["sentence"]}"']
        assert tab.locator(".variant mark").all_text_contents() == ["He", "She"]
        templates, others = tab.locator(".detail table").all()
        scores = [cell.replace("−", "-") for cell in templates.locator("td:nth-child(2)").all_text_contents()]
        own = [one["log_ratio"] for one in runs[0].table.to_pylist() if one["id"] == row["id"]]
        assert [float(score) for score in scores] == pytest.approx(own, abs=6e-4)
        assert others.locator("tbody th").all_text_contents() == list(explored.MODELS[1:])
        opener.click()
        assert tab.locator(".detail").count() == 0
        choose(tab, "template", "4")
        tab.locator("#rows button.sample").first.click()
        assert tab.locator(".variant p").first.text_content() == f'"{row["sentence"]}", the man said.'


@pytest.mark.slow
def test_a_link_opens_its_view(browser: Any, page_file: Path) -> None:
    with opened(browser, page_file) as tab:
        open_samples(tab)
        choose(tab, "run", "2")
        choose(tab, "template", "3")
        choose(tab, "sort", "score")
        tab.locator("#rows button.sample").nth(1).click()
        link, found = tab.evaluate("location.hash"), tab.locator("#found").text_content()
        text = tab.locator("#rows button[aria-expanded=true]").text_content()
        detail = tab.locator(".detail").text_content()
    with opened(browser, page_file, link) as tab:
        ready(tab)
        assert tab.locator("#found").text_content() == found
        assert tab.locator("#rows button[aria-expanded=true]").text_content() == text
        assert tab.locator(".detail").text_content() == detail
        assert tab.locator("#filters select[name=run]").input_value() == "2"
        assert tab.locator("#rows button[aria-expanded=true]").is_visible()
        tab.evaluate("location.hash = '#samples?q=zzzz'")  # and a link within the page
        tab.wait_for_function("() => document.documentElement.dataset.rows === '0'")


@pytest.mark.slow
def test_keyboard(browser: Any, page_file: Path) -> None:
    number = len(rows_of("en"))
    with opened(browser, page_file, reduced_motion="reduce") as tab:
        ready(tab)
        tab.locator("#samples-box > summary").focus()
        tab.keyboard.press("Enter")
        seen = set()
        for _ in range(20):
            tab.keyboard.press("Tab")
            name = tab.evaluate("document.activeElement.name || document.activeElement.id")
            if tab.evaluate("document.activeElement.className") == "sample":
                break
            seen.add(name)
        assert {"run", "template", "about", "group", "side", "sort", "against", "search"} <= seen
        row = "document.activeElement.dataset.row"
        assert tab.evaluate(row) == "0"
        tab.keyboard.press("ArrowDown")
        assert tab.evaluate(row) == "1"
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        tab.keyboard.press("End")
        reached(tab, number - 1)
        tab.wait_for_function(
            "() => document.activeElement.getBoundingClientRect().bottom <= innerHeight + 1"
        )
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        tab.keyboard.press("Home")
        reached(tab, 0)


def reached(tab: Any, row: int) -> None:
    """Wait until a row has the focus: it may have to be scrolled to."""
    tab.wait_for_function("(row) => document.activeElement.dataset.row === row", arg=str(row))


@pytest.mark.slow
def test_brushing_the_scatter_filters_the_browser(browser: Any, page_file: Path, runs: list[Run]) -> None:
    first, second = means(runs[0]), means(runs[1])
    with opened(browser, page_file) as tab:
        ready(tab)
        tab.locator("#scatter-0").scroll_into_view_if_needed()  # it is drawn now
        tab.locator("#scatter-0 svg").scroll_into_view_if_needed()
        dots = tab.locator("#scatter-0 circle")
        tab.wait_for_selector("#scatter-0 circle", state="attached")
        assert dots.count() == len(first)
        box = tab.locator("#scatter-0 .overlay").bounding_box()
        tab.mouse.move(box["x"] + 5, box["y"] + 5)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.7, steps=4)
        tab.mouse.up()
        tab.wait_for_function("() => document.getElementById('moved-0').textContent.includes('are shown')")
        bounds = [float(tab.locator(f"#moved-0 input[name={name}]").input_value()) for name in SIDES]
        assert 0 < rows(tab) < len(first)
        inside = within(first, second, bounds)
        assert abs(rows(tab) - inside) <= 1  # the bounds that are shown are rounded
        # the same by keyboard
        for name, bound in zip(SIDES, (-0.5, 0.5, -10, 10), strict=True):
            tab.locator(f"#moved-0 input[name={name}]").fill(str(bound))
        tab.keyboard.press("Enter")
        assert rows(tab) == within(first, second, [-0.5, 0.5, -10, 10])
        tab.locator("#filters button.brushed").click()
        assert rows(tab) == len(first)


SIDES = ("left", "right", "low", "high")


def within(first: dict[str, float], second: dict[str, float], bounds: list[float]) -> int:
    left, right, low, high = bounds
    return sum(left <= first[name] <= right and low <= second[name] <= high for name in first)


def test_figures_of_many_runs_are_drawn_and_ordered(browser: Any, page_file: Path, runs: list[Run]) -> None:
    with opened(browser, page_file) as tab:
        ready(tab)
        for place in ("board-charts", "ratios-0", "heat-0", "correlations-0"):
            tab.locator(f"#{place}").scroll_into_view_if_needed()
            tab.wait_for_selector(f"#{place} svg[role=img]")
            assert tab.locator(f"#{place} svg").first.get_attribute("aria-label")
        assert tab.locator("#heat-0 [data-mark=cell] rect").count() == 3 * 16
        assert tab.locator("#correlations-0 [data-mark=cell] rect").count() == 9
        labels = '#heat-0 [data-mark="y-axis tick label"] text'
        assert tab.locator(labels).count() == 3
        profile = report_runs.unpacked(page_file)["profiles"][0]
        expected = sorted(profile["rows"], key=lambda row: -row["values"][4])
        tab.locator("#heat-0-tools select[name=rows]").select_option("4")
        assert tab.locator(labels).all_text_contents() == [row["label"] for row in expected]
        # of so few samples the bounds are far out: the axis is that of the ratios, with what lies near them
        ticks = tab.locator('#ratios-0 [data-mark="x-axis tick label"] text').all_text_contents()
        assert len(ticks) > 2
        assert tab.locator("#ratios-0").evaluate("(one) => one.scrollWidth <= one.clientWidth + 1")
        assert tab.locator("#board-charts .multiple").count() == 2
        tab.locator("#board-tools select").select_option("verdict")
        assert tab.locator("#board-charts circle").count() == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", {"width": 1180, "height": 900}), ("dark", PHONE)], ids=["wide", "phone"]
)
def test_accessible(browser: Any, page_file: Path, scheme: str, size: dict[str, int]) -> None:
    """axe-core with all its rules finds nothing, with everything opened and drawn."""
    with opened(browser, page_file, color_scheme=scheme, viewport=size, bypass_csp=True) as tab:
        ready(tab)
        open_all(tab)
        choose(tab, "against", "2")
        tab.locator("#rows button.sample").first.click()
        tab.evaluate(
            "dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))"
        )  # draws
        assert tab.locator("svg.plot").count() >= 6
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]
        tab.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 25  # it did look
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


NASTY = "</template><img src=x onerror=document.title='evil'><b>=HYPERLINK(1)</b> &amp; {word} \u202e"


def test_hostile_names_and_sentences_are_escaped(
    browser: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In figures, rows, opened rows and the saved CSV."""
    data = [row | {"sentence": f"=1+{number} {NASTY}"} for number, row in enumerate(rows_of("en").to_list())]
    changed = rows_of("en").map(lambda row, number: data[number], with_indices=True)
    monkeypatch.setattr(reliability, "rows_of", lambda config: changed if config == "en" else rows_of(config))
    hostile = [folder / name for name in ("alpha-base", "alpha-large")]
    found = find_runs(hostile)
    renamed = [
        replace(run, manifest=replace(run.manifest, model=f"=evil{n}<img src=x onerror=alert(1)>"))
        for n, run in enumerate(found)
    ]
    page = gest_dataset.report(renamed, tmp_path / "r.html")
    with opened(browser, page, accept_downloads=True) as tab:
        open_samples(tab)
        tab.locator("#rows button.sample").first.click()
        tab.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
        assert tab.evaluate("document.images.length") == 0
        assert tab.title() != "evil"
        assert "Copyright 2020-2025 Observable, Inc." in tab.locator("#licences").text_content()
        shown = data[0]["sentence"].replace("\u202e", "\\u202e")
        assert tab.locator("#rows button.sample").first.text_content() == shown
        assert tab.locator(".variant p").first.text_content() == f'He said: "{shown}"'
        assert "<img src=x" in tab.locator(".detail table").last.text_content()
        with tab.expect_download() as waiting:
            tab.get_by_text("Save these rows as CSV").click()
        saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    table = list(csv.DictReader(io.StringIO(saved)))
    assert len(table) == len(data)
    assert {row["text"] for row in table} == {
        "'" + row["sentence"].replace("\u202e", "\\u202e") for row in data
    }
    assert {row["run"][:6] for row in table} == {"'=evil"}
    expected = means(find_runs([folder / "alpha-base"])[0])
    assert [float(row["score"]) for row in table] == pytest.approx(list(expected.values()), abs=6e-5)
    assert all(len(row["score"].partition(".")[2]) <= 4 for row in table)  # and no more digits than are known
