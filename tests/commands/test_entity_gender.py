"""`gest entity-gender` on the test mirror."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gest_dataset.data.rows import rows_of
from gest_dataset.runs.folder import read_run
from tests.commands.conftest import Gest
from tests.conftest import ROOT

UKRAINIAN = ("--language", "uk", "--parser", "conllu", "--parser-model", str(ROOT / "tests/mirror_uk.conllu"))
PUBLISHED = ("entity-gender", "--system", "published:google", *UKRAINIAN)


def write_rows(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("source", "translation"), *rows])
    return path


def test_a_run_on_published_translations(gest: Gest, tmp_path: Path) -> None:
    done = gest(*PUBLISHED)
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "gest-runs" / "published-google" / "winomt-uk")
    assert (run.manifest.measure, run.manifest.config) == ("entity-gender", "winomt_translations")
    rows = run.table.to_pylist()
    assert [row["word"] for row in rows] == [
        *("Водій", "медсестрі", "Водійка", "касирку", "касира", "Будівельниця", "Гість", "когось")
    ]
    genders = [row["gender"] for row in rows]
    assert genders == ["male", "female", "female", "female", "male", "female", "male", "male"]
    assert [row["stated"] for row in rows][-2:] == ["neutral", "male"]
    assert run.result["result"]["accuracy"] == pytest.approx(7 / 8)
    assert (run.path / "report.html").exists()
    assert gest(*PUBLISHED).returncode == 0
    assert read_run(run.path).table.equals(run.table)
    assert gest("report", run.path, "--evidence", "evidence.json").returncode == 0
    done = gest("verify", "evidence.json", run.path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_translations_of_a_file_and_an_evidence_file(gest: Gest, tmp_path: Path) -> None:
    made = rows_of("winomt_translations").to_pandas().query("language == 'uk' and system == 'bing'")
    table = write_rows(tmp_path / "bing.csv", list(zip(made["source"], made["translation"], strict=True)))
    text = tmp_path / "bing.txt"
    text.write_text("\n".join([*made["translation"], ""]), encoding="utf-8")
    for path in (table, text):
        done = gest(
            "entity-gender", "--translations", path, *UKRAINIAN, "--output", path.stem + path.suffix[1:]
        )
        assert done.returncode == 0, done.stderr
    runs = [read_run(tmp_path / name) for name in ("bingcsv", "bingtxt")]
    genders = [run.table["gender"].to_pylist() for run in runs]
    assert genders[0] == genders[1]
    assert genders[0].count("female") == 1
    assert runs[0].manifest.config == "winomt"
    done = gest("entity-gender", "--translations", text, *UKRAINIAN, "--data", "mtgeneval_ru")
    assert "mtgeneval_ru is not in 'uk': use --language ru" in done.stderr


def test_mtgeneval(gest: Gest, tmp_path: Path) -> None:
    """Right, with a word of the wrong reference, and without a word of only one reference."""
    rows = rows_of("mtgeneval_ru").to_list()
    texts = [row["reference"] for row in rows]
    texts[2], texts[7] = rows[2]["wrong_reference"], "Берг стал судьёй."
    pairs = list(zip((row["sentence"] for row in rows), texts, strict=True))
    path = write_rows(tmp_path / "made.csv", pairs)
    parser = ("--parser", "conllu", "--parser-model", str(ROOT / "tests/mirror_uk.conllu"))
    russian = ("--language", "ru", *parser, "--data", "mtgeneval_ru", "--translations", path)
    done = gest("entity-gender", *russian, "--output", "run")
    assert done.returncode == 0, done.stderr
    result = read_run(tmp_path / "run").result["result"]
    assert result["accuracy"] == pytest.approx(7 / 8)
    assert result["by_kind"]["counterfactual"]["accuracy_female"] == pytest.approx(2 / 3)
    assert result["by_kind"]["contextual"]["accuracy"] == result["unknown"] * 8 == 1
    assert "contextual sentences" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--system", "published:aws", *UKRAINIAN), "available systems: bing, google, systran"),
        (("--system", "published:google", *UKRAINIAN, "--data", "en"), "Unknown data='en'"),
        (("--system", "published:google", "--language", "sk"), "available systems: none"),
    ],
)
def test_wrong_settings(gest: Gest, arguments: tuple[str, ...], message: str) -> None:
    done = gest("entity-gender", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_translate_winomt(gest: Gest, tmp_path: Path) -> None:
    made = rows_of("winomt_translations").to_pandas().query("language == 'uk' and system == 'google'")
    path = write_rows(tmp_path / "made.csv", list(zip(made["source"], made["translation"], strict=True)))
    arguments = ("--system", f"file:{path}", "--language", "uk", "--data", "winomt", "--output", "out.csv")
    assert gest("translate", *arguments).returncode == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == made["sentence_id"].to_list()
    assert [row["translation"] for row in rows] == made["translation"].to_list()
    assert rows[0]["stereotype"] == ""
