"""`gest masculine-rate` on the test mirror."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from datasets import load_dataset

from gest_dataset.gender import parsers as module
from gest_dataset.gender.parsers.conllu import Parser
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.runs.folder import read_run
from gest_dataset.translation import services, systems
from tests.commands.conftest import Gest
from tests.conftest import MIRROR, ROOT
from tests.support import services as loopback

PARSED = ROOT / "tests" / "mirror_sk.conllu"
FOLDER = MIRROR / "kinit-sk/gest/data/translations"
DEEPL = FOLDER / "deepl/sk/translations.csv"
SLOVAK = ("--language", "sk", "--parser", "conllu", "--parser-model", str(PARSED))
ON_FILE = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK)


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["from", "to"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_run_on_a_file(gest: Gest, tmp_path: Path) -> None:
    done = gest(*ON_FILE)
    assert done.returncode == 0, done.stderr
    assert "33 of 34 have a known gender" in done.stdout
    run = read_run(tmp_path / "gest-runs" / "sk--translations" / "sk")
    assert (run.manifest.config, run.manifest.table) == ("en", "detections.parquet")
    assert run.manifest.command == ["gest", *ON_FILE]
    assert run.manifest.language == run.manifest.metadata["language"] == "sk"
    assert run.table.column_names == [
        *("id", "stereotype", "source", "translation", "gender"),
        *("rule", "evidence", "conflict", "problem"),
    ]
    rows = run.table.to_pylist()
    assert all(set(row["evidence"]) <= set(re.findall(r"\w+", row["translation"])) for row in rows)
    result = run.result["result"]
    for name in ("f_s", "f_m"):
        line = next(line for line in done.stdout.splitlines() if line.strip().startswith(f"{name}  "))
        assert all(text in line for text in Estimate.of(result, name).texts)
    for stereotype, p in enumerate(result["p"], start=1):
        line = next(line for line in done.stdout.splitlines() if line.strip().startswith(f"{stereotype} "))
        assert f" {format_number(p)} " in line
    again = gest(*ON_FILE, "--json")
    content = json.loads(again.stdout)
    assert {name: content[name] for name in result} == result
    same_folder = ("--output", "gest-runs/sk--translations/sk")
    other = gest(*ON_FILE, "--limit", "7", "--convention", "published", *same_folder)
    assert other.returncode == 1
    assert "limit: " in other.stderr
    assert "convention: " in other.stderr
    assert "parser:" not in other.stderr
    assert read_run(run.path).result == run.result


def test_bad_rows_are_listed_and_the_rest_counts(gest: Gest, tmp_path: Path) -> None:
    sentences = read_rows(MIRROR / "kinit-sk/gest/data/gest.csv")
    number = {row["sentence"]: i for i, row in enumerate(sentences)}
    rows = {row["from"]: dict(row) for row in read_rows(DEEPL) if row["from"] in number}
    missing, empty, english, garbled, doubled, *_ = sorted(rows, key=number.__getitem__)
    del rows[missing]
    rows[empty]["to"] = " "
    rows[english]["to"] = english
    rows[garbled]["to"] = "Dokážem to, so ťažkosťami.".encode().decode("latin-1")
    unknown = [{"from": text, "to": "Som unavený."} for text in ("I am not in GEST.", "Nor am I.")]
    unknown.append({"from": f'The woman said: "{doubled}"', "to": "Žena povedala: „Som unavená.“"})
    write_rows(tmp_path / "bad.csv", [*rows.values(), {"from": doubled, "to": "Iné."}, *unknown])
    done = gest("masculine-rate", "--translations", "bad.csv", *SLOVAK)
    assert done.returncode == 0, done.stderr
    assert (
        "bad.csv: ignored texts that are not sentences of GEST (2), such as\n    'I am not in GEST.'\n"
        in done.stderr
    )
    run = read_run(tmp_path / "gest-runs" / "bad" / "sk")
    bad = {row["id"]: row["problem"] for row in run.table.to_pylist() if row["problem"]}
    skipped = run.result["skipped"]
    assert dict(zip(skipped["id"], skipped["reason"], strict=True)) == bad
    reasons = {
        missing: "no translation of the sentence",
        empty: "empty translation",
        english: "still the English sentence",
        garbled: "wrong encoding",
        doubled: "2 different translations",
    }
    assert len(bad) == len(reasons)
    for source, reason in reasons.items():
        assert reason in bad[f"gest-{number[source]:04d}"]
        assert reason in done.stderr


def mirror_lines() -> list[str]:
    """The mirror's DeepL translations in the order of its sentences, of 1.0 where it has no others."""
    known = {row["from"]: row["to"] for row in read_rows(DEEPL)}
    new, old = (load_dataset("gest", name, split="test")["sentence"] for name in ("en", "en_1_0"))
    return [known.get(text) or known[before] for text, before in zip(new, old, strict=True)]


