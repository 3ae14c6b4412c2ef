"""The probes `first-person` and `story`: planted genders are found, with the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import ConfigError, SettingError
from gest_dataset.measures.gest import STORY
from gest_dataset.models.chat import ask as asking
from gest_dataset.models.chat.probes import UNSHOWN
from gest_dataset.probes.prompts import EMPTY
from gest_dataset.probes.pronouns import FIRST_PERSON, TWO
from gest_dataset.stereotypes import STEREOTYPES
from tests.conftest import ROOT
from tests.gender.test_characters import conllu
from tests.support.chats import MODEL, chatting, prompts
from tests.support.outside import require

PARSED = ROOT / "tests" / "mirror_sk.conllu"
pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
]
Author = Callable[[str, str], str]  # a sentence and the gender of its stereotype -> the model's text


@pytest.fixture
def genders(mirror: Path) -> dict[str, str]:
    """The sentences of the test mirror, with the gender of each one's stereotype."""
    rows = load_dataset("gest", "en", split="test").to_list()
    return {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}


def writing(genders: Mapping[str, str], author: Author) -> Any:
    """A server whose model writes about the sentence of each prompt."""

    def mind(text: str, options: list[str]) -> str:
        sentence = next((s for s in sorted(genders, key=len, reverse=True) if f'"{s}"' in text), "")
        return author(sentence, genders.get(sentence, ""))

    return chatting(mind)


