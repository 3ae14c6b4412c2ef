"""Choices asked through Inspect: the same answers are the same numbers as those of `gest ask`.

Inspect pins libraries at other versions than this project's, so that it has an environment of its own:
`GEST_INSPECT_PYTHON` is the python there, with this package installed (CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED
from gest_dataset.statistics import sequential
from gest_dataset.stereotypes import STEREOTYPES
from tests.support.chats import MODEL, Mind, chatting, planted, prompts

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
]
# What a process with Inspect makes of outputs: the option, the answer and the problem of each, as JSON
_TAKEN = """
import asyncio, json, sys
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import TaskState
from gest_dataset.harness.inspect_tasks import option

outputs = [ModelOutput.from_content("m", said, stop_reason=ended) for said, ended in json.loads(sys.argv[1])]
prompt = {"row": "1", "variant": "own:male-female-neither"}
for output in [*outputs, ModelOutput()]:
    state = TaskState("m", "1", 1, "(a) he (b) she (c) neither", [], output=output, metadata=prompt)
    score = asyncio.run(option()(state, Target("")))
    print(json.dumps([score.value, score.answer, score.metadata["problem"]]))
"""

# Inspect stops at the first look that is clear; with so few sentences, the first look has to be earlier
_STOPPED = """
import sys
from inspect_ai import eval
from gest_dataset.statistics import sequential

sequential.FIRST_LOOK = int(sys.argv[2])
given = {"log_format": "json", "display": "none", "max_connections": 3}
eval("gest_dataset/gest_choice", model=sys.argv[1], task_args={"stop_early": True}, **given)
"""


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get("GEST_INSPECT_PYTHON")
    if not found:
        pytest.skip("GEST_INSPECT_PYTHON names no environment with Inspect")
    return found


@pytest.fixture
def genders(mirror: Path) -> dict[str, str]:
    """Each sentence of the test mirror, and whom it is about."""
    return {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows_of("en").to_list()}


@pytest.fixture
def inspect(python: str, script_environment: Mapping[str, str], tmp_path: Path) -> Callable[..., Any]:
    """Run a process with Inspect: the process and the log that it has written (empty if there is none)."""

    def run(*arguments: str, **variables: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        environment = {**script_environment, **variables, "INSPECT_LOG_DIR": str(tmp_path / "logs")}
        command = [python, *arguments]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        return done, next((json.loads(log.read_text()) for log in (tmp_path / "logs").glob("*.json")), {})

    return run


def asked(inspect: Callable[..., Any], url: str, *options: str) -> dict[str, Any]:
    """The log of `inspect eval` with the model of a server."""
    command = ["-m", "inspect_ai", "eval", "gest_dataset/gest_choice", "--model", f"openai-api/local/{MODEL}"]
    command += ["--log-format", "json", "--display", "none", *options]
    done, log = inspect(*command, LOCAL_API_KEY="none", LOCAL_BASE_URL=f"{url}/v1")
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(log)


def metrics(log: Mapping[str, Any]) -> dict[str, float]:
    (scored,) = log["results"]["scores"]
    return {name: metric["value"] for name, metric in scored["metrics"].items()}


def check_same(log: Mapping[str, Any], answers: gest_dataset.Answers) -> None:
    """Every number of Inspect's, every reading and every prompt."""
    wanted, found = answers.result(), metrics(log)
    assert {"stereotype_rate_low", "neither_m", "unreadable", "position_effect_high"} <= found.keys()
    refused = answers.metadata["skipped"].get("refused", 0) / answers.table.num_rows
    assert found.pop("refused") == pytest.approx(refused)
    for name, value in found.items():
        assert value == pytest.approx(wanted[name], nan_ok=True), name
    rows = answers.table.to_pylist()
    read = [(sample["input"], sample["scores"]["option"]["value"]) for sample in log["samples"]]
    assert sorted(read) == sorted((row["prompt"], row["option"]) for row in rows)


def test_the_entry_point_names_a_module() -> None:
    (entry,) = (point for point in entry_points(group="inspect_ai") if point.name == "gest_dataset")
    spec = find_spec(entry.value)
    assert spec is not None
    assert "def gest_choice(" in Path(str(spec.origin)).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "sk"])
