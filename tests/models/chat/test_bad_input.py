"""What `ask` is given and cannot use: each is said before, or at, the first prompt, with what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import GestError, ModelError, ScoringError, SettingError
from gest_dataset.probes.prompt import FILTERED, REFUSED
from tests.models.chat.test_ask import chatty
from tests.support import completions
from tests.support.chats import MODEL, chatting
from tests.support.completions import VLLM, served

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")


def ask(url: str, model: str = MODEL, **given: Any) -> Any:
    return gest_dataset.ask(model, endpoint=url, limit=2, **given)


def test_no_such_model() -> None:
    with chatting(lambda text, options: "(a)") as server:
        with pytest.raises(ModelError, match=r"has no model 'talkre': choose one of talker"):
            ask(server.url, "talkre")
        assert not any("messages" in request.body for request in server.requests)


def test_a_model_without_chats_can_still_be_scored() -> None:
    with chatting(lambda text, options: "(a)") as server:
        answer = server.translate

        def without(request: Any) -> Any:
            return (404, {}, {"detail": "Not Found"}) if "messages" in request.body else answer(request)

        server.translate = without
        with pytest.raises(ModelError, match=r"does not answer chats.* `gest score --endpoint` asks it for"):
            ask(server.url)


def test_a_server_without_log_probabilities_is_asked_all_the_same() -> None:
    """The letters are read; there is no second reading."""
    with chatting(lambda text, options: "(a)") as server:
        result = ask(server.url).result()
    assert "by_probability" not in result


def changed(server: Any, change: Any) -> list[Any]:
    """Every chat goes through `change` (a body -> what is answered in the place of the answer, or None)."""
    answer, bodies = server.translate, []

    def own(request: Any) -> Any:
        if "messages" not in request.body:
            return answer(request)
        bodies.append(request.body)
        return change(request.body) or answer(request)

    server.translate = own
    return bodies


@pytest.mark.parametrize("most", [5, 0])
def test_a_server_that_gives_few_likely_tokens_or_none_is_asked_for_those(most: int) -> None:
    message = (422, {}, {"error": {"message": "top_logprobs is too large"}})
    with chatting(lambda text, options: "(a)") as server:
        bodies = changed(server, lambda body: message if body.get("top_logprobs", 0) > most else None)
        answers = ask(server.url)
    assert {body.get("top_logprobs", 0) for body in bodies[-10:]} == {most}
    assert answers.metadata["endpoint"]["likeliest"] == most


def test_the_limit_of_an_answer_has_another_name() -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with chatting(lambda text, options: "(a)") as server:
        bodies = changed(
            server, lambda body: (400, {}, {"error": {"message": message}}) if "max_tokens" in body else None
        )
        ask(server.url, max_tokens=7)
    assert bodies[-1]["max_completion_tokens"] == 7


def test_why_a_chat_is_refused_is_said_in_the_servers_words() -> None:
    with chatting(lambda text, options: "(a)") as server:
        changed(server, lambda body: (400, {}, {"error": {"message": "a chat template is needed"}}))
        with pytest.raises(ModelError, match=r"does not answer chats .*\(a chat template is needed\)"):
            ask(server.url)


def test_an_error_within_an_answer_is_said() -> None:
    error = (200, {}, {"error": {"message": "the quota is used up", "code": 429}})
    with chatting(lambda text, options: "(a)") as server:
        changed(server, lambda body: None if body["messages"][0]["content"] == "Hi" else error)
        with pytest.raises(ScoringError, match=r"with an error: the quota is used up"):
            ask(server.url)


def choice(message: Any, **more: Any) -> Any:
    return 200, {}, {"model": MODEL, "choices": [{"index": 0, "message": message, **more}]}


def test_parts_of_an_answer_are_put_together() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "(a)?"}]},
        {"type": "text", "text": "(b)"},
    ]
    with chatting(lambda text, options: "(a)") as server:
        changed(server, lambda body: choice({"content": parts}))
        assert set(ask(server.url).table["answer"].to_pylist()) == {"(b)"}


def test_a_refusal_that_a_server_tells_apart_is_withheld() -> None:
    with chatting(lambda text, options: "(a)") as server:
        changed(
            server,
            lambda body: (
                choice({"content": None, "refusal": "No, I won't."})
                if "Who said it?" in body["messages"][0]["content"]
                else None
            ),
        )
        answers = ask(server.url)
    assert answers.metadata["skipped"] == {FILTERED: 12}
    assert answers.metadata["examples"] == {FILTERED: ["No, I won't."]}


def test_a_story_that_is_refused_is_counted_as_such() -> None:
    minds = iter(["I'm sorry, but I can't write about him."])
    with chatting(
        lambda text, options: next(minds, "She grew up by the sea.") if text != "Hi" else ""
    ) as server:
        answers = ask(server.url, probe="story", connections=1)
    assert answers.metadata["skipped"] == {REFUSED: 1}


def test_likely_tokens_that_are_none_are_left_out() -> None:
    tops = [{"token": "a", "logprob": None}, {"token": None}, None, {"token": "b", "logprob": -0.5}]
    logprobs = {"content": [{"token": "(", "top_logprobs": tops}]}
    with chatting(lambda text, options: "(a)") as server:
        changed(server, lambda body: choice({"content": "(b)"}, logprobs=logprobs))
        (top,) = ask(server.url).table["top"][0].as_py()
    assert top == {"token": "b", "log_probability": -0.5}


def test_what_no_answer_says_is_shown() -> None:
    told = pytest.raises(ScoringError, match=r"24 x no option is named, such as 'Hmm\.'\. No result")
    with chatting(lambda text, options: "Hmm.") as server, told:
        ask(server.url)


def test_a_server_without_completions_says_what_can_still_be_asked() -> None:
    told = pytest.raises(GestError, match=r"answers chats only.*`gest ask` asks it in words")
    with served("gpt2", replace(VLLM, completions=False)) as server, told:
        gest_dataset.score(completions.MODEL, "en", endpoint=server.url)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"text": ""}, r"lacks text, \{sentence\} in its text"),
        ({"text": "Who?"}, r"lacks \{sentence\}"),
        ({"neither": ""}, "lacks neither"),
        ({"man": "A man"}, "cannot be read"),
        ({"male": "", "female": "", "neither": ""}, "does not fit"),
    ],
)
def test_a_prompt_with_missing_fields(entry: dict[str, str], message: str, tmp_path: Path) -> None:
    whole = {
        "name": "who",
        "language": "en",
        "text": "Who says {sentence}?",
        "male": "A man",
        "female": "A woman",
        "neither": "Nobody",
    }
    table = tmp_path / "prompts.json"
    table.write_text(json.dumps([{**whole, **entry}]), encoding="utf-8")
    with pytest.raises(SettingError, match=message):
        gest_dataset.ask(MODEL, endpoint="http://127.0.0.1:9", prompts=table)


def test_a_context_that_is_too_long_for_a_server() -> None:
    """Its own words are shown, and what was answered is kept."""
    message = "This model's maximum context length is 64 tokens. However, you requested 80 tokens."
    with chatting(lambda text, options: "(a)") as server:
        answer = server.translate

        def short(request: Any) -> Any:
            long = "messages" in request.body and len(request.body["messages"][0]["content"]) > 20
            return (400, {}, {"error": {"message": message}}) if long else answer(request)

        server.translate = short
        with pytest.raises(ScoringError, match=r"status 400: This model's maximum context length is 64"):
            ask(server.url)


def test_a_context_that_is_too_long_for_a_loaded_model() -> None:
    model, tokenizer = chatty()
    with pytest.raises(ModelError, match=r"up to 500 do not fit into the context .* \(--max-tokens\)"):
        gest_dataset.ask((model, tokenizer), limit=2, max_tokens=500)


def test_a_parser_where_none_reads() -> None:
    with pytest.raises(SettingError, match="No parser reads the answers of the probe choice in en"):
        gest_dataset.ask(MODEL, parser="conllu")
