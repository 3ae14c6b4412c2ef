"""`gest add-language`, and every command of docs/add-a-language.md, against a small Hub."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gest_dataset.builders.pairs import differing_word
from gest_dataset.custom.eurogest import HALF
from gest_dataset.translation.sentences import gest_sentences
from tests.commands.conftest import Gest
from tests.conftest import ROOT
from tests.custom.test_eurogest import TABLES, as_csv
from tests.support import zoo
from tests.support.hub import running
from tests.support.new_language import translations_file, variants_file, write_csv

PAGE = ROOT / "docs" / "add-a-language.md"
PARSES = ROOT / "tests" / "gender" / "parses" / "sk.conllu"
SENTENCE = "I was sure of myself on the stage."


@pytest.fixture
def hindi(mirror: Path, tmp_path: Path) -> tuple[str, ...]:
    """The arguments that add it."""
    translations = translations_file(tmp_path / "hi.csv", "hi")
    variants = variants_file(tmp_path / "hi_variants.csv", "hi")
    return ("add-language", "hi", "--translations", str(translations), "--variants", str(variants))


def test_output(gest: Gest, home: Path, hindi: tuple[str, ...], tmp_path: Path) -> None:
    with (tmp_path / "hi.csv").open("a", encoding="utf-8") as file:
        file.write("no such sentence,मैं\nI slept in the forest without a tent.,मैं थका हूँ\n")
    done = gest(*hindi)
    assert done.returncode == 0, done.stderr
    for text in (
        "hi.csv: 36 rows, 34 accepted\n",
        "1 rejected: not a sentence of GEST (first: row 35)",
        "1 rejected: a duplicate (first: row 36)",
        "hi_variants.csv: 34 rows, 34 accepted\n",
        "34 of 34 sentences of GEST are translated (100%).",
        'hi_pairs: load_dataset("gest", "hi_pairs")',
    ):
        assert text in done.stdout
    (path,) = re.findall(r"Rejected rows: (.*)", done.stderr)
    with Path(path).open(encoding="utf-8", newline="") as file:
        assert [(row["row"], row["source"]) for row in csv.DictReader(file)] == [
            ("35", "no such sentence"),
            ("36", "I slept in the forest without a tent."),
        ]
    listed = json.loads(gest("list", "--json").stdout)
    assert listed["groups"]["added"] == ["hi_pairs", "hi_translations"]
    assert gest(*hindi).returncode == 0, "adding the same again"
    assert gest("build", "--config", "added", "--output", "x").returncode == 0
    card = (tmp_path / "x" / "README.md").read_text(encoding="utf-8")
    assert "## GEST in Hindi" in card
    assert "| 1 Emotional and irrational (female) | 2 | 2 |" in card
    assert gest("add-language", "hi", "--remove").stdout == "Removed: hi_translations, hi_pairs\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Pass the CODE of a language, or --eurogest"),
        (("xx",), 2, "'xx' is not a language code"),
        (("hi",), 2, "Pass a file of translations, of variants, or both."),
        (("hi", "--translations", "lost.csv"), 2, "There is no file lost.csv"),
        (("hi", "--translations", "a.csv", "--map", "Satz"), 2, "--map Satz: use COLUMN=FIELD"),
        (("hi", "--translations", "a.csv"), 2, "Use --map COLUMN=translation."),
        (("hi", "--translations", "a.csv", "--report", "a.csv"), 2, "is an input and would be overwritten"),
        (("hi", "--translations", "a.csv", "--script", "Klingon"), 2, "is not a script of ISO 15924"),
        (("hi", "--remove"), 2, "No data was added for 'hi'"),
        (("hi", "--remove", "--variants", "a.csv"), 2, "--remove cannot be combined"),
        (("xx", "--eurogest", "--data", "."), 2, "EuroGEST has no language 'xx'"),
    ],
)
def test_errors(
    arguments: tuple[str, ...], code: int, message: str, gest: Gest, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("Satz,Hindi\na,b\n")
    done = gest("add-language", *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert not home.exists()


def test_bidirectional_controls_are_escaped(gest: Gest, home: Path, tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", ["جملة\u202e", "to"], [(SENTENCE, "أنا متعب")])
    done = gest("add-language", "ar", "--translations", "a.csv")
    assert "only جملة\\u202e, to." in done.stderr
    done = gest("add-language", "ar", "--translations", "a.csv", "--map", "جملة\u202e=source")
    assert done.returncode == 0
    assert "\u202e" not in done.stdout + done.stderr


def test_eurogest(gest: Gest, home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "EuroGEST"
    copy.mkdir()
    for name, rows in TABLES.items():
        (copy / f"{name}.csv").write_bytes(as_csv(rows))
    done = gest("add-language", "--eurogest", "--data", str(copy))
    assert done.returncode == 0, done.stderr
    assert "sk: eurogest_sk_pairs 1, eurogest_sk_neutral 2" in done.stdout
    assert "hu: nothing" in done.stdout
    assert "hu: no neutral config." in done.stderr
    assert f"left out, {HALF}: 2" in done.stderr
    assert "eurogest_da_neutral" in gest("list").stdout


# ---- the page docs/add-a-language.md ---------------------------------------------------------------


def blocks(title: str) -> list[str]:
    """The commands of a section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    section = next(part for part in text.split("\n## ") if part.startswith(title))
    return [
        line.strip()
        for block in re.findall(r"```bash\n(.*?)```", section, re.DOTALL)
        for line in block.strip().splitlines()
    ]


