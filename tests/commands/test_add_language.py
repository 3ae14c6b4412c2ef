"""`gest add-language`, and the page that says how: every command on it, in its order, against a small Hub."""

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

from gest_dataset import cli
from gest_dataset.builders.pairs import differing_word
from gest_dataset.translation.samples import sentences
from tests.conftest import ROOT
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


Main = Callable[..., tuple[int, str, str]]


@pytest.fixture
def main(
    home: Path,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Main:
    """A command in this process: its exit code, what it prints, and what it says besides."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return run


def test_what_is_printed(main: Main, hindi: tuple[str, ...], tmp_path: Path) -> None:
    with (tmp_path / "hi.csv").open("a", encoding="utf-8") as file:
        file.write("no such sentence,मैं\nI slept in the forest without a tent.,मैं थका हूँ\n")
    code, printed, told = main(*hindi)
    assert code == 0, told
    shown = " ".join(re.sub("[─\\s]+", " ", printed).split())
    for said in (
        "hi.csv: Hindi (hi) rows number first row read 36 left out: not a sentence of GEST 1 35",
        "left out: another one of the same sentence and system 1 36 kept 34",
        "hi_variants.csv: Hindi (hi) rows number first row read 34 kept 34",
        "all 34 34 34 ",
        "34 of 34 sentences of GEST are translated (100%).",
        'hi_pairs: load_dataset("gest", "hi_pairs")',
    ):
        assert said in shown
    (path,) = re.findall(r"with reasons: (.*)", told)
    with Path(path).open(encoding="utf-8", newline="") as file:
        assert [(row["row"], row["source"]) for row in csv.DictReader(file)] == [
            ("35", "no such sentence"),
            ("36", "I slept in the forest without a tent."),
        ]
    listed = json.loads(main("list", "--json")[1])
    assert listed["groups"]["added"] == ["hi_pairs", "hi_translations"]
    assert main(*hindi)[0] == 0, "the same once more changes nothing"
    code, _, told = main("build", "--config", "hi_pair", "--output", "x")
    assert code == 2
    assert "Did you mean 'hi_pairs'?" in told
    assert main("build", "--config", "added", "--output", "x")[0] == 0
    card = (tmp_path / "x" / "README.md").read_text(encoding="utf-8")
    assert "## GEST in Hindi" in card
    assert "| 1 Emotional and irrational (female) | 2 | 2 |" in card
    assert main("add-language", "hi", "--remove")[1] == "Removed: hi_translations, hi_pairs\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("xx",), 2, "'xx' is no code of a language"),
        (("hi",), 2, "Give a file of translations, of variants, or both."),
        (("hi", "--translations", "lost.csv"), 2, "There is no file lost.csv"),
        (("hi", "--translations", "a.csv", "--map", "Satz"), 2, "--map Satz: give COLUMN=FIELD"),
        (("hi", "--translations", "a.csv", "--map", "Satz=text"), 2, "FIELD is one of source, id"),
        (("hi", "--translations", "a.csv"), 2, "Say which it is with --map COLUMN=translation."),
        (("hi", "--translations", "a.csv", "--report", "a.csv"), 2, "is an input and would be overwritten"),
        (("hi", "--translations", "empty.csv"), 1, "is empty: it names no columns"),
        (("hi", "--translations", "a.csv", "--script", "Klingon"), 2, "is no script of Unicode"),
        (("hi", "--remove"), 2, "Nothing of a language 'hi' was added"),
        (("hi", "--remove", "--variants", "a.csv"), 2, "--remove takes away what there is"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], code: int, said: str, main: Main, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("Satz,Hindi\na,b\n")
    (tmp_path / "empty.csv").touch()
    ended, _, told = main("add-language", *arguments)
    assert ended == code
    assert said in told
    assert not home.exists()


def test_texts_from_right_to_left_stay_harmless(main: Main, tmp_path: Path) -> None:
    """A column that turns the line round is shown as an escape, and Arabic letters as they are."""
    write_csv(tmp_path / "a.csv", ["جملة\u202e", "to"], [(SENTENCE, "أنا متعب")])
    _, _, told = main("add-language", "ar", "--translations", "a.csv")
    assert "there are جملة\\u202e, to." in told
    code, *shown = main("add-language", "ar", "--translations", "a.csv", "--map", "جملة\u202e=source")
    assert code == 0
    assert not any("\u202e" in text for text in (told, *shown))


# ---- the page ----------------------------------------------------------------------------------------------


def blocks(title: str) -> list[str]:
    """The commands of a section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    section = next(part for part in text.split("\n## ") if part.startswith(title))
    return [
        line for block in re.findall(r"```bash\n(.*?)```", section, re.DOTALL) for line in block.splitlines()
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


def test_from_two_files_to_another_machine(shell: Shell, tmp_path: Path) -> None:
    """The page's first half: under ten commands, the last one without anything of ours."""
    lines = [*blocks("What you bring"), *blocks("Seven commands")]
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
        assert (folder / "english.csv").read_text(encoding="utf-8").count("gest-") == len(sentences())
        assert "hi_pairs" in shown["gest list"]
        assert (folder / "hi-run" / "report.html").exists()
        pushed = hub.repositories["dataset", "your-name/gest"]
        titles = [commit.title for commit in pushed.history()]
        assert len([title for title in titles if "hi_" in title or "Push" in title]) == 1, titles
        other = {**at, "HF_HOME": str(tmp_path / "other"), "GEST_MIRROR": ""}
        loaded = shell(elsewhere, **other)
        assert f"num_rows: {len(sentences())}" in loaded
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
    sources = [sentence.text for sentence in sentences()][2 : 2 + len(couples)]
    rows = [(source, *couple) for source, couple in zip(sources, couples, strict=True)]
    write_csv(folder / "szl.csv", ["source", "masculine", "feminine"], rows)
    (folder / "szl.conllu").write_bytes(PARSES.read_bytes())
    lines = [line for title in ("Other files", "Rules", "Where it is kept") for line in blocks(title)]
    assert len(lines) == 6
    shown = {line: shell(line) for line in lines}
    assert sum("both variants have their genders in" in text for text in shown.values()) == 1
    assert shown["gest add-language hi --remove"] == "Removed: hi_translations\n"


def test_every_command_of_the_page_is_run_above() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tested = ("What you bring", "Seven commands", "Other files", "Rules", "Where it is kept")
    run = [line for title in tested for line in blocks(title)]
    every = [
        line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]
    assert run == every
