"""`gest score --data`: files and folders of a user's own, from the command to the report."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gest_dataset
from gest_dataset import cli
from gest_dataset.builders.controls import FIELDS
from gest_dataset.errors import DataError
from gest_dataset.models import user_data
from gest_dataset.runs import folder as reading
from tests.conftest import MIRROR, ROOT
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

DEEPL = MIRROR / "kinit-sk/gest/data/translations/deepl/sk/translations.csv"
SLOVAK = ("--language", "sk", "--parser", "conllu", "--parser-model", str(ROOT / "tests/mirror_sk.conllu"))

Gest = Callable[..., tuple[int, str, str]]
ROWS = [
    {"id": f"s{place}", "sentence": f"I am number {place}.", "stereotype": place % 16 + 1}
    for place in range(64)
]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    """The command in this process, in an empty directory: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)
    for animal in ("bert", "gpt2"):
        shutil.copytree(zoo.directory(animal), tmp_path / animal)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


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
            nested = [
                {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()}
                for row in rows
            ]
            writer.writerows(nested)
    return path


def test_a_file_is_scored_compared_and_reported(gest: Gest) -> None:
    """Of every kind the same scores as of the rows themselves, under the same hash of the data."""
    direct = gest_dataset.score(zoo.load("bert"), datasets.Dataset.from_list(ROWS), [3], device="cpu")
    marks = set()
    for kind in ("csv", "tsv", "jsonl", "parquet"):
        file = write(Path(f"mine-{kind}.{kind}"), ROWS)
        code, shown, told = gest("score", "bert", "--data", str(file), "--templates", "3")
        assert code == 0, told
        assert f"mine-{kind}: bert" in shown
        run = reading.read_run(f"gest-runs/bert/mine-{kind}")
        assert run.manifest.config == f"mine-{kind}"
        assert run.table.replace_schema_metadata(None) == direct.table
        marks.add(run.manifest.data_fingerprint)
        assert told.splitlines()[-1] == f"Report: gest-runs/bert/mine-{kind}/report.html"
    assert len(marks) == 1
    code, shown, told = gest("score", "gpt2", "--data", "mine-csv.csv", "--templates", "3", "--json")
    assert code == 0, told
    assert json.loads(shown)["runs"][0]["config"] == "mine-csv"
    runs = ("gest-runs/bert/mine-csv", "gest-runs/gpt2/mine-csv")
    code, shown, told = gest("compare", *runs)
    assert code == 0, told
    assert "64" in shown
    code, _, told = gest("report", *runs, "--output", "page.html")
    assert code == 0, told
    assert "mine-csv is your own data" in Path("page.html").read_text(encoding="utf-8")
    write(Path("mine-csv.csv"), [*ROWS[1:], ROWS[0]])
    code, _, told = gest("score", "gpt2", "--data", "mine-csv.csv", "--templates", "3")
    assert code == 1
    assert "data_fingerprint: " in told


def test_a_file_called_like_a_config_is_none(gest: Gest) -> None:
    """What the paper says of English GEST is not said of other sentences, whatever their file is called."""
    code, shown, told = gest("score", "bert", "--config", "en", "--templates", "3")
    assert code == 0, told
    assert "among the paper's" in " ".join(shown.split())
    code, shown, told = gest(
        "score", "bert", "--data", str(write(Path("en.jsonl"), ROWS)), "--templates", "3"
    )
    assert code == 0, told
    assert "among the paper's" not in " ".join(shown.split())
    assert reading.read_run("gest-runs/bert/own-en").manifest.config == "own-en"


@pytest.mark.slow
def test_other_fields_of_a_probe(gest: Gest) -> None:
    """Control sets and WinoBias as files: lists and genders come back as they are in the config."""
    for config, model in (
        ("stereoset_control_gender", "bert"),
        ("crows_control_negation", "bert"),
        ("winobias_type1_dev", "gpt2"),
        ("sk_pairs", "gpt2"),
        ("stereoset_en_intrasentence", "bert"),
    ):
        data = datasets.load_dataset("gest", config, split="test")
        labels = {
            name: feature
            for name, feature in data.features.items()
            if isinstance(feature, datasets.ClassLabel)
        }
        rows = [
            {name: labels[name].int2str(cell) if name in labels else cell for name, cell in row.items()}
            for row in data.to_list()
        ]
        for kind in ("csv", "jsonl"):
            file = write(Path(f"own.{kind}"), rows)
            output = f"{config}-{kind}"
            code, _, told = gest("score", model, "--data", str(file), "--output", output)
            assert code == 0, told
            code, _, told = gest("score", model, "--config", config, "--output", f"{config}-there")
            assert code == 0, told
            mine, theirs = (reading.read_run(name) for name in (output, f"{config}-there"))
            assert mine.table.to_pylist() == theirs.table.to_pylist()
            assert mine.result["result"] == theirs.result["result"]


