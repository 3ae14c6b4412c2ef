"""Runs with planted numbers, compared with the tables of the papers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset import published
from gest_dataset.measures.grid import Estimate
from gest_dataset.models.score import score
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.storage import write_json
from gest_dataset.sweep.published_numbers import Comparison, compare_with_published, finished_runs
from gest_dataset.sweep.suite import parse_suite
from tests.conftest import in_one_thread
from tests.support import zoo
from tests.support.printed import Result, english, planted, put

# Config of a run that is there to be planted in -> how it is asked
ASKED: dict[str, dict[str, Any]] = {
    "en_1_0": {},
    "sk_pairs": {},
    "stereoset_control_gender": {},
    "stereoset_en_intrasentence": {},
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Real runs of a small model, whose results are then replaced."""
    folder = tmp_path_factory.mktemp("real")
    with in_one_thread():
        for config, how in ASKED.items():
            score(str(zoo.directory("bert")), config, device="cpu", output=folder / config, **how)
        yield folder


def compared(path: Path) -> list[Comparison]:
    return compare_with_published([read_run(path)])


def test_printed_numbers_agree_with_themselves(real: Path, tmp_path: Path) -> None:
    found = compared(planted(real, tmp_path, "en_1_0", "roberta-base", english("roberta-base")))
    assert len(found) == 4 * 17
    assert {one.differs for one in found} == {False}
    printed = next(
        row for row in published.load("gest_english_mlm")["rows"] if row["model"] == "roberta-base"
    )
    first = found[0]
    assert (first.metric, first.printed) == ("g_s", printed["g_s_published"])
    assert first.estimate.value == pytest.approx(printed["g_s_published"], abs=1e-4)


@pytest.mark.parametrize("off", [1.05, 0.95])
def test_a_number_that_is_off_differs(real: Path, tmp_path: Path, off: float) -> None:
    found = compared(planted(real, tmp_path, "en_1_0", "roberta-base", english("roberta-base", off)))
    assert [(one.where, one.metric) for one in found if one.differs] == [("template 3", "q_7")]


def test_a_local_copy_is_not_the_papers_model(real: Path, tmp_path: Path) -> None:
    path = planted(real, tmp_path, "en_1_0", "roberta-base", english("roberta-base"))
    told = json.loads((path / MANIFEST).read_text())
    told["metadata"]["from_hub"] = False
    write_json(path / MANIFEST, told)
    assert compared(path) == []


@pytest.mark.parametrize("change", [{"limit": 10}, {"options": {"templates": "mine.json#1"}}])
def test_runs_with_a_limit_or_options_are_not_compared(real: Path, tmp_path: Path, change: Result) -> None:
    path = planted(real, tmp_path, "en_1_0", "roberta-base", english("roberta-base"))
    told = json.loads((path / MANIFEST).read_text())
    told["metadata"] |= change
    told["settings"] |= change
    write_json(path / MANIFEST, told)
    assert compared(path) == []


def test_pairs(real: Path, tmp_path: Path) -> None:
    model = "xlm-roberta-base"
    (row,) = (
        row
        for row in published.load("gest_slavic_mlm")["rows"]
        if (row["model"], row["language"]) == (model, "sk")
    )

    def plant(result: Result) -> None:
        for place, q in enumerate(row["q"]):
            # 0.004 is less than rounding to two digits hides
            put(result, "q", math.exp(math.log(q + (0.004 if place else 0.2)) * LN10), place)

    found = compared(planted(real, tmp_path, "sk_pairs", model, plant))
    assert len(found) == 16
    assert [one.metric for one in found if one.differs] == ["q_1"]


def test_word_filling(real: Path, tmp_path: Path) -> None:
    config, model = "stereoset_control_gender", "roberta-base"
    rows = {
        table: next(
            row
            for row in published.load(f"word_filling_{table}")["rows"]
            if (row["model"], row["config"]) == (model, config)
        )
        for table in ("ss", "cs", "f")
    }

    def plant(result: Result) -> None:
        for row in rows.values():
            for name, value in row.items():
                if f"{name}_low" in result:
                    put(result, name, value * (LN10 if "_mu" in name else 1.0))
        put(result, "f_mu", 1.0)

    found = compared(planted(real, tmp_path, config, model, plant))
    assert {one.table for one in found} == {
        "Word filling, table 1 and 7",
        "Word filling, table 2 and 9",
        "Word filling, table 3 and 11",
    }
    assert [one.metric for one in found if one.differs] == ["f μ"]
    assert next(one for one in found if one.metric == "ss μ original").estimate.value == pytest.approx(0.84)


def test_stereoset(real: Path, tmp_path: Path) -> None:
    config, model = "stereoset_en_intrasentence", "bert-base-cased"

    def plant(result: Result) -> None:
        for name, value in {"lms": 83.1, "ss": 58.74, "icat": 70.0}.items():
            put(result, name, value)
        for name, value in {"multiclass_lms": 83.02, "multiclass_ss": 58.63, "micro_icat": 68.69}.items():
            put(result, name, value)

    found = compared(planted(real, tmp_path, config, model, plant))
    told = {(one.table, one.metric): one.differs for one in found}
    assert told[("StereoSet, table 2", "lms")] is False
    assert told[("StereoSet, table 2", "icat")] is True
    assert told[("StereoSet, table 8", "micro_icat")] is False
    assert told[("StereoSet, table 8", "macro_icat")] is None  # it has no interval


@pytest.mark.parametrize(
    ("estimate", "printed", "differs"),
    [
        (Estimate(1.0, 0.9, 1.1), 1.1, False),
        (Estimate(1.0, 0.9, 1.1), 1.105, False),
        (Estimate(1.0, 0.9, 1.1), 1.11, True),
        (Estimate(1.0, 0.9, 1.1), 0.89, True),
        (Estimate(1.0, math.nan, math.nan), 1.0, None),
    ],
)
def test_differs(estimate: Estimate, printed: float, differs: bool | None) -> None:
    assert Comparison("", "", "", "", estimate, printed, 0.005).differs is differs


def test_missing_runs_are_counted(real: Path, tmp_path: Path) -> None:
    planted(real, tmp_path, "en_1_0", "roberta-base", english("roberta-base"))
    suite = parse_suite({"configs": "en_1_0", "models": ["roberta-base", "gpt2"]}, "two")
    runs, missing = finished_runs(suite, tmp_path)
    assert (len(runs), missing) == (1, 1)
    manifest = tmp_path / "runs" / "roberta-base" / "en_1_0" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"done"', '"running"'))
    assert finished_runs(suite, tmp_path) == ([], 2)
