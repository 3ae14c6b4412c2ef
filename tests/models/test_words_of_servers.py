"""Models behind a server, piece by piece: addresses, what is sent and read, and what is said of the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch

from gest_dataset.errors import GestError, ModelError, OutputError, ScoringError, SettingError
from gest_dataset.measures import measure_of
from gest_dataset.models.served import abilities, asking, dialects, tokens
from gest_dataset.models.served import client as http
from gest_dataset.models.served.abilities import Abilities
from gest_dataset.models.served.at_once import at_once
from gest_dataset.models.served.plan import Next, Text
from gest_dataset.models.served.served import connect
from gest_dataset.probes.tokenization import SkipSampleError
from tests.support import zoo
from tests.support.completions import ECHO, LONGEST, MODEL, TOP, VLLM, served
from tests.support.services import Answer, Request, Server, serving

pytestmark = pytest.mark.usefixtures("mirror", "one_thread")

AGAIN = "What was answered is kept: the same command goes on from there."
HALF = json.dumps("\ud800")  # what `json` of Python writes and reads, and no file can hold


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that has nothing but what a test scripts."""
    with serving(lambda request: (404, {}, {"detail": "Not Found"})) as running:
        yield running


def refusal(kind: type[GestError], does: Any, *given: Any) -> str:
    with pytest.raises(kind) as caught:
        does(*given)
    return str(caught.value)


# ---- addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://host:8000", "http://host:8000"),
        ("http://host:8000/", "http://host:8000"),
        ("http://host:8000/v1", "http://host:8000"),
        ("http://host:8000/v1/", "http://host:8000"),
        ("host:8000/v1", "http://host:8000"),
        ("host", "http://host"),
        ("https://host/models/X/v1//", "https://host/models/X"),
        ("https://host/models/X", "https://host/models/X"),
        ("https://host/v1/v1", "https://host/v1"),
        ("HTTP://[::1]:8000/v1", "http://[::1]:8000"),
    ],
)
def test_an_address_with_and_without_v1(url: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(http.KEY, raising=False)
    assert http.connect(url, 3) == http.Client(address, 3, "")
    monkeypatch.setenv(http.KEY, " secret\n")
    assert http.connect(url, 3).key == "secret"
    assert "secret" not in repr(http.connect(url, 3))


@pytest.mark.parametrize(
    "url", ["ftp://host", "http://", "//host", "http://:8000", "file:///host", "host/v1?a=b", "host/v1#c"]
)
def test_an_address_of_no_server(url: str) -> None:
    said = f"{url!r} is no address of a server: give one such as http://127.0.0.1:8000."
    assert refusal(SettingError, http.connect, url, 1) == said


@pytest.mark.parametrize("user", ["user:word", "user", ":word"])
def test_an_address_with_a_key(user: str) -> None:
    said = "An address holds no key: leave it out, and set GEST_ENDPOINT_KEY in the environment."
    assert refusal(SettingError, http.connect, f"http://{user}@host", 1) == said


# ---- one request -------------------------------------------------------------------------------------------


def test_what_is_sent(server: Server) -> None:
    server.script += [(200, {}, {"number": 1}), (200, {}, ["é"])]
    assert http.Client(server.url, 1).get("/page") == {"number": 1}
    assert http.Client(server.url, 1, "secret").post("/other", {"é": 1}) == ["é"]
    page, other = server.requests
    assert (page.path, page.body, page.headers.get("Authorization")) == ("/page", {}, None)
    assert (other.path, other.body) == ("/other", {"é": 1})
    assert (other.headers["Authorization"], other.headers["Content-Type"]) == (
        "Bearer secret",
        "application/json",
    )


@pytest.mark.parametrize("status", [400, 404, 405, 422, 501])
def test_a_page_may_lack_and_a_request_be_refused(status: int, server: Server) -> None:
    server.script += [(status, {}, {"error": "no"})] * 3
    client = http.Client(server.url, 1)
    assert client.get("/page") is None
    assert client.post("/page", {}, may_refuse=True) is None
    with pytest.raises(GestError, match=r"/page.*: no"):
        client.post("/page", {})


KEY_REFUSED = "ADDRESS refuses the key (status {}): set GEST_ENDPOINT_KEY to one that it takes. It says: no"
REFUSED = f"ADDRESS refused /page with status {{}}: {{}}\n{AGAIN}"


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (401, "no", KEY_REFUSED.format(401)),
        (403, "no", KEY_REFUSED.format(403)),
        (404, {"detail": "Not Found"}, "ADDRESS has no /page: Not Found"),
        (418, "a teapot", REFUSED.format(418, "a teapot")),
        (418, {"error": "a pot"}, REFUSED.format(418, "a pot")),
        (418, {"error": {"message": "a pot", "code": 1}}, REFUSED.format(418, "a pot")),
        (418, {"message": "a pot"}, REFUSED.format(418, "a pot")),
        (418, {"detail": [1, 2]}, REFUSED.format(418, "[1, 2]")),
        (418, {"detail": "a pot", "message": "tea"}, REFUSED.format(418, "tea")),
        (418, {"pot": 1}, REFUSED.format(418, "{'pot': 1}")),
        (418, "x" * 301, REFUSED.format(418, "x" * 300)),
        (418, "of secret and secret", REFUSED.format(418, "of <GEST_ENDPOINT_KEY> and <GEST_ENDPOINT_KEY>")),
        (
            200,
            "\ud800",
            "ADDRESS answered /page with what is no JSON (it holds half of a surrogate pair, which is no "
            f"letter): {HALF}\n{AGAIN}",
        ),
    ],
)
def test_what_is_said_of_an_answer(status: int, content: Any, said: str, server: Server) -> None:
    client = http.Client(server.url, 1, "secret")
    server.script.append((status, {}, content))
    kind = ModelError if status in (401, 403, 404) else ScoringError
    assert refusal(kind, client.post, "/page", {}) == said.replace("ADDRESS", server.url)


