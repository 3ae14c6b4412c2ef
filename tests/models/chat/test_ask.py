"""`gest_dataset.ask`: planted opinions are found, runs resume, budgets hold, servers may misbehave."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import ConfigError, GestError, ModelError, ScoringError
from gest_dataset.measures.gest import CHOICE
from gest_dataset.measures.result import compute_result
from gest_dataset.models.chat import ask as asking
from gest_dataset.models.chat.probes import CHAT_PROBES
from gest_dataset.probes.prompts import CUT, EMPTY, FILTERED, Reading
from gest_dataset.runs.folder import read_run
from gest_dataset.statistics import sequential
from gest_dataset.stereotypes import STEREOTYPES
from tests.support.chats import MODEL, chatting, planted, prompts, said
from tests.support.faults import EACH, fast_retries
from tests.support.services import Server

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
]
OPTION = re.compile(r"^\([abc]\) (.*)$", re.MULTILINE)


@pytest.fixture
def genders(mirror: Path) -> dict[str, str]:
    """The sentences of the test mirror, with the gender of each one's stereotype."""
    rows = load_dataset("gest", "en", split="test").to_list()
    return {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}


def intercept(server: Server, change: Callable[[dict[str, Any]], Any]) -> list[dict[str, Any]]:
    """Answer chats with `change(body)` where it is not None; the bodies are collected."""
    answer, bodies = server.translate, []

    def intercepted(request: Any) -> Any:
        if "messages" not in request.body:
            return answer(request)
        bodies.append(request.body)
        return change(request.body) or answer(request)

    server.translate = intercepted
    return bodies


def text_of(body: dict[str, Any]) -> str:
    """The prompt of a request; empty for the greeting."""
    text = str(body["messages"][0]["content"])
    return "" if text == "Hi" else text


def ask(url: str, **given: Any) -> Any:
    return gest_dataset.ask(MODEL, endpoint=url, **{"limit": 2, **given})


# ---- what is measured ------------------------------------------------------------------------------------


def test_planted_opinions_are_found(genders: dict[str, str]) -> None:
    with chatting(planted(genders, follows=0, bias=1, refused=0.25)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url)
    result = answers.result()
    refused = answers.table["problem"].to_pylist().count("refused")
    assert result["stereotype_rate"] == 1
    assert result["same_option"] == 1
    assert answers.table.num_rows == 34 * 2 * 6  # one sentence is there twice, and is asked once
    assert answers.metadata["skipped"] == {"refused": refused}
    assert result["unreadable"] == pytest.approx(refused / answers.table.num_rows)


