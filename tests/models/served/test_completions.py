"""Requests, responses, plans, capabilities and tokenizers of served models, each against the model itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gest_dataset.errors import GestError, ModelError, ScoringError
from gest_dataset.models.identity import TEXTS
from gest_dataset.models.served import completions
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.completions import (
    Capabilities,
    Item,
    detect_capabilities,
    find_model,
    make_batches,
    make_plan,
)
from gest_dataset.models.served.model import load_tokenizer
from gest_dataset.probes.queries import Query
from tests.support import zoo
from tests.support.completions import ECHO, LLAMA_CPP, LLAMA_SERVER, LONGEST, MODEL, SGLANG, TOP, VLLM, served
from tests.support.services import Answer, Request, serving

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")
ALL = Capabilities(named_tokens=True, full_texts=True, batched=True, context_length=LONGEST)
TOPS = Capabilities(top_tokens=5)
TEXTS_ONLY = replace(ALL, named_tokens=False)
TOKENS_ONLY = replace(ALL, full_texts=False)


# ---- requests and responses ------------------------------------------------------------------------------


def values_of(response: Any, items: list[Item], able: Capabilities = ALL) -> list[list[float]]:
    """The values of items by a server that gives this response."""
    with serving(lambda request: (200, {}, response)) as server:
        texts = {5: "five", 7: "seven"}
        rows = completions.request_values(Client(server.url, 1), "m", able, items, texts, str)
    return [row.tolist() for row in rows]


def choices(*entries: tuple[int | None, Any]) -> dict[str, Any]:
    made = [{"logprobs": own, **({} if index is None else {"index": index})} for index, own in entries]
    return {"model": "m", "choices": made}


def tops(value: Any) -> dict[str, Any]:
    return {"top_logprobs": [{"token_id:5": value}]}


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (None, "without choices"),
        ({"choices": [{}, 3]}, "without choices"),
        ({**choices((0, {}), (1, {})), "model": "other"}, "answered as 'other'"),
        (choices((0, {})), "one choice for each of 2 prompts"),
        (choices((0, {}), (0, {})), "one choice for each of 2 prompts"),
        (choices((None, {}), (None, {})), "one choice for each of 2 prompts"),
        (choices((0, {}), (2, {})), "one choice for each of 2 prompts"),
        (choices((0, tops(-1.0)), (1, None)), "did not return all log-probabilities"),
        (choices((0, tops(-1.0)), (1, tops(0.002))), "impossible log-probability"),
        (choices((0, tops(-1.0)), (1, tops([1]))), "did not return all log-probabilities"),
    ],
)
def test_unexpected_responses(response: Any, message: str) -> None:
    with pytest.raises(ScoringError, match=message):
        values_of(response, [Item((1,), (5,))] * 2)


def test_choices_are_ordered_by_their_index() -> None:
    items = [Item((1,), (5,)), Item((2,), (5,))]
    assert values_of(choices((1, tops(-2.0)), (0, tops(-1.0))), items) == [[-1.0], [-2.0]]


@pytest.mark.parametrize(
    ("likeliest", "values"),
    [
        ({"token_id:7": -2.0, "token_id:5": -1, "token_id:9": 0.0}, [-1.0, -2.0]),
        ({"token_id:7": -2.0}, [np.nan, -2.0]),
        ({"five": -1.0, "seven": -2.0}, [-1.0, -2.0]),
        ({"five": -1.0, "token_id:7": -2.0}, [np.nan, -2.0]),
        ({"token_id:5": -9999.0, "token_id:7": -9998.5}, [-np.inf, -9998.5]),
    ],
)
def test_values_of_next_tokens(likeliest: Any, values: list[float]) -> None:
    response = choices((0, {"top_logprobs": [likeliest]}))
    np.testing.assert_array_equal(values_of(response, [Item((1,), (5, 7))], TOPS), [values])


def test_values_of_a_text() -> None:
    def values(tokens: Any, numbers: Any, prefix: int = 1) -> list[float]:
        response = choices((0, {"tokens": tokens, "token_logprobs": numbers}))
        return values_of(response, [Item((4, 5, 6))], replace(ALL, prefix_tokens=prefix))[0]

    numbered = [f"token_id:{number}" for number in (1, 4, 5, 6, 8)]
    numbers = [None, -9.0, -1.0, -2, -8.0]
    for tokens in (numbered, numbered[:4], ["a", "b", "c", "d"]):
        assert values(tokens, numbers) == [-1.0, -2.0]
    for tokens, given in ((numbered[:3], numbers), (numbered, numbers[:3]), (None, numbers)):
        with pytest.raises(ScoringError, match="did not return all log-probabilities"):
            values(tokens, given)
    with pytest.raises(ScoringError, match=r"scored the tokens \(1, 4, 5\)"):
        values(numbered, numbers, prefix=0)


# ---- plans -----------------------------------------------------------------------------------------------


def test_two_words_at_one_position_are_one_context() -> None:
    query = Query((7, 8, 9), (2, 2), (1, 2), normalise=False)
    assert make_plan([query], ALL)[0] == [Item((7, 8, 9), (1, 2))]
    assert make_plan([query], TEXTS_ONLY)[0] == [Item((7, 8, 9, 1)), Item((7, 8, 9, 2))]


def test_a_continuation_is_one_text() -> None:
    query = Query((7, 8, 9), (0, 1, 2), (8, 9, 1))
    contexts = [Item((7,), (8,)), Item((7, 8), (9,)), Item((7, 8, 9), (1,))]
    assert make_plan([query], TOKENS_ONLY)[0] == contexts
    (text,), sources = make_plan([query], ALL)
    assert text == Item((7, 8, 9, 1))
    assert sources == [[(text, 0), (text, 1), (text, 2)]]


def test_batches_stay_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_PROMPTS", 3), ("MAX_TOKENS", 6), ("MAX_NAMED", 3)):
        monkeypatch.setattr(completions, name, value)
    ones = [Item((n,), (1,)) for n in range(4)]
    assert list(make_batches(ones[::-1], ALL)) == [ones[:3], ones[3:]]
    assert list(make_batches(ones[:2], replace(ALL, batched=False))) == [[ones[0]], [ones[1]]]
    texts = [Item((1, 2, 3, 4)), Item((1, 2)), Item((1, 3)), Item(tuple(range(9)))]
    assert list(make_batches(texts, ALL)) == [[texts[1], texts[2]], [texts[0]], [texts[3]]]
    named = [Item((1,), (1, 2)), Item((2,), (1, 2, 3)), Item((3,), (4,))]
    assert list(make_batches(named, ALL)) == [named[:2], named[2:]]
    assert list(make_batches(named, replace(ALL, named_tokens=False))) == [named]
    assert list(make_batches([ones[0], texts[1]], ALL)) == [[texts[1]], [ones[0]]]


# ---- capabilities ----------------------------------------------------------------------------------------


def test_finding_the_model() -> None:
    one, two = {"id": "one", "max_model_len": 5}, {"id": 2}
    with serving(lambda request: (404, {}, {})) as server:
        client = Client(server.url, 1)
        assert find_model(client, "any") == ("any", {})
        server.translate = lambda request: (200, {}, {"data": [one, two]})
        assert find_model(client, "2") == ("2", two)
        for name, message in (
            ("onne", "no model 'onne'; available models: one, 2"),
            (None, "needs the name"),
        ):
            with pytest.raises(ModelError, match=message):
                find_model(client, name)
        server.translate = lambda request: (200, {}, {"data": [one]})
        assert find_model(client, None) == ("one", one)


def detect(*given: Any) -> Capabilities:
    tokenizer = zoo.load("gpt2")[1]
    return detect_capabilities(*given, (tokenizer.bos_token_id,), tokenizer.decode)


def sentence_ids() -> tuple[int, ...]:
    return tuple(zoo.load("gpt2")[1](TEXTS[0])["input_ids"])


@pytest.mark.parametrize(
    ("dialect", "expected", "method"),
    [
        (VLLM, ALL, "named next tokens and whole texts"),
        (ECHO, replace(ALL, named_tokens=False, min_tokens=1, batched=False), "whole texts"),
        (LLAMA_SERVER, replace(TOKENS_ONLY, every_token=True, batched=False), "named next tokens"),
        (SGLANG, TEXTS_ONLY, "whole texts"),
        (replace(VLLM, echo=False), replace(ALL, full_texts=False), "named next tokens"),
        (
            TOP,
            replace(ALL, named_tokens=False, full_texts=False, top_tokens=5),
            "up to 5 of the likeliest next tokens",
        ),
        (
            LLAMA_CPP,
            replace(ALL, min_tokens=1, batched=False, text_prompts=0, every_token=True),
            "named next tokens and whole texts",
        ),
        (replace(VLLM, in_front=(5, 6)), replace(ALL, prefix_tokens=2), "named next tokens and whole texts"),
    ],
)
def test_capabilities(dialect: Any, expected: Capabilities, method: str) -> None:
    ids = sentence_ids()
    with served("gpt2", dialect) as server:
        able = detect(Client(server.url, 1), MODEL, {"max_model_len": LONGEST}, ids)
    assert replace(able, fingerprint=()) == expected
    assert bool(able.fingerprint) == (dialect is not TOP)
    assert able.method == method


def test_two_values_for_one_token_are_an_error() -> None:
    """A server whose log-probabilities are after a temperature."""
    with served("gpt2") as server:
        answer = server.translate

        def shifted(request: Request) -> Answer:
            status, headers, content = answer(request)
            for choice in content.get("choices", ()):
                if not request.body.get("echo") and choice.get("logprobs"):
                    tops = choice["logprobs"]["top_logprobs"]
                    choice["logprobs"]["top_logprobs"] = [{k: v - 0.03 for k, v in t.items()} for t in tops]
            return status, headers, content

        server.translate = shifted
        with pytest.raises(ScoringError, match="two log-probabilities for one token"):
            detect(Client(server.url, 1), MODEL, {}, sentence_ids())


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        (replace(VLLM, logprobs=False), "returns no log-probabilities .*`gest ask`"),
        (replace(VLLM, completions=False), "which scoring needs.*`gest ask`"),
        (replace(VLLM, name="another"), "answered as 'another'"),
    ],
)
def test_servers_that_cannot_score(dialect: Any, message: str) -> None:
    with served("gpt2", dialect) as server, pytest.raises(GestError, match=message):
        detect(Client(server.url, 1), MODEL, {}, sentence_ids())


# ---- tokenizers ------------------------------------------------------------------------------------------


def test_a_tokenizer_must_be_the_servers() -> None:
    with served("gpt2") as server:
        client = Client(server.url, 1)
        with pytest.raises(ModelError, match="is not the tokenizer of"):
            load_tokenizer(str(zoo.directory("llama")), client, MODEL)
        with pytest.raises(ModelError, match="cannot be loaded"):
            load_tokenizer("/nowhere", client, MODEL)
        assert load_tokenizer(str(zoo.directory("gpt2")), client, MODEL)[1] == []
    with served("gpt2", replace(VLLM, tokenize=False)) as server:
        _, (note,) = load_tokenizer(str(zoo.directory("gpt2")), Client(server.url, 1), MODEL)
        assert "nothing checks" in note
