"""Runs with planted numbers, compared with the tables of the papers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from gest_dataset import published
from gest_dataset.measures.grid import Estimate
from gest_dataset.models.score import score
from gest_dataset.runs.folder import read_run
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.storage import write_json
from gest_dataset.sweep.published_numbers import Comparison, compare, compare_with_published
from tests.conftest import in_one_thread
from tests.support import zoo
from tests.support.printed import Result, english, planted, put


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Real runs of a small model, whose results are then replaced."""
    folder = tmp_path_factory.mktemp("real")
    with in_one_thread():
        for config in ("en_1_0", "sk_pairs"):
            score(str(zoo.directory("bert")), config, device="cpu", output=folder / config)
        yield folder


def compared(path: Path) -> list[Comparison]:
    return list(compare_with_published(read_run(path)))


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


@pytest.mark.parametrize(("printed", "differs"), [(1.1, False), (1.105, False), (1.11, True), (0.89, True)])
def test_differs(printed: float, differs: bool) -> None:
    """A number differs if no value that rounds to the printed one lies in the interval 0.9 to 1.1."""
    ratio = Estimate(*(math.exp(math.log(end) * LN10) for end in (1.0, 0.9, 1.1)))
    found = compare("", "", "", "", ratio, printed, 0.005)
    assert found[4:7] == pytest.approx((1.0, 0.9, 1.1))
    assert found.differs is differs
