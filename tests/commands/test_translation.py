"""`gest masculine-rate`, `gest pairs` and `gest detect-gender` as a user meets them, on the test mirror."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from gest_dataset import statistics
from gest_dataset.commands import tables
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.runs import reading
from gest_dataset.translation.samples import SAME, GestSentence, aligned
from tests.conftest import MIRROR, ROOT, Edit

PARSED = ROOT / "tests" / "mirror_sk.conllu"
FOLDER = MIRROR / "kinit-sk/gest/data/translations"
DEEPL = FOLDER / "deepl/sk/translations.csv"
SLOVAK = ("--language", "sk", "--parser", "conllu", "--model", str(PARSED))

Gest = Callable[..., SimpleNamespace]


@pytest.fixture
def gest(gest_here: Gest) -> Gest:
    return gest_here


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["from", "to"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_run_on_a_file(gest: Gest, tmp_path: Path) -> None:
    """Printed, written, the same again; another setting is refused with the difference."""
    arguments = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK)
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    assert "33 of 34 have a known gender" in done.stdout
    assert "\x1b" not in done.stdout
    run = reading.read_run(tmp_path / "gest-runs" / "sk--translations" / "sk")
    assert (run.manifest.measure, run.manifest.subject) == ("masculine-rate", "file:translations.csv")
    assert (run.manifest.config, run.manifest.table) == ("en", "detections.parquet")
    assert run.manifest.machine["processor"]
    assert run.result["measure"] == "masculine-rate"
    assert run.manifest.command == ["gest", *arguments]
    assert run.manifest.language == run.manifest.metadata["language"] == "sk"
    assert run.result["signature"] == run.manifest.signature
    assert run.table.column_names == [
        *("id", "stereotype", "source", "translation", "gender"),
        *("rule", "evidence", "conflict", "problem"),
    ]
    result = run.result["result"]
    for name in ("f_s", "f_m"):
        line = next(line for line in done.stdout.splitlines() if line.strip().startswith(f"{name}  "))
        assert f" {result[name]:.3f} " in line
        assert tables.span(Estimate.of(result, name), 3) in line
    for stereotype, p in enumerate(result["p"], start=1):
        line = next(line for line in done.stdout.splitlines() if line.strip().startswith(f"{stereotype} "))
        assert f" {p:.3f} " in line
    told_of_unknown = " ".join(done.stdout.split())
    assert (
        f"f_s lies between {format_number(result['f_s_lowest'])} and "
        f"{format_number(result['f_s_highest'])}." in told_of_unknown
    )
    assert f"f_s is {format_number(result['f_s_corrected'])}: the detector got 0 of 50" in told_of_unknown
    again = gest(*arguments, "--json")
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert {name: told[name] for name in result} == result
    assert told["known"] == 33
    again_there = ("--output", "gest-runs/sk--translations/sk")
    other = gest(*arguments, "--limit", "7", "--convention", "published", *again_there)
    assert other.returncode == 1
    assert "limit: none there, 7 now" in other.stderr
    assert "convention: plain there, published now" in other.stderr
    assert "parser:" not in other.stderr
    assert reading.read_run(run.path).result == run.result


def test_tries_and_files_of_one_name_have_their_own_runs(gest: Gest, tmp_path: Path) -> None:
    for parent, system, limit, folder in (
        ("a", "deepl", (), "a--mine"),
        ("b", "google_translate", (), "b--mine"),
        ("b", "google_translate", ("--limit", "6"), "b--mine-limit6"),
    ):
        (tmp_path / parent).mkdir(exist_ok=True)
        file = tmp_path / parent / "mine.csv"
        file.write_bytes((FOLDER / system / "sk" / "translations.csv").read_bytes())
        done = gest("masculine-rate", "--translations", f"{parent}/mine.csv", *SLOVAK, *limit)
        assert done.returncode == 0, done.stderr
        kept = reading.read_run(tmp_path / "gest-runs" / folder / "sk")
        assert len(kept.table) == (6 if limit else 34)
    done = gest("masculine-rate", "--system", "published:deepl", *SLOVAK, "--limit", "3")
    assert done.returncode == 0, done.stderr
    assert len(reading.read_run(tmp_path / "gest-runs" / "published-deepl-limit3" / "sk").table) == 3


def test_an_unfinished_run_is_gone_on_with(gest: Gest, tmp_path: Path) -> None:
    arguments = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output", "run")
    assert gest(*arguments).returncode == 0
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**manifest, "status": "running"}))
    (tmp_path / "run" / "result.json").unlink()
    (tmp_path / "run" / f".result.json.gest-1-{'0' * 16}.part").write_text("torn")
    assert gest(*arguments).returncode == 0
    found = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert found == ["detections.parquet", "report.html", "result.json", "run.json"]
    assert reading.read_run(tmp_path / "run").manifest.status == "done"


def test_an_unfinished_run_of_another_version_or_machine(gest: Gest, tmp_path: Path) -> None:
    """As with models: what is left of it is not mixed with what another version would say."""
    arguments = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output", "run")
    assert gest(*arguments).returncode == 0
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    other = {"versions": {**manifest["versions"], "numpy": "1.0"}, "machine": {"processor": "abacus"}}
    (tmp_path / "run" / "run.json").write_text(json.dumps({**manifest, **other, "status": "running"}))
    done = gest(*arguments)
    assert done.returncode == 1
    assert "an unfinished run that is not of the same:" in done.stderr
    assert "numpy: 1.0 there" in done.stderr
    assert "processor: abacus there" in done.stderr
    (tmp_path / "run" / "run.json").write_text(json.dumps({**manifest, **other}))
    assert gest(*arguments).returncode == 0, "a finished one is made anew"
    assert reading.read_run(tmp_path / "run").manifest.versions == manifest["versions"]


def test_a_file_that_was_wrong_can_be_mended(gest: Gest, tmp_path: Path) -> None:
    """What a failed run has left keeps nobody from its directory."""
    file = tmp_path / "mine.csv"
    file.write_text("a,b\n1,2\n")
    assert gest("masculine-rate", "--translations", str(file), *SLOVAK).returncode == 2
    write_rows(file, rows_of(DEEPL))
    done = gest("masculine-rate", "--translations", str(file), *SLOVAK)
    assert done.returncode == 0, done.stderr
    assert reading.read_run(tmp_path / "gest-runs" / "mine" / "sk").manifest.status == "done"


def test_bad_rows_of_a_file_are_listed_and_the_rest_counts(gest: Gest, tmp_path: Path) -> None:
    plain = {row["sentence"]: i for i, row in enumerate(rows_of(MIRROR / "kinit-sk/gest/data/gest.csv"))}
    rows = [row for row in rows_of(DEEPL) if row["from"] in plain]
    spoilt = {row["from"]: dict(row) for row in rows}
    missing, empty, english, garbled, doubled, *_ = sorted(spoilt, key=plain.__getitem__)
    del spoilt[missing]
    spoilt[empty]["to"] = " "
    spoilt[english]["to"] = english
    spoilt[garbled]["to"] = "Dokážem to, so ťažkosťami.".encode().decode("latin-1")
    file = write_rows(tmp_path / "bad.csv", [*spoilt.values(), {"from": doubled, "to": "Niečo celkom iné."}])
    done = gest("masculine-rate", "--translations", str(file), *SLOVAK)
    assert done.returncode == 0, done.stderr
    found = reading.read_run(tmp_path / "gest-runs" / "bad" / "sk")
    bad = {row["id"]: row["problem"] for row in found.table.to_pylist() if row["problem"]}
    assert dict(zip(found.result["skipped"]["id"], found.result["skipped"]["reason"], strict=True)) == bad
    told = {
        missing: "no translation of it",
        empty: "empty translation",
        english: "still the English sentence",
        garbled: "wrong encoding",
        doubled: "2 different translations",
    }
    assert len(bad) == len(told)
    assert f"{len(told)} sentences count as unknown" in done.stderr
    for source, reason in told.items():
        name = f"gest-{plain[source]:04d}"
        assert reason in bad[name]
        assert reason in done.stderr
        assert name in done.stderr
    assert found.result["result"]["n_unknown"] >= len(told)


def lines_of(system: str) -> list[str]:
    """The mirror's translations in the order of its sentences, of 1.0 where it has no others."""
    said = {row["from"]: row["to"] for row in rows_of(FOLDER / system / "sk" / "translations.csv")}
    new, old = (load_dataset("gest", name, split="test")["sentence"] for name in ("en", "en_1_0"))
    return [said.get(text) or said[before] for text, before in zip(new, old, strict=True)]


