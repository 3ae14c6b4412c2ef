"""Choices asked through Inspect: the same answers are the same numbers as those of `gest ask`.

Inspect pins libraries at other versions than this project's, so that it has an environment of its own:
`GEST_INSPECT_PYTHON` is the python there, with this package installed (CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED
from gest_dataset.stereotypes import STEREOTYPES
from tests.conftest import ROOT
from tests.support.chats import MODEL, Mind, chatting, planted, prompts

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
# What a process with Inspect does to ask its own mock model, whose mind is a function of a prompt
_MOCKED = """
import json, re, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from gest_dataset.harness.inspect_tasks import gest_choice
from tests.support.chats import planted

mind = planted(json.load(open(sys.argv[1])), **json.loads(sys.argv[2]))

def answer(messages, tools, choice, config):
    text = messages[-1].text
    said = mind(text, re.findall(r"^\\([abc]\\) (.*)$", text, re.MULTILINE))
    made = ModelOutput.from_content("mockllm/model", said)
    made.usage = ModelUsage(input_tokens=50, output_tokens=4, total_tokens=54)
    return made

(log,) = eval(
    gest_choice(), model=get_model("mockllm/model", custom_outputs=answer),
    log_dir=sys.argv[3], log_format="json", display="none",
)
"""

# What a process with Inspect makes of outputs: how each is taken, as JSON
_TAKEN = """
import json, sys
from dataclasses import asdict
from inspect_ai.model import ModelOutput
from gest_dataset.harness.inspect_tasks import _answer

outputs = [ModelOutput.from_content("m", said, stop_reason=ended) for said, ended in json.loads(sys.argv[1])]
print(json.dumps([[one.text, one.problem] for one in map(_answer, [*outputs, ModelOutput()])]))
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


def inspect(
    python: str, *arguments: str, logs: Path, environment: Mapping[str, str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """A process with Inspect, and the log that it has written (empty where there is none)."""
    done = subprocess.run(
        [python, *arguments],
        env=environment,
        cwd=logs.parent,
        capture_output=True,
        text=True,
    )
    return done, next((json.loads(log.read_text()) for log in logs.glob("*.json")), {})


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
    asked = [(sample["input"], sample["scores"]["option"]["value"]) for sample in log["samples"]]
    assert sorted(asked) == sorted((row["prompt"], row["option"]) for row in rows)


def test_the_entry_point_names_a_module() -> None:
    (entry,) = (point for point in entry_points(group="inspect_ai") if point.name == "gest_dataset")
    spec = find_spec(entry.value)
    assert spec is not None
    assert "def gest_choice(" in Path(str(spec.origin)).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "traits",
    [{"follows": 0.2, "bias": 0.7, "refused": 0.1}, {"follows": 1.0, "bias": 0.0, "refused": 0.0}],
)
def test_its_mock_model(
    python: str,
    genders: dict[str, str],
    traits: dict[str, float],
    script_environment: Mapping[str, str],
    tmp_path: Path,
) -> None:
    (tmp_path / "genders.json").write_text(json.dumps(genders))
    arguments = ("-c", _MOCKED, str(tmp_path / "genders.json"), json.dumps(traits), str(tmp_path / "logs"))
    environment = {**script_environment, "PYTHONPATH": str(ROOT)}  # it imports a mind of ours
    done, log = inspect(python, *arguments, logs=tmp_path / "logs", environment=environment)
    assert done.returncode == 0, done.stderr
    with chatting(planted(genders, **traits)) as server:
        check_same(log, gest_dataset.ask(MODEL, endpoint=server.url))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "sk"])
def test_a_model_behind_a_server(
    python: str,
    genders: dict[str, str],
    language: str,
    script_environment: Mapping[str, str],
    tmp_path: Path,
) -> None:
    """The command with a provider of Inspect's: what the server gets is what `gest ask` sends."""
    minds: dict[str, Mind] = {
        "en": planted(genders, follows=0.1, bias=0.8, refused=0.2),
        "sk": lambda text, options: min(options, default="") + "!" if len(text) % 3 else "",
    }
    with chatting(minds[language]) as server:
        answers = gest_dataset.ask(MODEL, language=language, endpoint=server.url)
        ours = {body_of(request) for request in server.requests if "messages" in request.body}
        server.requests.clear()
        keys = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{server.url}/v1"}
        arguments = ["-m", "inspect_ai", "eval", "gest_dataset/gest_choice", "-T", f"language={language}"]
        arguments += ["--model", f"openai-api/local/{MODEL}", "--log-format", "json", "--display", "none"]
        done, log = inspect(
            python,
            *arguments,
            "--log-dir",
            str(tmp_path / "logs"),
            logs=tmp_path / "logs",
            environment={**script_environment, **keys},
        )
        assert done.returncode == 0, done.stderr
        assert set(prompts(server)) == set(answers.table["prompt"].to_pylist())
        theirs = {body_of(request) for request in server.requests}
    check_same(log, answers)
    assert theirs <= ours


def body_of(request: Any) -> tuple[Any, ...]:
    """All that a model's answer depends on."""
    names = ("model", "temperature", "top_p", "max_tokens", "seed")
    return (json.dumps(request.body["messages"]), *(request.body[name] for name in names))


@pytest.mark.slow
def test_repeats_are_epochs_and_answers_of_none_are_no_rate(
    python: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    with chatting(lambda text, options: "I would rather not say.") as server:
        keys = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": f"{server.url}/v1"}
        arguments = ["-m", "inspect_ai", "eval", "gest_dataset/gest_choice", "-T", "limit=2", "--epochs", "3"]
        arguments += ["--model", f"openai-api/local/{MODEL}", "--log-format", "json", "--display", "none"]
        done, log = inspect(
            python,
            *arguments,
            "--log-dir",
            str(tmp_path / "logs"),
            logs=tmp_path / "logs",
            environment={**script_environment, **keys},
        )
    assert done.returncode == 0, done.stderr
    assert len(log["samples"]) == 2 * 2 * 6 * 3
    found = metrics(log)
    assert found["unreadable"] == 1
    assert math.isnan(found["stereotype_rate"])


@pytest.mark.slow
def test_how_an_answer_ended_says_why_there_is_none(
    python: str, script_environment: Mapping[str, str], tmp_path: Path
) -> None:
    """An answer that was cut is still an answer; one that a filter took the rest of is none."""
    told = {
        ("(a)", "stop"): ["(a)", ""],
        ("(a)", "max_tokens"): ["(a)", ""],
        ("(a)", "content_filter"): ["(a)", FILTERED],
        (" ", "stop"): ["", EMPTY],
        ("", "max_tokens"): ["", CUT],
        ("", "model_length"): ["", CUT],
        ("", "content_filter"): ["", FILTERED],
    }
    done, _ = inspect(
        python, "-c", _TAKEN, json.dumps(list(told)), logs=tmp_path, environment=script_environment
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [*told.values(), ["", EMPTY]]


@pytest.mark.slow
def test_a_wrong_use_is_a_message(python: str, script_environment: Mapping[str, str], tmp_path: Path) -> None:
    arguments = ("-m", "inspect_ai", "eval", "gest_dataset/gest_choice", "--model", "mockllm/model")
    done, _ = inspect(
        python, *arguments, "-T", "language=xx", logs=tmp_path / "logs", environment=script_environment
    )
    assert done.returncode != 0
    told = " ".join((done.stdout + done.stderr).split())
    assert "There is no question in 'xx'" in told
    assert "Traceback" not in told
