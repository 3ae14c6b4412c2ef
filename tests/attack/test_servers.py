"""Servers that lie or answer nonsense: `gest score` and `gest ask` give the right numbers, or none."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from gest_dataset.runs import read_run
from tests.conftest import Gest
from tests.support import chats, zoo
from tests.support.chats import chatting
from tests.support.completions import ECHO, MODEL, VLLM, Dialect, served
from tests.support.services import Request, Server

pytestmark = pytest.mark.attack
Lie = Callable[[dict[str, Any]], None]
OPTIONS = ("--limit", "4", "--price-in", "1", "--price-out", "1", "--max-cost", "1")


def lie(server: Server, change: Lie, applies: Callable[[Request], bool]) -> None:
    """Change the answers to some requests."""
    honest = server.translate

    def translate(request: Request) -> Any:
        status, headers, content = copy.deepcopy(honest(request))
        if status == 200 and applies(request):
            change(content)
        return status, headers, content

    server.translate = translate


# ---- scores ----------------------------------------------------------------------------------------------


def scores(folder: Path) -> dict[Any, list[float]]:
    rows = pq.read_table(folder / "scores.parquet").to_pylist()
    return {
        (row["id"], row["template"]): [row["log_ratio"], row["logp_male"], row["logp_female"]]
        if "logp_male" in row
        else [row["log_ratio"]]
        for row in rows
    }


def set_values(content: dict[str, Any], value: float, choices: slice = slice(None)) -> None:
    for choice in content["choices"][choices]:
        if logprobs := choice.get("logprobs"):
            logprobs["token_logprobs"] = [old and value for old in logprobs["token_logprobs"]]
            logprobs["top_logprobs"] = [
                tops and dict.fromkeys(tops, value) for tops in logprobs["top_logprobs"]
            ]


def swap(content: dict[str, Any]) -> None:
    """The answers to two prompts."""
    first, second, *_ = content["choices"]
    first["index"], second["index"] = 1, 0


def reverse(content: dict[str, Any]) -> None:
    content["choices"].reverse()
    for choice in content["choices"]:
        del choice["index"]


def repeat(content: dict[str, Any]) -> None:
    """Answer a prompt as another one."""
    choices = content["choices"]
    choices[-1]["logprobs"] = copy.deepcopy(choices[0]["logprobs"])


def shift(content: dict[str, Any]) -> None:
    for choice in content["choices"]:
        choice["index"] = str(choice["index"])


def is_batch(request: Request) -> bool:
    prompt = request.body.get("prompt", "")
    return isinstance(prompt, list) and isinstance(prompt[0], list) and len(prompt) > 2


LIES: dict[str, Lie] = {
    "swapped": swap,
    "reversed": reverse,
    "repeated": repeat,
    "indices as texts": shift,
    "certain": lambda content: set_values(content, 0.0),
    "1000": lambda content: set_values(content, 1000),
    "NaN": lambda content: set_values(content, math.nan),
    "no choice": lambda content: content["choices"].pop(),
    "one more choice": lambda content: content["choices"].append(content["choices"][0]),
}


@pytest.mark.parametrize("config", ["en", "sk_pairs"])
@pytest.mark.parametrize("name", LIES)
def test_a_server_that_lies_about_batches(name: str, config: str, gest: Gest, tmp_path: Path) -> None:
    with served("gpt2") as server:
        lie(server, LIES[name], is_batch)
        arguments = ("score", "--endpoint", server.url, "--model", MODEL, "--config", config)
        done = gest(*arguments, "--tokenizer", zoo.directory("gpt2"), "--output", "run")
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 0:
        assert gest("score", zoo.directory("gpt2"), "--config", config, "--output", "own").returncode == 0
        expected = scores(tmp_path / "own")
        for key, values in scores(tmp_path / "run").items():
            assert values == pytest.approx(expected[key], abs=1e-4)
    else:
        assert "error: " in done.stderr
        assert not list(Path("run").glob("scores.parquet"))


@pytest.mark.parametrize("dialect", [VLLM, ECHO], ids=["vllm", "echo"])
def test_a_server_that_is_certain_of_everything(dialect: Dialect, gest: Gest) -> None:
    with served("gpt2", dialect) as server:
        lie(
            server, LIES["certain"], lambda request: "prompt" in request.body and "max_tokens" in request.body
        )
        done = gest(
            "score", "--endpoint", server.url, "--tokenizer", zoo.directory("gpt2"), "--output", "run"
        )
    assert done.returncode == 1
    assert not Path("run/scores.parquet").exists()


@pytest.mark.parametrize("value", [1000, math.nan, -math.inf])
def test_one_odd_value_is_asked_again_and_skipped(value: float, gest: Gest, tmp_path: Path) -> None:
    """The first prompt of the second batch, and the same prompt alone."""
    seen: list[list[int]] = []  # the first prompt of each batch

    def applies(request: Request) -> bool:
        if is_batch(request):
            seen.append(request.body["prompt"][0])
            return len(seen) == 2
        return len(seen) >= 2 and request.body.get("prompt") == seen[1]

    with served("gpt2") as server:
        lie(server, lambda content: set_values(content, value, slice(1)), applies)
        arguments = (
            "score",
            "--endpoint",
            server.url,
            "--model",
            MODEL,
            "--config",
            "en",
            "--connections",
            1,
        )
        done = gest(*arguments, "--tokenizer", zoo.directory("gpt2"), "--output", "run")
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "run")
    assert run.result["skipped"]["reason"] == ["the server returned no valid log-probability"]


# ---- answers ---------------------------------------------------------------------------------------------


def tops(value: Any) -> Lie:
    entries = [{"token": " a", "logprob": value}, {"token": " b", "logprob": value}]
    return lambda content: content["choices"][0].update(logprobs={"content": [{"top_logprobs": entries}]})


def usage(value: Any) -> Lie:
    return lambda content: content["usage"].update(prompt_tokens=value)


ODD: dict[str, Lie] = {
    **{f"{value} tokens": usage(value) for value in (10**12, -50, math.nan, math.inf, "many", [1])},
    **{f"ln P = {value}": tops(value) for value in (1000, 0.0, math.nan, math.inf, None, "x", 10**400)},
    "usage": lambda content: content.update(usage=[3]),
    "message": lambda content: content["choices"][0].update(message="Hi"),
    "surrogate": lambda content: content["choices"][0]["message"].update(content="\ud800"),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("always", [True, False])
def test_odd_answers_block_no_paid_run(name: str, always: bool, gest: Gest, tmp_path: Path) -> None:
    """Three prompts are answered oddly, once or always."""
    asked: dict[str, int] = {}

    def applies(request: Request) -> bool:
        if "messages" not in request.body or request.body["messages"][0]["content"] == "Hi":
            return False
        text = request.body["messages"][0]["content"]
        asked[text] = asked.get(text, 0) + 1
        return text in list(asked)[6:9] and (always or asked[text] == 1)

    with chatting(lambda text, options: "(a)") as server:
        lie(server, ODD[name], applies)
        arguments = ("ask", "--endpoint", server.url, "--model", chats.MODEL, "--connections", 1, *OPTIONS)
        done = gest(*arguments, "--output", "run")
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "run")
    problems = [problem for problem in run.table["problem"].to_pylist() if problem]
    assert len(problems) == (3 if always else 0)
    assert all(len(reason) > 10 for reason in problems)
    assert min(run.table["tokens_in"].to_pylist()) >= 0
    assert max(asked.values()) == 2


def test_negative_token_counts_stop_a_run_with_a_budget(gest: Gest) -> None:
    def say(text: str, options: list[str]) -> str:
        time.sleep(0.01)
        return "(a)"

    with chatting(say) as server:
        lie(server, usage(-50), lambda request: "messages" in request.body)
        done = gest("ask", "--endpoint", server.url, "--model", chats.MODEL, *OPTIONS[2:], "--connections", 2)
        asked = len(server.requests)
    assert done.returncode == 1
    assert "reports no token counts" in done.stderr
    assert asked < 100, "of 816"
