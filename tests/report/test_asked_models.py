"""Choices and texts of chat models in the report, next to probabilities."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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


def test_what_a_model_says_and_writes(panels: dict[str, Panel]) -> None:
    for said, written in zip(
        *(rows_of(panels[f"stereotypes-{key}"]) for key in ("choice", "story")), strict=True
    ):
        masculine = STEREOTYPES[int(said["stereotype"])].gender == "male"
        assert float(said["male"]) - float(said["female"]) == (1 if masculine else -1)
        assert (written["stereotype"], float(written["p"])) == (said["stereotype"], masculine)
