"""`gest translate-stereoset` with a service on the loopback that makes the mistakes of translators."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from gest_dataset.builders.stereoset import FIELDS, word_in_place
from gest_dataset.data.rows import rows_of
from gest_dataset.runs.folder import read_run
from gest_dataset.studies import stereoset_translation as checks
from gest_dataset.studies.stereoset_translation import translated_fields
from tests.commands.conftest import Gest
from tests.support import services, zoo
from tests.support.services import Answer, Request, Server

WITHIN, BETWEEN = "intrasentence", "intersentence"
MERGED = "81ed59e763488498089d9d21c222a336"


def slovak(text: str) -> str:
    """A translation with an ending at each word: `The tailor.` is `Theova tailorova.`"""
    return " ".join(_ended(word) for word in text.split(" "))


def _ended(word: str) -> str:
    letters = word.rstrip(".,!?")
    if not letters or any(mark in letters for mark in ("BLANK", "XYZ")):
        return word
    return f"{letters}ova{word[len(letters) :]}"


@pytest.fixture
def deepl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """DeepL's real client against a server whose `translate` a test may change."""

    def translated(request: Request) -> Answer:
        texts = [
            {"detected_source_language": "EN", "text": server.slovak(text), "billed_characters": len(text)}
            for text in request.texts
        ]
        return 200, {}, {"translations": texts}

    with services.serving(translated) as server:
        server.slovak = slovak  # type: ignore[attr-defined]
        monkeypatch.setenv("DEEPL_SERVER_URL", server.url)
        monkeypatch.setenv("DEEPL_AUTH_KEY", "de3p1:fx")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setattr(
            "gest_dataset.translation.systems.cache_directory", lambda: tmp_path / "cache" / "sources"
        )
        yield server


pytestmark = pytest.mark.usefixtures("home")
ARGUMENTS = ("study", "translate-stereoset", "sk", "--system", "deepl", "--output", "out")