def test_pages_that_are_no_json_are_shown_as_they_are() -> None:
    assert http._message(b" <h1>Bad \xff</h1>\n") == "<h1>Bad \N{REPLACEMENT CHARACTER}</h1>"


# ---- requests and answers of `completions` ----------------------------------------------------------------

OWN = {"temperature": 1, "top_p": 1, "return_tokens_as_token_ids": True}


def test_bodies_of_requests() -> None:
    one, two = Next((1, 2), (9, 7)), Next((3,), (7, 8))
    assert dialects.named([one, two]) == {
        **OWN,
        **{"prompt": [[1, 2], [3]], "max_tokens": 1, "logprobs": 0, "logprob_token_ids": [7, 8, 9]},
    }
    assert dialects.named([one])["prompt"] == [[1, 2]]
    assert dialects.likeliest([one], 5) == {**OWN, "prompt": [1, 2], "max_tokens": 1, "logprobs": 5}
    assert dialects.likeliest([one, two], 5)["prompt"] == [[1, 2], [3]]
    texts = [Text((1, 2)), Text((3, 4, 5))]
    echo = {**OWN, "echo": True, "logprobs": 1}
    assert dialects.echoed(texts, 0) == {**echo, "prompt": [[1, 2], [3, 4, 5]], "max_tokens": 0}
    assert dialects.echoed(texts[:1], 1) == {**echo, "prompt": [1, 2], "max_tokens": 1}


def choices(*told: tuple[int | None, Any]) -> dict[str, Any]:
    made = [{"logprobs": own, **({} if place is None else {"index": place})} for place, own in told]
    return {"model": "m", "choices": made}


def test_choices_are_in_the_order_of_the_prompts() -> None:
    first, second = {"tokens": [1]}, {"tokens": [2]}
    for answer in (
        choices((0, first), (1, second)),
        choices((1, second), (0, first)),
        choices((None, first), (None, second)),
        {**choices((0, first), (1, second)), "model": None},
    ):
        assert dialects.logprobs_in(answer, "m", 2, "host") == [first, second]


