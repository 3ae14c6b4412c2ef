"""Translations that were made elsewhere, in every kind of file."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from gest_dataset.errors import ConfigError, DataError, UnsupportedLanguageError
from gest_dataset.translation import open_translator, translate
from gest_dataset.translation.translator import TranslationError

ROWS = [
    ("I am tired.", "Som unavený."),
    ("I cried.", "Plakala som, „veru“."),
    ("I am 7.", "007"),
    ("None", "NA"),
]


def save(folder: Path, kind: str, columns: tuple[str, str]) -> Path:
    table = pd.DataFrame(ROWS, columns=list(columns))
    path = folder / f"made.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False, encoding="utf-8-sig")  # as Excel writes it
    elif kind == "tsv":
        table.to_csv(path, index=False, sep="\t")
    elif kind == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in table.to_dict("records"))
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        table.to_parquet(path)
    return path


@pytest.mark.parametrize("columns", [("source", "translation"), ("from", "to"), ("sentence", "translation")])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_kind_of_file(kind: str, columns: tuple[str, str], tmp_path: Path) -> None:
    path = save(tmp_path, kind, columns)
    texts = [source for source, _ in reversed(ROWS)]
    made = translate([*texts, "I am new."], f"file:{path}", "sk", store=tmp_path / "store")
    assert [one.translation for one in made] == [*(to for _, to in reversed(ROWS)), ""]
    assert made[-1].problem == f"{path.name} has no translation of the sentence"
    assert not (tmp_path / "store").exists()


def test_doubled_sentences(tmp_path: Path) -> None:
    path = tmp_path / "made.csv"
    path.write_text("from,to\nA.,a\nA.,a\nB.,b\nC.,c\nB.,other\nD.,\nE.,\nE.,e\n", encoding="utf-8")
    made = {one.source: one for one in translate(["A.", "B.", "C.", "D.", "E."], f"file:{path}", "sk")}
    assert [made[text].translation for text in ("A.", "B.", "C.", "D.", "E.")] == ["a", "", "c", "", "e"]
    assert made["B."].problem == "made.csv has 2 different translations, in rows 3 and 5"
    assert made["D."].problem == "made.csv has an empty translation, in row 6"


def test_the_file_that_gest_translate_writes(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text(
        "id,system,language,source,translation,stereotype,problem\n"
        "1,deepl,sk,A.,po slovensky,1,\n1,deepl,cs,A.,po česku,1,\n",
        encoding="utf-8",
    )
    assert translate(["A."], f"file:{path}", "cs")[0].translation == "po česku"
    with pytest.raises(UnsupportedLanguageError, match="has no row in 'pl'; its languages: cs, sk"):
        translate(["A."], f"file:{path}", "pl")
    several = tmp_path / "several.csv"
    several.write_text("system,source,translation\ndeepl,A.,a\ngoogle,A.,b\n", encoding="utf-8")
    with pytest.raises(TranslationError, match=r"several systems \(deepl, google\)"):
        translate(["A."], f"file:{several}", "pl")


@pytest.mark.upstream
@pytest.mark.parametrize(("system", "language"), [("deepl", "sk"), ("nllb_3b", "be")])
def test_the_published_translations(system: str, language: str, upstream: Path) -> None:
    from collections import Counter

    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.gest import read_sentences
    from gest_dataset.data.sources import fetch

    config = CONFIGS[f"{language}_translations"]
    key = next(key for key in config.sources if f"/{system}/" in key)
    texts = [row["sentence"] for row in read_sentences([fetch(CONFIGS["en_1_0"].sources[0])], Counter())]
    made = translate(texts, f"file:{fetch(key).path}", language)
    assert len(made) == 3565
    assert not [one.problem for one in made if one.problem]


def test_the_revision_of_a_file_is_its_content(tmp_path: Path) -> None:
    first, same, other = (tmp_path / f"{name}.csv" for name in ("first", "same", "other"))
    for path, text in ((first, "a"), (same, "a"), (other, "b")):
        path.write_text(f"from,to\nA.,{text}\n")
    revisions = [open_translator(f"file:{path}", "sk").revision for path in (first, same, other)]
    assert revisions[0] == revisions[1] != revisions[2]


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("english,slovak\na,b\n")
    (tmp_path / "numbers.jsonl").write_text('{"from": "A.", "to": 1}\n')
    for name, message in (
        ("other.csv", "has the columns english, slovak; a file of translations needs"),
        ("numbers.jsonl", "row 1: 1 in column 'to'"),
        ("lost.csv", r"There is no file .*lost\.csv"),
    ):
        with pytest.raises((ConfigError, DataError), match=message):
            translate(["A."], f"file:{tmp_path / name}", "sk")
