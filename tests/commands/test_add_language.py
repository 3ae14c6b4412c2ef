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

from gest_dataset.custom.eurogest import HALF
from gest_dataset.translation.sentences import gest_sentences
from tests.commands.conftest import Gest
from tests.conftest import ROOT
from tests.custom.test_eurogest import TABLES, as_csv
from tests.support import zoo
from tests.support.hub import running
from tests.support.new_language import translations_file, variants_file, write_csv

PAGE = ROOT / "docs" / "add-a-language.md"
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
        "rejected: 1 x not a sentence of GEST\n",
        "rejected: 1 x a duplicate\n",
        "hi_variants.csv: 34 rows, 34 accepted\n",
        'hi_pairs: 34 rows; import gest_dataset, then load_dataset("gest", "hi_pairs")',
        "hi_translations: 34 rows; import",
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
    assert "The licence of your files is recorded as unknown." in done.stderr
    assert gest("build", "--config", "added", "--output", "x").returncode == 0
    card = (tmp_path / "x" / "README.md").read_text(encoding="utf-8")
    assert "## GEST in Hindi" in card
    assert "license:\n- unknown\n" in card
    (line,) = (line for line in card.splitlines() if line.startswith("| GEST in Hindi"))
    assert line.count("unknown") == 2, line
    for origin in ("kinit-sk", "Apache-2.0", "apache-2.0"):
        assert origin not in line
    own = ("--licence", "CC-BY-4.0", "--source", "https://example.org/hi", "--replace")
    assert "is recorded as unknown" not in gest(*hindi, *own).stderr
    assert gest("build", "--config", "added", "--output", "x").returncode == 0
    card = (tmp_path / "x" / "README.md").read_text(encoding="utf-8")
    assert "(https://example.org/hi)" in card
    assert "cc-by-4.0" in card.partition("configs:")[0]
    assert gest("add-language", "hi", "--remove").stdout == "Removed: hi_translations, hi_pairs\n"


def test_few_rows(gest: Gest, home: Path, tmp_path: Path) -> None:
    """What is missing is reported, and no list of rejected rows if there is none."""
    masculine, feminine = "मैं थक गया था", "मैं थक गई थी"
    columns = ["source", "masculine", "feminine"]
    one, other = (
        "I liked to decide quickly.",
        SENTENCE,
    )  # GEST has the first one for two stereotypes, 9 and 13
    write_csv(tmp_path / "a.csv", columns, [(one, masculine, feminine)])
    done = gest("add-language", "hi", "--variants", "a.csv", "--max-words", "2")
    assert "a.csv: 1 rows, 1 accepted\n" in done.stdout
    assert "hi_pairs: 2 rows (two for a sentence that occurs twice in GEST); import" in done.stdout
    missing = "1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16."
    assert f"g_s will be undefined: there is no pair for stereotype {missing}" in " ".join(
        done.stderr.split()
    )
    assert "Rejected rows" not in done.stderr
    write_csv(tmp_path / "a.csv", columns, [(one, masculine, feminine), (other, "मैं गया", "मैं गई")])
    done = gest("add-language", "hi", "--variants", "a.csv", "--replace")
    assert "  rejected: 1 x more than one word differs\n" in done.stdout
    assert "If several words show the gender, use --max-words." in done.stderr
    assert "Rejected rows" in done.stderr
    systems = [(other, "मैं गया", "मैं गई", system) for system in ("a", "b")]
    write_csv(tmp_path / "a.csv", [*columns, "system"], systems)
    done = gest("add-language", "hi", "--variants", "a.csv", "--replace")
    assert "a.csv: 2 rows, 2 accepted\n  1 x merged with the same pair\n" in done.stdout
    assert "Rejected rows" not in done.stderr


def test_errors(gest: Gest, home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Satz,Hindi\na,b\n")
    file = ("hi", "--translations", "a.csv")
    for arguments, message in (
        ((), "Pass the CODE of a language, or --eurogest"),
        (("xx",), "'xx' is not a language code"),
        (("hi",), "Pass a file of translations, of variants, or both."),
        (("hi", "--translations", "lost.csv"), "There is no file lost.csv"),
        ((*file, "--map", "Satz"), "'Satz' is not a field. Use --map COLUMN=FIELD"),
        (file, "Use --map COLUMN=translation."),
        ((*file, "--report", "a.csv"), "is an input and would be overwritten"),
        ((*file, "--script", "Klingon"), "is not an ISO 15924 script"),
        (("hi", "--remove"), "No data was added for 'hi'"),
        (("hi", "--remove", "--variants", "a.csv"), "--remove cannot be combined"),
        (("xx", "--eurogest", "--data", "nowhere"), "There is no file or folder nowhere"),
    ):
        done = gest("add-language", *arguments)
        assert done.returncode == 2
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
    assert f"Left out: 2 x {HALF}" in done.stderr
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
    lines = [*blocks("What you need"), *blocks("Step by step")]
    assert len(lines) == 7
    *before, elsewhere = lines
    folder = tmp_path / "work"
    translations_file(folder / "lt.csv", "lt")
    variants_file(folder / "lt_variants.csv", "lt")
    with running() as hub:
        hub.add_account("your-name", "hf_token_of_yours")
        files = {file.name: file.read_bytes() for file in zoo.directory("qwen2").iterdir()}
        hub.add("model", "Qwen/Qwen2.5-0.5B", files)
        at = {"HF_ENDPOINT": hub.url, "HF_TOKEN": "hf_token_of_yours", "HF_HUB_DISABLE_XET": "1"}
        shown = {line: shell(line, **at) for line in before}
        assert (folder / "english.csv").read_text(encoding="utf-8").count("gest-") == len(gest_sentences())
        assert "lt_pairs" in shown["gest list"]
        assert (folder / "lt-run" / "report.html").exists()
        pushed = hub.repositories["dataset", "your-name/gest"]
        titles = [commit.title for commit in pushed.history()]
        assert len([title for title in titles if "lt_" in title or "Push" in title]) == 1, titles
        other = {**at, "HF_HOME": str(tmp_path / "other"), "GEST_MIRROR": ""}
        loaded = shell(elsewhere, **other)
        assert f"num_rows: {len(gest_sentences())}" in loaded
        card = shell(
            'python -c "from huggingface_hub import DatasetCard; '
            "print(DatasetCard.load('your-name/gest').text)\"",
            **other,
        )
        assert "## GEST in Lithuanian" in card