def test_a_translation_per_line(gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = mirror_lines()
    gest(*ON_FILE, "--output", "table")
    expected = read_run(tmp_path / "table")
    (tmp_path / "mt.sk.txt").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")
    done = gest("masculine-rate", "--translations", "mt.sk.txt", *SLOVAK)
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "gest-runs" / "mt.sk" / "sk")
    assert run.table.drop_columns("source").equals(expected.table.drop_columns("source"))
    assert run.table["source"].to_pylist() == list(load_dataset("gest", "en", split="test")["sentence"])
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("\n".join(lines).encode())))
    done = gest("masculine-rate", "--translations", "-", *SLOVAK)
    piped = read_run(tmp_path / "gest-runs" / "standard-input" / "sk")
    assert piped.result["result"] == expected.result["result"]
    assert piped.manifest.settings["revision"] == run.manifest.settings["revision"]


def test_the_number_of_lines(gest: Gest, tmp_path: Path) -> None:
    lines = mirror_lines()
    file, arguments = tmp_path / "mt.txt", ("masculine-rate", "--translations", "mt.txt", *SLOVAK)
    for content, options, message in (
        (lines[:-1], (), "mt.txt has 33 lines; it needs one for each of the 34 lines of `gest build"),
        (lines[:4], ("--limit", "5"), "or for the first 5."),
        (["", *lines[1:5]], ("--limit", "5"), "1 x mt.txt, line 1 is empty"),
    ):
        file.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
        done = gest(*arguments, *options)
        assert message in done.stderr
    assert done.returncode == 0
    assert "nan" not in done.stdout
    assert "are undefined: no translation of stereotype 1, 2, 3" in done.stdout
    done = gest("pairs", "--translations", "mt.txt", *SLOVAK, "--limit", "5", "--output", "pairs")
    assert done.returncode == 2
    assert "has no translations of the prompts" in done.stderr


@pytest.fixture
def two_languages(tmp_path: Path) -> tuple[str, ...]:
    """The mirror's Slovak under its own code and under that of Czech."""
    for code in ("sk", "cs"):
        (tmp_path / f"{code}.conllu").write_bytes(PARSED.read_bytes())
        (tmp_path / f"mt-{code}.csv").write_bytes(DEEPL.read_bytes())
    parser = ("--parser", "conllu", "--parser-model", "{language}.conllu")
    return ("masculine-rate", "--translations", "mt-{language}.csv", *parser, "--language", "sk,cs")


def test_several_languages(gest: Gest, tmp_path: Path, two_languages: tuple[str, ...]) -> None:
    done = gest(*two_languages, "--output", "all")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["cs", "report.html", "sk"]
    slovak, czech, summary = done.stdout.splitlines()
    run = read_run(tmp_path / "all" / "sk")
    result = run.result["result"]
    value, low, high = (format_number(result[f"f_s{end}"]) for end in ("", "_low", "_high"))
    assert slovak.startswith(f"sk f_s {value} [{low} to {high}] ")
    assert slovak.endswith(f" {run.manifest.metadata['known']}/34")
    assert re.fullmatch(r"cs f_s – too few samples \d+/34", czech)
    assert summary.startswith("2 languages: ")
    assert done.stderr.splitlines()[-1] == "Report: all/report.html"
    again = gest(*two_languages, "--output", "all", "--json")
    content = json.loads(again.stdout)
    assert [entry["language"] for entry in content["runs"]] == ["sk", "cs"]
    assert content["runs"][0]["f_s"] == result["f_s"]
    assert content["failed"] == {}
    (tmp_path / "all" / "mine.txt").write_text("mine")
    assert "all contains mine.txt" in gest(*two_languages, "--output", "all").stderr
    piped = gest("masculine-rate", "--translations", "-", "--language", "sk,cs")
    assert piped.returncode == 2
    assert "Standard input can hold only one language" in piped.stderr


