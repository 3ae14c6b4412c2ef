"""The documentation site, built as `make docs` does: a warning is an error, and nothing is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gest_dataset.builders import CONFIGS
from gest_dataset.cli import LINES
from gest_dataset.register import METRICS
from tests.support.browser import chromium

ROOT = Path(__file__).resolve().parent.parent
_DOCS = ROOT / "docs"
_OUR_TEXTS = "".join(
    path.read_text(encoding="utf-8")
    for path in (ROOT / "tests" / "mirror_text.json", ROOT / "gest_dataset" / "demo" / "demo_en.jsonl")
)


class _Loaded(HTMLParser):
    """What a page loads when it is opened: images, scripts, styles, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in {"img", "script", "iframe", "source"}:
            self.addresses += [values["src"]] if values.get("src") else []
        if tag == "link" and values.get("rel") in {"stylesheet", "preload", "icon", "preconnect"}:
            self.addresses += [values["href"]] if values.get("href") else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_every_config_metric_and_command_has_its_page(site: Path) -> None:
    for name in CONFIGS:
        assert f"<code>{name}</code>" in (site / "configs" / name / "index.html").read_text()
    for name in METRICS:
        assert (site / "metrics" / name / "index.html").exists()
    commands = (site / "commands" / "index.html").read_text()
    for name in LINES:
        assert f'id="gest-{name.replace(" ", "-")}"' in commands


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(CONFIGS)
    for page in pages:
        parser = _Loaded()
        parser.feed(page.read_text())
        assert parser.addresses
        assert not [address for address in parser.addresses if re.match(r"(https?:)?//", address)], page


def test_a_config_page_describes_every_field_and_shows_a_row_of_ours(site: Path) -> None:
    for name, config in CONFIGS.items():
        page = (site / "configs" / name / "index.html").read_text()
        facts, example = page.split('id="an-example"')
        for field in config.fields:
            cell = f"<td><code>{field}</code></td>"
            assert cell in facts
            assert cell in example
        assert ("this project's tests" in example) != (config.embedded is not None)
        # the Serbian in Latin letters of the mirror is made of the Cyrillic one
        if "sentence" in config.fields and name != "sr_neutral":
            (sentence,) = re.findall(r"<code>sentence</code></td>\s*<td>(.*?)</td>", example)
            assert unescape(sentence) in _OUR_TEXTS


@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_scrolls_sideways(site: Path, width: int) -> None:
    pages = sorted(site.rglob("*.html"))
    wide = {}
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": width, "height": 800})
        for page in pages:
            tab.goto(page.as_uri())
            content = tab.evaluate("document.scrollingElement.scrollWidth")
            if content > width:
                wide[str(page.relative_to(site))] = content
    assert len(pages) > len(CONFIGS)
    assert wide == {}


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in _DOCS.glob("*.md"):
        assert f": {page.name}\n" in nav


def test_the_map_has_ten_changes_with_files_and_tests() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = [line.split(" | ") for line in re.findall(r"^\| (an? .*) \|$", text, re.MULTILINE)]
    assert len(rows) >= 10
    for change, files, tests in rows:
        assert "`" in files, change
        assert "`tests/" in tests, change


def _code(language: str) -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", *_DOCS.glob("*.md")]
    return [
        (page.name, block)
        for page in pages
        for block in re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)
    ]


def test_commands_in_the_docs_exist_with_their_options(script_environment: Mapping[str, str]) -> None:
    """Every `gest COMMAND --option` that a page shows is one that the command knows."""
    helps: dict[str, str] = {}
    seen = 0
    for page, block in _code("bash"):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            for command, rest in re.findall(r"(?:^|[|;&] *|\{\} )gest ([a-z-]+)([^|#]*)", line.strip()):
                assert command in LINES, f"{page}: gest {command}"
                below = f"{command} {rest.split()[0]}" if rest.split() else command
                if any(name.startswith(f"{command} ") for name in LINES):  # it has commands of its own
                    assert below in LINES, f"{page}: gest {below}"
                    command = below
                if command not in helps:
                    helps[command] = subprocess.run(
                        [sys.executable, "-m", "gest_dataset", *command.split(), "--help"],
                        env={**script_environment, "COLUMNS": "200"},
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout
                for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
                    assert option in helps[command], f"{page}: gest {command} {option}"
                seen += 1
    assert seen > 10


def test_python_in_the_docs_compiles() -> None:
    blocks = _code("python")
    assert blocks
    for page, block in blocks:
        source = re.sub(r"^>>> |^\.\.\. ", "", block, flags=re.MULTILINE)
        indent = len(source) - len(source.lstrip(" "))
        compile(re.sub(rf"^ {{{indent}}}", "", source, flags=re.MULTILINE), page, "exec")
