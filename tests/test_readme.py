"""The README: its code blocks run in order, on the test mirror and small models."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import evaluate
import pytest
from datasets import load_dataset

from gest_dataset import cli
from tests.conftest import ROOT
from tests.support import zoo

README = (ROOT / "README.md").read_text(encoding="utf-8")
USER_PART = README[: README.index("## Contribute")]
BLOCKS = re.findall(r"^```(bash|python|text)\n(.*?)^```", USER_PART, re.DOTALL | re.MULTILINE)
MODELS = {"FacebookAI/roberta-base": "roberta", "distilbert/distilroberta-base": "bert"}


def _command(line: str) -> int:
    sys.argv = shlex.split(line, comments=True)
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.usefixtures("one_thread")
def test_code_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    names: dict[str, Any] = {}
    for language, block in BLOCKS:
        for name, small in MODELS.items():
            block = block.replace(name, str(zoo.directory(small)))
        if language == "python":
            exec(compile(block, "README.md", "exec"), names)
        elif language == "bash":
            for line in block.splitlines():
                if not line.startswith("pip install"):
                    assert _command(line) == 0, line
    assert names["scores"].table.num_rows > 0
    assert isinstance(names["metric"], evaluate.EvaluationModule)


@pytest.mark.usefixtures("mirror")
def test_the_row_is_real_output() -> None:
    row = next(ast.literal_eval(block) for language, block in BLOCKS if block.startswith("{"))
    assert row in list(load_dataset("gest", "sk_pairs", split="test"))


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