def test_a_language_that_fails(gest: Gest, tmp_path: Path, two_languages: tuple[str, ...]) -> None:
    write_rows(tmp_path / "mt-sk.csv", [])
    done = gest(*two_languages, "--output", "all")
    assert done.returncode == 1
    assert re.match(r"cs f_s .*/34\n1 languages: ", done.stdout)
    assert "not measured: sk\nNo translation could be judged" in done.stderr
    alone = gest("masculine-rate", "--translations", "mt-sk.csv", *SLOVAK, "--output", "run")
    assert alone.returncode == 1
    assert "34 x mt-sk.csv has no translation of the sentence" in alone.stderr
    assert not (tmp_path / "run" / "result.json").exists()


def test_a_system_that_lacks_a_language(gest: Gest, two_languages: tuple[str, ...]) -> None:
    parser = two_languages[3:7]
    arguments = ("masculine-rate", "--system", "published:deepl", *parser, "--output", "all")
    done = gest(*arguments, "--language", "sk,hr,be")
    assert done.returncode == 0, done.stderr
    assert re.match(r"sk f_s .*/34\n1 languages: ", done.stdout)
    assert "Skipped (not supported): hr, be\n" in done.stderr
    content = json.loads(gest(*arguments, "--language", "sk,hr", "--json").stdout)
    assert [run["language"] for run in content["runs"]] == ["sk"]
    assert (list(content["lacking"]), content["failed"]) == (["hr"], {})
    none = gest(*arguments, "--language", "hr,be")
    assert none.returncode == 2
    assert "no published translations by 'published:deepl' to Croatian" in none.stderr


def test_an_interrupted_run_translates_and_parses_nothing_twice(
    gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("deepl")
    parsed: list[str] = []

    def parse(texts: Sequence[str]) -> Iterator[dict[str, str]]:
        for number, text in enumerate(texts):
            if number == 12:
                raise KeyboardInterrupt
            parsed.append(text)
            tail = "\t_\tX\t_\t_\t0\troot\t_\t_"
            yield {text: "\n".join(f"{i}\t{word}{tail}" for i, word in enumerate(text.split(), 1)) + "\n\n"}

    parsers = {**module.PARSERS, "counting": lambda language, model: Parser("counting", parse)}
    monkeypatch.setattr(module, "PARSERS", parsers)
    monkeypatch.setattr(systems, "cache_directory", lambda: tmp_path / "store" / "datasets")
    monkeypatch.setitem(services.SERVICES, "deepl", replace(services.SERVICES["deepl"], texts=10))
    monkeypatch.setenv("DEEPL_AUTH_KEY", "k3y")
    with loopback.serving(loopback.deepl) as server:
        server.script = [loopback.deepl, loopback.deepl, (456, {}, {"message": "Quota exceeded"})]
        monkeypatch.setenv("DEEPL_SERVER_URL", server.url)
        arguments = ("masculine-rate", "--system", "deepl", "--language", "sk", "--parser", "counting")
        done = gest(*arguments, "--output", "run")
        assert done.returncode == 1
        assert "DeepL has no quota left" in done.stderr
        codes = [gest(*arguments, "--output", "run").returncode for _ in range(3)]
        assert codes == [130, 130, 0]
        texts = list(dict.fromkeys(load_dataset("gest", "en", split="test")["sentence"]))
        # the batch that the quota stopped is sent again
        assert [*server.asked[:20], *server.asked[30:]] == texts
    assert parsed == [loopback.slovak(text) for text in texts]
    assert len(read_run(tmp_path / "run").table) == 34


@pytest.mark.parametrize("command", ["masculine-rate", "pairs"])
def test_wrong_usage(gest: Gest, tmp_path: Path, command: str) -> None:
    arguments = (command, *SLOVAK, "--output", "out")
    for given in ((), ("--system", "deepl", "--translations", str(DEEPL))):
        done = gest(*arguments, *given)
        assert done.returncode == 2
        assert "Pass either --system or --translations" in done.stderr
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    for file, message in (("no.csv", "There is no file no.csv"), ("wrong.csv", "has the columns a, b")):
        assert message in gest(*arguments, "--translations", file).stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    foreign = gest(command, *SLOVAK, "--output", "mine", "--translations", str(DEEPL))
    assert foreign.returncode == 1
    assert "mine contains notes.txt" in foreign.stderr
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["notes.txt"]
