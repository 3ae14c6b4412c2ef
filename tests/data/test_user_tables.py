"""Users' tables and texts: their rows, and errors that say what to do."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gest_dataset.data.user_tables import STANDARD_INPUT, read_lines, read_user_table
from gest_dataset.errors import ConfigError, DataError, GestError


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("\ufeffa\r\n\r\nb\u2028c\n", ["a", "", "b\u2028c"]),
        ("\n a \n\n", ["", " a ", ""]),
    ],
)
def test_read_lines(content: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lines.sk").write_bytes(content.encode())
    assert read_lines(tmp_path / "lines.sk") == lines
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
    assert read_lines(STANDARD_INPUT) == lines


def test_blank_lines_are_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,"a ""b"", c\nd"\n\n3\n4,e,\n')
    table = read_user_table(tmp_path / "a.csv")
    assert table.columns["id"] == ["1", "", "3", "4"]
    assert table.texts("text") == ['a "b", c\nd', "", "", "e"]
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n\n{"text": null, "id": 7}\n')
    table = read_user_table(tmp_path / "a.jsonl")
    assert table.texts("text") == ["a", "", ""]
    assert table.columns["id"] == [None, None, 7]


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_texts_are_read_as_they_are(kind: str, tmp_path: Path) -> None:
    """No text is taken for a missing value or a number."""
    texts = ["NA", "None", "null", "007", "1e5", "", " x ", 'ďakujem, "a"\nनमस्ते']
    path = tmp_path / f"a.{kind}"
    WRITERS[kind](pd.DataFrame({"text": texts}), path)
    table = read_user_table(path)
    assert list(table.columns) == ["text"]
    assert table.texts("text") == texts


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        (
            "a.csv",
            b"id;text\n1;a, b; c\n",
            DataError,
            "3 cells, but 2 columns. Quote cells that contain a semi",
        ),
        ("a.csv", b"id,other\n1,a\n", ConfigError, "has no column 'text', only id, other"),
        ("a.csv", b"id,text\n1,a\n2,b, c\n", DataError, "line 3: 3 cells, but 2 columns"),
        ("a.csv", b'text\n"a\nb\n', DataError, "Quote cells that contain quotation marks"),
        ("a.csv", b"text,text\na,b\n", DataError, "several columns have the same name"),
        ("a.csv", b"", DataError, "is empty"),
        ("a.jsonl", b"", DataError, "is empty"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', DataError, "line 2: this is not valid JSON"),
        ("a.jsonl", b'{"text": "half \\ud83d"}\n', DataError, "line 1: this is not valid JSON"),
        ("a.jsonl", b'{"text": "a"}\n["b"]\n', DataError, "line 2: this is not a JSON object"),
        ("a.jsonl", json.dumps({"text": 3}).encode(), DataError, "row 1: 3 in column 'text' is not text"),
        ("a.parquet", b"PAR1", DataError, "is not a valid Parquet file"),
        ("a.xlsx", b"PK", ConfigError, "is not a table. Use a file of type .csv, .tsv, .jsonl, .parquet."),
    ],
)
def test_errors_name_the_file_and_the_reason(
    name: str, content: bytes, kind: type[GestError], message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kind) as raised:
        read_user_table(tmp_path / name).texts("text")
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("mañana\nestoy cansado", "latin-1", "ISO-8859-1 (Latin-1)"),
        ("x\nveľmi ďakujem", "cp1250", "WINDOWS-1250"),
        ("Esu pavargęs\nir tyliai žiūriu", "cp1257", "WINDOWS-1257"),
        ("I am tired\nЯ очень устал", "cp1251", "WINDOWS-1251"),
        ("text\nďakujem", "utf-16", "UTF-16"),
        ("text\nx", "utf-16-le", "UTF-16"),
    ],
)
def test_other_encodings_are_named(name: str, text: str, encoding: str, named: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(DataError) as raised:
        read_lines(tmp_path / name) if name == "a.txt" else read_user_table(tmp_path / name)
    message = str(raised.value)
    assert f"this is not UTF-8, but probably {named}. " in message
    assert f"iconv -f {named.partition(' ')[0]} -t UTF-8 {name} > a-utf8" in message


@pytest.mark.parametrize(
    ("name", "separator"), [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", ";"), ("a.tsv", ",")]
)
def test_the_header_shows_the_separator(name: str, separator: str, tmp_path: Path) -> None:
    """Spreadsheets write semicolons where the comma is a decimal one."""
    lines = [["id", "text, if any"], ["1", "a, b"], ["2", f"c{separator} d"]]
    text = "\n".join(separator.join(f'"{cell}"' for cell in cells) for cells in lines)
    (tmp_path / name).write_text(f"{text}\n3\n", encoding="utf-8-sig")
    columns = read_user_table(tmp_path / name).columns
    assert columns == {"id": ["1", "2", "3"], "text, if any": ["a, b", f"c{separator} d", ""]}


def test_missing_files(tmp_path: Path) -> None:
    for read in (read_user_table, read_lines):
        with pytest.raises(ConfigError, match=r"There is no file .*lost\.csv"):
            read(tmp_path / "lost.csv")
    with pytest.raises(ConfigError, match="is not a table"):
        read_user_table(tmp_path)


def test_columns_that_are_not_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": ["a", None]}), tmp_path / "a.parquet")
    table = read_user_table(tmp_path / "a.parquet")
    assert table.texts("text") == ["a", ""]
    with pytest.raises(DataError, match="row 1: 1 in column 'id' is not text"):
        table.texts("id")