FORM = "host gave an answer of another form: "


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, f"{FORM}it has no choices."),
        ({}, f"{FORM}it has no choices."),
        ({"choices": {}}, f"{FORM}it has no choices."),
        ({"choices": [{}, 3]}, f"{FORM}a choice is no table."),
        (
            {**choices((0, {}), (1, {})), "model": "other"},
            "host was asked for 'm' and answered for 'other': give that name to it.",
        ),
        *(
            (
                wrong,
                f"host gave {len(wrong['choices'])} answers for 2 prompts. They cannot be told apart, so "
                "none of them is kept.",
            )
            for wrong in (
                choices(),
                choices((0, {})),
                choices((0, {}), (0, {})),
                choices((1, {}), (2, {})),
                choices((0, {}), (1, {}), (2, {})),
                choices((0, {}), (1, {}), (1, {})),
            )
        ),
        (choices((0, {}), (1, None)), "host gave an answer without log-probabilities."),
        (choices((0, None), (1, {})), "host gave an answer without log-probabilities."),
    ],
)
def test_answers_of_another_form(answer: Any, said: str) -> None:
    assert refusal(ScoringError, dialects.logprobs_in, answer, "m", 2, "host") == said


NEXT = Next((1,), (5, 7))


@pytest.mark.parametrize(
    ("tops", "values"),
    [
        ([{"token_id:7": -2.0, "token_id:5": -1, "token_id:9": 0.0}], [-1.0, -2.0]),
        ([{"token_id:7": -2.0}, {"token_id:5": -1.0}], [np.nan, -2.0]),
        ([{"five": -1.0, "seven": -2.0}], [-1.0, -2.0]),
        # one that is numbered by the server: the texts beside it are no tokens
        ([{"five": -1.0, "token_id:7": -2.0}], [np.nan, -2.0]),
        ([{"token_id:5": -9999.0, "token_id:7": -9998.5}], [-np.inf, -9998.5]),
        ([{"token_id:5": 0.0005, "token_id:7": -10000}], [0.0005, -np.inf]),
        ([], [np.nan, np.nan]),
        ([None], [np.nan, np.nan]),
        ({}, [np.nan, np.nan]),
        (None, [np.nan, np.nan]),
    ],
)
def test_values_of_next_tokens(tops: Any, values: list[float]) -> None:
    told = dialects.next_values(NEXT, {"top_logprobs": tops}, {5: "five", 7: "seven"})
    np.testing.assert_array_equal(told, values)


@pytest.mark.parametrize("value", [True, "-1", 0.002, [1]])
def test_what_is_no_log_probability(value: Any) -> None:
    told = {"top_logprobs": [{"token_id:5": value}]}
    said = f"A server gave {value!r} for a log-probability."
    assert refusal(ScoringError, dialects.next_values, NEXT, told, {}) == said


def told_text(tokens: Any, numbers: Any, in_front: int = 1) -> Any:
    told = {"tokens": tokens, "token_logprobs": numbers}
    return dialects.text_values(Text((4, 5, 6)), told, in_front, "host")


def test_values_of_a_text() -> None:
    numbered = [f"token_id:{number}" for number in (1, 4, 5, 6, 8)]
    numbers = [None, -9.0, -1.0, -2, -8.0]
    for shown in (numbered, numbered[:4], ["a", "b", "c", "d"], [*numbered[:3], "d"]):
        assert list(told_text(shown, numbers)) == [-1.0, -2.0], "behind what the server puts in front"
    assert list(told_text(numbered[1:], [None, *numbers[2:]], 0)) == [-1.0, -2.0]
    every = "host did not give the log-probability of every token of a text."
    for shown, told in (
        (numbered[:3], numbers),
        (numbered, numbers[:3]),
        (None, numbers),
        (numbered, None),
        ("1456", numbers),
    ):
        assert refusal(ScoringError, told_text, shown, told) == every
    said = "host scored the tokens (1, 4, 5) …, and (4, 5, 6) … were sent."
    assert refusal(ScoringError, told_text, numbered, numbers, 0) == said


# ---- what a server is found to be able to do ---------------------------------------------------------------


def listed(*entries: Any) -> Answer:
    return 200, {}, {"data": list(entries)}


