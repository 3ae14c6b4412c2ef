"""Hostile names and texts are printed literally: no control characters, markup, HTML or formulas."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import pytest

import gest_dataset
from gest_dataset.commands import console
from gest_dataset.display import csv_cell, one_line, printable
from gest_dataset.report import page
from tests.commands.conftest import Gest
from tests.support import zoo
from tests.support.report_runs import small_world

# Markup of rich, control characters, bidirectional overrides, emoji codes, HTML, line ends
HOSTILE = "m[red]y[/red]x esc\x1b[2J\x9b31m\x07\x00 a\u202eb\u2066c :smile: <b>&'\" two\nerror: lines\r"
FORMULA = "=HYPERLINK(1)"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def assert_harmless(*texts: str) -> None:
    for text in texts:
        assert not _CONTROL.search(text), ascii(text)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch, gest: Gest) -> Gest:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr(page, "COLUMNS", page.COLUMNS[:1])  # figures of both widths have the same names
    return gest


@pytest.fixture(scope="module")
def honest_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "run"
    with small_world():
        gest_dataset.score(str(zoo.directory("bert")), "en", device="cpu", output=path, templates=[1, 2])
    return path


def forged_run(honest: Path, path: Path, name: str, **entries: Any) -> Path:
    """A copy of a run in which every name is `name`."""
    shutil.copytree(honest, path)
    manifest = json.loads((path / "run.json").read_text())
    metadata = manifest["metadata"] | {"model": name, "notes": [name], "skipped": {name: 3}, "kind": name}
    manifest |= {
        "model": name,
        "signature": name,
        "command": ["gest", name],
        "metadata": metadata,
        **entries,
    }
    result = json.loads((path / "result.json").read_text()) | {"signature": name}
    (path / "result.json").write_text(json.dumps(result))
    manifest["files"]["result.json"] = hashlib.sha256((path / "result.json").read_bytes()).hexdigest()
    (path / "run.json").write_text(json.dumps(manifest))
    return path


def test_escapes_of_control_characters() -> None:
    assert printable("esc\x1b[2J\x9b\udc80") == "esc\\u001b[2J\\u009b\\udc80"
    assert one_line("two\nlines\r") == "two\\u000alines\\u000d"
    assert printable("a\n\tb – žluťoučký שלום 👩\u200d🔬") == "a\n\tb – žluťoučký שלום 👩\u200d🔬"
    for code in range(0x10000):
        root = XML.Element("a")
        root.text = printable(chr(code))
        assert XML.fromstring(XML.tostring(root, encoding="utf-8")).text == root.text
        assert json.loads(printable(json.dumps(chr(code), ensure_ascii=False))) == chr(code)


@pytest.mark.parametrize("text", ["=1+1", "+1 is it", "-cmd", "@sum", "=", "\t=1", "\n=1"])
def test_formulas_get_an_apostrophe(text: str) -> None:
    assert csv_cell(text) == f"'{text}"
    for value in ("-0.5", "+1e3", "-inf", -0.5, 3, "a=1", "", "−0.5"):
        assert csv_cell(value) == value


def test_console(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.out, "_width", 300)
    console.out.print(HOSTILE)
    console.show_table(HOSTILE, (HOSTILE, "value"), [(one_line(HOSTILE), HOSTILE)])
    output = capsys.readouterr().out
    assert_harmless(output)
    assert printable(HOSTILE) in output
    console.show_json({"name": HOSTILE})
    assert json.loads(capsys.readouterr().out) == {"name": HOSTILE}


def test_compare_and_report(wide: Gest, honest_run: Path, tmp_path: Path) -> None:
    names = (HOSTILE, FORMULA)
    runs = [str(forged_run(honest_run, tmp_path / f"run{i}", name)) for i, name in enumerate(names)]
    done = wide("compare", *runs)
    assert done.returncode == 0, done.stderr
    assert_harmless(done.stdout, done.stderr)
    content = json.loads(wide("compare", *runs, "--json").stdout)["differences"][0]
    assert (content["baseline"], content["run"]) == names
    figures = ("--figures", "figures")
    done = wide("report", *runs, "--output", "all.html", *figures)
    assert done.returncode == 0, done.stderr
    assert_harmless(done.stdout, done.stderr, (tmp_path / "all.html").read_text(encoding="utf-8"))
    for path in (tmp_path / "figures").rglob("*.svg"):
        XML.parse(path)
    for path in (tmp_path / "figures").rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert_harmless(*cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_other_entries_of_a_run(wide: Gest, honest_run: Path, tmp_path: Path) -> None:
    entries = dict.fromkeys(("config", "language", "finished", "started"), HOSTILE)
    forged_run(honest_run, tmp_path / "runs" / "a\x1b[2J", "m", **entries)
    done = wide("report", "runs", "--output", "all.html")
    assert done.returncode == 0, done.stderr
    assert_harmless(done.stdout, done.stderr, (tmp_path / "all.html").read_text(encoding="utf-8"))
    forged_run(honest_run, tmp_path / "other", "half\udc80")
    done = wide("report", "other")
    assert done.returncode == 1
    assert "surrogates not allowed" in done.stderr


def test_score(wide: Gest, tmp_path: Path) -> None:
    model = HOSTILE.replace("/", "_").replace("\x00", "")
    shutil.copytree(zoo.directory("bert"), tmp_path / model)
    arguments = ("score", f"./{model}", "--config", "en,sk_pairs", "--limit", "20", "--output", "run")
    done = wide(*arguments, "--device", "cpu", "--templates", "1", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "error: lines\n" not in done.stdout
    assert wide("report", "run").returncode == 0
    assert_harmless(done.stdout, done.stderr, (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert_harmless(*(path.read_text() for path in (tmp_path / "run").rglob("*.json")))


def test_detect_gender(wide: Gest) -> None:
    text = "Bola som \x1b[31mune\u202evená[/red]"
    tags = "VERB\t_\tGender=Fem|Number=Sing|Tense=Past|VerbForm=Part"
    heads = ("0\troot", "1\taux", "1\tobj")
    lines = [
        f"{i}\t{token}\t{token}\t{tags}\t{head}\t_\t_"
        for i, (token, head) in enumerate(zip(text.split(), heads, strict=True), 1)
    ]
    Path("parsed.conllu").write_text("\n".join([f"# text = {text}", *lines, "", ""]), encoding="utf-8")
    arguments = ("--text", text, "--language", "sk", "--parser", "conllu", "--parser-model", "parsed.conllu")
    for options in ((), ("--json",)):
        done = wide("detect-gender", *arguments, *options)
        assert done.returncode == 0, done.stderr
        assert_harmless(done.stdout, done.stderr)
    assert json.loads(done.stdout)["text"] == text
