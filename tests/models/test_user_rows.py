"""The user's own data: tables with the fields of a probe, folders, and cells that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset

from gest_dataset.builders.controls import FIELDS
from gest_dataset.data.folder import write_config
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.models.user_rows import read_user_rows

SENTENCE = {"id": 7, "sentence": "I am.", "stereotype": 16}
PAIR = {"masculine": "a b", "feminine": "a c", "stereotype": 1, "word_index": 0}
PRONOUNS = {"masculine": "He.", "feminine": "She.", "occupation_gender": "male"}
NEUTRAL = {
    "masculine": "a b",
    "feminine": "a c",
    "stereotype": 1,
    "masculine_span": [2, 3],
    "feminine_span": [0, 1],
}
QUADRUPLET = {"bias_type": "age", **dict.fromkeys(FIELDS, "a b")}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_fields_and_types(tmp_path: Path) -> None:
    rows = read_user_rows(write(tmp_path / "mine.jsonl", SENTENCE, {**SENTENCE, "id": "x", "more": 1}))
    assert rows.to_list() == [
        {"id": "7", "sentence": "I am.", "stereotype": 16},
        {"id": "x", "sentence": "I am.", "stereotype": 16},
    ]
    assert rows.info.config_name == "mine"
    assert [rows.features[name].dtype for name in rows.column_names] == ["string", "string", "int32"]
    without_ids = read_user_rows(write(tmp_path / "mine.jsonl", {"sentence": "I am.", "stereotype": 1.0}))
    assert without_ids.to_list() == [{"sentence": "I am.", "stereotype": 1}]


def test_the_nearest_probes_come_first(tmp_path: Path) -> None:
    pair = {name: value for name, value in PAIR.items() if name != "word_index"}
    with pytest.raises(ConfigError, match="Missing fields by probe:\n- pairs: word_index\n- "):
        read_user_rows(write(tmp_path / "mine.jsonl", pair))


def test_text_files_hold_numbers_and_json(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("masculine,feminine,stereotype,word_index\na b,a c,16,1\n", encoding="utf-8")
    assert read_user_rows(path).to_list() == [
        {"masculine": "a b", "feminine": "a c", "stereotype": 16, "word_index": 1}
    ]
    spans = [[0, 1], [2, 3], [0, 1], [1, 2]]
    for keywords, parsed in ((spans, spans), (json.dumps(spans), spans), ("", None), (None, None)):
        rows = read_user_rows(write(tmp_path / "q.jsonl", {**QUADRUPLET, "keywords": keywords}))
        assert rows["keywords"][0] == parsed
    for span in ([0, 3], "[0, 3]"):
        rows = read_user_rows(write(tmp_path / "n.jsonl", {**NEUTRAL, "masculine_span": span}))
        assert (rows["masculine_span"][0], rows["feminine_span"][0]) == ([0, 3], [0, 1])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**SENTENCE, "stereotype": 17}, "`stereotype` is 17, not the number of a stereotype, 1 to 16"),
        ({**SENTENCE, "stereotype": None}, "`stereotype` is empty, not the number of a stereotype"),
        ({**SENTENCE, "stereotype": "1.5"}, "`stereotype` is '1.5', not the number"),
        ({**SENTENCE, "stereotype": True}, "`stereotype` is True, not the number"),
        ({**SENTENCE, "stereotype": "1_0"}, "`stereotype` is '1_0', not the number"),
        ({**SENTENCE, "stereotype": "١"}, "`stereotype` is '١', not the number"),
        ({**SENTENCE, "sentence": ""}, "`sentence` is empty, not a text"),
        ({**SENTENCE, "id": ""}, "`id` is empty, not the name of a sample"),
        ({**PAIR, "word_index": 0.5}, "`word_index` is 0.5, not the number of a word, from 0"),
        ({**PAIR, "word_index": -1}, "`word_index` is -1, not the number of a word, from 0"),
        ({**PRONOUNS, "occupation_gender": ""}, "`occupation_gender` is empty, not one of female, male"),
        ({**QUADRUPLET, "keywords": [[0, 1]] * 3}, "not 4 pairs [start, end] in characters"),
        ({**QUADRUPLET, "keywords": [[0, 1]] * 3 + [[1, 1]]}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": [[0, 1, 2]] * 4}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": [[0, 1.5]] * 4}, "not 4 pairs"),
        ({**QUADRUPLET, "keywords": "[["}, "not 4 pairs"),
        ({**NEUTRAL, "masculine_span": "[0"}, "`masculine_span` is '[0', not [start, end] in characters"),
        ({**NEUTRAL, "masculine_span": None}, "`masculine_span` is empty, not [start, end] in characters"),
        ({**NEUTRAL, "feminine_span": [-1, 2]}, "`feminine_span` is [-1, 2], not [start, end] in"),
    ],
)
def test_an_invalid_cell_is_named(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", row)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}, row 1: ')}.*{re.escape(message)}"):
        read_user_rows(path)


def test_files_and_folders_without_data(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", SENTENCE)
    with pytest.raises(ConfigError, match="is a single table, so --config does not apply"):
        read_user_rows(path, "en")
    with pytest.raises(ConfigError, match=r"has no SHA256SUMS. Give a file, or a folder of"):
        read_user_rows(tmp_path)
    with pytest.raises(
        ConfigError, match=f"{re.escape(str(path))} cannot be scored: its fields are sentence"
    ):
        read_user_rows(write(path, {"sentence": "I am."}))
    (tmp_path / "header.csv").write_text("sentence,stereotype\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"header\.csv has no rows\."):
        read_user_rows(tmp_path / "header.csv")


def test_configs_of_a_folder(tmp_path: Path) -> None:
    for folder, configs in (("single", ["first"]), ("several", ["one", "two"])):
        for config in configs:
            rows = Dataset.from_list([{**SENTENCE, "id": f"{config}-1"}])
            write_config(tmp_path / folder, config, rows.data.table)
    single, several = tmp_path / "single", tmp_path / "several"
    rows = read_user_rows(single)
    assert (rows["id"][0], rows.info.config_name) == ("first-1", "single")
    rows = read_user_rows(several, "two")
    assert (rows["id"][0], rows.info.config_name) == ("two-1", "several-two")
    with pytest.raises(ConfigError, match=r"Choose one of the configs of .*several with --config: one, two"):
        read_user_rows(several)
    with pytest.raises(ConfigError, match=r"Choose one of the configs of .*several with --config: one, two"):
        read_user_rows(several, "three")
