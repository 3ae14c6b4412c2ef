"""Requests, responses, plans, capabilities and tokenizers of served models, each against the model itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from gest_dataset.errors import GestError, ModelError, ScoringError, SettingError
from gest_dataset.measures import measure_of
from gest_dataset.models.served import formats, plan, tokenizer
from gest_dataset.models.served.capabilities import Capabilities, detect_capabilities, find_model
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.formats import FullText, NextTokens
from gest_dataset.models.served.model import connect
from gest_dataset.models.served.plan import make_batches, make_plan
from gest_dataset.probes.queries import Query
from tests.support import zoo
from tests.support.completions import ECHO, LONGEST, MODEL, TOP, VLLM, served
from tests.support.services import Answer, Request, serving

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")
ALL = Capabilities(True, True, 0, 0, 0, True, LONGEST, ())


# ---- requests and responses ------------------------------------------------------------------------------


def test_request_bodies() -> None:
    common = {"temperature": 1, "top_p": 1, "return_tokens_as_token_ids": True}
    one, two = NextTokens((1, 2), (9, 7)), NextTokens((3,), (7, 8))
    named = {"prompt": [[1, 2], [3]], "max_tokens": 1, "logprobs": 0, "logprob_token_ids": [7, 8, 9]}
    assert formats.named_request([one, two]) == {**common, **named}
    assert formats.top_request([one], 5) == {**common, "prompt": [1, 2], "max_tokens": 1, "logprobs": 5}
    texts = [FullText((1, 2)), FullText((3, 4, 5))]
    echo = {**common, "echo": True, "logprobs": 1}
    assert formats.echo_request(texts, 0) == {**echo, "prompt": [[1, 2], [3, 4, 5]], "max_tokens": 0}
    assert formats.echo_request(texts[:1], 1) == {**echo, "prompt": [1, 2], "max_tokens": 1}


def choices(*entries: tuple[int | None, Any]) -> dict[str, Any]:
    made = [{"logprobs": own, **({} if index is None else {"index": index})} for index, own in entries]
    return {"model": "m", "choices": made}


def test_choices_are_ordered_by_their_index() -> None:
    first, second = {"tokens": [1]}, {"tokens": [2]}
    for response in (
        choices((1, second), (0, first)),
        choices((None, first), (None, second)),
        {**choices((0, first), (1, second)), "model": None},
    ):
        assert formats.parse_logprobs(response, "m", 2, "host") == [first, second]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (None, "without choices"),
        ({"choices": [{}, 3]}, "without choices"),
        ({**choices((0, {}), (1, {})), "model": "other"}, "answered as 'other'"),
        (choices((0, {})), "1 choices for 2 prompts"),
        (choices((0, {}), (0, {})), "2 choices for 2 prompts"),
        (choices((0, {}), (1, {}), (2, {})), "3 choices for 2 prompts"),
        (choices((0, {}), (1, None)), "no log-probabilities"),
    ],
)
def test_unexpected_responses(response: Any, message: str) -> None:
    with pytest.raises(ScoringError, match=message):
        formats.parse_logprobs(response, "m", 2, "host")


@pytest.mark.parametrize(
    ("tops", "values"),
    [
        ([{"token_id:7": -2.0, "token_id:5": -1, "token_id:9": 0.0}], [-1.0, -2.0]),
        ([{"token_id:7": -2.0}, {"token_id:5": -1.0}], [np.nan, -2.0]),
        ([{"five": -1.0, "seven": -2.0}], [-1.0, -2.0]),
        ([{"five": -1.0, "token_id:7": -2.0}], [np.nan, -2.0]),
        ([{"token_id:5": -9999.0, "token_id:7": -9998.5}], [-np.inf, -9998.5]),
        ([None], [np.nan, np.nan]),
        (None, [np.nan, np.nan]),
    ],
)
def test_values_of_next_tokens(tops: Any, values: list[float]) -> None:
    item, texts = NextTokens((1,), (5, 7)), {5: "five", 7: "seven"}
    np.testing.assert_array_equal(formats.next_values(item, {"top_logprobs": tops}, texts), values)


@pytest.mark.parametrize("value", [True, "-1", 0.002, [1]])
def test_invalid_log_probabilities(value: Any) -> None:
    with pytest.raises(ScoringError, match="as a log-probability"):
        formats.next_values(NextTokens((1,), (5,)), {"top_logprobs": [{"token_id:5": value}]}, {})


def test_values_of_a_text() -> None:
    def values(tokens: Any, numbers: Any, prefix: int = 1) -> list[float]:
        logprobs = {"tokens": tokens, "token_logprobs": numbers}
        return list(formats.text_values(FullText((4, 5, 6)), logprobs, prefix, "host"))

    numbered = [f"token_id:{number}" for number in (1, 4, 5, 6, 8)]
    numbers = [None, -9.0, -1.0, -2, -8.0]
    for tokens in (numbered, numbered[:4], ["a", "b", "c", "d"]):
        assert values(tokens, numbers) == [-1.0, -2.0]
    for tokens, given in ((numbered[:3], numbers), (numbered, numbers[:3]), (None, numbers)):
        with pytest.raises(ScoringError, match="every token of a text"):
            values(tokens, given)
    with pytest.raises(ScoringError, match=r"scored the tokens \(1, 4, 5\)"):
        values(numbered, numbers, prefix=0)


# ---- plans -----------------------------------------------------------------------------------------------


def test_two_words_at_one_position_are_one_context() -> None:
    query = Query((7, 8, 9), (2, 2), (1, 2), normalise=False)
    assert make_plan([query], True, True).items == (NextTokens((7, 8, 9), (1, 2)),)
    assert make_plan([query], False, True).items == (FullText((7, 8, 9, 1)), FullText((7, 8, 9, 2)))


def test_a_continuation_is_one_text_and_contains_shorter_ones() -> None:
    query, beginning = Query((7, 8, 9), (0, 1, 2), (8, 9, 1)), Query((7, 8), (0, 1), (8, 9))
    contexts = (NextTokens((7,), (8,)), NextTokens((7, 8), (9,)), NextTokens((7, 8, 9), (1,)))
    assert make_plan([query], True, False).items == contexts
    made = make_plan([beginning, query], True, True)
    assert made.items == (FullText((7, 8, 9, 1)),)
    values = made.query_values({made.items[0]: np.array([0.1, 0.2, 0.3])})
    assert [list(row) for row in values] == [[0.1, 0.2], [0.1, 0.2, 0.3]]


def test_batches_stay_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_PROMPTS", 3), ("MAX_TOKENS", 6), ("MAX_NAMED", 3)):
        monkeypatch.setattr(plan, name, value)
    ones = [NextTokens((n,), (1,)) for n in range(4)]
    assert list(make_batches(ones[::-1], ALL)) == [ones[:3], ones[3:]]
    assert list(make_batches(ones[:2], replace(ALL, batched=False))) == [[ones[0]], [ones[1]]]
    texts = [FullText((1, 2, 3, 4)), FullText((1, 2)), FullText((1, 3)), FullText(tuple(range(9)))]
    assert list(make_batches(texts, ALL)) == [[texts[1], texts[2]], [texts[0]], [texts[3]]]
    named = [NextTokens((1,), (1, 2)), NextTokens((2,), (1, 2, 3)), NextTokens((3,), (4,))]
    assert list(make_batches(named, ALL)) == [named[:2], named[2:]]
    assert list(make_batches(named, replace(ALL, named_tokens=False))) == [named]
    assert list(make_batches([texts[1], ones[0]], ALL)) == [[ones[0]], [texts[1]]]


# ---- capabilities ----------------------------------------------------------------------------------------


def test_finding_the_model() -> None:
    one, two = {"id": "one", "max_model_len": 5}, {"id": 2}
    with serving(lambda request: (404, {}, {})) as server:
        client = Client(server.url, 1)
        assert find_model(client, "any") == ("any", {})
        with pytest.raises(ModelError, match="pass a name"):
            find_model(client, None)
        server.translate = lambda request: (200, {}, {"data": [one, two]})
        assert find_model(client, "2") == ("2", two)
        for name, message in (("onne", "no model 'onne'; choose one of one, 2"), (None, "several models")):
            with pytest.raises(ModelError, match=message):
                find_model(client, name)
        server.translate = lambda request: (200, {}, {"data": [one]})
        assert find_model(client, None) == ("one", one)


def sentence_ids() -> tuple[int, ...]:
    return tuple(zoo.load("gpt2")[1](tokenizer.SENTENCES[0])["input_ids"])


@torch.inference_mode()
def model_values(ids: tuple[int, ...], prefix: tuple[int, ...] = ()) -> list[float]:
    """ln P of each token but the first, by the model itself."""
    whole = (*prefix, *ids)
    table = zoo.load("gpt2")[0](torch.tensor([whole])).logits[0].double().log_softmax(-1)
    return [table[i - 1, whole[i]].item() for i in range(len(prefix) + 1, len(whole))]


@pytest.mark.parametrize(
    ("dialect", "expected", "method"),
    [
        (VLLM, ALL, "named next tokens and whole texts"),
        (ECHO, replace(ALL, named_tokens=False, min_tokens=1, batched=False), "whole texts"),
        (replace(VLLM, echo=False), replace(ALL, full_texts=False), "named next tokens"),
        (
            TOP,
            replace(ALL, named_tokens=False, full_texts=False, top_tokens=5),
            "up to 5 of the likeliest next tokens",
        ),
        (replace(VLLM, in_front=(5, 6)), replace(ALL, prefix_tokens=2), "named next tokens and whole texts"),
    ],
)
def test_capabilities(dialect: Any, expected: Capabilities, method: str) -> None:
    ids = sentence_ids()
    with served("gpt2", dialect) as server:
        able = detect_capabilities(Client(server.url, 1), MODEL, {"max_model_len": LONGEST}, ids)
    assert replace(able, fingerprint=()) == expected
    assert able.method == method
    texts = model_values(ids, dialect.in_front)
    if expected.full_texts:
        assert able.fingerprint == pytest.approx(texts, abs=1e-5)
    elif expected.named_tokens:
        assert able.fingerprint[0] == pytest.approx(texts[-2], abs=1e-5)


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
        with pytest.raises(ScoringError, match="two values for one token"):
            detect_capabilities(Client(server.url, 1), MODEL, {}, sentence_ids())


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        (replace(VLLM, logprobs=False), "returns no log-probabilities .*`gest ask`"),
        (replace(VLLM, completions=False), "only supports chats.*`gest ask`"),
        (replace(VLLM, name="another"), "answered as 'another'"),
    ],
)
def test_servers_that_cannot_score(dialect: Any, message: str) -> None:
    with served("gpt2", dialect) as server, pytest.raises(GestError, match=message):
        detect_capabilities(Client(server.url, 1), MODEL, {}, sentence_ids())


# ---- tokenizers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces", "spans"),
    [
        ("a b", ["a", "Ġb"], [(0, 1), (1, 3)]),
        ("a b", ["Ġa", "Ġb"], [(0, 1), (1, 3)]),
        (" a", ["Ġ", "Ġa"], [(0, 0), (0, 2)]),
        ("žx", ["Å", "¾x"], [(0, 1), (0, 2)]),
        ("😀", ["ð", "Ł", "ĺ", "Ģ"], [(0, 1)] * 4),
        ("ž b", ["▁ž", "▁b"], [(0, 1), (1, 3)]),
        ("a\nž", ["▁a", "<0x0A>", "<0xC5>", "<0xBE>"], [(0, 1), (1, 2), (2, 3), (2, 3)]),
        ("", [], []),
    ],
)
def test_offsets_of_token_strings(text: str, pieces: list[str], spans: list[Any]) -> None:
    assert tokenizer._offsets(text, pieces) == spans


@pytest.mark.parametrize("animal", ["gpt2", "llama", "qwen2", "gemma2", "roberta"])
def test_the_tokenizer_of_a_server(animal: str) -> None:
    """The same ids and special tokens as the model's own, and the same tokens for every word."""
    own = zoo.load(animal)[1]
    with served(animal) as server:
        remote = tokenizer.server_tokenizer(Client(server.url, 1), MODEL)
        for text in ("Som rada, že pracujem.", "She paid 12 – naïve café 😀", "Я хотела быть лидером…"):
            expected, encoding = own.backend_tokenizer.encode(text), remote.encode(text)
            assert encoding.ids == expected.ids
            assert encoding.special_tokens_mask == expected.special_tokens_mask
            for word in text.split():
                start, end = text.index(word), text.index(word) + len(word)
                covering = [
                    [i for i, (first, last) in enumerate(spans) if first < end and last > start]
                    for spans in (encoding.offsets, expected.offsets)
                ]
                assert covering[0] == covering[1], (text, word)


