"""Reasoning models: each server's way to turn thinking on and off, and thoughts that are never answers.

The servers are doubles with the requests and replies that their documentation and sources show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import ModelError, ScoringError
from gest_dataset.models.chat import ask as asking
from gest_dataset.probes.prompts import CUT
from tests.support import zoo
from tests.support.chats import MODEL, said
from tests.support.services import Answer, Request, serving

pytestmark = pytest.mark.usefixtures("one_thread")

THOUGHT = "Is it (a)? I would say (a). Or (c)?"
REFUSED = {"message": "Unrecognized request argument supplied", "type": "invalid_request_error"}
KNOWN = {
    *("model", "messages", "temperature", "top_p", "seed", "logprobs", "top_logprobs"),
    *("max_tokens", "max_completion_tokens", "reasoning_effort"),
}


def reply(thoughts: str, field: str, answer: str = "(b)", **usage: Any) -> Answer:
    """An answer with its thoughts in a field, in the text, or hidden; the logprobs include theirs."""
    text = f"<think>\n{thoughts}\n</think>\n\n{answer}" if thoughts and field == "inline" else answer
    status, headers, content = said(text)
    choice = content["choices"][0]
    if thoughts and field in ("reasoning_content", "reasoning"):
        choice["message"][field] = thoughts
    tops = [{"token": "a", "logprob": -0.01, "bytes": [97]}, {"token": "b", "logprob": -5.0, "bytes": [98]}]
    choice["logprobs"] = {"content": [{"token": "a", "logprob": -0.01, "bytes": [97], "top_logprobs": tops}]}
    content["usage"].update(usage)
    return status, headers, content


def vllm(body: dict[str, Any], default: bool = True) -> Answer:
    """vLLM and SGLang with a reasoning parser: Qwen3 thinks by default; other keys are ignored."""
    thinks = body.get("chat_template_kwargs", {}).get("enable_thinking", default)
    return reply(THOUGHT if thinks else "", "reasoning_content")


def without_parser(body: dict[str, Any], default: bool = True) -> Answer:
    """The same without a parser: tags in the text."""
    thinks = body.get("chat_template_kwargs", {}).get("enable_thinking", default)
    return reply(THOUGHT if thinks else "", "inline")


def deepseek(body: dict[str, Any], default: bool = True) -> Answer:
    """DeepSeek's API ignores what it does not know."""
    thinks = {"enabled": True, "disabled": False}.get(body.get("thinking", {}).get("type"), default)
    return reply(THOUGHT if thinks else "", "reasoning_content")


def ollama(body: dict[str, Any], default: bool = True) -> Answer:
    """Ollama's /v1 goes by the effort; `think` is ignored there."""
    effort = body.get("reasoning_effort", "medium" if default else "none")
    return reply(THOUGHT if effort != "none" else "", "reasoning")


def openai(body: dict[str, Any], default: bool = True) -> Answer:
    """OpenAI: unknown keys are refused, thoughts are hidden and counted."""
    if unknown := body.keys() - KNOWN:
        return 400, {}, {"error": {**REFUSED, "param": min(unknown)}}
    thinks = body.get("reasoning_effort", "medium" if default else "none") != "none"
    details = {"completion_tokens_details": {"reasoning_tokens": 64 if thinks else 0}}
    return reply("hidden" if thinks else "", "hidden", **details)


def tgi(body: dict[str, Any], default: bool = True) -> Answer:
    """TGI refuses a top_p of 1 and more than five likeliest tokens; it has no switch for thinking."""
    problems = [
        ("`top_p` must be > 0.0 and < 1.0", body.get("top_p", 0.5) >= 1),
        ("`top_n_tokens` must be >= 0 and <= 5", body.get("top_logprobs", 0) > 5),
    ]
    for problem in (problem for problem, is_wrong in problems if is_wrong):
        return 422, {}, {"error": f"Input validation error: {problem}", "error_type": "validation"}
    return reply("", "inline")


DIALECTS = {
    "vllm": (vllm, "chat_template_kwargs"),
    "without parser": (without_parser, "chat_template_kwargs"),
    "deepseek": (deepseek, "thinking"),
    "ollama": (ollama, "reasoning_effort"),
    "openai": (openai, "reasoning_effort"),
}


