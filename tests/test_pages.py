"""The pages of the documentation: their Python blocks and commands run in order, offline, with small models.

`tests/support/pages.py` makes what a page speaks about: models, files, servers, a Hub.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from gest_dataset import cli
from tests.conftest import ROOT, write_short_report
from tests.support import pages

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ *```(python|bash)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
# commands that do not run here, each with the reason: by page, by how the line starts
NOT_RUN: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """The language and text of each block, in order."""
    return [(language, textwrap.dedent(text)) for language, text in BLOCK.findall(page.read_text("utf-8"))]


def lines_of(block: str) -> list[str]:
    """The commands of a block, without comments."""
    lines = (line.partition(" #")[0].strip() for line in block.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def reason_not_to_run(page: str, line: str) -> str | None:
    tables = (NOT_RUN["every page"], NOT_RUN.get(page, {}))
    return next((why for table in tables for start, why in table.items() if line.startswith(start)), None)


def run_command(line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    words = shlex.split(line)
    if words[:2] == ["python", "-c"]:
        exec(compile(words[2], line, "exec"), {})
        return 0
    assert words[0] == "gest", f"{line}: not a command of this package, and not among those that do not run"
    monkeypatch.setattr(sys, "argv", words)
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize("path", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name)
@pytest.mark.usefixtures("one_thread", "home", "few_draws")
def test_blocks_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    pages.put_models(path.read_text("utf-8"), tmp_path)
    pages.use_small_parser(monkeypatch)
    pages.skip_figures(monkeypatch)
    if path.name != "report.md":
        monkeypatch.setattr("gest_dataset.report.page.write_report", write_short_report)
    with ExitStack() as stack:
        page = pages.Page(tmp_path, monkeypatch, stack)
        pages.SURROUNDINGS.get(path.name, lambda page: None)(page)
        for language, block in blocks_of(path):
            if language == "python":
                capsys.readouterr()
                exec(compile(page.filled(block), path.name, "exec"), page.names)
                if "print(" in block:
                    printed = capsys.readouterr().out.splitlines()
                    assert set(re.findall(r"^# (.*)", block, re.MULTILINE)) <= set(printed)
                continue
            for line in lines_of(block):
                if reason_not_to_run(path.name, line) is None:
                    code = run_command(page.filled(line), monkeypatch)
                    # a gate exits with 1 if the model fails it, after its run
                    assert code == 0 or ("--fail-" in line and "Report:" in capsys.readouterr().err), line
                    page.label_sheet()


def test_what_does_not_run_is_there() -> None:
    for page, reasons in NOT_RUN.items():
        texts = [text for path in PAGES if page in ("every page", path.name) for text in blocks_of(path)]
        lines = [line for language, text in texts if language == "bash" for line in lines_of(text)]
        for start in reasons:
            assert any(line.startswith(start) for line in lines), f"{page}: {start}"


@pytest.mark.usefixtures("mirror")
def test_the_row_in_the_readme_is_real_output() -> None:
    found = re.search(r"^```text\n(\{.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    assert ast.literal_eval(found[1]) in list(load_dataset("gest", "sk_pairs", split="test"))


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150