def test_a_tokenizer_must_be_the_servers() -> None:
    with served("gpt2") as server:
        client = Client(server.url, 1)
        with pytest.raises(ModelError, match="is not the tokenizer of"):
            tokenizer.load_tokenizer(str(zoo.directory("llama")), client, MODEL)
        with pytest.raises(ModelError, match="cannot be loaded"):
            tokenizer.load_tokenizer("/nowhere", client, MODEL)
        assert tokenizer.load_tokenizer(str(zoo.directory("gpt2")), client, MODEL)[1] == []
    with served("gpt2", replace(VLLM, tokenize=False)) as server:
        client = Client(server.url, 1)
        _, (note,) = tokenizer.load_tokenizer(str(zoo.directory("gpt2")), client, MODEL)
        assert "not checked" in note
        with pytest.raises(ModelError, match="no /tokenize"):
            tokenizer.server_tokenizer(client, MODEL)


def test_the_reader_of_a_served_model() -> None:
    probe = measure_of(["masculine", "feminine", "stereotype", "word_index"], "mine")[1]
    own = zoo.load("gpt2")[1]
    with served("gpt2", replace(VLLM, in_front=(5, 6))) as server:
        model = connect(server.url, None, str(zoo.directory("gpt2")))
        reader = model.reader(probe, frozenset({"bos-first"}))
        start = own.bos_token_id if own.bos_token_id is not None else own.eos_token_id
        assert (reader.limit, reader.start_id, reader.end_id) == (LONGEST - 1 - 2, start, own.eos_token_id)
        without_start = connect(server.url, None)
        with pytest.raises(SettingError, match="--tokenizer"):
            without_start.reader(probe, frozenset())
