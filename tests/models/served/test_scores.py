"""Served models: the same scores as the model itself, with every kind of server; faults lose nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import gest_dataset
from gest_dataset.errors import GestError, ModelError, OutputError, ScoringError, SettingError
from gest_dataset.models.score_run import Scores
from gest_dataset.models.served import client
from gest_dataset.models.served import completions as served_completions
from gest_dataset.probes.queries import Placebo, pair_neighbours
from tests.support import completions, zoo
from tests.support.completions import (
    ECHO,
    LLAMA_CPP,
    LLAMA_SERVER,
    MODEL,
    OLLAMA,
    SGLANG,
    TGI,
    TOP,
    VLLM,
    served,
)
from tests.support.faults import EACH, fast_retries
from tests.support.services import Request, Server

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
]
CONFIGS = (
    *("en", "sk_pairs", "stereoset_en_intrasentence", "stereoset_en_intersentence", "winobias_type1_dev"),
    *("stereoset_control_gender", "crows_gender"),
)


def score(server: Server, animal: str, config: str, **given: Any) -> Scores:
    return gest_dataset.score(
        MODEL, config, endpoint=server.url, **{"tokenizer": str(zoo.directory(animal)), **given}
    )


def numbers(scores: Scores) -> dict[Any, list[float]]:
    """The scores of each sample."""
    rows = scores.table.to_pylist()
    names = [name for name, value in rows[0].items() if isinstance(value, float)]
    return {(row["id"], row.get("template")): [row[name] for name in names] for row in rows}


def assert_same(left: Scores, right: Scores) -> None:
    ours, theirs = numbers(left), numbers(right)
    assert ours.keys() == theirs.keys()
    for key, values in ours.items():
        assert values == pytest.approx(theirs[key], abs=1e-4), key


def prompts(request: Request) -> list[tuple[int, ...]]:
    """The prompts of a request of a run; those that detect capabilities have one or two."""
    given = request.body.get("prompt", "")
    is_run = request.path == "/v1/completions" and isinstance(given[0], list) and len(given) > 2
    return [tuple(ids) for ids in given] if is_run else []


@pytest.mark.parametrize(
    ("animal", "dialect"),
    [
        *((animal, dialect) for animal in ("gpt2", "llama") for dialect in (VLLM, ECHO, SGLANG)),
        ("gpt2", LLAMA_CPP),
        ("llama", LLAMA_SERVER),
    ],
)
def test_a_server_gives_the_scores_of_the_model(animal: str, dialect: Any) -> None:
    with served(animal, dialect) as server:
        for config in CONFIGS:
            remote = score(server, animal, config)
            assert_same(remote, gest_dataset.score(str(zoo.directory(animal)), config))
            assert remote.metadata["device"] == "server"


@pytest.mark.parametrize("dialect", [OLLAMA, TGI])
def test_ollama_and_tgi_score_nothing(dialect: Any) -> None:
    with served("gpt2", dialect) as server, pytest.raises(ModelError, match=r"no log-probabil.*`gest ask`"):
        score(server, "gpt2", "en")


def test_texts_that_are_tokenized_differently_are_not_scored() -> None:
    """A server with texts and a SentencePiece vocabulary, whose first space is lost in a text."""
    with served("llama", LLAMA_CPP) as server, pytest.raises(ScoringError, match="other tokens"):
        score(server, "llama", "en")


def test_placebo_words_are_asked_in_the_same_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a server that returns named tokens; the others have no band, and say so."""
    fake = Placebo(tuple(range(20, 80)), tuple((i, i + 1) for i in range(59)))
    counts, bands = [], []
    for words in (None, fake):
        monkeypatch.setattr("gest_dataset.probes.templates.placebo_words", lambda *_, w=words: w)
        with served("gpt2") as server:
            result = score(server, "gpt2", "en").result()
            counts.append(sum(len(prompts(request)) for request in server.requests))
            bands.append(result.get("placebo"))
    assert counts[0] == counts[1]
    local = gest_dataset.score(str(zoo.directory("gpt2")), "en").result()["placebo"]
    assert bands == [None, pytest.approx(local, rel=1e-3)]
    for dialect, config in ((ECHO, "en"), (VLLM, "sk_pairs")):
        with served("gpt2", dialect) as server:
            result = score(server, "gpt2", config).result()
        assert "placebo" not in result
        assert result["no_placebo"].startswith("a server is asked for placebo words in templates only")


def test_a_request_names_a_limited_number_of_placebo_words() -> None:
    lists = [range(300), range(200, 500)]
    found = pair_neighbours(lists, served_completions.MAX_NAMED - 2)
    assert found is not None
    assert found.ids == (*range(49), *range(200, 249))


