"""Names and texts are data: planted in models, configs, runs and texts, they are shown, never obeyed."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import pytest
from rich.text import Text

import gest_dataset
from gest_dataset import cli
from gest_dataset.commands import console
from gest_dataset.data.parquet import read_table
from gest_dataset.display import csv_cell, one_line, printable
from gest_dataset.runs import reading
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

MARKED = "m[red]y"
CRASHING = "[/red]x"
ESCAPING = "esc\x1b[2J\x9b31m\x07\x00end"
TURNED = "a\u202eb\u2066c"
FORMULA = "=HYPERLINK(1)"
HALF = "half\udc80"
LINES = "two\nerror: lines\r"
EMOJI = ":smile:"
NAMES = (MARKED, CRASHING, ESCAPING, TURNED, FORMULA, HALF, LINES, EMOJI, "<b>&'\"", "+1 is it", "@sum")
# What a run.json can hold: half of a pair is no letter, and refused
RECEIVED = tuple(name for name in NAMES if name != HALF)
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """A command in a wide terminal without colours: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        try:
            cli.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.support.report_runs import small_world

    path = tmp_path_factory.mktemp("honest") / "run"
    with small_world():
        gest_dataset.score(str(zoo.directory("bert")), "en", device="cpu", output=path, templates=[1, 2])
    return path


def received(honest: Path, path: Path, name: str, **entries: Any) -> Path:
    """A run that somebody sends, whole in itself, in which everything that has a name has this one."""
    shutil.copytree(honest, path)
    told = json.loads((path / "run.json").read_text())
    metadata = {**told["metadata"], "model": name, "notes": [name], "skipped": {name: 3}, "kind": name}
    told |= {"subject": name, "signature": name, "command": ["gest", name], "metadata": metadata, **entries}
    result = json.loads((path / "result.json").read_text()) | {"signature": name}
    (path / "result.json").write_text(json.dumps(result))
    told["files"]["result.json"] = hashlib.sha256((path / "result.json").read_bytes()).hexdigest()
    (path / "run.json").write_text(json.dumps(told))
    return path


def harmless(*shown: str) -> None:
    for text in shown:
        assert not _OBEYED.search(text), ascii(text)


# One function for each place ------------------------------------------------------------------------


def test_what_is_obeyed_is_shown() -> None:
    assert printable(ESCAPING) == "esc\\u001b[2J\\u009b31m\\u0007\\u0000end"
    assert printable(TURNED) == "a\\u202eb\\u2066c"
    assert printable(HALF) == "half\\udc80"
    assert one_line(LINES) == "two\\u000aerror: lines\\u000d"
    assert printable("a\n\tb – žluťoučký שלום 👩\u200d🔬") == "a\n\tb – žluťoučký שלום 👩\u200d🔬"


def test_every_sign_can_stand_in_xml_json_and_utf_8() -> None:
    for code in range(0x10000):
        text = printable(chr(code))
        root = XML.Element("a")
        root.text = text
        assert XML.fromstring(XML.tostring(root, encoding="utf-8")).text == text
        told = json.dumps(chr(code), ensure_ascii=False)
        assert json.loads(printable(told)) == chr(code)
        harmless(text)


