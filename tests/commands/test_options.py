"""What the shell completes, asked as bash asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest
import typer
from typer.testing import CliRunner

from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.commands.options import FailAbove, Language
from gest_dataset.languages import SLAVIC
from gest_dataset.measures import NUMBERS

Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(script_environment: Mapping[str, str]) -> Complete:
    """What bash is told for a line; the last word is the one that is not finished."""

    def ask(line: str) -> list[str]:
        place = str(len(line.split(" ")) - 1)
        shell = {"_GEST_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": place}
        script = "import sys; sys.argv = ['gest']; from gest_dataset.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**script_environment, **shell},
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.mark.parametrize("line", ["gest build --config ", "gest build "])
def test_configs_and_groups(complete: Complete, line: str) -> None:
    assert set(complete(f"{line}s")) == {name for name in [*CONFIGS, *GROUPS] if name.startswith("s")}
    assert complete(f"{line}en,sla") == ["en,slavic"]
    assert complete(f"{line}sk_pairs,sk_pa") == [], "it is in the list already"


def test_english_configs_and_formats(complete: Complete) -> None:
    assert complete("gest sentences --config en") == ["en", "en_1_0"]
    assert "sk_pairs" not in complete("gest sentences --config s")
    assert complete("gest sentences --format c") == ["csv"]


def test_languages_and_numbers() -> None:
    app = typer.Typer()

    @app.command()
    def run(language: Language, fail_above: FailAbove = None) -> None:
        """A command with both."""

    def completed(*words: str) -> list[str]:
        environment = {
            "_RUN_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["run", *words]),
            "COMP_CWORD": str(len(words)),
        }
        return CliRunner().invoke(app, [], prog_name="run", env=environment).stdout.split()

    assert {*SLAVIC, "bg", "slavic"} <= set(completed("--language", ""))
    assert "en" not in completed("--language", "")
    assert completed("--language", "sk,c") == ["sk,cs"]
    assert completed("--fail-above", "g_") == ["g_s="]
    assert set(completed("--fail-above", "")) == {f"{name}=" for name in NUMBERS}