@pytest.mark.parametrize("content", [False, True])  # True: the replies of llama.cpp's llama-server
def test_words_beyond_the_likeliest_tokens_are_skipped(
    monkeypatch: pytest.MonkeyPatch, content: bool
) -> None:
    monkeypatch.setattr(served_completions, "TOP_TOKENS", (400,))  # of a vocabulary of 700
    with served("gpt2", replace(TOP, likeliest=400, content=content)) as server:
        remote = score(server, "gpt2", "en")
    local = numbers(gest_dataset.score(str(zoo.directory("gpt2")), "en"))
    assert 0 < remote.table.num_rows < len(local)
    assert remote.table.num_rows + remote.skipped.num_rows == len(local)
    assert "not among the 400 likeliest tokens" in remote.skipped["reason"][0].as_py()
    for key, values in numbers(remote).items():
        assert values == pytest.approx(local[key], abs=1e-4)
    monkeypatch.setattr(served_completions, "TOP_TOKENS", (1,))
    no_scores = pytest.raises(ScoringError, match="not among the 1 likeliest")
    with served("gpt2", replace(TOP, likeliest=1)) as server, no_scores:
        score(server, "gpt2", "en")


def test_each_context_is_sent_once() -> None:
    with served("gpt2") as server:
        score(server, "gpt2", "en")
    requests = [request for request in server.requests if prompts(request)]
    sent = [ids for request in requests for ids in prompts(request)]
    assert len(sent) == len(set(sent)) > 30
    assert all(request.body["temperature"] == request.body["top_p"] == 1 for request in requests)


def test_wrong_uses() -> None:
    with served("gpt2") as server:
        with pytest.raises(SettingError, match="null applies to loaded models only"):
            score(server, "gpt2", "en", null=1)
        with pytest.raises(ModelError, match="available models: tiny"):
            gest_dataset.score("tinny", "en", endpoint=server.url)


def test_a_context_that_is_too_long_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completions, "LONGEST", 19)
    with served("gpt2") as server:
        remote = score(server, "gpt2", "en", templates=[3])
        sent = [ids for request in server.requests for ids in prompts(request)]
    reasons = set(remote.skipped["reason"].to_pylist())
    assert sent
    assert max(map(len, sent)) <= 18
    assert all("the model accepts 18" in reason for reason in reasons), reasons


# ---- faults ----------------------------------------------------------------------------------------------


@EACH
def test_a_run_resumes_and_sends_nothing_twice(
    fault: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_retries(monkeypatch, fault)
    monkeypatch.setattr(served_completions, "MAX_PROMPTS", 8)
    answered: Counter[tuple[int, ...]] = Counter()
    with served("gpt2") as server:
        answer = server.translate

        def failing(request: Any) -> Any:
            if prompts(request) and len(answered) >= 16:
                return fault
            answered.update(prompts(request))
            return answer(request)

        server.translate = failing
        with pytest.raises(GestError, match=message):
            score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
        assert len(answered) == 16
        server.translate = lambda request: answered.update(prompts(request)) or answer(request)
        finished = score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
    assert set(answered.values()) == {1}
    assert_same(finished, gest_dataset.score(str(zoo.directory("gpt2")), "en"))


def test_a_run_does_not_resume_with_another_model_of_the_same_name(tmp_path: Path) -> None:
    with served("gpt2") as server:
        answer = server.translate
        server.translate = lambda request: (403, {}, {}) if prompts(request) else answer(request)
        with pytest.raises(ModelError):
            score(server, "gpt2", "en", output=tmp_path / "run")

        def shifted(request: Any) -> Any:
            """Every token is half as likely."""
            status, headers, content = answer(request)
            for choice in content.get("choices", ()):
                logprobs = choice.get("logprobs") or {"token_logprobs": [], "top_logprobs": []}
                values, tops = logprobs["token_logprobs"], logprobs["top_logprobs"]
                logprobs["token_logprobs"] = [v if v is None else v - 0.7 for v in values]
                logprobs["top_logprobs"] = [t and {k: v - 0.7 for k, v in t.items()} for t in tops]
            return status, headers, content

        server.translate = shifted
        with pytest.raises(OutputError, match="another model under the name"):
            score(server, "gpt2", "en", output=tmp_path / "run")
        server.translate = answer
        finished = score(server, "gpt2", "en", output=tmp_path / "run")
    assert_same(finished, gest_dataset.score(str(zoo.directory("gpt2")), "en"))


def test_the_key_is_stored_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setenv(client.KEY, "very-secret")
    with served("gpt2") as server:
        score(server, "gpt2", "en", limit=3, output=tmp_path / "run")
        assert server.requests[0].headers["Authorization"] == "Bearer very-secret"
    written = b"".join(file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert b"very-secret" not in written
    assert "very-secret" not in caplog.text