def test_the_served_model(server: Server) -> None:
    client, one, two = http.Client(server.url, 1), {"id": "one", "max_model_len": 5}, {"id": 2}
    for answer, asked, found in (
        (listed(one), None, ("one", one)),
        (listed(one, two), "one", ("one", one)),
        (listed(one, two), "2", ("2", two)),
        (listed(one, "more", {"name": "x"}), None, ("one", one)),
        ((404, {}, {}), "any", ("any", {})),
        ((200, {}, []), "any", ("any", {})),
        ((200, {}, {"data": "one"}), "any", ("any", {})),
    ):
        server.script.append(answer)
        assert abilities.served_model(client, asked) == found
    assert {request.path for request in server.requests} == {"/v1/models"}
    many = [{"id": f"model-{end}"} for end in ("a", "b", "c", "d", "e", "f", "g1")]
    for answer, asked, said in (
        ((404, {}, {}), None, "does not say which models it has: name one."),
        (listed(one, two), "onne", "has no model 'onne': choose one of one, 2."),
        (listed(one, two), None, "has several models: choose one of one, 2."),
        (listed(), "one", "has no model 'one'."),
        (listed(), None, "has no model."),
    ):
        server.script.append(answer)
        assert refusal(ModelError, abilities.served_model, client, asked) == f"{server.url} {said}"
    server.script.append(listed(*many))
    told = refusal(ModelError, abilities.served_model, client, "model-g")
    assert re.fullmatch(r".* choose one of model-g1, (model-[a-f], ){3}model-[a-f]\.", told), (
        "the nearest five"
    )


def ids_of_a_sentence() -> tuple[int, ...]:
    return tuple(zoo.load("gpt2")[1](tokens.SENTENCES[0])["input_ids"])


@torch.inference_mode()
def of_the_model(ids: tuple[int, ...], front: tuple[int, ...] = ()) -> list[float]:
    """ln P of each token but the first, by the model itself."""
    whole = (*front, *ids)
    table = zoo.load("gpt2")[0](torch.tensor([whole])).logits[0].double().log_softmax(-1)
    return [table[place - 1, whole[place]].item() for place in range(len(front) + 1, len(whole))]


ALL = Abilities(True, True, 0, 0, 0, True, LONGEST, ())


@pytest.mark.parametrize(
    ("dialect", "found", "way"),
    [
        (VLLM, ALL, "named next tokens and whole texts"),
        (ECHO, replace(ALL, named=False, added=1, several=False), "whole texts"),
        (replace(VLLM, echo=False), replace(ALL, texts=False), "named next tokens"),
        (
            TOP,
            replace(ALL, named=False, texts=False, likeliest=5),
            "up to 5 of the likeliest next tokens",
        ),
        (
            replace(TOP, likeliest=100, several=False),
            replace(ALL, named=False, texts=False, likeliest=100, several=False),
            "up to 100 of the likeliest next tokens",
        ),
        (replace(VLLM, in_front=(5, 6)), replace(ALL, in_front=2), "named next tokens and whole texts"),
    ],
)
def test_what_a_server_can_do(dialect: Any, found: Abilities, way: str) -> None:
    ids = ids_of_a_sentence()
    with served("gpt2", dialect) as running:
        able = abilities.find_out(http.Client(running.url, 1), MODEL, {"max_model_len": LONGEST}, ids)
        assert {request.body["model"] for request in running.requests} == {MODEL}
    assert replace(able, check=()) == found
    assert able.way == way
    assert able.facts() == {**vars(able), "check": list(able.check)}
    texts = of_the_model(ids, dialect.in_front)
    if found.texts:
        assert able.check == pytest.approx(texts, abs=1e-5)
    elif found.named:
        assert able.check[0] == pytest.approx(texts[-2], abs=1e-5)
        assert len(able.check) == 2
    else:
        assert able.check == ()


@pytest.mark.parametrize(("facts", "longest"), [({}, None), ({"max_model_len": "9"}, None)])
def test_a_length_that_is_not_said(facts: Any, longest: int | None) -> None:
    with served("gpt2") as running:
        client = http.Client(running.url, 1)
        assert abilities.find_out(client, MODEL, facts, ids_of_a_sentence()).longest == longest


