"""What models write: planted genders are found, of a first person and of characters, with the evidence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.errors import ConfigError, SettingError
from gest_dataset.measures.generated_gender import FIRST_PERSON, STORY
from gest_dataset.models.chat import ask as room
from gest_dataset.models.chat.kinds import UNSHOWN
from gest_dataset.probes.prompt import EMPTY
from gest_dataset.probes.pronouns import FIRST_PERSON as TELLS
from gest_dataset.probes.pronouns import TWO
from gest_dataset.stereotypes import STEREOTYPES
from tests.conftest import ROOT
from tests.gender.test_characters import conllu
from tests.support.chats import MODEL, chatting, prompts
from tests.support.outside import require

PARSED = ROOT / "tests" / "mirror_sk.conllu"

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
Speech = Callable[[str, str], str]  # the sentence, and the gender of its stereotype -> what is written


@pytest.fixture
def genders(mirror: Path) -> dict[str, str]:
    """Each sentence of the test mirror, and whom it is about."""
    rows = load_dataset("gest", "en", split="test").to_list()
    return {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}


def writing(genders: Mapping[str, str], speech: Speech) -> Any:
    """A server that writes about the sentence of each prompt."""

    def mind(text: str, options: list[str]) -> str:
        sentence = next((s for s in sorted(genders, key=len, reverse=True) if f'"{s}"' in text), "")
        return speech(sentence, genders.get(sentence, ""))

    return chatting(mind)


def pairs() -> dict[str, dict[str, str]]:
    """Both Slovak variants of the sentences that have them."""
    rows = load_dataset("gest", "sk_pairs", split="test").to_list()
    return {row["source"]: {"male": row["masculine"], "female": row["feminine"]} for row in rows}


def test_the_first_person_in_slovak(genders: dict[str, str], tmp_path: Path) -> None:
    """Every sentence with a pair is written by its stereotype; of the others one answer is English."""
    variants = pairs()

    def speech(sentence: str, gender: str) -> str:
        return variants[sentence][gender] if sentence in variants else "I was there and that was it."

    with writing(genders, speech) as server:
        found = gest_dataset.ask(
            MODEL,
            "first-person",
            "sk",
            endpoint=server.url,
            parser="conllu",
            parser_model=PARSED,
            output=tmp_path / "run",
        )
        rows = found.table.to_pylist()
        assert len(rows) == 2 * 34
        known = [row for row in rows if row["gender"] != "unknown"]
        assert len(known) >= 40
        for row in known:
            assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
            assert row["rule"]
            assert row["evidence"]
            assert all(word in row["answer"] for word in row["evidence"])
            assert not row["problem"]
        english = [row for row in rows if row["answer"].startswith("I was")]
        assert {row["problem"] for row in english} == {"not in this language"}
        result = found.result()
        for stereotype, rate in zip(STEREOTYPES.values(), result["p"], strict=True):
            assert rate != rate or rate == (stereotype.gender == "male")
        assert sum(result["n"]) == found.metadata["scored"] == len(known)
        assert result["n_unknown"] == len(rows) - len(known)
        assert -1 <= result["f_s_lowest"] < result["f_s_highest"] <= 1
        server.requests.clear()
        again = room.reread(tmp_path / "run", "conllu", PARSED)
        assert again.table.equals(found.table)
        assert not server.requests
    assert "parser:conllu" in found.signature


def test_repeats_of_a_sentence_are_one_unit(genders: dict[str, str]) -> None:
    """Five answers that agree are no more evidence than one: the interval is no narrower."""
    texts = {"male": "He sang. " * 3, "female": "She sang. " * 3}

    def speech(sentence: str, gender: str) -> str:
        return texts[gender] if len(sentence) % 3 else texts["female"]

    with writing(genders, speech) as server:
        once = gest_dataset.ask(MODEL, "story", endpoint=server.url).result()
        many = gest_dataset.ask(MODEL, "story", endpoint=server.url, repeats=5).result()
    assert sum(many["n"]) == 5 * sum(once["n"])
    assert many["f_s"] == pytest.approx(once["f_s"])
    assert 0 < once["f_s"] < 1
    assert (many["n_repeated"], many["repeat_variance"], many["repeat_agreement"]) == (34, 0, 1)
    assert "repeat_variance" not in once
    assert many["f_s_low"] <= once["f_s_low"]
    assert many["f_s_high"] >= once["f_s_high"]


def test_udpipe_reads_diaries(genders: dict[str, str]) -> None:
    """Entries of several sentences, with other people in them, by the model that users have."""
    model = require("GEST_UDPIPE_MODELS") / "sk.udpipe"
    entries = {
        "male": "Dnes som vstal skoro. Mama mi varila kávu a ja som bol celý deň unavený.",
        "female": "Dnes som vstala skoro. Otec mi varil kávu a ja som bola celý deň unavená.",
    }
    neutral = "Dnes prší. Mama varila kávu a otec čítal noviny."
    weak = {s for s, gender in genders.items() if gender == "female"}
    silent = sorted(weak)[0]

    def speech(sentence: str, gender: str) -> str:
        return neutral if sentence == silent else entries.get(gender, "Ahoj.")

    with writing(genders, speech) as server:
        found = gest_dataset.ask(MODEL, "first-person", "sk", endpoint=server.url, parser_model=model)
    for row in found.table.to_pylist():
        if f'"{silent}"' in row["prompt"]:
            assert (row["gender"], row["problem"]) == ("unknown", UNSHOWN)
        else:
            assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
            assert {"vstal", "bol"} & {*row["evidence"]} or {"vstala", "bola"} & {*row["evidence"]}


def test_stories(genders: dict[str, str]) -> None:
    """Planted characters, and every reason for an unknown one."""
    odd = {
        "": "I grew up there. My father sang.",
        " ": "Ada and Ben met. He sang, she danced.",
        "  ": "",
    }
    chosen = dict(zip(sorted(genders)[:3], odd.values(), strict=True))
    pronoun = {"male": "Tom sang. He had his mother's voice.", "female": "Ada sang. She had a voice."}
    with writing(genders, lambda s, gender: chosen.get(s, pronoun.get(gender, "Hi"))) as server:
        found = gest_dataset.ask(MODEL, "story", endpoint=server.url)
        assert len(prompts(server)) == len(genders)
    rows = found.table.to_pylist()
    for row in rows:
        if row["gender"] != "unknown":
            assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
            assert row["evidence"][0] in ("he 1", "she 1")
    problems = Counter(row["problem"] for row in rows if row["problem"])
    assert set(problems) == {TELLS, TWO, EMPTY}
    assert found.metadata["skipped"] == dict(problems)
    result = found.result()
    assert (result["p_m"], result["p_f"]) == (1, 0)
    assert result["f_s"] == 1
    assert result["n_unknown"] == problems.total()


def test_stories_in_slovak(genders: dict[str, str], tmp_path: Path) -> None:
    """Planted characters, by their verbs; the prompts are Slovak, and the parser stands in the run."""
    story = {"male": "Ivan spal", "female": "Eva spala"}
    parses = conllu(
        tmp_path / "parses.conllu",
        (story["male"], "Ivan/PROPN/Masc/2/nsubj spal/VERB/Masc/0/root"),
        (story["female"], "Eva/PROPN/Fem/2/nsubj spala/VERB/Fem/0/root"),
    )
    with writing(genders, lambda s, gender: story.get(gender, "")) as server:
        given: dict[str, Any] = {"parser": "conllu", "parser_model": parses, "output": tmp_path / "run"}
        found = gest_dataset.ask(MODEL, "story", "sk", endpoint=server.url, **given)
        assert all("Vymyslite pre román" in text for text in prompts(server))
    for row in found.table.to_pylist():
        assert row["gender"] == STEREOTYPES[row["stereotype"]].gender
        assert (row["rule"], row["problem"]) == ("verbs", "")
        assert row["evidence"] == ["spal 1" if row["gender"] == "male" else "spala 1"]
    assert found.result()["f_s"] == 1
    assert "parser:conllu" in found.signature
    again = room.reread(tmp_path / "run", "conllu", parses)
    assert again.table.equals(found.table)


def test_repeats_that_differ_are_told(genders: dict[str, str]) -> None:
    """Of four drawn stories one is of the other gender: s² is 1/4, and half of the pairs agree."""
    drawn: Counter[str] = Counter()

    def speech(sentence: str, gender: str) -> str:
        drawn[sentence] += 1
        return "She sang." if drawn[sentence] % 4 == 1 else "He sang."

    with writing(genders, speech) as server:
        result = gest_dataset.ask(MODEL, "story", endpoint=server.url, repeats=4).result()
    assert result["repeat_variance"] == pytest.approx(0.25)
    assert result["repeat_agreement"] == pytest.approx(0.5)
    assert any("50.0 % are the same" in sentence for sentence in STORY.describe(result, {}))


def test_words_of_a_result(genders: dict[str, str]) -> None:
    with writing(genders, lambda s, gender: "He sang.") as server:
        result = gest_dataset.ask(MODEL, "story", endpoint=server.url).result()
    said = " ".join(FIRST_PERSON.describe(result, {}))
    assert (
        "100.0 % of the texts about stereotypes of men are masculine, and 100.0 % of those about women"
        in said
    )
    assert "Of 34 texts 0 show no gender" in said
    assert "translation" not in said
    nothing = FIRST_PERSON.describe_undefined({"n": [0] * 16, "n_unknown": 5})
    assert nothing == (
        "No gender shown",
        ["None of the 5 texts shows a gender, so there is no masculine rate."],
    )


def test_runs_are_compared(genders: dict[str, str], tmp_path: Path) -> None:
    """A model that follows the stereotypes beside one that follows none, in folders of several probes."""
    letters = {"male": ("Men", "The man"), "female": ("Women", "The woman")}

    def biased(text: str, options: list[str]) -> str:
        gender = next((g for sentence, g in genders.items() if f'"{sentence}"' in text), "male")
        if not options:
            return "He sang." if gender == "male" else "She sang."
        return f"({'abc'[next(i for i, one in enumerate(options) if one in letters[gender])]})"

    def other(text: str, options: list[str]) -> str:
        return next((one for one in options if one.startswith(("Neither", "It is"))), "He sang.")

    for name, mind in (("a", biased), ("b", other)):
        with chatting(mind) as server:
            for probe in ("choice", "story"):
                gest_dataset.ask(MODEL, probe, endpoint=server.url, output=tmp_path / name / probe)
    found = {row.config: row for row in gest_dataset.compare([tmp_path / "b", tmp_path / "a"]).differences}
    assert set(found) == {"choice (en)", "story (en)"}
    choice, story = found["choice (en)"].comparison, found["story (en)"].comparison
    assert (choice.measure, choice.a, choice.b, choice.difference) == ("stereotype_rate", 1, 0, 1)
    assert (story.measure, story.a, story.b, story.difference) == ("f_s", 1, 0, 1)
    assert (found["choice (en)"].n, found["story (en)"].n) == (34 * 12, 34)


def test_other_prompts_are_other_questions(genders: dict[str, str], tmp_path: Path) -> None:
    table = tmp_path / "prompts.json"
    table.write_text('[{"name": "motto", "language": "en", "text": "Tell of: \\"{sentence}\\""}]')
    with writing(genders, lambda s, gender: "He sang.") as server:
        for name, prompts_of in (("a", None), ("b", table)):
            given: dict[str, Any] = {"prompts": prompts_of, "output": tmp_path / name, "limit": 5}
            gest_dataset.ask(MODEL, "story", endpoint=server.url, **given)
    with pytest.raises(ConfigError, match="same prompts"):
        gest_dataset.compare([tmp_path / "a", tmp_path / "b"])


def test_wrong_uses() -> None:
    with pytest.raises(SettingError, match="only in be, bg"):
        gest_dataset.ask(MODEL, "first-person", "en")
    with pytest.raises(ConfigError, match="There is no parser 'none'"):
        gest_dataset.ask(MODEL, "first-person", "sk", parser="none")
    with pytest.raises(ConfigError, match="no UDPipe model"):
        gest_dataset.ask(MODEL, "first-person", "sk", parser_model="nowhere.udpipe")
    with pytest.raises(SettingError, match="No parser reads"):
        gest_dataset.ask(MODEL, "story", parser="conllu")
    with pytest.raises(SettingError, match="only in en, be, bg"):
        gest_dataset.ask(MODEL, "story", "de")


def test_the_command(script_environment: Mapping[str, str], tmp_path: Path, genders: dict[str, str]) -> None:
    def gest(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gest_dataset", "ask", *arguments]
        return subprocess.run(command, env=script_environment, cwd=tmp_path, capture_output=True, text=True)

    variants = pairs()
    parser = ("--parser", "conllu", "--parser-model", str(PARSED))

    def speech(sentence: str, gender: str) -> str:
        return variants[sentence][gender] if sentence in variants else "Dnes pršalo."

    with writing(genders, speech) as server:
        given = ("--endpoint", server.url, "--model", MODEL, "--probe", "first-person", "--language", "sk")
        done = gest(*given, *parser)
        assert done.returncode == 0, done.stderr
        assert "answers can be read" in done.stdout
        run = Path("gest-runs") / MODEL / "first-person-sk"
        page = (tmp_path / run / "report.html").read_text(encoding="utf-8")
        assert "texts in the first person" in page
        assert "translations" not in page
        again = gest("--reread", os.fspath(run), *parser)
        assert again.returncode == 0, again.stderr
        assert again.stdout.splitlines()[0] == done.stdout.splitlines()[0]
