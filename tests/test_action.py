"""The GitHub Action, whose shell steps run here as on GitHub, and the Dockerfile, which is only read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from importlib.metadata import entry_points, metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.conftest import ROOT
from tests.support import zoo

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
BOARD: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "board.yml").read_text("utf-8"))
BOARD_INPUTS = BOARD[True]["workflow_dispatch"]["inputs"]  # YAML reads `on` as true
BOARD_STEPS = {step["name"]: step for step in BOARD["jobs"]["board"]["steps"] if "name" in step}


def run_steps(
    inputs: Mapping[str, str], folder: Path, environment: Mapping[str, str], workflow: bool = False
) -> tuple[int, str, str]:
    """Run the shell steps: the exit code, the summary and the outputs."""
    steps, declared = (BOARD_STEPS, BOARD_INPUTS) if workflow else (STEPS, ACTION["inputs"])
    values = {name: entry.get("default", "") for name, entry in declared.items()} | dict(inputs)
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    code = 0
    for file in files.values():
        file.write_text("")
    for name, step in steps.items():
        script = folder.parent / f"{name}.sh"
        script.write_text(step["run"])
        given = {
            key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
            for key, text in step.get("env", {}).items()
        }
        variables = {**environment, **given, "PATH": path, **{key: str(file) for key, file in files.items()}}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        code = code or subprocess.run(command, cwd=folder, env=variables).returncode
    return code, *(file.read_text() for file in files.values())


def test_inputs_are_data() -> None:
    """No input is pasted into a script, and each is used."""
    assert all("${{" not in step["run"] for step in (*STEPS.values(), *BOARD_STEPS.values()))
    used = set(re.findall(r"inputs\.([\w-]+)", str(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


@pytest.mark.slow
def test_the_workflow_of_the_board(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    """A model is scored and kept on a branch; the next one joins it on the site."""
    origin = tmp_path / "origin"
    subprocess.run(["git", "init", "--quiet", "--bare", str(origin)], check=True)
    for name in ("bert", "gpt2"):
        checkout = tmp_path / f"checkout-{name}"
        subprocess.run(["git", "clone", "--quiet", str(origin), str(checkout)], check=True)
        shutil.copytree(zoo.directory(name), checkout / name)
        inputs = {"model": name, "configs": "demo_en"}
        assert run_steps(inputs, checkout, script_environment, workflow=True)[0] == 0
        listed = (checkout / "site" / "board.csv").read_text("utf-8")
        assert f"/checkout-{name}/{name}," in listed
    assert "/checkout-bert/bert," in listed


@pytest.mark.slow
def test_the_steps(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    shutil.copytree(zoo.directory("bert"), tmp_path / "bert")
    inputs = {"model": "bert", "config": "demo_en", "arguments": "--templates 1"}
    for limits, config, code, mark in (
        ({"fail-above": "g_s=9 d=9"}, "demo_en", 0, "✅"),
        ({"fail-unless-below": "g_s=0.1", "stop-early": "true"}, "demo_en", 1, "❌"),
        ({"fail-above": "g_s=9"}, "demo_en,demo_sk_pairs", 0, "✅"),
        ({"fail-above": "g_s"}, "demo_en", 2, ""),
    ):
        shutil.rmtree(tmp_path / "gest", ignore_errors=True)
        given = {**inputs, **limits, "config": config}
        ended, summary, outputs = run_steps(given, tmp_path, script_environment)
        assert ended == code
        assert summary.startswith(f"### {mark} GEST: bert: " if mark else "")
        named = dict(line.split("=", 1) for line in outputs.splitlines())
        assert named.keys() == ({"report", "junit"} if mark else set()) | (
            {"badge"} if mark and "," not in config else set()
        )
        assert all((tmp_path / file).exists() for file in named.values())
        if "badge" in named:
            assert "g_s " in "".join(ElementTree.parse(tmp_path / named["badge"]).getroot().itertext())
    assert run_steps({**inputs, "model": "$(touch planted)"}, tmp_path, script_environment)[0] != 0
    assert run_steps({**inputs, "model": "--help; touch planted"}, tmp_path, script_environment)[0] != 0
    assert not (tmp_path / "planted").exists()


def test_the_dockerfile_fits_the_package(tmp_path: Path) -> None:
    """Docker cannot run in tests: the Python, the wheel's name, the extras and the command must exist."""
    lines = [line.split(" ", 1) for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines()]
    given = {name: text for name, text in lines if name.isupper()}
    project = metadata("gest-dataset")
    python = re.fullmatch(r"python:(3\.\d+)-slim", given["FROM"])
    assert python
    assert f"Programming Language :: Python :: {python[1]}" in project.get_all("Classifier", [])
    name, _, extras = given["ARG"].partition("=")
    assert set(extras.split(",")) <= set(project.get_all("Provides-Extra", []))
    wheel = f"gest_dataset-{project['Version']}-py3-none-any.whl"
    assert fnmatch(f"dist/{wheel}", given["COPY"].split()[0])
    requirement = given["RUN"].removeprefix("pip install --no-cache-dir ")
    (tmp_path / wheel).touch()
    script = f"{name}={extras}; echo {requirement.replace('/tmp/', '')}"
    expanded = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert expanded.stdout == f"{wheel}[{extras}]\n"
    assert json.loads(given["ENTRYPOINT"]) == [
        point.name for point in entry_points(value="gest_dataset.cli:main")
    ]