def without(*pages: str) -> Any:
    """A server that answers these pages with 404, and others as one that can do everything."""

    def change(answer: Any) -> Any:
        return lambda request: (404, {}, {}) if request.path in pages else answer(request)

    return change


def uncounted(answer: Any) -> Any:
    """It does not count the tokens that it was sent."""

    def changed(request: Request) -> Answer:
        status, headers, told = answer(request)
        return status, headers, {name: value for name, value in told.items() if name != "usage"}

    return changed


def apart(by: float) -> Any:
    """Its next tokens have other values than the same tokens in a text."""

    def change(answer: Any) -> Any:
        def changed(request: Request) -> Answer:
            status, headers, told = answer(request)
            for choice in told.get("choices", ()):
                if not request.body.get("echo") and choice.get("logprobs"):
                    tops = choice["logprobs"]["top_logprobs"]
                    choice["logprobs"]["top_logprobs"] = [{k: v - by for k, v in one.items()} for one in tops]
            return status, headers, told

        return changed

    return change


def test_servers_that_say_less_or_two_things() -> None:
    ids = ids_of_a_sentence()
    texts = of_the_model(ids)
    with served("gpt2") as running:
        answer, client = running.translate, http.Client(running.url, 1)
        for change in (uncounted, apart(0.01), apart(-0.01)):
            running.translate = change(answer)
            assert replace(abilities.find_out(client, MODEL, {}, ids), check=()) == replace(ALL, longest=None)
        for by in (0.03, -0.03):
            running.translate = apart(by)(answer)
            said = refusal(ScoringError, abilities.find_out, client, MODEL, {}, ids)
            assert said == (
                f"{running.url} says two things of one token: ln P = {texts[-2] - by:.4f} as the next token "
                f"and {texts[-2]:.4f} within its text. Look at its options: log-probabilities have to be the "
                f"model's own, before temperature and penalties."
            )
        for pages, end in (
            (
                ["/v1/completions"],
                " answers chats only: it has no /v1/completions, which log-probabilities of given words "
                f"need. Serve the model with a server that has it, such as vLLM; {abilities.IN_WORDS}.",
            ),
            (
                ["/v1/completions", "/v1/chat/completions"],
                " has no /v1/completions for 'tiny': is it a server of models?",
            ),
        ):
            running.translate = without(*pages)(answer)
            said = refusal(ModelError, abilities.find_out, client, MODEL, {}, ids)
            assert said == f"{running.url}{end}"
    with served("gpt2", replace(VLLM, logprobs=False)) as running:
        said = refusal(ModelError, abilities.find_out, http.Client(running.url, 1), MODEL, {}, ids)
        assert said == (
            f"{running.url} gives no log-probabilities for 'tiny', so it cannot be scored through it. Start "
            f"the server so that it does (docs/endpoints.md), or load the model itself; {abilities.IN_WORDS}."
        )
    with served("gpt2", replace(VLLM, name="another")) as running:
        said = refusal(ScoringError, abilities.find_out, http.Client(running.url, 1), MODEL, {}, ids)
        assert said == (
            f"{running.url} was asked for 'tiny' and answered for 'another': give that name to it."
        )


# ---- texts as a server reads them --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces", "spans"),
    [
        ("a b", ["a", "Ġb"], [(0, 1), (1, 3)]),
        ("a b", ["Ġa", "Ġb"], [(0, 1), (1, 3)]),  # the space in front is the tokeniser's
        (" a", ["Ġa"], [(0, 2)]),
        (" a", ["Ġ", "Ġa"], [(0, 0), (0, 2)]),
        ("žx", ["Å", "¾x"], [(0, 1), (0, 2)]),
        ("😀", ["ð", "Ł", "ĺ", "Ģ"], [(0, 1)] * 4),
        ("a\nb", ["a", "Ċ", "b"], [(0, 1), (1, 2), (2, 3)]),
        ("ž b", ["▁ž", "▁b"], [(0, 1), (1, 3)]),
        ("ž b", ["ž", "▁", "b"], [(0, 1), (1, 2), (2, 3)]),
        ("a\nž", ["▁a", "<0x0A>", "<0xC5>", "<0xBE>"], [(0, 1), (1, 2), (2, 3), (2, 3)]),
        ("<0xž>", ["▁", "<0x", "ž>"], [(0, 0), (0, 3), (3, 5)]),
        ("ab", ["a", "", "b"], [(0, 1), (0, 0), (1, 2)]),
        ("", [], []),
    ],
)
def test_where_the_pieces_of_a_text_stand(text: str, pieces: list[str], spans: list[Any]) -> None:
    assert tokens._spans(text, pieces) == spans


