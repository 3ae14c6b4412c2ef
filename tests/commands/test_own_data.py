"""`gest score --data`: files and folders of a user's own, from the command to the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gest_dataset
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import DataError
from gest_dataset.models import user_rows
from gest_dataset.runs import read_run
from tests.commands.conftest import Gest
from tests.conftest import MIRROR, ROOT
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("models")

DEEPL = MIRROR / "kinit-sk/gest/data/translations/deepl/sk/translations.csv"
SLOVAK = ("--language", "sk", "--parser", "conllu", "--parser-model", str(ROOT / "tests/mirror_sk.conllu"))
ROWS = [
    {"id": f"s{place}", "sentence": f"I am number {place}.", "stereotype": place % 16 + 1}
    for place in range(64)
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Rows as a file of the kind that its name says."""
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            for row in rows:
                lists = {name: json.dumps(cell) for name, cell in row.items() if isinstance(cell, list)}
                writer.writerow(row | lists)
    return path


def test_a_file_is_scored_compared_and_reported(gest: Gest) -> None:
    """Every format has the scores of the rows themselves, and the same hash of the data."""
    direct = gest_dataset.score(
        zoo.load("bert"), datasets.Dataset.from_list(ROWS), templates=[3], device="cpu"
    )
    fingerprints = set()
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        file = write(Path(f"mine-{kind}.{kind}"), ROWS)
        done = gest("score", "bert", "--data", file, "--templates", "3")
        assert done.returncode == 0, done.stderr
        assert f"mine-{kind}: bert" in done.stdout
        run = read_run(f"gest-runs/bert/mine-{kind}")
        assert run.manifest.config == f"mine-{kind}"
        assert run.table.replace_schema_metadata(None) == direct.table
        fingerprints.add(run.manifest.data_fingerprint)
    assert len(fingerprints) == 1
    done = gest("score", "gpt2", "--data", "mine-csv.csv", "--templates", "3", "--json")
    assert json.loads(done.stdout)["runs"][0]["config"] == "mine-csv"
    runs = ("gest-runs/bert/mine-csv", "gest-runs/gpt2/mine-csv")
    assert gest("compare", *runs).returncode == 0
    assert gest("report", *runs, "--output", "page.html").returncode == 0
    done = gest("score", "bert", "--config", "demo_en,demo_controls")
    assert done.returncode == 0, "the default folder may hold runs on other data"
    assert "mine-csv is your own data" in Path("page.html").read_text(encoding="utf-8")
    write(Path("mine-csv.csv"), [*ROWS[1:], ROWS[0]])
    done = gest("score", "gpt2", "--data", "mine-csv.csv", "--templates", "3")
    assert done.returncode == 1
    assert "data_fingerprint: " in done.stderr


def test_a_file_with_the_name_of_a_config(gest: Gest) -> None:
    """Its run is not compared with the paper's models."""
    shown = gest("score", "bert", "--config", "en", "--templates", "3").stdout
    assert "among the paper's" in " ".join(shown.split())
    shown = gest("score", "bert", "--data", write(Path("en.jsonl"), ROWS), "--templates", "3").stdout
    assert "among the paper's" not in " ".join(shown.split())
    assert read_run("gest-runs/bert/own-en").manifest.config == "own-en"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "model"),
    [
        ("stereoset_control_gender", "bert"),
        ("crows_control_negation", "bert"),
        ("winobias_type1_dev", "gpt2"),
        ("sk_pairs", "gpt2"),
        ("stereoset_en_intrasentence", "bert"),
    ],
)
def test_fields_of_other_probes(gest: Gest, config: str, model: str) -> None:
    """Lists and genders in files are read as they are in the config."""
    data = datasets.load_dataset("gest", config, split="test")
    labels = {name for name, feature in data.features.items() if isinstance(feature, datasets.ClassLabel)}
    rows = [row | {name: data.features[name].int2str(row[name]) for name in labels} for row in data.to_list()]
    gest("score", model, "--config", config, "--output", "builtin")
    builtin = read_run("builtin")
    for kind in ("csv", "jsonl"):
        file = write(Path(f"own.{kind}"), rows)
        done = gest("score", model, "--data", file, "--output", kind)
        assert done.returncode == 0, done.stderr
        assert read_run(kind).table.to_pylist() == builtin.table.to_pylist()
        assert read_run(kind).result["result"] == builtin.result["result"]


