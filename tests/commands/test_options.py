"""Shell completion of shared options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from gest_dataset.builders import CONFIGS, GROUPS
from gest_dataset.commands import options
from gest_dataset.gender import languages
from gest_dataset.languages import SLAVIC
from gest_dataset.measures import NUMBERS


def test_completion_of_names() -> None:
    names = {name for name in [*CONFIGS, *GROUPS] if name.startswith("s")}
    assert set(options.complete_configs("s")) == names
    assert options.complete_configs("en,sla") == ["en,slavic"]
    assert options.complete_configs("sk_pairs,sk_pa") == []
    assert options.complete_english("en") == ["en", "en_1_0"]
    assert {*SLAVIC, "bg", "slavic"} <= set(options.complete_languages(""))
    assert options.complete_languages("sk,c") == ["sk,cs"]
    assert set(options.complete_language("")) == set(languages())
    assert set(options.complete_numbers("")) == {f"{name}=" for name in NUMBERS}


def test_completion_in_bash(script_environment: Mapping[str, str]) -> None:
    line = "gest build --config en,sla"
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['gest']; from gest_dataset.cli import main; main()"],
        env={**script_environment, "_GEST_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "3"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["en,slavic"]
    assert done.stderr == ""