@pytest.mark.parametrize("pieces", [["a"], ["a", "b", "c"], ["ĠĠab"], ["▁▁ab"], ["[UNK]"], ["▁a", "x"]])
def test_pieces_that_do_not_spell_the_text(pieces: list[str]) -> None:
    said = "the server's tokens do not spell the text"
    assert refusal(SkipSampleError, tokens._spans, "ab", pieces) == said  # type: ignore[arg-type]


SPECIAL = ("gpt2", "roberta")  # none, and one at each end


@pytest.mark.parametrize("ends", [0, 1])
def test_the_tokenizer_of_a_server(ends: int) -> None:
    tokenizer = zoo.load(SPECIAL[ends])[1]
    with served(SPECIAL[ends]) as running:
        own = tokens.of_server(http.Client(running.url, 1), MODEL)
        own.encode("He said no.")
        before = len(running.requests)
        encoding = own.encode("He said no.")
        assert len(running.requests) == before, "a text is asked once"
        facts = repr([tokenizer(text)["input_ids"] for text in tokens.SENTENCES])
        assert own.facts == {"tokenizer_behaviour": facts}
        assert own.spell(9) == tokenizer.decode([9])
        running.script.append((404, {}, {}))
        assert own.spell(9) == ""
    expected = tokenizer("He said no.", return_special_tokens_mask=True)
    assert encoding.ids == expected["input_ids"]
    assert encoding.tokens == tokenizer.convert_ids_to_tokens(encoding.ids)
    assert encoding.special_tokens_mask == expected["special_tokens_mask"]
    assert encoding.type_ids == [0] * len(encoding.ids)
    words = encoding.offsets[ends : len(encoding.ids) - ends]
    assert "".join("He said no."[slice(*span)] for span in words) == "He said no."
    assert encoding.offsets == [(0, 0)] * ends + words + [(0, 0)] * ends
    assert (own.bos_token_id, own.eos_token_id, own.eos_token, own.unknown) == (
        tokenizer.bos_token_id if ends else None,
        None,
        None,
        frozenset(),
    )


def test_what_is_said_of_a_tokenizer(server: Server) -> None:
    client = http.Client(server.url, 1)
    nothing = (
        f"{server.url} does not say how it reads a text (/tokenize): name its tokenizer with --tokenizer."
    )
    whole, other, wrong = ((200, {}, {"tokens": ids}) for ids in ([1, 2, 3], [2, 4], [1, "2"]))
    for script in ([], [whole], [wrong, whole], [whole, wrong], [(200, {}, {"tokens": 3})], [(200, {}, [1])]):
        server.script[:] = script
        assert refusal(ModelError, tokens.of_server, client, MODEL) == nothing
    server.script[:] = [whole, other]
    said = f"{server.url} reads a text otherwise without special tokens: use --tokenizer."
    assert refusal(ModelError, tokens.of_server, client, MODEL) == said
    name = str(zoo.directory("gpt2"))
    server.script[:] = []
    note = f"the server does not say its tokens: that {name} is its tokenizer is not checked"
    own, notes = tokens.local(name, client, MODEL)
    assert notes == [note]
    tokenizer = zoo.load("gpt2")[1]
    assert (own.bos_token_id, own.eos_token_id, own.eos_token) == (
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.eos_token,
    )
    assert own.spell(9) == tokenizer.decode([9])
    assert own.encode("He said no.").ids == tokenizer("He said no.")["input_ids"]
    text = tokens.SENTENCES[0]
    ids = ids_of_a_sentence()
    server.script[:] = [(200, {}, {"tokens": list(range(8))})]
    assert refusal(ModelError, tokens.local, name, client, "m") == (
        f"{name} is not the tokenizer of {server.url}: {text!r} is {' '.join(map(str, ids[:8]))} … there and "
        f"0 1 2 3 4 5 6 7 at the server. Give that of m with --tokenizer, or none."
    )
    said = refusal(ModelError, tokens.local, str(zoo.directory("gpt2") / "no"), client, MODEL)
    assert said.startswith(f"The tokenizer '{zoo.directory('gpt2') / 'no'}' cannot be loaded: ")
    assert said.endswith(
        "\nGive the Hub id or the folder of the served model; without --tokenizer the server's own is asked."
    )