def test_a_folder_of_build(gest: Gest) -> None:
    assert gest("build", "en", "sk_pairs", "--out", "built")[0] == 0
    code, _, told = gest("score", "bert", "--data", "built")
    assert code == 2
    assert "built has several configs. Choose one with --config: en, sk_pairs." in told
    code, _, told = gest("score", "bert", "--data", "built", "--config", "cs_pairs")
    assert code == 2
    assert "built has no config 'cs_pairs', only en, sk_pairs." in told
    for config in ("en", "sk_pairs"):
        code, shown, told = gest("score", "bert", "--data", "built", "--config", config)
        assert code == 0, told
        assert "among the paper's" not in " ".join(shown.split())
        mine = reading.read_run(f"gest-runs/bert/built-{config}")
        assert gest("score", "bert", "--config", config)[0] == 0
        assert mine.table.to_pylist() == reading.read_run(f"gest-runs/bert/{config}").table.to_pylist()


def test_no_flipped_bit_of_a_folder_is_scored(gest: Gest) -> None:
    """Plain `datasets` would read most of them; a run on them would be of other data."""
    assert gest("build", "en", "--out", "built")[0] == 0
    whole = user_data.read_user_data(Path("built")).to_list()
    file = Path("built/en/test-00000-of-00001.parquet")
    content = file.read_bytes()
    for place in range(5, len(content), len(content) // 120):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        with pytest.raises(DataError, match=r"en/test-00000-of-00001\.parquet does not match its checksum"):
            user_data.read_user_data(Path("built"))
    code, _, told = gest("score", "bert", "--data", "built")
    assert code == 1
    assert "gest build" in told
    file.write_bytes(content)
    assert user_data.read_user_data(Path("built")).to_list() == whole
    sums = Path("built/SHA256SUMS").read_text()
    Path("built/SHA256SUMS").write_text(sums.replace(sums[:8], "01234567"))
    with pytest.raises(DataError, match="does not match its checksum"):
        user_data.read_user_data(Path("built"))
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        user_data.read_user_data(Path("built"))


def test_a_folder_of_pairs(gest: Gest) -> None:
    assert gest("pairs", "--translations", str(DEEPL), *SLOVAK, "--output", "mine")[0] == 0
    code, shown, told = gest("score", "bert", "--data", "mine", "--multi-token")
    assert code == 0, told
    assert "mine: bert" in shown
    run = reading.read_run("gest-runs/bert/mine")
    assert (run.manifest.config, run.manifest.measure) == ("mine", "pairs")
    assert run.manifest.metadata["samples"] == len(datasets.load_dataset("mine", split="test"))


def test_what_is_wrong_with_own_data_shows_before_a_model_is_loaded(gest: Gest) -> None:
    quadruplet = {"bias_type": "age", **dict.fromkeys(FIELDS, "a b")}
    pair = {"masculine": "a b", "feminine": "a c", "stereotype": 1}
    pronouns = {"masculine": "He.", "feminine": "She."}
    for rows, message in (
        (
            [*ROWS, {**ROWS[0], "stereotype": 17}],
            "row 65: `stereotype` is 17, not the number of a stereotype",
        ),
        ([{**ROWS[0], "stereotype": "x"}], "`stereotype` is 'x', not the number"),
        ([{**ROWS[0], "stereotype": 1.5}], "`stereotype` is 1.5, not the number"),
        ([ROWS[0], {**ROWS[0], "sentence": " "}], "row 2: `sentence` is ' ', not a text"),
        ([{**ROWS[0], "sentence": 3}], "row 1: `sentence` is 3, not a text"),
        ([ROWS[0], {}], "row 2: `id` is empty, not the name of a sample"),
        ([{"sentence": "I am."}], "No probe reads mine.jsonl: its fields are sentence."),
        ([{**pair, "word_index": -1}], "`word_index` is -1, not the number of a word, from 0"),
        ([{**quadruplet, "keywords": [[0, 1]]}], "`keywords` is [[0, 1]], not 4 pairs [start, end]"),
        ([{**quadruplet, "keywords": 7}], "`keywords` is 7, not 4 pairs [start, end]"),
        ([{**pronouns, "occupation_gender": "f"}], "`occupation_gender` is 'f', not one of female, male"),
        ([], "mine.jsonl is empty"),
    ):
        write(Path("mine.jsonl"), rows)
        code, shown, told = gest("score", "no-model", "--data", "mine.jsonl")
        # data that are wrong, or a file that is not for this
        wanted = 2 if message.startswith("No probe") else 1
        assert (code, shown) == (wanted, ""), told
        assert message in told
    Path("header.csv").write_text("sentence,stereotype\n")
    Path("folder").mkdir()
    write(Path("mine.jsonl"), ROWS)
    for arguments, code, message in (
        (("header.csv",), 1, "header.csv has no rows."),
        (("folder",), 2, "folder has no SHA256SUMS. Give a file, or a folder"),
        (("no.csv",), 2, "There is no file no.csv."),
        (("mine.txt",), 2, "There is no file mine.txt."),
        (("mine.jsonl", "--config", "en"), 2, "mine.jsonl is a single table"),
    ):
        found, shown, told = gest("score", "no-model", "--data", *arguments)
        assert (found, shown) == (code, "")
        assert message in " ".join(told.split())
    assert not Path("gest-runs").exists()