@pytest.mark.parametrize("text", ["=1+1", "+1 is it", "-cmd", "@sum", "=", "\t=1", "\n=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["-0.5", "+1e3", "-inf", -0.5, 3, "a=1", "", "−0.5"])
def test_numbers_and_words_stay(value: Any) -> None:
    assert csv_cell(value) == value


@pytest.mark.parametrize("name", NAMES)
def test_a_console_prints_names_as_they_are(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wide = console.Plain()
    wide.width = 200
    table = console.new_table(name, wide, name, "value")
    table.add_row(one_line(name), name)
    wide.print(name)
    wide.print(console.fitted(table, wide))
    wide.print(Text("ours", style="bold"))
    shown = capsys.readouterr().out
    harmless(shown)
    assert printable(name) in shown.replace("  \n", "\n")
    assert shown.count(one_line(name)) >= 2
    console.show_json({"name": name})
    assert json.loads(capsys.readouterr().out) == {"name": name}


# The commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECEIVED)
def test_compare(gest: Gest, honest: Path, tmp_path: Path, name: str) -> None:
    received(honest, tmp_path / "other", name)
    code, out, err = gest("compare", str(honest), "other")
    assert code == 0, err
    harmless(out, err)
    assert one_line(name) in out
    code, out, err = gest("compare", "other", str(honest), "--json")
    assert code == 0
    assert json.loads(out)["differences"][0]["baseline"] == name
    harmless(out)


@pytest.mark.parametrize("name", RECEIVED)
def test_report(gest: Gest, honest: Path, tmp_path: Path, name: str) -> None:
    received(honest, tmp_path / "other", name)
    code, out, err = gest("report", str(honest), "other", "--output", "all.html", "--figures", "figures")
    assert code == 0, err
    harmless(out, err, (tmp_path / "all.html").read_text(encoding="utf-8"))
    figures = list((tmp_path / "figures").iterdir())
    assert {path.suffix for path in figures} == {".svg", ".png", ".csv"}
    for path in figures:
        if path.suffix == ".svg":
            XML.parse(path)
        if path.suffix == ".csv":
            harmless(path.read_text(encoding="utf-8"))
            with path.open(encoding="utf-8", newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert any(one_line(name).rpartition("/")[2] in cell for cell in cells)
            assert not [cell for cell in cells if cell[:1] in "=+@" and cell[:1]]


def test_half_of_a_letter_is_no_name(gest: Gest, honest: Path, tmp_path: Path) -> None:
    received(honest, tmp_path / "other", HALF)
    for command in ("report", "compare"):
        code, out, err = gest(command, str(honest), "other")
        assert code == 1
        assert "it contains half of a surrogate pair" in err
        harmless(out, err)


@pytest.mark.parametrize("name", [FORMULA, ESCAPING])
def test_other_entries_of_a_run(gest: Gest, honest: Path, tmp_path: Path, name: str) -> None:
    received(honest, tmp_path / "other", "m", config=name, language=name, finished=name, started=name)
    code, out, err = gest("report", "other")
    assert code == 0, err
    harmless(out, err, (tmp_path / "other" / "report.html").read_text(encoding="utf-8"))
    code, out, err = gest("compare", str(honest), "other")
    assert code == 2
    harmless(out, err)
    assert printable(name) in err


@pytest.mark.parametrize("name", [MARKED, CRASHING, "esc\x1b[2J\x07end", TURNED, FORMULA, "two\nlines"])
def test_score(gest: Gest, honest: Path, tmp_path: Path, name: str) -> None:
    model = name.replace("/", "_")
    shutil.copytree(zoo.directory("bert"), tmp_path / model)  # made for the honest run
    arguments = ("score", f"./{model}", "--config", "en,sk_pairs", "--limit", "20", "--output", "run")
    code, out, err = gest(*arguments, "--device", "cpu", "--templates", "1", "--verbose")
    assert code == 0, err
    harmless(out, err, *(path.read_text() for path in (tmp_path / "run").rglob("*.json")))
    harmless((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert one_line(model) in out
    run = reading.read_run(tmp_path / "run" / "en")
    assert run.manifest.subject.endswith(model)
    assert read_table(tmp_path / "run" / "en" / "scores.parquet").num_rows == 20
    code, out, _ = gest(*arguments, "--device", "cpu", "--templates", "1", "--json")
    assert json.loads(out)["runs"][0]["metadata"]["model"].endswith(model)
    harmless(out)


def test_what_is_logged(gest: Gest, honest: Path, tmp_path: Path) -> None:
    received(honest, tmp_path / "runs" / "a\x1b[2J", "m", status="running")
    received(honest, tmp_path / "runs" / "b", "m")
    code, out, err = gest("report", "runs")
    assert code == 0, err
    assert "is left out: the run is not finished" in err
    harmless(out, err)


def test_list(gest: Gest) -> None:
    """All names are our own; what is asked for beside them is not."""
    harmless(*gest("list")[1:], *gest("build", f"--config=en{ESCAPING}{MARKED}", "--output", "data")[1:])
    _, _, err = gest("build", f"--config=en{MARKED}", "--output", "data")
    assert f"en{MARKED}" in err


CONLLU = """\
# text = {text}
1\tBola\tbyť\tAUX\tVLesFS\tGender=Fem|Number=Sing|Tense=Past|VerbForm=Part\t3\tcop\t_\t_
2\tsom\tbyť\tAUX\tVKesa+\tMood=Ind|Number=Sing|Person=1|Tense=Pres|VerbForm=Fin\t3\taux\t_\t_
3\t{word}\tunavený\tADJ\tGtfs1x\tCase=Nom|Gender=Fem|Number=Sing|VerbForm=Part\t0\troot\t_\t_

"""


def test_detect_gender(gest: Gest) -> None:
    words = ["\x1b[31munavená[/red]", "una\u202evená", "[bold]unavená[/bold]"]
    texts = [f"Bola som {word}" for word in words]
    parses = [CONLLU.format(text=text, word=word) for text, word in zip(texts, words, strict=True)]
    Path("parsed.conllu").write_text("".join(parses), encoding="utf-8")
    Path("in.txt").write_text("\n".join(texts), encoding="utf-8")
    given = ("detect-gender", "in.txt", "--language", "sk", "--parser", "conllu")
    given = (*given, "--parser-model", "parsed.conllu")
    code, out, err = gest(*given)
    assert code == 0, err
    harmless(out, err)
    assert "\\u001b[31m" in out
    assert "\\u202e" in out
    assert "[bold]" in out
    code, out, err = gest(*given, "--json")
    harmless(out, err)
    assert [json.loads(line)["text"] for line in out.splitlines()] == texts
    code, out, err = gest(*given, "--output", "-")
    assert [json.loads(line)["text"] for line in out.splitlines()] == texts, "a program gets what it is"
    code, out, err = gest("detect-gender", "--text", texts[0], *given[2:])
    harmless(out, err)