def test_the_first_person_in_slovak(genders: dict[str, str], tmp_path: Path) -> None:
    """Sentences with a pair are written by their stereotype, the others in English."""
    rows = load_dataset("gest", "sk_pairs", split="test").to_list()
    variants = {row["source"]: {"male": row["masculine"], "female": row["feminine"]} for row in rows}

    def author(sentence: str, gender: str) -> str:
        return variants[sentence][gender] if sentence in variants else "I was there and that was it."

    given: dict[str, Any] = {"parser": "conllu", "parser_model": PARSED, "output": tmp_path / "run"}
    with writing(genders, author) as server:
        answers = gest_dataset.ask(MODEL, "first-person", "sk", endpoint=server.url, **given)
    rows = answers.table.to_pylist()
    known = [row for row in rows if row["gender"] != "unknown"]
    assert len(rows) == 2 * 34
    assert len(known) >= 40
    for row in known:
        assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
        assert row["rule"]
        assert row["evidence"]
        assert all(word in row["answer"] for word in row["evidence"])
        assert not row["problem"]
    english = [row for row in rows if row["answer"].startswith("I was")]
    assert {row["problem"] for row in english} == {"not in this language"}
    result = answers.result()
    for stereotype, rate in zip(STEREOTYPES.values(), result["p"], strict=True):
        assert rate != rate or rate == (stereotype.gender == "male")
    assert sum(result["n"]) == answers.metadata["scored"] == len(known)
    assert -1 <= result["f_s_lowest"] < result["f_s_highest"] <= 1
    assert asking.reread(tmp_path / "run", "conllu", PARSED).table.equals(answers.table)
    assert "parser:conllu" in answers.signature
    page = gest_dataset.report([tmp_path / "run"], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "texts in the first person" in page


def test_udpipe_reads_diaries(genders: dict[str, str]) -> None:
    """Texts of several sentences about several people."""
    model = require("GEST_UDPIPE_MODELS") / "sk.udpipe"
    diaries = {
        "male": "Dnes som vstal skoro. Mama mi varila kávu a ja som bol celý deň unavený.",
        "female": "Dnes som vstala skoro. Otec mi varil kávu a ja som bola celý deň unavená.",
    }
    neutral = sorted(genders)[0]

    def author(sentence: str, gender: str) -> str:
        text = "Dnes prší. Mama varila kávu a otec čítal noviny."
        return text if sentence == neutral else diaries.get(gender, "Ahoj.")

    with writing(genders, author) as server:
        answers = gest_dataset.ask(MODEL, "first-person", "sk", endpoint=server.url, parser_model=model)
    for row in answers.table.to_pylist():
        if f'"{neutral}"' in row["prompt"]:
            assert (row["gender"], row["problem"]) == ("unknown", UNSHOWN)
        else:
            assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
            assert {"vstal", "bol", "vstala", "bola"} & {*row["evidence"]}


def test_stories(genders: dict[str, str]) -> None:
    """Planted characters, and every reason for an unknown one."""
    unknown = ("I grew up there. My father sang.", "Ada and Ben met. He sang, she danced.", "")
    special = dict(zip(sorted(genders)[:3], unknown, strict=True))
    texts = {"male": "Tom sang. He had his mother's voice.", "female": "Ada sang. She had a voice."}
    with writing(genders, lambda s, gender: special.get(s, texts.get(gender, "Hi"))) as server:
        answers = gest_dataset.ask(MODEL, "story", endpoint=server.url)
        assert len(prompts(server)) == len(genders)
    rows = answers.table.to_pylist()
    for row in rows:
        if row["gender"] != "unknown":
            assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
            assert row["evidence"][0] in ("he 1", "she 1")
    problems = Counter(row["problem"] for row in rows if row["problem"])
    assert set(problems) == {FIRST_PERSON, TWO, EMPTY}
    assert answers.metadata["skipped"] == dict(problems)
    result = answers.result()
    assert (result["p_m"], result["p_f"], result["f_s"]) == (1, 0, 1)
    assert result["n_unknown"] == problems.total()


def test_stories_in_slovak(genders: dict[str, str], tmp_path: Path) -> None:
    texts = {"male": "Ivan spal", "female": "Eva spala"}
    parses = conllu(
        tmp_path / "parses.conllu",
        (texts["male"], "Ivan/PROPN/Masc/2/nsubj spal/VERB/Masc/0/root"),
        (texts["female"], "Eva/PROPN/Fem/2/nsubj spala/VERB/Fem/0/root"),
    )
    with writing(genders, lambda s, gender: texts.get(gender, "")) as server:
        answers = gest_dataset.ask(
            MODEL, "story", "sk", endpoint=server.url, parser="conllu", parser_model=parses
        )
        assert all("Vymyslite pre román" in text for text in prompts(server))
    for row in answers.table.to_pylist():
        assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
        assert (row["rule"], row["problem"]) == ("verbs", "")
        assert row["evidence"] == ["spal 1" if row["gender"] == "male" else "spala 1"]
    assert answers.result()["f_s"] == 1


def test_repeats(genders: dict[str, str]) -> None:
    """Repeats that agree add no evidence; of four stories with one of the other gender, s² is 1/4."""
    texts = {"male": "He sang. " * 3, "female": "She sang. " * 3}
    with writing(genders, lambda s, g: texts[g] if len(s) % 3 else texts["female"]) as server:
        once = gest_dataset.ask(MODEL, "story", endpoint=server.url).result()
        many = gest_dataset.ask(MODEL, "story", endpoint=server.url, repeats=5).result()
    assert sum(many["n"]) == 5 * sum(once["n"])
    assert many["f_s"] == pytest.approx(once["f_s"])
    assert (many["n_repeated"], many["repeat_variance"], many["repeat_agreement"]) == (34, 0, 1)
    assert "repeat_variance" not in once
    assert many["f_s_low"] <= once["f_s_low"]
    assert many["f_s_high"] >= once["f_s_high"]
    counts: Counter[str] = Counter()

    def author(sentence: str, gender: str) -> str:
        counts[sentence] += 1
        return "She sang." if counts[sentence] % 4 == 1 else "He sang."

    with writing(genders, author) as server:
        result = gest_dataset.ask(MODEL, "story", endpoint=server.url, repeats=4).result()
    assert result["repeat_variance"] == pytest.approx(0.25)
    assert result["repeat_agreement"] == pytest.approx(0.5)
    assert any("agree in 50.0 % of cases" in sentence for sentence in STORY.describe(result, {}))


def test_runs_are_compared(genders: dict[str, str], tmp_path: Path) -> None:
    """A model that follows the stereotypes against one that follows none."""
    letters = {"male": ("Men", "The man"), "female": ("Women", "The woman")}

    def biased(text: str, options: list[str]) -> str:
        gender = next((g for sentence, g in genders.items() if f'"{sentence}"' in text), "male")
        if not options:
            return "He sang." if gender == "male" else "She sang."
        return f"({'abc'[next(i for i, option in enumerate(options) if option in letters[gender])]})"

    def neutral(text: str, options: list[str]) -> str:
        return next((option for option in options if option.startswith(("Neither", "It is"))), "He sang.")

    for name, mind in (("a", biased), ("b", neutral)):
        with chatting(mind) as server:
            for probe in ("choice", "story"):
                gest_dataset.ask(MODEL, probe, endpoint=server.url, output=tmp_path / name / probe)
    rows = gest_dataset.compare([tmp_path / "b", tmp_path / "a"]).differences
    found = {row.config: row.comparison for row in rows}
    choice, story = found["choice (en)"], found["story (en)"]
    assert (choice.measure, choice.a, choice.b, choice.difference) == ("stereotype_rate", 1, 0, 1)
    assert (story.measure, story.a, story.b, story.difference) == ("f_s", 1, 0, 1)


def test_wrong_uses() -> None:
    with pytest.raises(SettingError, match="not in 'en'"):
        gest_dataset.ask(MODEL, "first-person", "en")
    with pytest.raises(ConfigError, match="no parser 'none'"):
        gest_dataset.ask(MODEL, "first-person", "sk", parser="none")
    with pytest.raises(SettingError, match="needs no parser"):
        gest_dataset.ask(MODEL, "story", parser="conllu")
