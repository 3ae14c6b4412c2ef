"""Runs to report on: tiny models on the test mirror, and translations with planted genders."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from filelock import FileLock

import gest_dataset
from gest_dataset import report
from gest_dataset.runs import reading
from gest_dataset.statistics import masculine_rate
from tests.conftest import MANIFEST, MIRROR
from tests.support import zoo

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


@contextlib.contextmanager
def small_world() -> Iterator[None]:
    """The test mirror in force, and one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GEST_MIRROR", str(MIRROR))
        environment.setenv("GEST_SOURCES", str(MIRROR / MANIFEST))
        yield
    torch.set_num_threads(threads)


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


def _make(directory: Path) -> None:
    with patch.object(report, "write"):  # reports are what is tested
        for model, config in RUNS:
            path = directory / "runs" / f"{model}-{config}"
            gest_dataset.score(str(zoo.directory(model)), config, device="cpu", output=path)
    translated(directory / "runs" / "translated")
    found = reading.find([directory / "runs"])
    report.write(found, directory / "r.html", figures_to=directory / "figures")


def translated(path: Path) -> Path:
    """A run of masculine rates in Slovak; the first of every ten translations shows no gender."""
    generator = np.random.default_rng(0)
    stereotypes = np.repeat(np.arange(1, 17), 60)
    masculine = generator.random(len(stereotypes)) < MASCULINE[stereotypes - 1]
    genders = np.where(masculine, "male", "female").astype(object)
    genders[::10] = "unknown"
    ids = [f"gest-{number:04d}" for number in range(len(stereotypes))]
    path.mkdir()
    columns = {"id": ids, "stereotype": stereotypes, "gender": genders.tolist()}
    pq.write_table(pa.table(columns), path / "detections.parquet")
    manifest = {
        "format": reading.FORMAT,
        "kind": "masculine-rate",
        "status": reading.DONE,
        "command": ["gest", "masculine-rate"],
        "settings": {"system": "planted", "language": "sk", "data": "en"},
        "metadata": {"samples": len(ids), "problems": {"empty translation": 3}},
        "signature": "gest:en|system:planted|language:sk",
    }
    rates = masculine_rate(genders.tolist(), stereotypes.tolist())
    result = reading.plain({"config": "en", "probe": "masculine-rate", "result": rates})
    (path / reading.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    (path / reading.RESULT).write_text(json.dumps(result), encoding="utf-8")
    return path