def test_a_folder_of_build(gest: Gest) -> None:
    gest("build", "en", "sk_pairs", "--out", "built")
    for arguments in ((), ("--config", "cs_pairs")):
        done = gest("score", "bert", "--data", "built", *arguments)
        assert done.returncode == 2
        assert "Choose one of the configs of built with --config: en, sk_pairs." in done.stderr
    done = gest("score", "bert", "--data", "built", "--config", "sk_pairs")
    assert done.returncode == 0, done.stderr
    gest("score", "bert", "--config", "sk_pairs")
    tables = [read_run(f"gest-runs/bert/{name}").table for name in ("built-sk_pairs", "sk_pairs")]
    assert tables[0].to_pylist() == tables[1].to_pylist()


def test_no_flipped_bit_of_a_folder_is_scored(gest: Gest) -> None:
    """Plain `datasets` would read most of them."""
    gest("build", "en", "--out", "built")
    file = Path("built/en/test-00000-of-00001.parquet")
    content = file.read_bytes()
    for place in range(5, len(content), len(content) // 60):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        with pytest.raises(DataError, match=r"en/test-00000-of-00001\.parquet does not match its checksum"):
            user_rows.read_user_rows(Path("built"))
    assert gest("score", "bert", "--data", "built").returncode == 1
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        user_rows.read_user_rows(Path("built"))


def test_a_folder_of_pairs(gest: Gest) -> None:
    assert gest("pairs", "--translations", DEEPL, *SLOVAK, "--output", "mine").returncode == 0
    done = gest("score", "bert", "--data", "mine", "--multi-token")
    assert done.returncode == 0, done.stderr
    run = read_run("gest-runs/bert/mine")
    assert (run.manifest.config, run.manifest.measure) == ("mine", "pairs")
    assert run.manifest.metadata["samples"] == len(datasets.load_dataset("mine", split="test"))


QUADRUPLET = {"bias_type": "age", **dict.fromkeys(FIELDS, "a b")}
PAIR = {"masculine": "a b", "feminine": "a c", "stereotype": 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [*ROWS, {**ROWS[0], "stereotype": 17}],
            "row 65: `stereotype` is 17, not the number of",
        ),
        ([{**ROWS[0], "stereotype": 1.5}], "`stereotype` is 1.5, not the number"),
        ([ROWS[0], {**ROWS[0], "sentence": " "}], "row 2: `sentence` is ' ', not a text"),
        ([ROWS[0], {}], "row 2: `id` is empty, not the name of a sample"),
        ([{**PAIR, "word_index": -1}], "`word_index` is -1, not the number of a word, from 0"),
        ([{**QUADRUPLET, "keywords": [[0, 1]]}], "`keywords` is [[0, 1]], not 4 pairs [start, end]"),
        (
            [{"masculine": "He.", "feminine": "She.", "occupation_gender": "f"}],
            "`occupation_gender` is 'f', not one of female, male",
        ),
        ([], "mine.jsonl is empty"),
    ],
)
def test_wrong_rows(gest: Gest, rows: list[dict[str, Any]], message: str) -> None:
    done = gest("score", "no-model", "--data", write(Path("mine.jsonl"), rows))
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert message in done.stderr
    assert not Path("gest-runs").exists()


def test_wrong_files(gest: Gest) -> None:
    Path("header.csv").write_text("sentence,stereotype\n")
    Path("folder").mkdir()
    write(Path("mine.jsonl"), ROWS)
    write(Path("other.jsonl"), [{"sentence": "I am."}])
    for arguments, code, message in (
        (("header.csv",), 1, "header.csv has no rows."),
        (("folder",), 2, "folder has no SHA256SUMS. Give a file, or a folder"),
        (("no.csv",), 2, "There is no file no.csv."),
        (("mine.jsonl", "--config", "en"), 2, "mine.jsonl is a single table"),
        (("other.jsonl",), 2, "other.jsonl cannot be scored: its fields are sentence."),
    ):
        done = gest("score", "no-model", "--data", *arguments)
        assert (done.returncode, done.stdout) == (code, "")
        assert message in " ".join(done.stderr.split())