def test_a_model_behind_a_server(inspect: Callable[..., Any], genders: dict[str, str], language: str) -> None:
    """The command with a provider of Inspect's: what the server gets is what `gest ask` sends."""
    minds: dict[str, Mind] = {
        "en": planted(genders, follows=0.1, bias=0.8, refused=0.2),
        "sk": lambda text, options: min(options, default="") + "!" if len(text) % 3 else "",
    }
    with chatting(minds[language]) as server:
        answers = gest_dataset.ask(MODEL, language=language, endpoint=server.url)
        ours = {body_of(request) for request in server.requests if "messages" in request.body}
        server.requests.clear()
        log = asked(inspect, server.url, "-T", f"language={language}")
        assert set(prompts(server)) == set(answers.table["prompt"].to_pylist())
        assert {body_of(request) for request in server.requests} <= ours
    check_same(log, answers)


def body_of(request: Any) -> tuple[Any, ...]:
    """All that a model's answer depends on."""
    names = ("model", "temperature", "top_p", "max_tokens", "seed")
    return (json.dumps(request.body["messages"]), *(request.body[name] for name in names))


@pytest.mark.slow
def test_repeats_are_epochs_and_answers_of_none_are_no_rate(inspect: Callable[..., Any]) -> None:
    with chatting(lambda text, options: "I would rather not say.") as server:
        log = asked(inspect, server.url, "-T", "limit=2", "--epochs", "3")
    assert len(log["samples"]) == 2 * 2 * 6 * 3
    found = metrics(log)
    assert found["unreadable"] == 1
    assert math.isnan(found["stereotype_rate"])


@pytest.mark.slow
def test_an_early_stop_has_the_intervals_of_ask(
    inspect: Callable[..., Any], genders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The protocol of Inspect: further samples are not asked, and those after the last look do not count."""
    look = 32
    monkeypatch.setattr(sequential, "FIRST_LOOK", look)
    with chatting(planted(genders, follows=0, bias=1, refused=0)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, stop_early=True)
        server.requests.clear()
        variables = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{server.url}/v1"}
        done, log = inspect("-c", _STOPPED, f"openai-api/local/{MODEL}", str(look), **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert answers.metadata["stopped"]["samples"] == look
    stopped = log["results"]["early_stopping"]
    assert stopped["metadata"] == {"sentences": look}
    assert len(log["samples"]) + len(stopped["early_stops"]) == 12 * len(rows_of("en"))
    assert len(log["samples"]) < 12 * (look + 3)
    result, found = answers.result(), metrics(log)
    for name in ("stereotype_rate", "stereotype_rate_low", "stereotype_rate_high"):
        assert found[name] == pytest.approx(result[name])


@pytest.mark.slow
def test_how_an_answer_ended_says_why_there_is_none(inspect: Callable[..., Any]) -> None:
    """An answer that was cut is still an answer; one that a filter took the rest of is none."""
    expected = {
        ("(a)", "max_tokens"): ["male", "(a)", ""],
        ("(a)", "content_filter"): ["other", "(a)", FILTERED],
        (" ", "stop"): ["other", " ", EMPTY],
        ("", "model_length"): ["other", "", CUT],
        ("", "content_filter"): ["other", "", FILTERED],
    }
    done, _ = inspect("-c", _TAKEN, json.dumps(list(expected)))
    assert done.returncode == 0, done.stderr
    assert list(map(json.loads, done.stdout.splitlines())) == [*expected.values(), ["other", "", EMPTY]]


@pytest.mark.slow
def test_a_wrong_use_is_a_message(inspect: Callable[..., Any]) -> None:
    arguments = ("-m", "inspect_ai", "eval", "gest_dataset/gest_choice", "--model", "mockllm/model")
    done, _ = inspect(*arguments, "-T", "language=xx")
    assert done.returncode != 0
    printed = " ".join((done.stdout + done.stderr).split())
    assert "but not in 'xx'" in printed
    assert "Traceback" not in printed