def problems(folder: Path) -> list[dict[str, str]]:
    with (folder / "problems.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def filled(folder: Path, path: Path, correct: Callable[[dict[str, str]], str]) -> Path:
    """problems.csv as a person gives it back."""
    rows = [{**row, "correction": correct(row)} for row in problems(folder)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def english(test: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows_of(f"stereoset_en_{test}").to_list()}


def read(folder: Path, test: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in load_dataset(str(folder), f"stereoset_sk_{test}", split="test")}


def test_a_faithful_translator(gest: Gest, deepl: Server, tmp_path: Path) -> None:
    done = gest(*ARGUMENTS)
    assert done.returncode == 0, done.stderr
    assert problems(tmp_path / "out") == []
    for test in (WITHIN, BETWEEN):
        rows, source = read(tmp_path / "out", test), english(test)
        assert list(rows) == list(source)
        for number, row in rows.items():
            assert list(row) == list(FIELDS[test])
            for name in translated_fields(test):
                assert row[name] == slovak(source[number][name])
            for name in ("target_en", "bias_type"):
                assert row[name] == source[number][name]
            for name in ("stereotype", "antistereotype", "unrelated") if test == WITHIN else ():
                assert word_in_place(row["context"], row[name]) == row[f"{name}_word"]
        named = load_dataset("gest", f"stereoset_sk_{test}", split="test")
        assert {row["id"]: row for row in named} == rows
    asked = len(deepl.asked)
    assert len(set(deepl.asked)) == asked
    again = gest(*ARGUMENTS)
    assert (again.stdout, len(deepl.asked)) == (done.stdout, asked)
    run = gest(
        *("score", str(zoo.directory("bert")), "--data", "out", "--config", f"stereoset_sk_{WITHIN}"),
        *("--device", "cpu", "--output", "run"),
    )
    assert run.returncode == 0, run.stderr
    assert read_run(tmp_path / "run").manifest.measure == "stereoset_intrasentence"


# A mistake, and the kind of problem that is found: what it makes of a text of ours
FAULTS: list[tuple[str, str, Callable[[str], str], str, bool]] = [
    ("The farmer got up BLANK.", "context", lambda t: t.replace(" BLANK", ""), checks.LOST, True),
    ("The farmer got up BLANK.", "context", lambda t: t.replace(".", "!"), checks.END, False),
    ("early", "stereotype_word", lambda t: slovak("rather late"), checks.SAME_CANDIDATES, True),
    ("early", "stereotype_word", lambda t: "", checks.MISSING, True),
    ("Owls hunt at night.", "unrelated", lambda t: t.replace(".", "?"), checks.END, False),
]


@pytest.mark.parametrize(("text", "field", "fault", "kind", "left_out"), FAULTS)
def test_a_mistake_is_found_and_corrected(
    gest: Gest,
    deepl: Server,
    tmp_path: Path,
    text: str,
    field: str,
    fault: Callable[[str], str],
    kind: str,
    left_out: bool,
) -> None:
    """The sample is stderr, and kept or left out; corrected by a person it is there, and stderr no more."""
    marked = [text, text.replace("BLANK", "[BLANK]"), text.replace("BLANK", "XYZ")]

    def wrong(source: str) -> str:
        if source not in marked:
            return slovak(source)
        mark = next((mark for mark in ("[BLANK]", "XYZ") if mark in source), "BLANK")
        plain = source.replace(mark, "BLANK")
        return fault(plain if fault(plain) == plain else slovak(plain)).replace("BLANK", mark)

    deepl.slovak = wrong  # type: ignore[attr-defined]
    done = gest(*ARGUMENTS)
    assert done.returncode == 0, done.stderr
    (found, *others) = problems(tmp_path / "out")
    assert not [row for row in others if row["id"] != found["id"]]
    kinds = {row["problem"].partition(": ")[0]: row for row in (found, *others)}
    assert kinds[kind]["source"] in (text, "rather late")
    assert kinds[kind]["left_out"] == ("yes" if left_out else "no")
    test = found["test"]
    assert (found["id"] in read(tmp_path / "out", test)) != left_out
    record = json.loads((tmp_path / "out" / "translation.json").read_text())["tests"][test]
    assert record["samples_by_problem"][kind] == 1

    given = filled(tmp_path / "out", tmp_path / "filled.csv", lambda row: slovak(row["source"]))
    mended = gest(*ARGUMENTS, "--corrections", "filled.csv")
    assert mended.returncode == 0, mended.stderr
    assert problems(tmp_path / "out") == []
    row = read(tmp_path / "out", test)[found["id"]]
    assert row[found["field"]] == slovak(found["source"])
    given.unlink()
    assert gest(*ARGUMENTS).stdout == mended.stdout  # what a person gave is not lost


def test_a_translator_that_translates_BLANK_is_asked_with_another_mark(
    gest: Gest, deepl: Server, tmp_path: Path
) -> None:
    deepl.slovak = lambda text: slovak(text.replace("BLANK", "PRÁZDNE"))  # type: ignore[attr-defined]
    done = gest(*ARGUMENTS)
    assert problems(tmp_path / "out") == [], done.stderr
    rows, source = read(tmp_path / "out", WITHIN), english(WITHIN)
    assert {row["context"] for row in rows.values()} == {slovak(row["context"]) for row in source.values()}
    assert {row["context"].replace("BLANK", "XYZ") for row in source.values()} <= {*deepl.asked}


def test_corrections_that_fit_nothing(gest: Gest, deepl: Server, tmp_path: Path) -> None:
    for row in ("intrasentence,no-such-id,context", f"{WITHIN},{MERGED},stereotype"):
        (tmp_path / "c.csv").write_text(f"test,id,field,correction\n{row},Text BLANK.\n")
        wrong = gest(*ARGUMENTS, "--corrections", "c.csv")
        assert wrong.returncode == 1
        assert "row 1: StereoSet has no text" in wrong.stderr
    assert deepl.requests == []


def test_folders_and_files_that_do_not_fit(gest: Gest, deepl: Server, tmp_path: Path) -> None:
    assert gest(*ARGUMENTS).returncode == 0
    other = gest(*ARGUMENTS[:2], "cs", *ARGUMENTS[3:])
    assert other.returncode == 1
    assert "language: sk (existing), cs (new)" in other.stderr
    assert gest(*ARGUMENTS[:2], "xx", *ARGUMENTS[3:]).returncode == 2
    assert gest(*ARGUMENTS, "--corrections", "none.csv").returncode == 2
    (tmp_path / "few.csv").write_text("source,translation\nnothing,nič\n")
    empty = gest("study", "translate-stereoset", "sk", "--translations", "few.csv", "--output", "few")
    assert empty.returncode == 1
    assert "No sample could be translated" in empty.stderr


def test_a_file_of_translations(gest: Gest, tmp_path: Path) -> None:
    """Only what the file has is there; the rest is stderr as not translated."""
    texts = {row[name] for row in english(BETWEEN).values() for name in translated_fields(BETWEEN)}
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("source", "translation"), *((text, slovak(text)) for text in sorted(texts))])
    done = gest("study", "translate-stereoset", "sk", "--translations", "mine.csv", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert len(read(tmp_path / "out", BETWEEN)) == len(english(BETWEEN))
    assert not (tmp_path / "out" / f"stereoset_sk_{WITHIN}").exists()
    assert {row["problem"].partition(" of it")[0] for row in problems(tmp_path / "out")} == {
        f"{checks.MISSING}: mine.csv has no translation of the sentence"
    }
