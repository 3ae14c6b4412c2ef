"""`gest study` as a user meets it: help, output, exit codes, folders, interrupts."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gest_dataset import cli
from gest_dataset.commands import study as commands
from gest_dataset.commands.console import err, out
from gest_dataset.models.scorers import LanguageModelScorer
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """The command in this process, in an empty directory with two models: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)
    for animal in ("bert", "gpt2"):
        shutil.copytree(zoo.directory(animal), tmp_path / animal)
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


def test_models_are_scored_and_kept_and_read_again(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("templates", "--model", "bert", "--model", "gpt2", "--output", "mine", "--device", "cpu")
    code, shown, stderr = gest(*arguments)
    assert code == 0, stderr
    assert "Correlation between the templates of a model" in shown
    assert "Report: mine/study.html" in stderr
    assert {path.name for path in Path("mine/runs").iterdir()} == {"bert", "gpt2"}
    content = json.loads(Path("mine/study.json").read_text())
    assert content["command"] == ["gest", "study", *arguments]
    monkeypatch.setattr(LanguageModelScorer, "log_probs", None)  # nothing is asked again
    code, again, _ = gest(*arguments)
    assert (code, again) == (0, shown)
    code, of_runs, _ = gest("templates", "mine/runs", "--output", "other")
    assert (code, of_runs.splitlines()[:-1]) == (0, shown.splitlines()[:-1])  # but for the signature
    Path("words.txt").write_text("tent\n\nstage\ntent\n")
    code, shown, stderr = gest("topical", "mine/runs/bert", "--words", "words.txt")
    assert code == 0, stderr
    assert "Male samples with one of: tent, stage" in shown
    code, as_json, _ = gest("templates", "mine/runs", "--output", "other", "--json")
    assert [table["name"] for table in json.loads(as_json)["tables"]][:2] == [
        "between-templates",
        "between-models",
    ]


def test_an_interrupted_study_goes_on(gest: Gest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second model is interrupted; the run of the first is kept, and not asked again."""
    asked: list[str] = []
    whole = LanguageModelScorer.log_probs

    def answer(self: LanguageModelScorer, *given: Any, **named: Any) -> Any:
        asked.append(type(self.model).__name__)
        if stopped and "GPT2" in asked[-1]:
            raise KeyboardInterrupt
        return whole(self, *given, **named)

    monkeypatch.setattr(LanguageModelScorer, "log_probs", answer)
    stopped = True
    arguments = ("templates", "--model", "bert", "--model", "gpt2", "--device", "cpu")
    code, _, stderr = gest(*arguments)
    assert code == 130
    assert "run the same command again" in stderr
    assert not Path("gest-studies/templates/study.json").exists()
    stopped = False
    asked.clear()
    code, shown, stderr = gest(*arguments)
    assert code == 0, stderr
    assert asked
    assert all("GPT2" in name for name in asked)
    assert "gpt2" in shown
    # a model that has changed is not taken for the old one
    shutil.rmtree("bert")
    shutil.copytree(zoo.directory("roberta"), "bert")
    for file in Path("bert").iterdir():
        file.touch()
    code, _, stderr = gest(*arguments)
    assert (code, "was made with other settings" in stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("templates",), 2, "There are no runs for this study"),
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


def test_controls_and_stereoset_are_asked_on_the_command_line(gest: Gest) -> None:
    code, shown, stderr = gest(
        *("controls", "--model", "bert", "--config", "stereoset_control_gender,crows_control_negation"),
        *("--output", "mine", "--device", "cpu"),
    )
    assert code == 0, stderr
    assert "ss μ original" in shown
    assert "The CrowS-Pairs controls in both readings" in shown
    assert {path.name for path in Path("mine/runs").iterdir()} == {"bert", "bert+own-negation"}
    assert "Warning" not in stderr
    code, _, stderr = gest("controls", "--model", "gpt2", "--output", "other")
    assert (code, "needs a masked or seq2seq model" in stderr) == (2, True)
    code, shown, stderr = gest(
        *("stereoset", "--model", "gpt2", "--language", "de", "--output", "set", "--device", "cpu", "--json")
    )
    assert code == 0, stderr
    names = [table["name"] for table in json.loads(shown)["tables"]]
    assert names == [f"table-{number}" for number in (2, 3, 4, 5, 7, 8, 9)]
    code, _, stderr = gest("stereoset", "--model", "gpt2", "--nsp", "gpt2", "--output", "set")
    assert (code, "--nsp takes MODEL=CHECKPOINT" in stderr) == (2, True)
