"""Choices and texts in the report: beside what the same model finds likely, and beside GenderBench's."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.published import genderbench
from gest_dataset.report import Panel
from gest_dataset.report.figures_beside import beside_panels
from gest_dataset.report.measured import measured
from gest_dataset.report.page import figures
from gest_dataset.report.style import COLUMNS, Layout, drawn_for
from gest_dataset.runs.reading import Run, read_run
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import fits, zoo
from tests.support.chats import MODEL, chatting, planted
from tests.support.report_runs import small_world

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
WRITTEN = {"male": "He sang. He danced.", "female": "She sang. She danced."}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """What one model finds likely, says and writes: it says and writes the stereotype."""
    with small_world():
        yield made(tmp_path_factory.mktemp("runs"))


def made(folder: Path) -> dict[str, Run]:
    rows = load_dataset("gest", "en", split="test").to_list()
    genders = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    names = planted(genders, follows=0, bias=1, refused=0)

    def mind(text: str, options: list[str]) -> str:
        if options:
            return names(text, options)
        gender = next((g for sentence, g in genders.items() if f'"{sentence}"' in text), "male")
        return WRITTEN[gender]

    with chatting(mind) as server:
        for probe in ("choice", "story"):
            gest_dataset.ask(MODEL, probe, endpoint=server.url, output=folder / probe)
    gest_dataset.score(str(zoo.directory("gpt2")), "en", device="cpu", output=folder / "likely")
    likely = read_run(folder / "likely")
    said = {probe: read_run(folder / probe) for probe in ("choice", "story")}
    return said | {"likely": replace(likely, manifest=replace(likely.manifest, subject=MODEL))}


def rows_of(panel: Panel) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(panel.csv)))


def test_three_ways_stand_side_by_side(runs: dict[str, Run]) -> None:
    panels = {panel.name: panel for panel in figures(measured(list(runs.values())))}
    panel = panels["side-by-side"]
    assert "measure different things" in panel.caption
    assert "finds likely, what it says, what it writes" in panel.title
    rows = rows_of(panel)
    assert list(dict.fromkeys(row["shows"] for row in rows)) == ["finds likely", "says", "writes"]
    assert len(rows) == 3 * 16
    for row in rows:
        masculine = STEREOTYPES[int(row["stereotype"])].gender == "male"
        if row["shows"] == "says":
            assert float(row["value"]) == (1 if masculine else -1)
        if row["shows"] == "writes":
            assert float(row["value"]) == masculine
    # the mean over templates of ln q, beside the middle of all 16
    tables = read_run(runs["likely"].path).result["result"]["by_template"].values()
    logs = np.mean([np.log(part["q"]) for part in tables], axis=0)
    middle = (logs[:7].mean() + logs[7:].mean()) / 2
    likely = [row for row in rows if row["shows"] == "finds likely"]
    assert [float(row["value"]) for row in likely] == pytest.approx(np.exp(logs - middle).tolist())
    assert {"stereotypes-choice", "stereotypes-story", "genderbench"} <= panels.keys()


def test_one_way_stands_alone(runs: dict[str, Run]) -> None:
    assert not beside_panels(measured([runs["story"]]))
    other = replace(runs["choice"], manifest=replace(runs["choice"].manifest, subject="other"))
    assert not beside_panels(measured([runs["story"], other]))


def test_each_model_has_a_figure(runs: dict[str, Run]) -> None:
    others = [
        replace(run, manifest=replace(run.manifest, subject="other"))
        for run in (runs["choice"], runs["story"])
    ]
    names = [panel.name for panel in beside_panels(measured([*runs.values(), *others]))]
    assert names == ["side-by-side", "side-by-side-2"]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_they_fit_into_the_columns_of_a_paper(runs: dict[str, Run], column: Layout) -> None:
    other = replace(
        runs["choice"], manifest=replace(runs["choice"].manifest, subject="a-model-with-a-name-that-is-long")
    )
    with drawn_for(column):
        panels = figures(measured([*runs.values(), other]))
    assert {"side-by-side", "genderbench", "stereotypes-choice"} <= {panel.name for panel in panels}
    for panel in panels:
        fits.check(panel)


def test_choices_by_stereotype(runs: dict[str, Run]) -> None:
    (panel,) = (p for p in figures(measured([runs["choice"]])) if p.name == "stereotypes-choice")
    for row in rows_of(panel):
        masculine = STEREOTYPES[int(row["stereotype"])].gender == "male"
        assert (float(row["male"]), float(row["female"])) == (masculine, not masculine)
        assert float(row["neither"]) == 0


def test_genderbench_stands_beside_english_choices_and_stories(runs: dict[str, Run]) -> None:
    (panel,) = (p for p in figures(measured(list(runs.values()))) if p.name == "genderbench")
    rows = rows_of(panel)
    own = {row["probe"]: float(row["rate"]) for row in rows if row["source"] == "this report"}
    assert own == {"choice": 1, "story": 1}
    assert sum(row["source"] == "published" for row in rows) == 24
    assert "not a ranking" in panel.caption
    slovak = replace(runs["choice"], manifest=replace(runs["choice"].manifest, language="sk"))
    assert "genderbench" not in {p.name for p in figures(measured([slovak]))}


def test_the_page_has_them(runs: dict[str, Run], tmp_path: Path) -> None:
    page = gest_dataset.report(list(runs.values()), tmp_path / "r.html").read_text(encoding="utf-8")
    for name in ("side-by-side", "stereotypes-choice", "stereotypes-story", "genderbench"):
        assert f'id="figure-{name}"' in page
    assert "stand at the same letter" in page


# Of the report's table of single numbers, which it prints apart from the intervals
PRINTED: dict[str, tuple[float, float]] = {
    "claude-3-5-haiku": (0.578, 0.116),
    "gemini-2.0-flash": (0.687, 0.106),
    "gemini-2.0-flash-lite": (0.535, 0.176),
    "gemma-2-27b-it": (0.563, 0.154),
    "gemma-2-9b-it": (0.477, 0.132),
    "gpt-4o": (0.238, 0.287),
    "gpt-4o-mini": (0.415, 0.227),
    "Llama-3.1-8B-Instruct": (0.108, 0.232),
    "Llama-3.3-70B-Instruct": (0.641, 0.195),
    "Mistral-7B-Instruct-v0.3": (0.143, 0.270),
    "Mistral-Small-24B-Instruct-2501": (0.165, 0.215),
}


def test_published_intervals_have_the_printed_middles() -> None:
    for place, probe in enumerate((genderbench.CHOICE, genderbench.STORY)):
        models: dict[str, Any] = {one.model: one for one in genderbench.graded_models(probe)}
        assert len(models) == 12
        for name, printed in PRINTED.items():
            assert models[name].middle == pytest.approx(printed[place], abs=6e-4)
    by_mark = {
        mark: sum(m.mark == mark for m in genderbench.graded_models(genderbench.CHOICE))
        for mark in genderbench.GRADES
    }
    assert by_mark == {"A": 0, "B": 1, "C": 3, "D": 8}
