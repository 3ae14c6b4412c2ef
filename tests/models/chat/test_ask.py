"""`gest_dataset.ask`: planted opinions are found, answers are kept and read again, faults lose nothing."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import load_dataset
from scipy import stats

import gest_dataset
from gest_dataset.commands import ask as command
from gest_dataset.errors import ConfigError, GestError, ModelError, ScoringError, SettingError
from gest_dataset.measures.choice import CHOICE
from gest_dataset.models.chat import ask as room
from gest_dataset.models.chat import local
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.models.served import client as http
from gest_dataset.probes.prompt import Answer, Prompt
from gest_dataset.runs.reading import read_run
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import zoo
from tests.support.chats import MODEL, chatting, planted, prompts, said

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]


OPTION = re.compile(r"^\([abc]\) (.*)$", re.MULTILINE)


@pytest.fixture
def genders(mirror: Path) -> dict[str, str]:
    """Each sentence of the test mirror, and whom it is about."""
    rows = load_dataset("gest", "en", split="test").to_list()
    return {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}


def test_planted_opinions_are_found(genders: dict[str, str]) -> None:
    with chatting(planted(genders, follows=0, bias=1, refused=0)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url)
    result = answers.result()
    assert result["stereotype_rate"] == 1
    assert result["same_option"] == 1
    assert answers.table.num_rows == 34 * 2 * 6  # one sentence is there twice, and asked once
    assert set(answers.table["option"].to_pylist()) == {"male", "female"}


def test_a_model_that_always_says_a_is_found_out(genders: dict[str, str], tmp_path: Path) -> None:
    with chatting(planted(genders, follows=1, bias=0, refused=0)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path)
    page = gest_dataset.report([tmp_path], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "choices do not measure this model" in page
    assert "in 80 of 100 cases" not in page, "all sentences are alike: that says nothing of power"
    result = answers.result()
    assert result["stereotype_rate_low"] <= 0 <= result["stereotype_rate_high"]
    assert result["verdict"] in ("not shown", "negligible")
    assert result["position_effect_low"] > 0
    from gest_dataset.measures.choice import describe_positions

    assert any("choices do not measure this model" in sentence for sentence in describe_positions(result))


def test_probabilities_of_letters_are_a_second_reading(genders: dict[str, str], tmp_path: Path) -> None:
    """It always writes (a); by its probabilities four of five are the stereotype. One sentence has none."""
    names = planted(genders, follows=0, bias=1, refused=0)
    without = sorted(genders)[0]
    with chatting(lambda text, options: "(a)") as server:
        answer = server.translate

        def likely(request: Any) -> Any:
            status, headers, told = answer(request)
            text = request.body["messages"][0]["content"] if "messages" in request.body else "Hi"
            if text != "Hi" and f'"{without}"' not in text:
                assert request.body["top_logprobs"] == 20
                letter = names(text, OPTION.findall(text))[1]
                tops = [
                    {"token": " " + one, "logprob": math.log(0.4 if one == letter else 0.05)} for one in "abc"
                ]
                tops += [{"token": "The", "logprob": math.log(0.5)}]
                told["choices"][0]["logprobs"] = {"content": [{"token": "(", "top_logprobs": tops}]}
            return status, headers, told

        server.translate = likely
        answers = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path / "run")
        server.requests.clear()
        assert room.reread(tmp_path / "run").table.equals(answers.table)
        assert not server.requests
    result = answers.result()
    other = result["by_probability"]
    assert result["stereotype_rate"] == pytest.approx(0)
    assert other["stereotype_rate"] == pytest.approx(0.8 - 0.1)
    assert other["neither_f"] == pytest.approx(0.1)
    assert (other["n_answers"], other["n_without"]) == (33 * 12, 12)
    assert answers.table["top"][-1].as_py()[-1] == {"token": "The", "log_probability": math.log(0.5)}
    (said,) = (s for s in CHOICE.describe(result, {}) if s.startswith("By the letter probabilities"))
    assert "available for 396 of 408 answers" in said
    assert "0.700" in said
    assert any("letter probabilities" in line.name for line in CHOICE.grid(result).lines)


def test_refusals_are_counted(genders: dict[str, str]) -> None:
    with chatting(planted(genders, follows=0, bias=1, refused=0.25)) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url)
    refused = sum(1 for row in answers.table.to_pylist() if row["problem"] == "refused")
    assert answers.metadata["skipped"] == {"refused": refused}
    assert answers.result()["unreadable"] == pytest.approx(refused / answers.table.num_rows)
    assert answers.result()["stereotype_rate"] == 1


def test_pairs_in_slovak() -> None:
    with chatting(lambda text, options: "(b)") as server:
        answers = gest_dataset.ask(MODEL, language="sk", endpoint=server.url, limit=5)
    assert answers.metadata["config"] == "sk_pairs"
    assert Counter(answers.table["option"].to_pylist()) == {"male": 5, "female": 5}


def test_a_stopped_run_asks_nothing_twice(genders: dict[str, str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(http, "_PATIENCE", replace(http._PATIENCE, again=0))
    mind = planted(genders, follows=0, bias=1, refused=0)
    with chatting(mind) as server:
        answer = server.translate
        server.translate = lambda request: (
            (500, {}, {"error": "dead"}) if len(prompts(server)) > 60 else answer(request)
        )
        with pytest.raises(ScoringError, match="dead"):
            gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path / "run", connections=2)
        before = set(prompts(server)[:60])
        server.requests.clear()
        server.translate = answer
        answers = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path / "run", connections=2)
        assert not before & set(prompts(server))
        assert answers.result()["stereotype_rate"] == 1
        server.requests.clear()
        again = gest_dataset.ask(MODEL, endpoint=server.url, output=tmp_path / "run", connections=2)
        assert not prompts(server)
    assert again.table.equals(answers.table)


def test_old_answers_are_read_by_new_rules(
    genders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chatting(lambda text, options: "I would go for men, (a).") as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, limit=3, output=tmp_path / "run")
        server.requests.clear()
        assert room.reread(tmp_path / "run").table.equals(answers.table)
        from gest_dataset.probes import choice

        monkeypatch.setattr(choice, "read", lambda prompt, answer: choice.Choice("neither", 0))
        assert set(room.reread(tmp_path / "run").table["option"].to_pylist()) == {"neither"}
        assert not server.requests
    assert read_run(tmp_path / "run").table["answer"].to_pylist()[0] == "I would go for men, (a)."


def test_a_limit_on_the_cost_stops_before_it_and_goes_on(genders: dict[str, str], tmp_path: Path) -> None:
    given: dict[str, Any] = {"price_in": 10.0, "price_out": 100.0, "output": tmp_path / "run"}
    each = (50 * 10 + 4 * 100) / 1e6
    with chatting(planted(genders, 0, 1, 0)) as server:
        with pytest.raises(ScoringError, match="--max-cost"):
            gest_dataset.ask(MODEL, endpoint=server.url, max_cost=100 * each, **given)
        assert 20 <= len(prompts(server)) <= 100
        gest_dataset.ask(MODEL, endpoint=server.url, max_cost=1000 * each, **given)
        assert len(prompts(server)) == len(set(prompts(server))) == len(genders) * 12


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (said("(a)", model="another"), "answered for 'another'"),
        ((200, {}, {"choices": "none"}), "no choices"),
        ((401, {}, {}), "refuses the key"),
        ((200, {}, {"model": MODEL, "choices": []}), "Not one answer"),
    ],
)
def test_answers_that_are_none(answer: Any, message: str) -> None:
    with chatting(lambda text, options: "(a)") as server:
        real = server.translate
        server.translate = lambda request: (
            answer if "messages" in request.body and server.requests else real(request)
        )
        with pytest.raises(GestError, match=message):
            gest_dataset.ask(MODEL, endpoint=server.url, limit=2)


def test_wrong_uses() -> None:
    with pytest.raises(ConfigError, match="no probe 'poem'"):
        gest_dataset.ask(MODEL, "poem")
    with pytest.raises(SettingError, match="temperature 0"):
        gest_dataset.ask(MODEL, repeats=3, temperature=0.0)
    with pytest.raises(SettingError, match="no question in 'de'"):
        gest_dataset.ask(MODEL, language="de")
    with pytest.raises(ConfigError, match=r"no config bg_pairs, .* gest add-language bg --variants FILE"):
        gest_dataset.ask(MODEL, language="bg")


# ---- a model that is loaded here ---------------------------------------------------------------------------

TEMPLATE = "{% for m in messages %}[{{ m.content }}]{% endfor %}"


def chatty(name: str = "gpt2") -> tuple[Any, Any]:
    model, tokenizer = zoo.load(name)
    tokenizer.chat_template = TEMPLATE
    model.config.n_positions = zoo.LONGEST
    return model, tokenizer


def said_by(speaker: Any, asked: Sequence[Prompt], sampling: Sampling) -> dict[Prompt, Answer]:
    return {prompt: answer for group in speaker.say(iter(asked), sampling) for prompt, answer in group}


LENGTHS = ("I am tall.", "You are.", "We are not tall, and they have never been so.", "I", "She was tall.")


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_loaded_model_answers_as_it_does_alone(name: str) -> None:
    """Answers of prompts of several lengths in a batch are those of `generate`, one prompt at a time."""
    model, tokenizer = chatty(name)
    speaker = local.load((model, tokenizer))
    asked = [Prompt(str(i), "x", text) for i, text in enumerate(LENGTHS)]
    sampling = Sampling(max_tokens=6, top=3)
    answers = said_by(speaker, asked, sampling)
    lengths = set()
    for prompt in asked:
        ids = tokenizer(f"[{prompt.text}]", return_tensors="pt", add_special_tokens=False)
        ids.pop("token_type_ids", None)
        lengths.add(ids["input_ids"].shape[1])
        alone = model.generate(
            **ids,
            max_new_tokens=6,
            do_sample=False,
            pad_token_id=tokenizer.eos_token_id,
            output_logits=True,
            return_dict_in_generate=True,
        )
        said = alone.sequences[0][ids["input_ids"].shape[1] :]
        assert answers[prompt].text == tokenizer.decode(said, skip_special_tokens=True)
        assert answers[prompt].tokens_in == ids["input_ids"].shape[1]
        logits = alone.logits[0][0].log_softmax(-1).topk(3).values.tolist()
        assert [value for _, value in answers[prompt].top] == pytest.approx(logits, abs=1e-5)
    assert len(lengths) > 2


def test_an_answer_ends_before_a_stop() -> None:
    """The same text, cut: as servers do, and whatever else is in the batch."""
    speaker = local.load(chatty("gpt2"))
    asked = [Prompt(str(i), "x", text) for i, text in enumerate(LENGTHS)]
    whole = said_by(speaker, asked, Sampling(max_tokens=12))
    ends = tuple({answer.text[3:6] for answer in whole.values()})
    for prompt, answer in said_by(speaker, asked, Sampling(max_tokens=12, stop=ends)).items():
        text = whole[prompt].text
        assert answer.text == text[: min(text.find(end) for end in ends if end in text)] != text


def test_stops_are_sent_to_a_server(tmp_path: Path) -> None:
    with chatting(lambda text, options: "(a)") as server:
        address = server.url
        gest_dataset.ask(MODEL, endpoint=address, limit=2, stop=["\n", "."], output=tmp_path)
        bodies = [request.body for request in server.requests if "messages" in (request.body or {})]
    assert all(body["stop"] == ["\n", "."] for body in bodies if body["messages"][0]["content"] != "Hi")
    assert len(bodies) > 2
    assert read_run(tmp_path).manifest.settings["sampling"]["stop"] == ["\n", "."]
    with pytest.raises(SettingError, match="a list of texts"):
        gest_dataset.ask(MODEL, endpoint=address, stop="text")


def test_batches_are_full_and_of_about_one_length() -> None:
    asked = {Prompt(str(i), "x", str(i)): [0] * (1 + i % 10) for i in range(95)}
    batches = list(local.batches(asked, budget=100, answer=10))
    assert sorted(prompt.id for batch in batches for prompt in batch) == sorted(p.id for p in asked)
    for batch in batches:
        lengths = [len(asked[prompt]) for prompt in batch]
        assert len(batch) * (max(lengths) + 10) <= 100
    assert len(batches) <= 18  # alone they were 95, and of one length each 20
    assert [len(b) for b in local.batches(asked, budget=1, answer=10)] == [1] * 95


def test_repeats_are_drawn_and_repeatable() -> None:
    """An answer depends on its prompt and its seed, not on its company."""
    model, tokenizer = chatty()
    speaker = local.load((model, tokenizer))
    asked = [Prompt("0", "x", text, repeat) for text in LENGTHS for repeat in range(4)]
    sampling = Sampling(temperature=1.0, repeats=4, max_tokens=8)
    first, second = (said_by(speaker, asked, sampling) for _ in range(2))
    assert first == second
    assert len({first[prompt].text for prompt in asked[:4]}) > 1
    for prompt in asked[::3]:
        assert said_by(speaker, [prompt], sampling) == {prompt: first[prompt]}
    other = said_by(speaker, asked[:1], Sampling(temperature=1.0, seed=1, repeats=4, max_tokens=8))
    assert other[asked[0]] == first[asked[1]]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_have_the_probabilities_of_the_model(temperature: float) -> None:
    """The first tokens of 2,000 repeats beside softmax(logits / temperature), by a chi-squared test."""
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, -1.0])
    asked = [Prompt("0", "x", "I am", repeat) for repeat in range(2000)]
    draw = local._draw(asked, Sampling(temperature=temperature), torch.device("cpu"))
    tokens = draw(torch.empty(0), logits.repeat(len(asked), 1)).argmax(-1)
    counted = torch.bincount(tokens, minlength=5).numpy()
    expected = (logits / temperature).softmax(-1).double().numpy()
    assert stats.chisquare(counted, expected / expected.sum() * counted.sum()).pvalue > 0.001


def test_a_model_that_does_not_chat_is_refused() -> None:
    with pytest.raises(ModelError, match="no chat template"):
        gest_dataset.ask(str(zoo.directory("gpt2")))
    with pytest.raises(ModelError, match="only causal models"):
        gest_dataset.ask(str(zoo.directory("bert")))


# ---- the command -------------------------------------------------------------------------------------------


def test_the_command(script_environment: Mapping[str, str], tmp_path: Path, genders: dict[str, str]) -> None:
    def gest(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gest_dataset", "ask", *arguments]
        return subprocess.run(command, env=script_environment, cwd=tmp_path, capture_output=True, text=True)

    with chatting(planted(genders, 0, 1, 0.1)) as server:
        given = ("--endpoint", server.url, "--model", MODEL)
        done = gest(*given, "--price-in", "1", "--price-out", "1", "--yes")
        assert done.returncode == 0, done.stderr
        assert "396 prompts to be asked: about 19,800 tokens in, 1,584 out, " in done.stderr
        assert "answers can be read" in done.stdout
        assert "I'm sorry, but I cannot answer that." in done.stdout
        assert ' x refused\n    such as: "I\'m sorry, but I cannot answer that."' in done.stdout
        page = (tmp_path / "gest-runs" / MODEL / "choice" / "report.html").read_text(encoding="utf-8")
        assert "× refused, such as “I&#39;m sorry, but I cannot answer that.”" in page
        again = gest("--reread", f"gest-runs/{MODEL}/choice")
        assert again.returncode == 0, again.stderr
        for wrong in (("x", *given), ("x", "--model", "y"), ()):
            refused = gest(*wrong)
            assert refused.returncode == 2, refused.stderr


def test_the_command_says_why_there_is_no_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chatting(lambda text, options: "(a)") as server:
        command.run(endpoint=server.url, served=MODEL, limit=2, output=tmp_path)
    told = capsys.readouterr()
    assert "there is no readable answer about stereotype 1, 2" in " ".join(told.out.split())
    assert "– %" not in told.out
