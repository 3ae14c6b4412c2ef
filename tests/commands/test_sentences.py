"""`gest sentences`: the English sentences as text or CSV, to a file or another program."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from datasets import load_dataset

from gest_dataset.builders.gest import RELEASES
from tests.commands.conftest import Gest
from tests.conftest import Edit


@pytest.mark.parametrize("config", ["en", "en_1_0"])
def test_one_sentence_a_line(gest: Gest, mirror: Path, config: str) -> None:
    shown = gest("sentences", "--config", config)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines() == load_dataset("gest", config, split="test")["sentence"][:]
    assert gest("sentences", "--config", config, "--output", "-", "--format", "txt").stdout == shown.stdout


def test_the_default_is_the_newest_release(gest: Gest) -> None:
    assert gest("sentences").stdout == gest("sentences", "--config", "en").stdout


def test_csv(gest: Gest, mirror: Path) -> None:
    shown = gest("sentences", "--format", "csv").stdout
    rows = load_dataset("gest", "en", split="test").to_list()
    assert list(csv.DictReader(io.StringIO(shown))) == [
        {"id": row["id"], "sentence": row["sentence"], "stereotype": str(row["stereotype"])} for row in rows
    ]


def test_a_file_is_as_it_is_called(gest: Gest, tmp_path: Path) -> None:
    done = gest("sentences", "--output", "en.txt")
    assert (done.returncode, done.stdout) == (0, "")
    lines = (tmp_path / "en.txt").read_text(encoding="utf-8")
    assert lines == gest("sentences").stdout
    assert f"en.txt: {len(lines.splitlines())} sentences" in done.stderr
    assert gest("sentences", "--output", "EN.CSV").returncode == 0
    assert (tmp_path / "EN.CSV").read_text(encoding="utf-8") == gest("sentences", "--format", "csv").stdout
    assert gest("sentences", "--output", "x.csv", "--format", "txt").returncode == 0
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == lines


def test_letters_that_the_locale_lacks_are_kept(
    script_environment: Mapping[str, str], edited: Edit, tmp_path: Path
) -> None:
    """Another program reads them: a question mark in their place would be lost data."""
    sentence = "I paid 5 € – at the café."

    def change(content: bytes) -> bytes:
        header, first, *rest = content.decode().splitlines(keepends=True)
        return "".join([header, f"{sentence},{first.rsplit(',', 1)[1]}", *rest]).encode()

    key = RELEASES["en"]
    mirror = edited(key, change).parents[len(Path(key).parts) - 1]
    (table,) = (path for path in mirror.glob("*.json") if path.name != "MANIFEST.json")
    environment = {
        **script_environment,
        "GEST_MIRROR": str(mirror),
        "GEST_SOURCES": str(table),
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
    }
    for arguments in ((), ("--format", "csv")):
        shown = subprocess.run(
            [sys.executable, "-m", "gest_dataset", "sentences", *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
        )
        assert shown.returncode == 0, shown.stderr
        assert sentence in shown.stdout.decode("utf-8")
        assert b"\r" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--config", "sk_pairs"), 2, "has no English sentences. Use one of en, en_1_0"),
        (("--config", "en,en_1_0"), 2, "names several configs"),
        (("--config", "en_1"), 2, "Did you mean 'en_1_0'"),
        (("--format", "docx"), 2, "choose one of 'txt', 'csv'"),
        (("--output", "."), 1, "could not be written"),
    ],
)
def test_wrong_use(gest: Gest, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = gest("sentences", *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
