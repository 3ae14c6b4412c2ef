"""`gest detect-gender`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.commands.conftest import Gest
from tests.conftest import ROOT

PARSES = ROOT / "tests" / "mirror_sk.conllu"
SLOVAK = ("--language", "sk", "--parser", "conllu", "--parser-model", str(PARSES))
TEXTS = [
    "V červenom kabáte som vyzerala krásne.",
    "Smejem sa na vlastných vtipoch.",
    "I am tired and I want the rest.",
]


def write_table(path: Path, texts: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("from", "to"), *(("x", text) for text in texts)])
    return path


def test_detect_gender(gest: Gest, tmp_path: Path) -> None:
    """A sentence, or files of lines and tables, with the same result."""
    shown = gest("detect-gender", "--text", TEXTS[0], *SLOVAK)
    assert shown.stdout == "V červenom kabáte som [vyzerala] krásne.  (female: past-auxiliary)\n"
    assert "1 female" in shown.stderr
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "table.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    write_table(tmp_path / "table.csv", TEXTS)
    outputs = []
    for arguments in (("lines.txt",), ("table.jsonl",), ("table.csv", "--column", "to")):
        done = gest("detect-gender", *arguments, *SLOVAK, "--json")
        assert done.returncode == 0, done.stderr
        assert "1 x not translated: English" in done.stderr
        outputs.append(done.stdout)
    assert outputs == outputs[:1] * 3
    found = [json.loads(line) for line in outputs[0].splitlines()]
    assert [entry["row"] for entry in found] == [1, 2, 3]
    assert [entry["text"] for entry in found] == TEXTS
    assert [entry["gender"] for entry in found] == ["female", "unknown", "unknown"]
    assert found[0]["evidence"] == ["vyzerala"]
    assert found[2]["problem"] == "not translated: English"
    written = gest("detect-gender", "lines.txt", *SLOVAK, "--output", "out/genders.jsonl")
    assert written.stdout == ""
    assert (tmp_path / "out" / "genders.jsonl").read_text(encoding="utf-8") == outputs[0]


def test_wrong_input(gest: Gest, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Bola som unavená.".encode("latin-1"))
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "cs.udpipe").write_bytes(b"")
    before = write_table(tmp_path / "table.csv", TEXTS).read_bytes()
    for arguments, code, message in (
        ((), 2, "Give either a file of sentences or --text"),
        (("x.txt", "--text", "x"), 2, "Give either a file of sentences or --text"),
        (("no.txt",), 2, "no.txt"),
        (("latin.txt",), 1, "latin.txt, line 1:"),
        (("empty.txt",), 1, "has no sentence"),
        (("table.csv",), 2, "--column is missing; its columns are from, to"),
        (("table.csv", "--column", "text"), 2, "'text'"),
        (("table.csv", "--column", "to", "--output", "./table.csv"), 2, "table.csv is an input"),
        (("table.csv", "--column", "to", "--output", "."), 2, "is a folder"),
        (("--text", "x", "--language", "de"), 2, "There are no gender rules for 'de'"),
        (("--text", "x", "--language", "sk", "--endpoint", "http://x"), 2, "--endpoint needs --parser llm."),
        (("--text", "x", "--parser-model", "cs.udpipe"), 2, "cs.udpipe looks like a Czech model"),
    ):
        done = gest("detect-gender", *SLOVAK, *arguments)
        assert done.returncode == code, done.stderr
        assert message in done.stderr
    assert (tmp_path / "table.csv").read_bytes() == before
