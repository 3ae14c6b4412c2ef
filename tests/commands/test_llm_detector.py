"""Gender by a served chat model (`--parser llm`): what it is asked, when it is refused, its errors."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from datasets import load_dataset

from gest_dataset.models.served import client
from gest_dataset.runs.folder import read_run
from gest_dataset.statistics.masculine_rate import detector_bounds, masculine_rate, max_error_rate
from gest_dataset.stereotypes import STEREOTYPES
from tests.commands.conftest import Gest
from tests.conftest import ROOT
from tests.support.chats import MODEL, Mind, chatting, prompts
from tests.support.services import DIES, Broken, Server

LABELLED = ROOT / "tests" / "gender" / "labelled_de.csv"
WRONG = "the model's answer is not male, female or unknown"
Rows = list[tuple[str, str]]


def read(path: Path = LABELLED) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["text"], row["gender"]) for row in csv.DictReader(file)]


def write(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "gender"), *rows])
    return path


@pytest.fixture
def german(mirror: Path, tmp_path: Path) -> Rows:
    """A translation of each sentence of the test mirror with its gender, also in the file mt.txt."""
    rows: Rows = []
    for number, stereotype in enumerate(load_dataset("gest", "en", split="test")["stereotype"]):
        gender = STEREOTYPES[stereotype].gender if number % 9 != 4 else "male"
        gender = gender if number != 3 else "unknown"
        word = {"male": "ein guter Mechaniker", "female": "eine gute Mechanikerin", "unknown": "dort"}[gender]
        rows.append((f"Mit {number + 20} war ich {word}.", gender))
    (tmp_path / "mt.txt").write_text("".join(f"{text}\n" for text, _ in rows), encoding="utf-8")
    return rows


def sentence(prompt: str) -> str:
    return re.findall(r"^Sentence: (.*)$", prompt, re.MULTILINE)[0] if prompt != "Hi" else prompt


def knowing(*rows: Rows) -> Mind:
    """A model that makes no errors in some sentences."""
    genders = {"Hi": "Hello!"} | {text: gender for some in rows for text, gender in some}
    return lambda text, options: genders[sentence(text)]


def options(server: Server, labelled: Path = LABELLED) -> tuple[object, ...]:
    served = "--endpoint", server.url, "--parser-model", MODEL
    return "--language", "de", "--parser", "llm", *served, "--labelled", labelled


def asked(server: Server) -> list[str]:
    return [sentence(text) for text in prompts(server)]


def test_masculine_rates_of_german(gest: Gest, tmp_path: Path, german: Rows) -> None:
    more = [*read(), ("Ich bin Tischler.", "male")]
    with chatting(knowing(more, german)) as server:
        given = ("masculine-rate", "--translations", "mt.txt", *options(server))
        done = gest(*given)
        assert done.returncode == 0, done.stderr
        assert sorted(asked(server)) == sorted(text for text, _ in read() + german)
        first = next(r.body for r in server.requests if "messages" in r.body and r.body["max_tokens"] > 99)
        assert first["temperature"] == 0
        assert "Below is a sentence in German." in first["messages"][0]["content"]
        run = read_run(tmp_path / "gest-runs" / "mt" / "de")
        assert [row["gender"] for row in run.table.to_pylist()] == [gender for _, gender in german]
        assert {row["rule"] for row in run.table.to_pylist()} == {"llm", ""}
        result, metadata = run.result["result"], run.manifest.metadata
        shown = " ".join(done.stdout.split())
        assert (
            "precision of 100.0 % (91.5 % to 100.0 %) for male and 100.0 % (91.5 % to 100.0 %) for" in shown
        )
        shares = {f"{name}{end}" for name in ("precision", "recall") for end in ("", "_low", "_high")}
        assert metadata["validity"]["male"].keys() == {"n", *shares}
        genders, stereotypes = (run.table[name].to_pylist() for name in ("gender", "stereotype"))
        assert result["f_s"] == masculine_rate(genders, stereotypes)["f_s"] < 1
        bounds = detector_bounds(genders, stereotypes, *[max_error_rate(0, 50)] * 3)
        assert {name: result[name] for name in bounds} == bounds
        assert bounds["f_s_detector_lowest"] < result["f_s"]
        page = (tmp_path / "gest-runs" / "mt" / "de" / "report.html").read_text(encoding="utf-8")
        assert "by rules on its grammar" not in page
        number = len(prompts(server))
        again = json.loads(gest(*given, "--output", "again", "--json").stdout)
        assert len(prompts(server)) == number  # everything is cached
        assert again["detector"]["male"]["n"] == 50
        assert f"parser:llm {MODEL} " in again["signature"]
        other = write(tmp_path / "more.csv", more)
        with_more = ("masculine-rate", "--translations", "mt.txt", *options(server, other))
        refused = gest(*with_more, "--output", "again")
        assert "parser: " in refused.stderr  # another check is another run


def guess(text: str, options: list[str]) -> str:
    return random.Random(sentence(text)).choice(["male", "female", "unknown"])


def timid(text: str, options: list[str]) -> str:
    """It is right whenever it names a gender, and finds women half of the time."""
    gender = "female" if "Tante" in text else dict(read()).get(sentence(text))
    return "unknown" if gender == "female" and len(text) % 2 else gender or "Hello"


def by_content(text: str, options: list[str]) -> str:
    """It also finds genders where the grammar shows none."""
    gender = dict(read()).get(sentence(text), "unknown")
    return random.Random(text).choice(["male", "female", "unknown"]) if gender == "unknown" else gender


FATHERS: Rows = [(f"Ich bin {i} Jahre alt und Vater.", "male") for i in range(50)]
ATTACKS: dict[str, tuple[Mind, Callable[[Rows], Rows], str]] = {
    "always male": (lambda *_: "male", list, "female: 50 labelled, precision undefined, recall 0.0%"),
    "always male, nearly all labels male": (
        lambda *_: "male",
        lambda rows: rows + [(f"Ich bin {i} Jahre alt und Vater.", "male") for i in range(2000)],
        "male: 2050 labelled, precision 95.3%",
    ),
    "always unknown": (lambda *_: "unknown", list, "male: 50 labelled, precision undefined"),
    "at random": (guess, list, "male: 50 labelled, precision 3"),
    "says nothing": (lambda *_: "", list, "unknown: 50 labelled, precision undefined, recall 0.0%"),
    "a sentence": (lambda *_: "The speaker is male.", list, "recall 0.0% (0.0% to 8.5%)"),
    "few women found": (
        timid,
        lambda rows: rows + [(f"Ich bin Tante{'!' * (i % 2)} Nummer {i}.", "female") for i in range(100)],
        "female: 150 labelled, precision 100.0% (9",
    ),
    "45 of each": (
        knowing(read()),
        lambda rows: rows[:90] + rows[-45:],
        "male: 45 labelled, precision 100.0% (90",
    ),
    "by the content": (by_content, list, "unknown: 50 labelled"),
    "four neutral ones by the content": (
        knowing(
            [(text, "male" if row > 145 else gender) for row, (text, gender) in enumerate(read())], FATHERS
        ),
        lambda rows: rows + FATHERS,
        "male: 100 labelled, precision 96.2% (90.2%",
    ),
    "five sentences": (knowing(read()), lambda rows: rows[:5], "male: 3 labelled, precision 100.0% (38.3%"),
    "one sentence of each, often": (
        knowing(read()),
        lambda rows: [rows[0], rows[1], rows[-1]] * 50,
        "male: 1 labelled",
    ),
    "all of one gender": (
        knowing(read()),
        lambda rows: [row for row in rows if row[1] == "male"],
        "female: 0 labelled, precision undefined, recall undefined",
    ),
    "no neutral ones": (
        knowing(read()),
        lambda rows: [row for row in rows if row[1] != "unknown"],
        "unknown: 0 labelled",
    ),
}


@pytest.mark.parametrize(("mind", "change", "figures"), ATTACKS.values(), ids=ATTACKS)
def test_refused_before_the_data_are_asked(
    gest: Gest, tmp_path: Path, german: Rows, mind: Mind, change: Callable[[Rows], Rows], figures: str
) -> None:
    labelled = write(tmp_path / "labelled.csv", change(read()))
    with chatting(mind) as server:
        for command in (("masculine-rate", "--translations"), ("detect-gender",)):
            done = gest(*command, "mt.txt", *options(server, labelled))
            assert done.returncode == 1, done.stdout
            assert f"{MODEL} was not used: labelled sentences do not show" in done.stderr
            assert figures in done.stderr
            assert "At least 50 labelled sentences" in done.stderr
        assert not set(asked(server)) & {text for text, _ in german}
    assert not (tmp_path / "gest-runs" / "mt" / "de" / "result.json").exists()


def test_sentences_of_the_data_are_no_evidence(gest: Gest, tmp_path: Path, german: Rows) -> None:
    """Not even with other punctuation; vowel signs, which show the gender in Hindi, are no punctuation."""
    own = [(f"„{text.upper()}“", gender) for text, gender in german if gender == "male"]
    labelled = write(tmp_path / "labelled.csv", [row for row in read() if row[1] != "male"] + own * 9)
    more = [(f"Ich bin {i} Jahre alt und Vater.", "male") for i in range(50 - len(own))]
    enough = write(tmp_path / "enough.csv", [*read(labelled), *more])
    hindi = [("मैं थका हूँ।", "male"), ("मैं थकी हूँ।", "female")]
    with chatting(knowing(read(), german, own, more, hindi)) as server:
        done = gest("masculine-rate", "--translations", "mt.txt", *options(server, enough))
        assert done.returncode == 1
        assert f"male: {len(more)} labelled, precision 100.0%" in done.stderr
        assert f"{len(own)} labelled sentences are in the data" in done.stderr
        (tmp_path / "other.txt").write_text("Ich bin Lehrer.\n", encoding="utf-8")
        (tmp_path / "hi.csv").write_text("text,gender\n" + "".join(f"{a},{b}\n" for a, b in hindi))
        assert (
            "male: 1 labelled"
            in gest("detect-gender", "other.txt", *options(server, tmp_path / "hi.csv")).stderr
        )


def test_errors_and_unreadable_answers(gest: Gest, tmp_path: Path, german: Rows) -> None:
    """Errors in labelled sentences make the bounds wider; what cannot be read is unknown, with the reason."""
    more = [
        (f"Ich bin {word} Nummer {i}.", g)
        for i in range(60)
        for word, g in (("Onkel", "male"), ("Tante", "female"))
    ]
    labelled = write(tmp_path / "labelled.csv", [*read(), *more])
    errors = {
        "Ich bin Onkel Nummer 1.": "female",
        "Ich bin Tante Nummer 2.": "male",
        "Ich bin Tante Nummer 3.": "Hm.",
    }
    errors |= {"Ich bin müde.": "Female.", german[1][0]: "<think>male?</think>\n**Male**", german[2][0]: "he"}
    right = knowing(labelled and read(labelled), german)
    with chatting(lambda text, options: errors.get(sentence(text)) or right(text, options)) as server:
        given = ("masculine-rate", "--translations", "mt.txt", *options(server, labelled), "--output", "run")
        done = gest(*given)
        assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "run")
    counts = {"male": 110, "male_as_female": 1, "female": 109, "female_as_male": 1, "neutral": 50}
    assert run.manifest.metadata["validity"]["counts"] == counts | {"neutral_as_gendered": 1}
    assert run.result["result"]["detector"]["female_as_male"] == max_error_rate(1, 109)
    assert run.table["gender"][1].as_py() == "male"
    assert (run.table["gender"][2].as_py(), run.table["problem"][2].as_py()) == ("unknown", WRONG)
    assert f"de, gender unknown: 1 x {WRONG}" in done.stderr


def test_a_server_that_dies_midway(
    gest: Gest, tmp_path: Path, german: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_UNREACHABLE_RETRIES", 0)
    right = knowing(read(), german)
    with chatting(right) as server:
        given = ("masculine-rate", "--translations", "mt.txt", *options(server), "--output", "run")
        works = server.translate
        alive = len(read()) + 10  # sentences
        server.translate = lambda r: (200, {}, Broken(DIES)) if len(asked(server)) > alive else works(r)
        done = gest(*given)
        assert done.returncode == 1
        assert "does not answer" in done.stderr
        assert "rerun the same command to resume" in done.stderr
        before, server.translate = len(asked(server)), works
        done = gest(*given)
        assert done.returncode == 0, done.stderr
        assert len(asked(server)) < before + len(german)
    found = read_run(tmp_path / "run").table["gender"].to_pylist()
    assert found == [gender for _, gender in german]


def test_translators_with_and_without_a_server(gest: Gest, tmp_path: Path, german: Rows) -> None:
    """A chat model that translates is asked at the same endpoint; another translator has none."""
    english = list(load_dataset("gest", "en", split="test")["sentence"])
    known = dict(zip(english, (text for text, _ in german), strict=True))
    with (tmp_path / "mt.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("from", "to"), *known.items()])
    right = knowing(read(), german)

    def mind(text: str, options: list[str]) -> str:
        found = [known[sentence] for sentence in known if sentence in text]
        return found[0] if found else right(text, options)

    with chatting(mind) as server:
        for number, given in enumerate((("--translations", "mt.csv"), ("--system", f"chat:{MODEL}"))):
            done = gest("masculine-rate", *given, *options(server), "--output", f"run{number}")
            assert done.returncode == 0, done.stderr
            rows = read_run(tmp_path / f"run{number}").table.to_pylist()
            assert [row["translation"] for row in rows] == [known[row["source"]] for row in rows]
            genders = dict(german)
            assert [row["gender"] for row in rows] == [genders[row["translation"]] for row in rows]


def test_detect_gender(gest: Gest, german: Rows) -> None:
    text, gender = german[1]
    with chatting(knowing(read(), german)) as server:
        done = gest("detect-gender", "--text", text, *options(server))
        assert done.stdout == f"{text}  ({gender}: llm)\n"
        assert "female: 50 labelled, precision 100.0% (91.5% to 100.0%), recall 100.0% (91.5%" in done.stderr
        found = json.loads(gest("detect-gender", "--text", " ", "--json", *options(server)).stdout or "{}")
        assert found == {}


def test_wrong_usage(gest: Gest, tmp_path: Path, german: Rows) -> None:
    twice = write(tmp_path / "twice.csv", [("Ich bin müde.", "male"), ("ich bin müde", "unknown")])
    wrong = write(tmp_path / "wrong.csv", [("Ich bin müde.", "neutral")])
    (tmp_path / "columns.csv").write_text("sentence,gender\nIch,male\n")
    data = ("--translations", "mt.txt", "--language", "de")
    with chatting(lambda *_: "male") as server:
        llm = ("--parser", "llm", "--endpoint", server.url)
        for given, code, message in (
            (("--parser", "llm"), 2, "--parser llm, --endpoint URL and --labelled FILE together"),
            (llm, 2, "--parser llm, --endpoint URL and --labelled FILE together"),
            (("--labelled", LABELLED), 2, "--parser llm, --endpoint URL and --labelled FILE together"),
            (
                (*llm, "--labelled", twice),
                1,
                "row 2: 'unknown' is not male, female or unknown, or another row",
            ),
            ((*llm, "--labelled", wrong), 1, "row 1: 'neutral' is not male, female or unknown"),
            ((*llm, "--labelled", "columns.csv"), 2, "has no column 'text', only sentence, gender"),
            ((*llm, "--labelled", "no.csv"), 2, "There is no file no.csv"),
            ((*llm, "--labelled", LABELLED, "--parser-model", "other"), 1, "other"),
        ):
            done = gest("masculine-rate", *data, *given)
            assert (done.returncode, message in done.stderr) == (code, True), done.stderr
        done = gest("entity-gender", "--translations", "mt.txt", "--language", "de", *llm)
        assert (done.returncode, "gest masculine-rate and gest detect-gender" in done.stderr) == (2, True)
