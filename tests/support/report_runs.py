"""Runs to report on: tiny models on the test mirror, and translations with planted genders."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

import gest_dataset
from gest_dataset.report.labels import label_runs
from gest_dataset.report.panels import panels_of
from gest_dataset.runs.folder import find_runs
from tests.conftest import in_one_thread as small_world
from tests.support import planted, zoo

# One run of every kind that a report has a part for
RUNS = (
    ("bert", "en"),
    ("gpt2", "en"),
    ("bert", "demo_en"),
    ("bert", "demo_sk_pairs"),
    ("bert", "stereoset_control_gender"),
    ("bert", "crows_control_negation"),
    ("bert", "stereoset_en_intrasentence"),
    ("bert", "winobias_type1_test"),
)
MASCULINE = 0.5 + np.arange(16) / 40  # of the translations of each stereotype


def made(factory: pytest.TempPathFactory) -> Path:
    """A directory with all runs of the table and one of translations, and with their report and figures.

    It is made once for all processes of a test session.
    """
    base = factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reported"
    with FileLock(f"{directory}.lock"), small_world():
        if not (directory / "done").exists():
            _make(directory)
            (directory / "done").touch()
    return directory


def unpacked(page: Path) -> dict[str, Any]:
    """What a page's script gets, read as an outsider would: base64 of gzip of JSON."""
    found = re.search(r'<template id="packed">([A-Za-z0-9+/=]+)</template>', page.read_text(encoding="utf-8"))
    assert found is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return content


def _make(directory: Path) -> None:
    for model, config in RUNS:
        path = directory / "runs" / f"{model}-{config}"
        gest_dataset.score(str(zoo.directory(model)), config, device="cpu", output=path)
    translated(directory / "runs" / "translated")
    gest_dataset.report([directory / "runs"], directory / "r.html")
    (directory / "figures").mkdir()
    for panel in panels_of(label_runs(find_runs([directory / "runs"]))):  # without the drawings
        (directory / "figures" / f"{panel.name}.csv").write_text(panel.csv, encoding="utf-8")


def translated(path: Path) -> Path:
    """A run of masculine rates in Slovak with planted genders; every tenth translation shows none."""
    generator = np.random.default_rng(0)
    stereotypes = np.repeat(np.arange(1, 17), 60)
    masculine = generator.random(len(stereotypes)) < MASCULINE[stereotypes - 1]
    genders = np.where(masculine, "male", "female").astype(object)
    genders[::10] = "unknown"
    rows = [
        {
            "id": f"gest-{number:04d}",
            "stereotype": stereotype,
            "gender": gender,
            "problem": "empty translation" if number in (0, 10, 20) else "",
        }
        for number, (stereotype, gender) in enumerate(zip(stereotypes.tolist(), genders, strict=True))
    ]
    return planted.translated(path, "sk", rows)