Shell = Callable[..., str]


@pytest.fixture
def shell(tmp_path: Path, script_environment: Mapping[str, str], mirror: Path) -> Shell:
    """Runs a line of the page as a user's shell does, in a folder with the user's files."""
    folder = tmp_path / "work"
    folder.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(line: str, **environment: str) -> str:
        done = subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env={**script_environment, "PATH": path, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.mark.slow
def test_from_two_files_to_another_machine(shell: Shell, tmp_path: Path) -> None:
    """The page's first half: under ten commands, the last one without anything of ours."""
    lines = [*blocks("What you bring"), *blocks("Step by step")]
    assert len(lines) == 7
    *before, elsewhere = lines
    folder = tmp_path / "work"
    translations_file(folder / "hi.csv", "hi")
    variants_file(folder / "hi_variants.csv", "hi")
    with running(tmp_path) as hub:
        hub.add_account("your-name", "hf_token_of_yours")
        files = {file.name: file.read_bytes() for file in zoo.directory("qwen2").iterdir()}
        hub.add("model", "Qwen/Qwen2.5-0.5B", files)
        at = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_token_of_yours", "HF_HUB_DISABLE_XET": "1"}
        shown = {line: shell(line, **at) for line in before}
        assert (folder / "english.csv").read_text(encoding="utf-8").count("gest-") == len(gest_sentences())
        assert "hi_pairs" in shown["gest list"]
        assert (folder / "hi-run" / "report.html").exists()
        pushed = hub.repositories["dataset", "your-name/gest"]
        titles = [commit.title for commit in pushed.history()]
        assert len([title for title in titles if "hi_" in title or "Push" in title]) == 1, titles
        other = {**at, "HF_HOME": str(tmp_path / "other"), "GEST_MIRROR": ""}
        loaded = shell(elsewhere, **other)
        assert f"num_rows: {len(gest_sentences())}" in loaded
        card = shell(
            'python -c "from huggingface_hub import DatasetCard; '
            "print(DatasetCard.load('your-name/gest').text)\"",
            **other,
        )
        assert "## GEST in Hindi" in card


@pytest.mark.slow
def test_the_other_commands_of_the_page(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    hindi = "मैं थका हूँ"
    write_csv(folder / "other.csv", ["English", "Hindi"], [(SENTENCE, hindi)])
    bulgarian = [(SENTENCE, "Бях сигурен.", "Бях сигурна.")]
    write_csv(folder / "bg_variants.csv", ["source", "male", "female"], bulgarian)
    texts = [json.loads(line) for line in (ROOT / "tests/gender/sk.jsonl").read_text("utf-8").splitlines()]
    men, women = ([row["text"] for row in texts if row["gender"] == one] for one in ("male", "female"))
    couples = [(m, f) for m in men for f in women if not isinstance(differing_word(m, f), str)]
    sources = [sentence.text for sentence in gest_sentences()][2 : 2 + len(couples)]
    rows = [(source, *couple) for source, couple in zip(sources, couples, strict=True)]
    write_csv(folder / "szl.csv", ["source", "masculine", "feminine"], rows)
    (folder / "szl.conllu").write_bytes(PARSES.read_bytes())
    lines = [line for title in ("Other files", "Rules", "Where it is stored") for line in blocks(title)]
    assert len(lines) == 6
    shown = {line: shell(line) for line in lines}
    assert sum("confirm the genders of both variants" in text for text in shown.values()) == 1
    assert shown["gest add-language hi --remove"] == "Removed: hi_translations\n"


def test_every_command_of_the_page_is_run_above() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tested = ("What you bring", "Step by step", "Other files", "Rules", "Where it is stored")
    run = [line for title in tested for line in blocks(title)]
    every = [
        line.strip()
        for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        for line in block.strip().splitlines()
    ]
    assert run == every
