"""Chat models as translators: planted translations give planted rates, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import ConfigError
from gest_dataset.models.served import client as http
from gest_dataset.probes.prompt import CUT, EMPTY, FILTERED, Answer
from gest_dataset.translation import TranslationError, open_translator, translate_all
from gest_dataset.translation.chat import open_chat, prompt_of, translation
from gest_dataset.translation.translator import EMPTY as NOTHING
from tests.conftest import ROOT
from tests.support.chats import MODEL, chatting, prompts
from tests.support.services import Server, slovak

PARSED = ROOT / "tests" / "mirror_sk.conllu"
TEXTS = [f"This sentence has the number {number} in it{', and more' * (number % 4)}." for number in range(70)]

pytestmark = pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")


@pytest.fixture
def server() -> Iterator[Server]:
    with chatting(lambda text, options: slovak(text.rpartition("\n\n")[2])) as server:
        yield server


def test_texts_are_translated_once(server: Server, tmp_path: Path) -> None:
    translator = open_translator(f"chat:{MODEL}", "sk", endpoint=server.url)
    work = translate_all(TEXTS, translator, "sk", store=tmp_path)
    assert [made.translation for made in work.translations] == [slovak(text) for text in TEXTS]
    assert sorted(prompts(server)) == sorted(prompt_of("sk").replace("{sentence}", text) for text in TEXTS)
    assert "English to Slovak." in prompts(server)[0]
    server.requests.clear()
    again = translate_all(TEXTS, translator, "sk", store=tmp_path)
    assert again.translations == work.translations
    assert not server.requests


def test_what_a_translation_depends_on(server: Server) -> None:
    """Another model, server, or prompt is another translator."""
    made = [
        open_chat("a", "sk", server.url),
        open_chat("b", "sk", server.url),
        open_chat("a", "sk", "http://127.0.0.1:9/v1"),
        open_chat("a", "sr", server.url),
    ]
    assert len({(each.name, each.settings) for each in made}) == 4
    assert open_chat("a", "sk", f"{server.url}/v1").settings == made[0].settings
    assert "Cyrillic" in prompt_of("sr")


def test_a_server_that_dies_loses_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = server.translate
    server.translate = lambda request: (
        (500, {}, {"error": "dead"}) if len(prompts(server)) > 45 else answer(request)
    )
    translator = open_chat(MODEL, "sk", server.url)
    with monkeypatch.context() as impatient:
        impatient.setattr(http, "_PATIENCE", replace(http._PATIENCE, again=0))
        work = translate_all(TEXTS, translator, "sk", store=tmp_path)
    assert "dead" in work.stopped
    there = {made.source for made in work.translations if not made.problem}
    assert 40 <= len(there) <= 46
    server.requests.clear()
    server.translate = answer
    whole = translate_all(TEXTS, translator, "sk", store=tmp_path)
    assert not whole.stopped
    assert {text for text in TEXTS if any(text in asked for asked in prompts(server))} == {*TEXTS} - there


def test_answers_are_judged_as_those_of_other_services(tmp_path: Path) -> None:
    with chatting(lambda text, options: "Ahoj.") as server:
        with pytest.raises(TranslationError, match="one answer to"):
            translate_all(TEXTS, open_chat(MODEL, "sk", server.url), "sk", store=tmp_path)
        assert not any(tmp_path.rglob("*.sqlite3"))


@pytest.mark.parametrize(
    ("text", "answer", "expected", "problem"),
    [
        ("I ran.", Answer(' "Bežal som."\n', 1, 1), "Bežal som.", ""),
        ("I ran.", Answer("„Bežal som.“", 1, 1), "Bežal som.", ""),
        ('"I ran."', Answer('"Bežal som."', 1, 1), '"Bežal som."', ""),
        ("I ran.", Answer('"', 1, 1), '"', ""),
        ("I ran.", Answer("", 1, 0, EMPTY), "", NOTHING),
        ("I ran.", Answer("", 1, 0, CUT), "", CUT),
        ("I ran.", Answer("Bežal", 1, 1, FILTERED), "", FILTERED),
    ],
)
def test_what_is_taken_for_a_translation(text: str, answer: Answer, expected: str, problem: str) -> None:
    made = translation(text, answer)
    assert (made.translation, made.problem) == (expected, problem)


@pytest.mark.usefixtures("mirror")
def test_masculine_rates_of_a_chat_model(tmp_path: Path) -> None:
    """It answers as DeepL has translated: the rates are those of DeepL's translations."""
    rows = load_dataset("gest", "sk_translations", split="test").to_list()
    deepl = load_dataset("gest", "sk_translations", split="test").features["system"].str2int("deepl")
    by_source = {row["source"]: row["translation"] for row in rows if row["system"] == deepl}
    english = load_dataset("gest", "en", split="test").to_list()
    older = load_dataset("gest", "en_1_0", split="test").to_list()
    known = {
        new["sentence"]: by_source.get(new["sentence"], by_source.get(old["sentence"], ""))
        for new, old in zip(english, older, strict=True)
    }
    given: dict[str, Any] = {"parser": "conllu", "model": PARSED, "store": tmp_path}
    with chatting(
        lambda text, options: known[text.rpartition("\n\n")[2]] if "\n" in text else "Ahoj."
    ) as server:
        found = gest_dataset.masculine_rates(f"chat:{MODEL}", "sk", endpoint=server.url, **given)
    published = gest_dataset.masculine_rates("published:deepl", "sk", **given)
    assert found.table["gender"] == published.table["gender"]
    assert found.metadata["system"] == f"chat:{MODEL}"
    assert "prompt=" in found.metadata["translator"]
    assert repr(found.result()) == repr(published.result())


def test_wrong_uses(server: Server) -> None:
    with pytest.raises(ConfigError, match="--endpoint URL"):
        open_translator(f"chat:{MODEL}", "sk")
    with pytest.raises(ConfigError, match="--endpoint URL"):
        open_translator("deepl", "sk", endpoint=server.url)
    with pytest.raises(ConfigError, match="no system 'chat:'"):
        open_translator("chat:", "sk", endpoint=server.url)
