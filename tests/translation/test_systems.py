"""Translation with the cache: nothing is translated twice, and nothing that was translated is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from gest_dataset.errors import ConfigError, OutputError
from gest_dataset.models.served import client
from gest_dataset.probes.prompts import CUT, FILTERED, Answer
from gest_dataset.probes.prompts import EMPTY as EMPTY_ANSWER
from gest_dataset.translation import open_translator, translate_all
from gest_dataset.translation.models import open_chat, parse_translation, prompt_for
from gest_dataset.translation.translator import (
    EMPTY,
    Batches,
    Translation,
    TranslationStoppedError,
    Translator,
)
from tests.support.chats import MODEL, chatting, prompts
from tests.support.services import Server, slovak

TEXTS = [f"Sentence {number}." for number in range(10)]


def counting(
    texts: list[str], after: int = 10**9, fail: Callable[[], None] | None = None, size: int = 3
) -> Translator:
    """A translator that records its texts, and fails before a text."""

    def translate(given: Sequence[str]) -> Batches:
        for start in range(0, len(given), size):
            batch = given[start : start + size]
            if fail is not None and start + len(batch) > after:
                fail()
            texts.extend(batch)
            yield [Translation.of(text, slovak(text)) for text in batch]

    return Translator("counting", "r1", "s1", translate)


def test_order_and_duplicates(tmp_path: Path) -> None:
    sent: list[str] = []
    texts = [TEXTS[3], TEXTS[1], "", TEXTS[3], "  ", TEXTS[0], TEXTS[1]]
    work = translate_all(texts, counting(sent), "sk", store=tmp_path)
    assert [made.source for made in work.translations] == texts
    assert sent == [TEXTS[3], TEXTS[1], TEXTS[0]]
    for made in work.translations:
        assert bool(made.translation) != bool(made.problem)
        assert made.translation in ("", slovak(made.source))
    assert (work.new, work.cached, work.failed) == (3, 0, 2)


def test_every_part_of_the_key_counts(tmp_path: Path) -> None:
    sent: list[str] = []
    base = counting(sent)
    for other in (
        base,
        replace(base, name="other"),
        replace(base, revision="r2"),
        replace(base, settings="s2"),
    ):
        assert translate_all(TEXTS, other, "sk", store=tmp_path).new == 10
        assert translate_all(TEXTS, other, "sk", store=tmp_path).cached == 10
    assert translate_all(TEXTS, base, "cs", store=tmp_path).new == 10
    assert len(sent) == 50


def test_an_empty_answer_is_paid_for_once(tmp_path: Path) -> None:
    sent: list[str] = []

    def translate(texts: Sequence[str]) -> Batches:
        sent.extend(texts)
        yield [Translation.of(texts[0], " "), Translation(texts[1], "", "too long")]

    odd = replace(counting(sent), translate=translate)
    work = translate_all(TEXTS[:2], odd, "sk", store=tmp_path)
    assert [made.problem for made in work.translations] == [EMPTY, "too long"]
    work = translate_all(TEXTS[:2], counting(sent), "sk", store=tmp_path)
    assert work.translations[0].problem == EMPTY
    assert work.translations[1].translation == slovak(TEXTS[1])
    assert sent == [*TEXTS[:2], TEXTS[1]]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_finished_batches_are_kept(error: type[BaseException], tmp_path: Path) -> None:
    def fail() -> None:
        raise error("now")

    sent: list[str] = []
    with pytest.raises(error, match="now"):
        translate_all(TEXTS, counting(sent, 7, fail), "sk", store=tmp_path)
    assert sent == TEXTS[:6]
    work = translate_all(TEXTS, counting(sent), "sk", store=tmp_path)
    assert sent == TEXTS
    assert [made.translation for made in work.translations] == list(map(slovak, TEXTS))


def test_a_stopped_translator_lists_the_rest(tmp_path: Path) -> None:
    def fail() -> None:
        raise TranslationStoppedError("No more today.\nCome back tomorrow.")

    work = translate_all(TEXTS, counting([], 7, fail), "sk", store=tmp_path)
    assert work.stopped == "No more today.\nCome back tomorrow."
    assert [made.problem for made in work.translations] == [""] * 6 + ["No more today."] * 4
    assert (work.new, work.failed) == (6, 4)
    with pytest.raises(TranslationStoppedError):
        translate_all(["Another."], counting([], 0, fail), "sk", store=tmp_path)


def test_two_processes_do_not_pay_for_the_same_texts(tmp_path: Path) -> None:
    translate_all(TEXTS[:5], counting([]), "sk", store=tmp_path)
    with FileLock(tmp_path / "counting-sk.lock"):
        assert translate_all(TEXTS[:5], counting([]), "sk", store=tmp_path).cached == 5
        with pytest.raises(OutputError, match="Another process is translating to sk with counting"):
            translate_all(TEXTS, counting([]), "sk", store=tmp_path)
    assert translate_all(TEXTS, counting([]), "sk", store=tmp_path).new == 5


def test_wrong_systems() -> None:
    for system, given, message in (
        ("chat:m", {}, "--endpoint URL"),
        ("deepl", {"endpoint": "host"}, "--endpoint URL"),
        ("chat:", {"endpoint": "host"}, "no system 'chat:'"),
        ("deepl", {"revision": "1"}, "has no revisions"),
        *((wrong, {}, "no system") for wrong in ("hf:", "nllb", "deepl:key", "file:", "")),
    ):
        with pytest.raises(ConfigError, match=message):
            open_translator(system, "sk", **given)
    for language in ("en", "xx", "SK", ""):
        with pytest.raises(ConfigError, match="no target language"):
            open_translator("deepl", language)


# ---- chat models -----------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[Server]:
    with chatting(lambda text, options: slovak(text.rpartition("\n\n")[2])) as server:
        yield server


def test_a_chat_model_translates_each_text_once(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server fails in the middle: the rest is translated by the next call."""
    texts = [f"This sentence has the number {number}." for number in range(70)]
    translator = open_translator(f"chat:{MODEL}", "sk", endpoint=server.url)
    answer = server.translate
    server.translate = lambda request: (
        (500, {}, {"error": "dead"}) if len(prompts(server)) > 45 else answer(request)
    )
    with monkeypatch.context() as patch:
        patch.setattr(client, "RETRY", replace(client.RETRY, retries=0))
        work = translate_all(texts, translator, "sk", store=tmp_path)
    assert "dead" in work.stopped
    done = {made.source for made in work.translations if not made.problem}
    assert 40 <= len(done) <= 46
    server.translate = answer
    server.requests.clear()
    work = translate_all(texts, translator, "sk", store=tmp_path)
    assert [made.translation for made in work.translations] == [slovak(text) for text in texts]
    assert sorted(prompts(server)) == sorted(
        prompt_for("sk").replace("{sentence}", text) for text in texts if text not in done
    )
    assert "English to Slovak." in prompts(server)[0]


