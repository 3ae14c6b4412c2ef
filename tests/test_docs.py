"""The documentation: it builds without warnings, and its commands and examples work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gest_dataset
from gest_dataset import cli
from gest_dataset.builders import CONFIGS
from gest_dataset.register import METRICS
from tests.conftest import ROOT
from tests.support.browser import chromium
from tests.support.modules import load_script

_DOCS = ROOT / "docs"
_PAGES = [ROOT / "README.md", *sorted(_DOCS.glob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("page", ["gender.md", "pairs.md"])
def test_numbers_of_the_parser_are_the_computed_ones(page: str) -> None:
    """After a change: python docs/detected.py (with --compute where the rules gave something else)."""
    script = load_script(_DOCS / "detected.py")
    found = json.loads(script.RESULTS.read_text(encoding="utf-8"))
    assert script.filled(page, found) == (_DOCS / page).read_text(encoding="utf-8")
    found["rates"][0]["n"] += 1
    found["pairs"]["DeepL"]["pairs"] += 1
    assert script.filled(page, found) != (_DOCS / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_config_metric_and_command_has_its_page(site: Path) -> None:
    for name, config in CONFIGS.items():
        page = (site / "configs" / name / "index.html").read_text()
        assert all(f"<td><code>{field}</code></td>" in page for field in config.fields)
    assert all((site / "metrics" / name / "index.html").exists() for name in METRICS)
    commands = (site / "commands" / "index.html").read_text()
    assert all(f'id="gest-{name.replace(" ", "-")}"' in commands for name in cli.LINES)
    loads = re.compile(r"<(?:img|script|iframe)[^>]*\ssrc=\"(?:https?:)?//|rel=\"stylesheet\" href=\"http")
    assert not [page for page in site.rglob("*.html") if loads.search(page.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_scrolls_sideways(site: Path, width: int) -> None:
    wide = {}
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": width, "height": 800})
        for page in sorted(site.rglob("*.html")):
            tab.goto(page.as_uri())
            content = tab.evaluate("document.scrollingElement.scrollWidth")
            if content > width:
                wide[str(page.relative_to(site))] = content
    assert wide == {}


def _code(language: str) -> list[tuple[str, str]]:
    return [
        (page.name, block)
        for page in _PAGES
        for block in re.findall(rf"^ *```{language}\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE)
    ]


def test_commands_in_the_docs_exist_with_their_options() -> None:
    helps: dict[str, str] = {}
    for page, block in _code("bash"):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            for command, rest in re.findall(r"(?:^|[|;&] *|\{\} )gest ([a-z-]+)([^|#]*)", line.strip()):
                if any(name.startswith(f"{command} ") for name in cli.LINES):
                    command = f"{command} {rest.split()[0]}"
                assert command in cli.LINES, f"{page}: gest {command}"
                if command not in helps:
                    arguments = [*command.split(), "--help"]
                    helps[command] = CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"}).output
                for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
                    assert option in helps[command], f"{page}: gest {command} {option}"
    assert len(helps) > 10


def test_every_public_name_is_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(_DOCS)
    import reference

    shown = set(re.findall(r"^### (\S+)$", reference.markdown(), re.MULTILINE))
    public = {f"gest_dataset.{n}" for n in gest_dataset.__all__ if callable(getattr(gest_dataset, n))}
    assert public <= shown