def ask(mind: Any, **settings: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The answers of a server, and the requests for them."""

    def answer(request: Request) -> Answer:
        if request.path == "/v1/models":
            return 200, {}, {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
        return mind(request.body)

    with serving(answer) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, limit=2, **settings)
        bodies = [r.body for r in server.requests if "messages" in r.body]
    return answers, [body for body in bodies if body["messages"][0]["content"] != "Hi"]


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("name", DIALECTS)
def test_each_server_is_told_in_its_own_way(name: str, thinking: bool) -> None:
    mind, switch = DIALECTS[name]
    answers, bodies = ask(lambda body: mind(body, not thinking), enable_thinking=thinking)
    assert bodies
    assert all(switch in body for body in bodies)
    assert set(answers.table["position"].to_pylist()) == {1}, "the answer is (b), the thoughts say (a)"
    has_field = thinking and name in ("vllm", "deepseek", "ollama")
    assert set(answers.table["thoughts"].to_pylist()) == {THOUGHT if has_field else ""}
    assert f"enable_thinking={thinking}" in answers.signature
    assert answers.metadata["endpoint"]["thinking"] == {
        key: value for key, value in bodies[0].items() if key in answers.metadata["endpoint"]["thinking"]
    }
    # the first tokens of an answer with thoughts are not those of a letter
    visible = thinking and name != "openai"
    assert ("by_probability" in answers.result()) == (not visible)
    budget = 2048 if thinking else 0
    assert {body["max_tokens"] for body in bodies} == {16 + budget}


def test_nothing_is_sent_by_default_and_effort_and_budget_are() -> None:
    answers, bodies = ask(vllm)
    assert not {"chat_template_kwargs", "thinking", "think", "reasoning_effort"} & bodies[0].keys()
    assert bodies[0]["max_tokens"] == 16
    assert set(answers.table["thoughts"].to_pylist()) == {THOUGHT}
    _, bodies = ask(openai, reasoning_effort="high", thinking_tokens=100)
    assert {(body["reasoning_effort"], body["max_tokens"]) for body in bodies} == {("high", 116)}
    _, bodies = ask(openai, reasoning_effort="none")
    assert {body["max_tokens"] for body in bodies} == {16}


def test_ollama_and_tgi_answer() -> None:
    """As they start: Ollama's thoughts are in `reasoning`; TGI is asked without a top_p."""
    for mind, thoughts, top_p in ((ollama, THOUGHT, {1}), (tgi, "", {None})):
        answers, bodies = ask(mind)
        assert set(answers.table["position"].to_pylist()) == {1}
        assert set(answers.table["thoughts"].to_pylist()) == {thoughts}
        assert {body.get("top_p") for body in bodies} == top_p
        assert answers.metadata["endpoint"].keys() == {"address", "method", "top_tokens"}
    assert bodies[0]["top_logprobs"] == 5


def test_thinking_that_cannot_be_turned_off_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"thinks on http.*with each setting that turns it off"):
        ask(lambda body: reply(THOUGHT, "reasoning_content"), enable_thinking=False)


@pytest.mark.parametrize(
    ("text", "field"),
    [("<think>(a) would be", {}), ("(a) would be", {}), (None, {"reasoning_content": "(a) would be"})],
)
def test_thoughts_that_were_cut_off_are_no_answers(text: str | None, field: dict[str, str]) -> None:
    """Also without any tag: the first one may be in the prompt, and the last one was not reached."""
    status, headers, content = said("")
    content["choices"][0].update(
        message={"role": "assistant", "content": text, **field}, finish_reason="length"
    )
    with pytest.raises(ScoringError, match=rf"x {CUT}.*--thinking-tokens"):
        ask(lambda body: (status, headers, content), enable_thinking=True)


def test_thoughts_are_kept_when_answers_are_read_again(tmp_path: Path) -> None:
    answers, _ = ask(vllm, output=tmp_path / "run")
    again = asking.reread(tmp_path / "run")
    assert again.table.equals(answers.table)


TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}{% if enable_thinking %}<think>{% endif %}"


def test_loaded_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first tag is in the prompt, and the model never ends its thoughts."""
    model, tokenizer = zoo.load("gpt2")
    tokenizer.chat_template = TEMPLATE
    model.config.n_positions = zoo.LONGEST
    given = {"limit": 1, "max_tokens": 2, "thinking_tokens": 2, "device": "cpu"}
    with pytest.raises(ScoringError, match=CUT):
        gest_dataset.ask((model, tokenizer), enable_thinking=True, **given)
    with pytest.raises(ScoringError, match="could be read") as error:
        gest_dataset.ask((model, tokenizer), enable_thinking=False, **given)
    assert CUT not in str(error.value)
    with pytest.raises(ModelError, match="has no reasoning_effort"):
        gest_dataset.ask((model, tokenizer), reasoning_effort="low", **given)
    tokenizer.chat_template = TEMPLATE.replace("enable_thinking", "x")
    with pytest.raises(ModelError, match="has no thinking"):
        gest_dataset.ask((model, tokenizer), enable_thinking=True, **given)