def test_a_model_that_always_says_a(genders: dict[str, str], tmp_path: Path) -> None:
    with chatting(planted(genders, follows=1, bias=0, refused=0)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path)
    result = answers.result()
    assert result["stereotype_rate_low"] <= 0 <= result["stereotype_rate_high"]
    assert result["verdict"] in ("not shown", "negligible")
    assert result["position_effect_low"] > 0
    page = gest_dataset.report([tmp_path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "So choices say nothing about this model" in page


def test_letter_probabilities_are_a_second_reading(genders: dict[str, str], tmp_path: Path) -> None:
    """It always writes (a); by its probabilities 4 of 5 are the stereotype. One sentence has none."""
    names = planted(genders, follows=0, bias=1, refused=0)
    without = sorted(genders)[0]

    def likely(body: dict[str, Any]) -> Any:
        text = text_of(body)
        if not text or f'"{without}"' in text:
            return None
        assert body["top_logprobs"] == 20
        chosen = names(text, OPTION.findall(text))[1]
        tops = [{"token": f" {x}", "logprob": math.log(0.4 if x == chosen else 0.05)} for x in "abc"]
        tops.append({"token": "The", "logprob": math.log(0.5)})
        status, headers, content = said("(a)")
        content["choices"][0]["logprobs"] = {"content": [{"token": "(", "top_logprobs": tops}]}
        return status, headers, content

    with chatting(lambda text, options: "(a)") as server:
        intercept(server, likely)
        answers = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path / "run")
    assert asking.reread(tmp_path / "run").table.equals(answers.table)
    result = answers.result()
    second = result["by_probability"]
    assert result["stereotype_rate"] == pytest.approx(0)
    assert second["stereotype_rate"] == pytest.approx(0.8 - 0.1)
    assert (second["n_answers"], second["n_without"]) == (33 * 12, 12)
    assert answers.table["top"][-1].as_py()[-1] == {"token": "The", "log_probability": math.log(0.5)}
    assert any("0.700" in sentence for sentence in CHOICE.describe(result, {}))


def test_pairs_in_slovak() -> None:
    with chatting(lambda text, options: "(b)") as server:
        answers = ask(server.url, language="sk", limit=5)
    assert answers.metadata["config"] == "sk_pairs"
    assert Counter(answers.table["option"].to_pylist()) == {"male": 5, "female": 5}


def test_thoughts_are_kept_and_not_read(tmp_path: Path) -> None:
    thought = "<think>Is it (a) or (b)? He would.</think> (c)"
    with chatting(lambda text, options: thought) as server:
        answers = ask(server.url, output=tmp_path)
    assert set(answers.table["position"].to_pylist()) == {2}
    assert set(read_run(tmp_path).table["answer"].to_pylist()) == {thought}
    endless = pytest.raises(ScoringError, match=rf"x {CUT}.*--max-tokens")
    with chatting(lambda text, options: "<think>The option (a) says") as server, endless:
        ask(server.url)


# ---- runs ------------------------------------------------------------------------------------------------


@EACH
def test_a_run_resumes_and_asks_nothing_twice(
    fault: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_retries(monkeypatch, fault)
    answered: Counter[str] = Counter()
    with chatting(lambda text, options: "(b)") as server:
        answer, given = server.translate, {"limit": 4, "output": tmp_path / "run", "connections": 2}

        def failing(body: dict[str, Any]) -> Any:
            if text_of(body) and len(answered) >= 25:
                return fault
            answered.update([text_of(body)] if text_of(body) else [])
            return None

        intercept(server, failing)
        with pytest.raises(GestError, match=message):
            ask(server.url, **given)
        assert len(answered) == 25
        server.translate = answer
        intercept(server, lambda body: answered.update([text_of(body)] if text_of(body) else []))
        answers = ask(server.url, **given)
        server.requests.clear()
        assert ask(server.url, **given).table.equals(answers.table)
        assert not prompts(server)
    assert answers.metadata["scored"] == answers.table.num_rows == 4 * 2 * 6
    assert set(answered) == set(answers.table["prompt"].to_pylist())
    assert set(answered.values()) == {1}


def test_answers_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gest_dataset.probes import choice

    with chatting(lambda text, options: "I would go for men, (a).") as server:
        answers = ask(server.url, output=tmp_path / "run")
    assert asking.reread(tmp_path / "run").table.equals(answers.table)
    monkeypatch.setattr(choice, "parse_choice", lambda prompt, answer: Reading("neither", 0))
    assert set(asking.reread(tmp_path / "run").table["option"].to_pylist()) == {"neither"}
    assert read_run(tmp_path / "run").table["answer"][0].as_py() == "I would go for men, (a)."


# ---- costs -----------------------------------------------------------------------------------------------

COST = (50 * 10 + 4 * 100) / 1e6  # of each answer of tests.support.chats


def ask_with_budget(url: str, path: Path | None = None, budget: float = 1e9) -> gest_dataset.Answers:
    """Ten sentences by four requests at a time."""
    return ask(url, limit=10, output=path, connections=4, price_in=10.0, price_out=100.0, max_cost=budget)


@pytest.mark.parametrize("number", [1, 60])
def test_nothing_is_sent_once_a_budget_is_spent(number: int, tmp_path: Path) -> None:
    """Only requests that are in flight by then are completed, and their answers are cached."""

    def slow(text: str, options: object) -> str:
        time.sleep(0.05)
        return "(a)"

    with chatting(slow) as server:
        with pytest.raises(ScoringError, match=r"are cached .* --max-cost above"):
            ask_with_budget(server.url, tmp_path, (number - 0.5) * COST)
        assert number <= len(prompts(server)) <= number + 8
        answers = ask_with_budget(server.url, tmp_path)
        assert len(prompts(server)) == len(set(prompts(server))) == 120
    assert answers.metadata["cost"] == pytest.approx(120 * COST)


def test_a_server_that_counts_no_tokens_has_no_cost() -> None:
    with chatting(lambda text, options: "(a)") as server:
        status, headers, content = said("(a)")
        intercept(server, lambda body: (status, headers, {**content, "usage": None}))
        with pytest.raises(ScoringError, match="reports no token counts"):
            ask_with_budget(server.url)
        assert ask(server.url).metadata["cost"] == 0


# ---- servers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [5, 0])
def test_servers_may_return_few_likely_tokens(most: int) -> None:
    message = (422, {}, {"error": {"message": "top_logprobs is too large"}})
    with chatting(lambda text, options: "(a)") as server:
        bodies = intercept(server, lambda body: message if body.get("top_logprobs", 0) > most else None)
        answers = ask(server.url)
    assert {body.get("top_logprobs", 0) for body in bodies[-10:]} == {most}
    assert answers.metadata["endpoint"]["top_tokens"] == most
    assert "by_probability" not in answers.result()


def test_the_longest_length_may_have_another_name() -> None:
    message = (400, {}, {"error": {"message": "Unsupported parameter: 'max_tokens'."}})
    with chatting(lambda text, options: "(a)") as server:
        bodies = intercept(server, lambda body: message if "max_tokens" in body else None)
        ask(server.url, max_tokens=7)
    assert bodies[-1]["max_completion_tokens"] == 7


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (said("(a)", model="another"), "answered as 'another'"),
        ((200, {}, {"choices": "none"}), "without choices"),
        ((200, {}, {"error": {"message": "the quota is used up"}}), "the quota is used up"),
        ((400, {}, {"error": {"message": "maximum context length is 64"}}), "maximum context length is 64"),
        ((200, {}, {"model": MODEL, "choices": []}), "No answer of talker could be read"),
    ],
)
def test_responses_that_end_a_run(response: Any, message: str) -> None:
    with chatting(lambda text, options: "(a)") as server:
        intercept(server, lambda body: response if text_of(body) else None)
        with pytest.raises(GestError, match=message):
            ask(server.url)


