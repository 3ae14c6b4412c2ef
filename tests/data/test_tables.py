"""Files of users: what is in them row by row, and errors that say what to do."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gest_dataset.data.tables import STANDARD_INPUT, read_lines, read_table
from gest_dataset.errors import ConfigError, DataError, GestError


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("\ufeffa\r\n\r\nb\u2028c\n", ["a", "", "b\u2028c"]),
        ("\n a \n\n", ["", " a ", ""]),
    ],
)
def test_every_line_is_a_row(
    content: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `wc -l` counts them, from a file or from the standard input."""
    (tmp_path / "lines.sk").write_bytes(content.encode())
    assert read_lines(tmp_path / "lines.sk") == lines
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    assert read_lines(STANDARD_INPUT) == lines


def test_blank_lines_of_tables_are_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,"a ""b"", c\nd"\n\n3\n4,e,\n')
    table = read_table(tmp_path / "a.csv")
    assert table.columns["id"] == ["1", "", "3", "4"]
    assert table.texts("text") == ['a "b", c\nd', "", "", "e"]
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n\n{"text": null, "id": 7}\n')
    table = read_table(tmp_path / "a.jsonl")
    assert table.texts("text") == ["a", "", ""]
    assert table.columns["id"] == [None, None, 7]


def test_words_that_other_readers_take_for_nothing(tmp_path: Path) -> None:
    texts = ["NA", "None", "null", "007", "1e5", "", " x "]
    frame = pd.DataFrame({"text": texts}, index=range(3, 10))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for kind in ("csv", "tsv", "parquet", "jsonl"):
        table = read_table(tmp_path / f"a.{kind}")
        assert list(table.columns) == ["text"]  # without the index that pandas writes
        assert table.texts("text") == texts


UTF_8 = "this is not UTF-8. Save it as UTF-8"


@pytest.mark.parametrize(
    ("name", "content", "kind", "said"),
    [
        ("a.csv", "text\nx\nďakujem\n".encode("cp1250"), DataError, f"a.csv, line 3: {UTF_8}"),
        ("a.csv", "text\nx\n".encode("utf-16"), DataError, f"a.csv, line 1: {UTF_8}"),
        ("a.csv", b"id;text\n1;a, b, c\n", DataError, "the separator is a semicolon, not a comma. Save it"),
        (
            "a.csv",
            b"id\ttext\n1\ta\n",
            DataError,
            "the separator is a tab, not a comma. Save it",
        ),
        ("a.tsv", b"id,text\n1,a\n", DataError, "the separator is a comma, not a tab"),
        ("a.csv", b"id,other\n1,a\n", ConfigError, "there is no column 'text', there are id, other"),
        (
            "a.csv",
            b"id,text\n1,a\n2,b, c\n",
            DataError,
            "line 3: 3 cells, but 2 columns: is a comma in",
        ),
        ("a.csv", b'text\n"a\nb\n', DataError, "A quotation mark inside a cell is written twice"),
        ("a.csv", b'text\n"a"b\n', DataError, "line 2: "),
        ("a.csv", b"text,text\na,b\n", DataError, "several columns are called 'text'"),
        ("a.csv", b"", DataError, "a.csv is empty"),
        ("a.jsonl", b"", DataError, "a.jsonl is empty"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', DataError, "line 2: this is no JSON"),
        ("a.jsonl", b'{"text": "a"}\n["b"]\n', DataError, "row 2: ['b'] is no JSON object"),
        ("a.jsonl", b'{"text": "a"}\n{"text": 3}\n', DataError, "row 2: 3 in the column 'text' is no text"),
        ("a.parquet", b"PAR1", DataError, "a.parquet is no Parquet file, or not a whole one"),
        ("a.xlsx", b"PK", ConfigError, "is of no kind that can be read: use .csv, .tsv, .jsonl, .parquet or"),
    ],
)
def test_what_is_wrong_is_said(
    name: str, content: bytes, kind: type[GestError], said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kind) as raised:
        read_table(tmp_path / name).texts("text")
    assert said in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert not any(word in str(raised.value).lower() for word in ("pandas", "codec", "tokenizing"))


def test_what_is_not_there(tmp_path: Path) -> None:
    for read in (read_table, read_lines):
        with pytest.raises(ConfigError, match=r"There is no file .*lost\.csv"):
            read(tmp_path / "lost.csv")
    with pytest.raises(DataError, match="is no data set that was saved to disk"):
        read_table(tmp_path)


def test_columns_that_hold_no_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": ["a", None]}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.texts("text") == ["a", ""]
    with pytest.raises(DataError, match="row 1: 1 in the column 'id' is no text"):
        table.texts("id")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
            r"line 1: this is no JSON \(it is nested too deeply",
        ),
        ('{"a": "half \\ud83d"}', r"line 1: .*holds half of a surrogate pair"),
    ],
)
def test_json_that_is_no_table_of_texts(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=reason):
        read_table(path).texts("a")


def test_parquet_whose_columns_arrow_cannot_hand_over(tmp_path: Path) -> None:
    """A duration beyond what Python has: Arrow's error is an OverflowError."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": pa.array([2**62], pa.duration("s"))}), path)
    with pytest.raises(DataError, match=r"rows\.parquet is no Parquet file, or not a whole one"):
        read_table(path)
