"""`gest study` as a user meets it: help, output, exit codes, folders."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import gest_dataset
from gest_dataset import cli
from gest_dataset.commands import study as commands
from gest_dataset.commands.console import err, out
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """The command in this process, in an empty directory: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", "study", *arguments])
        for console in (out, err):
            monkeypatch.setattr(console, "_width", 130)
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_help_lists_the_studies_with_a_line_each(gest: Gest) -> None:
    code, shown, _ = gest("--help")
    assert code == 0
    for name in commands.COMMANDS:
        assert any(line.strip("│ ").startswith(f"{name} ") for line in shown.splitlines()), name
        assert f"study {name}" in cli.LINES
    code, shown, _ = gest("templates", "--help")
    assert "gest study templates gest-runs" in shown


def test_a_study_of_runs(gest: Gest) -> None:
    for animal in ("bert", "gpt2"):
        gest_dataset.score(str(zoo.directory(animal)), "en", device="cpu", output=Path("runs", animal))
    arguments = ("templates", "runs", "--output", "mine")
    code, shown, stderr = gest(*arguments)
    assert code == 0, stderr
    assert "Correlation between the templates of a model" in shown
    assert "Report: mine/study.html" in stderr
    content = json.loads(Path("mine/study.json").read_text())
    assert content["command"] == ["gest", "study", *arguments]
    Path("words.txt").write_text("tent\n\nstage\ntent\n")
    code, shown, stderr = gest("topical", "runs/bert", "--words", "words.txt")
    assert code == 0, stderr
    assert "Male samples with one of: tent, stage" in shown
    code, as_json, _ = gest("templates", "runs", "--output", "other", "--json")
    assert [table["name"] for table in json.loads(as_json)["tables"]][:2] == [
        "between-templates",
        "between-models",
    ]


def test_a_study_without_runs_prints_the_commands_that_make_them(gest: Gest) -> None:
    for name in ("templates", "validity", "topical", "controls", "stereoset"):
        code, _, stderr = gest(name)
        assert code == 2
        assert "gest score MODEL --config" in stderr
        assert f"gest study {name} runs" in stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("templates", "nowhere"), 1, "nowhere is not a directory"),
        (("topical", "--words", " , "), 2, "--words"),
        (("heuristics",), 2, "Either draw a sheet"),
        (("heuristics", "--draw", "a.csv", "--sheet", "a.csv"), 2, "Either draw a sheet"),
        (("heuristics", "--sheet", "a.csv"), 2, "a.csv or a.key.json does not exist"),
    ],
)
def test_wrong_use(gest: Gest, arguments: tuple[str, ...], code: int, message: str) -> None:
    ended, _, stderr = gest(*arguments)
    assert (ended, message in stderr) == (code, True), stderr
    assert not Path("gest-studies").exists() or not any(Path("gest-studies").rglob("study.json"))


def test_all_papers(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEST_PAPER_SCORES", raising=False)
    code, _, stderr = gest("all", "--papers", "--output", "papers")
    assert code == 0, stderr
    assert "72 tables and figures" in stderr
    assert "GEST_PAPER_SCORES" in stderr
    assert Path("papers/study.html").read_text().count("<table>") == 6