# ---- the model behind a server -----------------------------------------------------------------------------


def test_a_served_model_as_a_subject() -> None:
    folder = str(zoo.directory("gpt2"))
    tokenizer = zoo.load("gpt2")[1]
    probe = measure_of(["masculine", "feminine", "stereotype", "word_index"], "mine")[1]
    with served("gpt2", replace(VLLM, in_front=(5, 6))) as running:
        own = connect(running.url, None, folder)
        assert own.client.connections == 8
        url = running.url
    assert own.notes == ("the server puts 2 token(s) of its own before the ids it is sent",)
    assert (own.name, own.kind, own.place, own.from_hub, own.owned) == (
        MODEL,
        "causal",
        "server",
        False,
        False,
    )
    assert own.settings(None) == {
        **own.tokenizer.facts,
        **{"endpoint": url, "asked": "named next tokens and whole texts"},
        **{"device": "server", "dtype": "server"},
    }
    endpoint = {"address": url, "asked": own.abilities.way, **own.abilities.facts()}
    assert own.facts() == {"parameters": None, "toy": False, "endpoint": endpoint}
    reader = own.reader(probe, frozenset({"bos-first"}))
    assert (reader.kind, reader.limit, reader.rules) == ("causal", LONGEST - 1 - 2, {"bos-first"})
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    assert (reader.start_id, reader.end_id) == (start, tokenizer.eos_token_id)
    unknown = {reader.vocabulary, reader.mask_id, reader.reserved, reader.decoder_start_id, reader.next_label}
    assert (unknown, reader.sentinels, reader.unknown) == ({None}, (), own.tokenizer.unknown)
    assert (
        replace(own, abilities=replace(own.abilities, longest=None)).reader(probe, frozenset()).limit is None
    )


def test_a_served_model_that_names_the_likeliest_only() -> None:
    with served("gpt2", TOP) as running:
        own = connect(running.url, MODEL, connections=3)
        assert own.client.connections == 3
        items = [Next((1,), (9, 10)), Next((2,), (10, 11))]
        spelling = own._spelling(items)
        texts = {number: zoo.load("gpt2")[1].decode([number]) for number in (9, 10, 11)}
        assert spelling == {number: text if "\ufffd" not in text else "" for number, text in texts.items()}
        assert replace(own, abilities=ALL)._spelling(items) == {}
        running.translate = lambda request: (
            200,
            {},
            {"prompt": "same" if request.body["tokens"] < [11] else "x"},
        )
        assert own._spelling(items) == {9: "", 10: "", 11: "x"}
    assert own.notes == ("the server gives the likeliest tokens only (5): other words are skipped",)
    pairs = measure_of(["masculine", "feminine", "stereotype", "word_index"], "mine")[1]
    assert pairs.scores_whole_texts
    assert refusal(SettingError, own.reader, pairs, frozenset()) == (
        f"{own.client.address} does not say what begins a text, which {pairs.name} puts in front: name the "
        f"model's tokenizer with --tokenizer."
    )


# ---- many requests -----------------------------------------------------------------------------------------