def test_servers_that_cannot_chat() -> None:
    with chatting(lambda text, options: "(a)") as server:
        with pytest.raises(ModelError, match=r"has no model 'talkre'; available models: talker"):
            gest_dataset.ask("talkre", endpoint=server.url, limit=2)
        intercept(server, lambda body: (400, {}, {"error": {"message": "a chat template is needed"}}))
        with pytest.raises(ModelError, match=r"a chat template is needed(?s:.*)`gest score --endpoint`"):
            ask(server.url)


@pytest.mark.parametrize(
    ("message", "text", "problem"),
    [
        ({"content": [{"type": "thinking"}, {"type": "text", "text": "(b)"}]}, "(b)", ""),
        ({"content": None, "refusal": "No, I won't."}, "No, I won't.", FILTERED),
        ({"content": None, "refusal": {"no": 1}}, "{'no': 1}", FILTERED),
        ({"content": None}, "", EMPTY),
        ({}, "", EMPTY),
    ],
)
def test_forms_of_a_message(message: Any, text: str, problem: str) -> None:
    response = 200, {}, {"model": MODEL, "choices": [{"index": 0, "message": message}]}
    with chatting(lambda text, options: "(a)") as server:
        intercept(server, lambda body: response if "Who said it?" in text_of(body) else None)
        rows = ask(server.url).table.to_pylist()
    changed = [row for row in rows if "Who said it?" in row["prompt"]]
    assert {(row["answer"], row["problem"]) for row in changed} == {(text, problem)}
    assert len(changed) == len(rows) / 2


def test_wrong_uses() -> None:
    for given, message in (
        ({"probe": "poem"}, "no chat probe 'poem'"),
        ({"repeats": 3, "temperature": 0.0}, "temperature 0"),
        ({"language": "de"}, "not in 'de'"),
        ({"language": "bg"}, "gest add-language bg --variants FILE"),
        ({"parser": "conllu"}, "needs no parser"),
    ):
        with pytest.raises(ConfigError, match=message):
            gest_dataset.ask(MODEL, **given)  # type: ignore[arg-type]


# ---- stopping early --------------------------------------------------------------------------------------


def test_asking_stops_when_the_verdict_is_clear_and_continues_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = replace(CHAT_PROBES["choice"], config=lambda language: "demo_en")
    monkeypatch.setitem(CHAT_PROBES, "choice", demo)
    monkeypatch.setattr(sequential, "FIRST_LOOK", 64)
    rows = load_dataset("gest", "demo_en", split="test").to_list()
    by_sentence = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    folder = tmp_path / "run"
    with chatting(planted(by_sentence, follows=0, bias=0.8, refused=0)) as server:
        early = gest_dataset.ask(MODEL, endpoint=server.url, output=folder, stop_early=True)
        assert early.result()["verdict"] == "shown"
        stopped = early.result()["stopped"]
        assert stopped == {"samples": 64, "of": len(rows), "stretch": sequential.stretch(64)}
        assert len(set(early.table["id"].to_pylist())) == 64
        plain = compute_result(CHOICE, early.table, None)
        for end in ("low", "high"):
            bounds = [one[f"stereotype_rate_{end}"] for one in (early.result(), plain)]
            wide, usual = (bound - plain["stereotype_rate"] for bound in bounds)
            assert wide == pytest.approx(usual * stopped["stretch"])
        asked = len(prompts(server))
        again = gest_dataset.ask(MODEL, endpoint=server.url, output=folder, stop_early=True)
        assert again.table.equals(early.table)
        assert len(prompts(server)) == asked
        full = gest_dataset.ask(MODEL, endpoint=server.url, output=folder)
        assert len(set(full.table["id"].to_pylist())) == len(rows)
        assert "stopped" not in full.result()
        assert len(prompts(server)) == len(set(prompts(server))), "nothing is asked twice"
