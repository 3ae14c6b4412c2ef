"""What the shell completes, asked as bash asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest

from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.gender import languages
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


@pytest.mark.parametrize("line", ["gest build --config ", "gest build ", "gest score bert --config "])
def test_configs_and_groups(complete: Complete, line: str) -> None:
    assert set(complete(f"{line}s")) == {name for name in [*CONFIGS, *GROUPS] if name.startswith("s")}
    assert complete(f"{line}en,sla") == ["en,slavic"]
    assert complete(f"{line}sk_pairs,sk_pa") == [], "it is in the list already"


@pytest.mark.parametrize("command", ["sentences", "translate"])
def test_english_configs(complete: Complete, command: str) -> None:
    assert complete(f"gest {command} --config en") == ["en", "en_1_0"]
    assert "sk_pairs" not in complete(f"gest {command} --config s")


def test_formats(complete: Complete) -> None:
    assert complete("gest sentences --format c") == ["csv"]


@pytest.mark.parametrize("command", ["translate", "masculine-rate"])
def test_languages_to_translate_to(complete: Complete, command: str) -> None:
    offered = complete(f"gest {command} --language ")
    assert {*SLAVIC, "bg", "slavic"} <= set(offered)
    assert "en" not in offered
    assert complete(f"gest {command} --language sk,c") == ["sk,cs"]


@pytest.mark.parametrize("command", ["pairs", "detect-gender"])
def test_one_language_with_rules(complete: Complete, command: str) -> None:
    assert set(complete(f"gest {command} --language ")) == set(languages())


def test_numbers(complete: Complete) -> None:
    assert complete("gest score bert --fail-above g_") == ["g_s="]
    assert set(complete("gest score bert --fail-above ")) == {f"{name}=" for name in NUMBERS}