def test_what_goes_together_in_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_PROMPTS", 3), ("_TOKENS", 6)):
        monkeypatch.setattr(asking, name, value)
    ones = [Next((n,), (1,)) for n in range(4)]
    assert list(asking._batches(ones[::-1], ALL)) == [ones[:3], ones[3:]], "as many prompts as may be"
    assert list(asking._batches(ones[:2], replace(ALL, several=False))) == [[ones[0]], [ones[1]]]
    threes = [Next((n, 0, 0), (1,)) for n in range(3)]
    assert list(asking._batches(threes, ALL)) == [threes[:2], threes[2:]], "as many tokens as may be"
    texts = [Text((1, 2, 3, 4)), Text((1, 2)), Text((1, 3)), Text(tuple(range(9)))]
    assert list(asking._batches(texts, ALL)) == [[texts[1], texts[2]], [texts[0]], [texts[3]]]
    monkeypatch.setattr(asking, "_NAMED", 3)
    named = [Next((1,), (1, 2)), Next((2,), (1, 2, 3)), Next((3,), (4,)), Next((4,), (4, 5))]
    assert list(asking._batches(named, ALL)) == [named[:2], named[2:]], "sorted by their targets"
    assert list(asking._batches(named, replace(ALL, named=False))) == [named[:3], named[3:]]
    mixed = [texts[1], ones[0]]
    assert list(asking._batches(mixed, ALL)) == [[ones[0]], [texts[1]]]
    assert list(asking._batches([], ALL)) == []


def test_answers_are_kept_and_not_asked_again(tmp_path: Path) -> None:
    items = [Next((4, 5), (6, 7)), Text((4, 5, 6)), Text((4, 5)), Next((4,), (5,))]
    able, other = replace(ALL, check=(-1.0, -2.0)), replace(ALL, check=(-1.04, -1.96))
    with served("gpt2") as running:
        client = http.Client(running.url, 2)

        def ask(wanted: list[Any], able: Abilities, folder: Path | None = tmp_path) -> Any:
            return asking.ask_all(wanted, client, MODEL, able, {}, "", folder)

        first = ask(items[1:], able)
        texts, nexts = of_the_model((4, 5, 6)), of_the_model((4, 5, 7))
        assert first.answers.keys() == set(items[1:])
        assert list(first.answers[items[1]]) == pytest.approx(texts, abs=1e-6)
        assert list(first.answers[items[2]]) == pytest.approx(texts[:1], abs=1e-6)
        assert first.requests == 2
        second = ask(items, other)
        assert second.requests == 1, "rounding is no other model"
        assert list(second.answers[items[0]]) == pytest.approx([texts[1], nexts[1]], abs=1e-6)
        for item in items[1:]:
            assert list(second.answers[item]) == list(first.answers[item])
        assert (ask(items, able).requests, ask(items, able, None).requests) == (0, 2)
        for check in ((-1.0, -2.06), (-1.0,)):
            assert refusal(OutputError, ask, items, replace(ALL, check=check)) == (
                f"{tmp_path.parent} was begun with another model behind this name: the server's values of "
                f"one text have changed. Choose another directory with --output."
            )
        lacking = served("gpt2", replace(VLLM, named=False, likeliest=5))
        with lacking as poor:
            client = http.Client(poor.url, 1)
            said = f"{poor.url} did not give the log-probability of every token that was named."
            assert refusal(ScoringError, ask, items[:1], able, None) == said


def test_what_is_kept_is_told_apart() -> None:
    alike = [
        Next((1, 2), (3,)),
        Next((1,), (2, 3)),
        Next((1, 2, 3), ()),
        Text((1, 2, 3)),
        Next((1, 2), (3, 0)),
    ]
    assert len({asking._key(item) for item in alike}) == len(alike)


def test_several_at_a_time_and_an_error_at_the_end() -> None:
    squares = at_once(lambda n: n * n, iter(range(50)), 2, Event())
    assert sorted(pair for group in squares for pair in group) == [(n, n * n) for n in range(50)]
    sent: list[int] = []

    def send(number: int) -> int:
        sent.append(number)
        if number == 1:
            raise ScoringError("one")
        return number

    groups = at_once(send, iter(range(9)), 1, Event())
    assert next(groups) == [(0, 0)], "what was answered is taken before the error is raised"
    with pytest.raises(ScoringError, match="one"):
        next(groups)
    assert sent == [0, 1], "nothing is sent behind an error"