def test_model_server_and_prompt_identify_a_chat_translator(server: Server, tmp_path: Path) -> None:
    made = [
        open_chat("a", "sk", server.url),
        open_chat("b", "sk", server.url),
        open_chat("a", "sk", "http://127.0.0.1:9/v1"),
        open_chat("a", "sr", server.url),
    ]
    assert len({(each.name, each.settings) for each in made}) == 4
    assert open_chat("a", "sk", f"{server.url}/v1").settings == made[0].settings
    assert "Serbian, in Cyrillic letters." in prompt_for("sr")
    finnish = open_chat(MODEL, "sk", server.url, "fi")
    assert finnish.settings != made[0].settings
    translate_all(["Olen väsynyt."], finnish, "sk", store=tmp_path)
    assert "from Finnish to Slovak." in prompts(server)[-1]


@pytest.mark.parametrize(
    ("text", "answer", "expected", "problem"),
    [
        ("I ran.", Answer(' "Bežal som."\n', 1, 1), "Bežal som.", ""),
        ("I ran.", Answer("„Bežal som.“", 1, 1), "Bežal som.", ""),
        ('"I ran."', Answer('"Bežal som."', 1, 1), '"Bežal som."', ""),
        ("I ran.", Answer('"', 1, 1), '"', ""),
        ("I ran.", Answer("<think>Bežal?</think> Bežal som.", 1, 1), "Bežal som.", ""),
        ("I ran.", Answer("", 1, 0, EMPTY_ANSWER), "", EMPTY),
        ("I ran.", Answer("", 1, 0, CUT), "", CUT),
        ("I ran.", Answer("Bežal", 1, 1, FILTERED), "", FILTERED),
    ],
)
def test_the_translation_in_an_answer(text: str, answer: Answer, expected: str, problem: str) -> None:
    made = parse_translation(text, answer)
    assert (made.translation, made.problem) == (expected, problem)
