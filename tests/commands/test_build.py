"""`gest build`: Parquet, text, CSV and lm-eval tasks; JSON output and failures."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from gest_dataset.builders import select_configs
from gest_dataset.languages import SLAVIC
from tests.commands.conftest import Gest


def test_build_some_configs_and_again(gest: Gest, tmp_path: Path) -> None:
    done = gest("build", "sk_pairs", "en", "--out", "data")
    assert "left out: upstream rows that the rules exclude" in " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    written = ["README.md", "SHA256SUMS", "en", "eval.yaml", "sk_pairs"]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == written
    assert "already built" not in done.stdout
    assert gest("build", "en", "--out", "data").stdout.count("already built") == 1


def test_build_takes_names_and_groups_with_commas(gest: Gest, tmp_path: Path) -> None:
    """As every command does; names with blanks are the same list."""
    for arguments in (("--config", "en,crows"), ("crows", "en"), ("crows", "--config", "en")):
        done = gest("build", *arguments, "--output", "_".join(arguments))
        assert done.returncode == 0, done.stderr
        folder = tmp_path / "_".join(arguments)
        assert {path.name for path in folder.iterdir()} == {
            "README.md",
            "SHA256SUMS",
            "eval.yaml",
            "en",
            "crows_gender",
            "crows_gender_revised",
        }


def test_a_config_that_cannot_be_built(gest: Gest, mirror: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(mirror, tmp_path / "mirror")
    (copy / "kinit-sk/gest/data/gender_variants.csv").unlink()
    arguments = ("build", "--config", "winobias_type1_dev,sk_pairs", "--output", "data")
    done = gest(*arguments, GEST_MIRROR=str(copy))
    assert done.returncode == 1
    file = pq.read_metadata(next((tmp_path / "data" / "winobias_type1_dev").iterdir()))
    left_out = sum(json.loads(file.metadata[b"gest"])["dropped"].values())
    assert f"winobias_type1_dev {file.num_rows} {left_out}" in " ".join(done.stdout.split())
    assert "error: not built: sk_pairs" in done.stderr
    assert "lacks kinit-sk/gest/data/gender_variants.csv" in done.stderr
    again = gest(*arguments)
    assert (again.returncode, again.stdout.count("already built")) == (0, 1)


def test_wrong_usage_is_exit_code_2(gest: Gest, tmp_path: Path) -> None:
    missing = gest("build")
    assert missing.returncode == 2
    assert "--output" in missing.stderr
    unknown = gest("build", "sk_pair", "--out", "data")
    assert unknown.returncode == 2
    assert "Did you mean 'sk_pairs'?" in unknown.stderr
    for config in ("", ",", "en,slavik"):
        assert gest("build", "--config", config, "--output", "data").returncode == 2
    assert not (tmp_path / "data").exists()
    assert "Traceback" not in unknown.stderr


@pytest.mark.slow
def test_no_network_is_found_out_once(gest_process: Gest, tmp_path: Path) -> None:
    done = gest_process("build", "--out", "data", GEST_MIRROR="", GEST_SOURCES="", HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert done.stderr.count("cannot be reached") == 1
    assert f"not built: {', '.join(select_configs('all'))}" in done.stderr
    assert "GEST_MIRROR" in done.stderr


@pytest.mark.parametrize("config", ["en", "en_1_0"])
def test_sentences_as_text(gest: Gest, mirror: Path, config: str) -> None:
    shown = gest("build", "--config", config, "--format", "txt")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines() == load_dataset("gest", config, split="test")["sentence"][:]


def test_sentences_as_csv(gest: Gest, tmp_path: Path) -> None:
    shown = gest("build", "--format", "csv")
    rows = load_dataset("gest", "en", split="test").to_list()
    assert list(csv.DictReader(io.StringIO(shown.stdout))) == [
        {"id": row["id"], "sentence": row["sentence"], "stereotype": str(row["stereotype"])} for row in rows
    ]
    done = gest("build", "--format", "csv", "--output", "en.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "en.csv").read_text(encoding="utf-8") == shown.stdout
    assert f"en.csv: {len(rows)} sentences" in done.stderr


@pytest.mark.slow
def test_sentences_are_utf_8_in_any_locale(mirror: Path, gest_process: Gest) -> None:
    shown = gest_process("build", "--format", "txt", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines() == load_dataset("gest", "en", split="test")["sentence"][:]


def test_lm_eval_tasks(gest: Gest, tmp_path: Path) -> None:
    done = gest("build", "--format", "lm-eval", "--output", "tasks", "--config", "en,slavic,crows")
    assert done.returncode == 0, done.stderr
    assert "gest_sk_pairs" in done.stdout
    assert "): crows_gender, crows_gender_revised" in done.stderr
    assert "--include_path tasks --tasks gest_en,gest_pairs\n" in done.stderr
    files = {path.stem for path in (tmp_path / "tasks").glob("*.yaml")}
    assert files == {"gest_en", "gest_pairs", *(f"gest_{code}_pairs" for code in SLAVIC)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "docx"), "Choose from parquet, txt, csv, lm-eval"),
        (("--format", "txt", "--config", "sk_pairs"), "has no English sentences. Use one of en, en_1_0"),
        (("--format", "txt", "--config", "en,en_1_0"), "is a group of configs"),
        (("--format", "lm-eval"), "--output DIR"),
        (
            ("--format", "lm-eval", "--output", "x", "--config", "crows_gender"),
            "difference of two texts",
        ),
    ],
)
def test_wrong_formats(gest: Gest, arguments: tuple[str, ...], message: str) -> None:
    done = gest("build", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
