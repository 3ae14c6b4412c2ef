"""What `import gest_dataset` gives: public calls that return values, and names that users may have."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import gest_dataset
from gest_dataset.errors import OutputError
from gest_dataset.runs import find_runs, read_run
from gest_dataset.translation.masculine_rates import MasculineRates
from tests.conftest import MIRROR, ROOT
from tests.support import zoo

PARSED = ROOT / "tests" / "mirror_sk.conllu"
FOLDER = MIRROR / "kinit-sk/gest/data/translations"

pytestmark = pytest.mark.usefixtures("one_thread")


def rates(system: str, output: Path, limit: int | None = None) -> MasculineRates:
    return gest_dataset.masculine_rates(
        f"file:{FOLDER}/{system}/sk/translations.csv",
        "sk",
        parser="conllu",
        parser_model=PARSED,
        limit=limit,
        output=output,
    )


def test_public_names_are_listed() -> None:
    """For completion in a shell or notebook."""
    assert {"score", "compare", "report", "ask", "push", "gender"} <= set(dir(gest_dataset))


def test_masculine_rates_keep_their_run_and_write_no_report(tmp_path: Path) -> None:
    path = tmp_path / "deepl"
    found = rates("deepl", path)
    assert {file.name for file in path.iterdir()} == {"run.json", "detections.parquet", "result.json"}
    run = read_run(path)
    assert run.table.replace_schema_metadata(None).equals(found.table)
    assert run.result["result"]["f_m"] == found.result()["f_m"]
    assert run.result["signature"] == run.manifest.signature == found.signature
    assert run.result["skipped"] == found.skipped.to_pydict() == {"id": [], "reason": []}
    assert run.manifest.command[:2] == ["python", "-c"]
    assert "gest_dataset.masculine_rates(system='file:" in run.manifest.command[2]
    assert "parser='conllu'" in run.manifest.command[2]
    assert str(PARSED) in run.manifest.command[2]
    with pytest.raises(OutputError, match=r"limit: none .existing., 3 .new."):
        rates("deepl", path, limit=3)


def test_every_kind_of_run_says_the_same_of_itself(tmp_path: Path) -> None:
    """Nobody who reads a run asks what kind it is."""
    gest_dataset.score(str(zoo.directory("bert")), "en", limit=3, device="cpu", output=tmp_path / "model")
    rates("deepl", tmp_path / "translator")
    model, translator = find_runs([tmp_path])
    assert list(model.manifest.to_dict()) == list(translator.manifest.to_dict())
    assert list(model.result) == list(translator.result)
    assert (model.manifest.model, translator.manifest.model) == (
        *(model.manifest.metadata["model"], "file:translations.csv"),
    )
    assert (model.manifest.config, model.manifest.about, model.manifest.language) == ("en", "en", "en")
    assert (translator.manifest.config, translator.manifest.about) == ("en", "en to sk")
    assert set(model.manifest.versions) == set(translator.manifest.versions)


def test_compare_takes_runs_and_paths(tmp_path: Path) -> None:
    for system in ("deepl", "google_translate"):
        rates(system, tmp_path / system)
    paths = [tmp_path / "deepl", tmp_path / "google_translate"]
    [by_path] = gest_dataset.compare(paths).differences
    [by_run] = gest_dataset.compare([read_run(paths[0]), str(paths[1])]).differences
    assert by_path == by_run
    assert (by_path.config, by_path.n, by_path.unknown) == ("en to sk", 30, 4)


def test_report_is_a_function_and_a_package(tmp_path: Path, script_environment: Mapping[str, str]) -> None:
    script = (
        "import sys, gest_dataset\n"
        "path = gest_dataset.report([sys.argv[1]], sys.argv[2])\n"
        "from gest_dataset import report\n"
        "from gest_dataset.report import write_report\n"
        "from gest_dataset.runs import read_run\n"
        "assert report([read_run(sys.argv[1])], sys.argv[2]) == path\n"
        "assert write_report([read_run(sys.argv[1])], path).read_bytes() == path.read_bytes()"
    )
    rates("deepl", tmp_path / "run")
    page = tmp_path / "r.html"
    command = [sys.executable, "-c", script, str(tmp_path / "run"), str(page)]
    done = subprocess.run(command, env=script_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "file:translations.csv" in page.read_text(encoding="utf-8")
    assert not (tmp_path / "run" / "report.html").exists()


def test_names_that_are_not_imported_yet(script_environment: Mapping[str, str]) -> None:
    """A fresh process: each name comes when it is used, and what users have imported still works."""
    script = (
        "import sys, gest_dataset\n"
        "assert not {'torch', 'transformers', 'matplotlib'} & set(sys.modules)\n"
        "assert gest_dataset.statistics.stereotype_rate\n"
        "assert gest_dataset.published.load('gest_mt_masculine_rates')\n"
        "assert gest_dataset.gender.detect\n"
        "for name in gest_dataset.__all__:\n"
        "    assert getattr(gest_dataset, name) is not None\n"
        "from gest_dataset import Scores, compare, masculine_rates, published, report, score, statistics\n"
        "from gest_dataset.gender import detect\n"
        "from gest_dataset import *\n"
        "try:\n"
        "    gest_dataset.nothing\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=script_environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "module 'gest_dataset' has no attribute 'nothing'\n"