def test_lines_in_the_order_of_the_sentences(
    gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is the translation of the sentence in its place, from a text as from the standard input."""
    lines = lines_of("deepl")
    assert gest("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output", "table").returncode == 0
    expected = reading.read_run(tmp_path / "table")
    (tmp_path / "mt.sk.txt").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")
    done = gest("masculine-rate", "--translations", "mt.sk.txt", *SLOVAK)
    assert done.returncode == 0, done.stderr
    run = reading.read_run(tmp_path / "gest-runs" / "mt.sk" / "sk")
    assert run.table.drop_columns("source").equals(expected.table.drop_columns("source"))
    assert run.table["source"].to_pylist() == list(load_dataset("gest", "en", split="test")["sentence"])
    assert run.manifest.subject == "file:mt.sk.txt"
    content = "\n".join(lines).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    done = gest("masculine-rate", "--translations", "-", *SLOVAK)
    assert done.returncode == 0, done.stderr
    piped = reading.read_run(tmp_path / "gest-runs" / "standard-input" / "sk")
    assert piped.result["result"] == expected.result["result"]
    assert piped.manifest.settings["revision"] == run.manifest.settings["revision"]
    done = gest("compare", str(run.path), str(piped.path), "--json")
    assert json.loads(done.stdout)["differences"][0]["comparison"]["difference"] == 0


def test_the_same_sentence_twice_has_a_line_each() -> None:
    """GEST says some sentences twice, and whoever translates lines may translate them in two ways."""
    given = [GestSentence(f"s{place}", 1, "I am tired.", "I am tired.") for place in range(3)]
    samples = aligned(given, ["Som unavený.", "Som unavená.", "I am tired. "], "mt.txt")
    assert [sample.translation for sample in samples] == ["Som unavený.", "Som unavená.", "I am tired. "]
    assert [sample.problem for sample in samples] == ["", "", SAME]


def test_lines_that_do_not_fit_the_sentences(gest: Gest, tmp_path: Path) -> None:
    lines = lines_of("deepl")
    file = tmp_path / "mt.txt"
    arguments = ("masculine-rate", "--translations", "mt.txt", *SLOVAK, "--output", "run")
    for content, options, told in (
        (
            lines[:-1],
            (),
            "mt.txt has 33 lines. It has to have 34: the translations of the lines of `gest sen",
        ),
        ([*lines, "Bola som."], (), "mt.txt has 35 lines."),
        ([], (), "mt.txt has 0 lines."),
        (lines[:4], ("--limit", "5"), "in their order, or the first 5 of them."),
    ):
        file.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
        done = gest(*arguments, *options)
        assert (done.returncode, done.stdout) == (1, "")
        assert told in done.stderr
    assert not (tmp_path / "run").exists()
    for number in (5, len(lines)):
        file.write_text("".join(f"{line}\n" for line in lines[:number]), encoding="utf-8")
        assert gest(*arguments[:-1], f"run{number}", "--limit", "5").returncode == 0
        kept = reading.read_run(tmp_path / f"run{number}").table
        assert kept["translation"].to_pylist() == lines[:5]
    file.write_text("\n".join(["", *lines[1:]]), encoding="utf-8")
    done = gest(*arguments)
    assert done.returncode == 0
    assert "1 x mt.txt, line 1 is empty" in done.stderr
    done = gest("pairs", "--translations", "mt.txt", *SLOVAK, "--output", "pairs")
    assert done.returncode == 2
    assert "a table that also holds the prompts" in done.stderr


@pytest.fixture
def two_languages(tmp_path: Path) -> tuple[str, ...]:
    """The mirror's Slovak under its own code and, taken for Czech, under another: with rules of each."""
    for code in ("sk", "cs"):
        (tmp_path / f"{code}.conllu").write_bytes(PARSED.read_bytes())
        (tmp_path / f"mt-{code}.csv").write_bytes(DEEPL.read_bytes())
    files = ("--translations", "mt-{language}.csv", "--model", "{language}.conllu", "--parser", "conllu")
    return ("masculine-rate", *files)


def test_several_languages(gest: Gest, tmp_path: Path, two_languages: tuple[str, ...]) -> None:
    done = gest(*two_languages, "--language", "sk,cs", "--output", "all")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["cs", "report.html", "sk"]
    slovak, czech, summary = done.stdout.splitlines()
    run = reading.read_run(tmp_path / "all" / "sk")
    result = run.result["result"]
    value, low, high = (tables.number(result[f"f_s{end}"], 3) for end in ("", "_low", "_high"))
    assert slovak.startswith(f"sk f_s {value} [{low} to {high}] ")
    assert slovak.endswith(f" {run.manifest.metadata['known']}/34")
    assert reading.read_run(tmp_path / "all" / "cs").manifest.language == "cs"
    assert re.fullmatch(r"cs f_s - too few samples \d+/34", czech), "the rules of Czech know little of Slovak"
    assert summary.startswith("2 languages: ")
    assert "Warning" not in done.stderr
    assert done.stderr.splitlines()[-1] == "Report: all/report.html"
    again = gest(*two_languages, "--language", "sk,cs", "--output", "all", "--json")
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert [run["language"] for run in told["runs"]] == ["sk", "cs"]
    assert told["runs"][0]["f_s"] == reading.read_run(tmp_path / "all" / "sk").result["result"]["f_s"]
    assert told["failed"] == {}
    own = gest(*two_languages, "--language", "sk,cs")
    assert own.returncode == 0, own.stderr
    assert (tmp_path / "gest-runs" / "mt-cs" / "cs" / "run.json").exists()
    (tmp_path / "all" / "mine.txt").write_text("mine")
    foreign = gest(*two_languages, "--language", "sk,cs", "--output", "all")
    assert foreign.returncode == 1
    assert "all contains mine.txt, which is not part of a folder of runs" in foreign.stderr
    piped = gest("masculine-rate", "--translations", "-", "--language", "sk,cs")
    assert piped.returncode == 2
    assert "The standard input is of one language" in piped.stderr


def test_a_language_that_fails_leaves_the_others(
    gest: Gest, tmp_path: Path, two_languages: tuple[str, ...]
) -> None:
    write_rows(tmp_path / "mt-sk.csv", [])
    done = gest(*two_languages, "--language", "sk,cs", "--output", "all")
    assert done.returncode == 1
    assert re.match(r"cs f_s .*/34\n1 languages: ", done.stdout)
    assert "not measured: sk\nNot one sentence has a translation to judge" in done.stderr
    assert done.stderr.splitlines()[-1] == "Report: all/report.html"


def test_translators_are_compared(gest: Gest, tmp_path: Path) -> None:
    """f_s of two systems, by files and as published: real runs of the real command."""
    for name, system in (
        ("deepl", f"file:{DEEPL}"),
        ("google", f"file:{FOLDER}/google_translate/sk/translations.csv"),
        ("deepl-2023", "published:deepl"),
        ("google-2023", "published:google"),
    ):
        done = gest("masculine-rate", "--system", system, *SLOVAK, "--output", name)
        assert done.returncode == 0, done.stderr
    genders, stereotypes = {}, {}
    for name in ("deepl", "google"):
        table = reading.read_run(tmp_path / name).table
        genders[name], stereotypes[name] = table["gender"].to_pylist(), table["stereotype"].to_pylist()
    direct = statistics.compare("f_s", genders["google"], genders["deepl"], stereotypes["deepl"])
    for year in ("", "-2023"):
        done = gest("compare", f"deepl{year}", f"google{year}", "--json")
        assert done.returncode == 0, done.stderr
        (shown,) = json.loads(done.stdout)["differences"]
        assert shown["comparison"] == {
            **asdict(direct),
            "ratio_interval": [None] * 3,
            "smallest": direct.smallest,
        }
        assert (shown["n"], shown["unknown"], shown["missing"]) == (30, 4, 0), "known in both"
    Path("first").mkdir()
    Path("deepl").rename("first/sk")
    done = gest("compare", "first", "google", "--json")
    assert done.returncode == 0, done.stderr
    (shown,) = json.loads(done.stdout)["differences"]
    assert (shown["config"], shown["comparison"]["difference"]) == ("en to sk", direct.difference)
    told = gest("compare", "first", "google").stdout
    assert "4 samples show no gender in one of the runs and are left out." in " ".join(told.split())
    Path("first/sk").rename("deepl")
    done = gest("compare", "deepl", "google-2023")
    assert done.returncode == 2
    assert "deepl: en" in done.stderr
    assert "google-2023: sk_translations" in done.stderr


def test_translators_of_other_data_are_not_compared(gest: Gest, edited: Edit) -> None:
    arguments = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output")
    assert gest(*arguments, "before").returncode == 0
    edited("kinit-sk/gest/data/gest_1.1.csv", lambda content: content.replace(b"I ", b"I really ", 1))
    assert gest(*arguments, "after").returncode == 0
    done = gest("compare", "before", "after")
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "Runs must have the same data to be compared. These differ: before: " in told


@pytest.mark.parametrize("command", ["masculine-rate", "pairs"])
def test_wrong_usage(gest: Gest, tmp_path: Path, command: str) -> None:
    neither = gest(command, *SLOVAK, "--output", "out")
    assert neither.returncode == 2
    assert "Give either --system or --translations" in neither.stderr
    both = gest(command, *SLOVAK, "--output", "out", "--system", "deepl", "--translations", str(DEEPL))
    assert both.returncode == 2
    for file, told in (("no.csv", "There is no file no.csv"), ("wrong.csv", "has the columns a, b")):
        (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
        done = gest(command, *SLOVAK, "--output", "out", "--translations", file)
        assert done.returncode in {1, 2}
        assert told in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    foreign = gest(command, *SLOVAK, "--output", "mine", "--translations", str(DEEPL))
    assert foreign.returncode == 1
    assert "mine contains notes.txt, which is not part of a" in foreign.stderr
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["notes.txt"]
    help_text = gest(command, "--help")
    assert help_text.returncode == 0
    assert "Example" in help_text.stdout


def test_pairs_are_a_config(gest: Gest, tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    file = tmp_path / "my files" / "translations.csv"
    file.parent.mkdir()
    file.write_bytes(DEEPL.read_bytes())
    arguments = ("pairs", "--translations", str(file), *SLOVAK, "--output", "out")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out" / "yields.json").read_text(encoding="utf-8"))
    assert told["frame"] == "The man said …"
    assert told["sentences"] == 34 == told["pairs"] + sum(told["dropped"].values())
    assert {reason: len(ids) for reason, ids in told["left_out"].items()} == told["dropped"]
    for reason, number in told["dropped"].items():
        assert re.search(rf"^ *{re.escape(reason)} +{number} +\d+ *$", done.stdout, re.MULTILINE)
    # as it was typed: quoted once where a shell needs it, in the card alone
    assert told["command"] == ["gest", *arguments]
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert f"```bash\n{shlex.join(['gest', *arguments])}\n```" in card
    rows = load_plainly(tmp_path / "out", script_environment)
    assert len(rows) == told["pairs"] >= 20
    answers = {row["from"]: row["to"] for row in rows_of(DEEPL)}
    for row in rows:
        source = row["source"]
        plain = answers[source]
        assert plain in (row["masculine"], row["feminine"])
        gender, person = ("feminine", "woman") if plain == row["masculine"] else ("masculine", "man")
        # the mirror's answers are all written `Žena povedala: "…"`
        answer = answers[f'The {person} said "{source}"'].split(': "', 1)[1].removesuffix('"')
        assert row[gender] == answer
        words = list(zip(row["masculine"].split(), row["feminine"].split(), strict=True))
        (place,) = (place for place, (a, b) in enumerate(words) if a != b)
        assert place == row["word_index"]
        assert words[place][0].strip(".,") == row["masculine_word"]
        assert words[place][1].strip(".,") == row["feminine_word"]
        assert row["systems"] == [4]
    assert gest(*arguments).returncode == 0
    other = gest(
        "pairs",
        "--translations",
        str(FOLDER / "google_translate/sk/translations.csv"),
        *SLOVAK,
        "--output",
        "out",
    )
    assert other.returncode == 1
    assert "revision:" in other.stderr


def load_plainly(folder: Path, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows as somebody without this package reads them."""
    script = (
        "import json, sys\nfrom datasets import load_dataset\n"
        f"data = load_dataset({str(folder)!r}, 'sk_pairs', split='test')\n"
        "assert 'gest_dataset' not in sys.modules\n"
        "assert data.features['systems'].feature.names == ['amazon', 'deepl', 'google', 'nllb', "
        "'file:translations.csv']\n"
        "print(json.dumps(data.to_list()))"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_no_pair_is_an_error_with_a_hint(gest: Gest, tmp_path: Path) -> None:
    rows = [row for row in rows_of(DEEPL) if " said " not in row["from"]]
    file = write_rows(tmp_path / "plain.csv", rows)
    done = gest("pairs", "--translations", str(file), *SLOVAK, "--output", "out")
    assert done.returncode == 1
    assert 'The woman said: "I am tired."' in done.stderr
    assert not list((tmp_path / "out").iterdir())
    snapshot = gest("pairs", "--system", "published:deepl", *SLOVAK, "--output", "out")
    assert snapshot.returncode == 2
    assert "nothing can be asked of" in snapshot.stderr


TEXTS = [
    "V červenom kabáte som vyzerala krásne.",
    "Smejem sa na vlastných vtipoch.",
    "I am tired and I want the rest.",
]


def test_detections_of_a_run_are_plain_parquet(gest: Gest, tmp_path: Path) -> None:
    done = gest("masculine-rate", "--system", "published:deepl", *SLOVAK, "--output", "run", "--limit", "3")
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(tmp_path / "run" / "detections.parquet").to_pylist()
    assert len(rows) == 3
    assert all(set(row["evidence"]) <= set(row["translation"].strip(".").split()) for row in rows)
    assert {row["gender"] for row in rows} <= {"male", "female", "unknown"}


def test_nothing_to_judge_is_an_error(gest: Gest, tmp_path: Path) -> None:
    write_rows(tmp_path / "empty.csv", [])
    done = gest("masculine-rate", "--translations", "empty.csv", *SLOVAK, "--output", "run")
    assert done.returncode == 1
    assert "34 x empty.csv has no translation of it" in done.stderr
    assert "Not one sentence has a translation to judge" in done.stderr
    assert not (tmp_path / "run" / "result.json").exists()


def test_what_is_not_defined_is_said(gest: Gest) -> None:
    done = gest("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output", "run", "--limit", "5")
    assert done.returncode == 0, done.stderr
    assert "nan" not in done.stdout
    assert re.search(r"f_s  stereotype rate.* -  +- ", done.stdout)
    assert "not defined, as there is a stereotype without a sentence" in done.stdout


def test_a_finished_run_survives_an_interrupt(
    gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started again with the same settings and stopped, it is still there, and no other takes its place."""
    from gest_dataset.translation import masculine_rates

    def interrupted(setup: object, convention: str) -> None:
        raise KeyboardInterrupt

    arguments = ("masculine-rate", "--translations", str(DEEPL), *SLOVAK, "--output", "run")
    assert gest(*arguments).returncode == 0
    before = reading.read_run(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(masculine_rates, "measure", interrupted)
        assert gest(*arguments).returncode == 130
    assert gest(*arguments, "--limit", "3").returncode == 1
    after = reading.read_run(tmp_path / "run")
    assert (after.manifest, after.result) == (before.manifest, before.result)
