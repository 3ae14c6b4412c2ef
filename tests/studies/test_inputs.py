"""Checks of the runs of a study: a model counts once, and limitations are noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gest_dataset import studies
from gest_dataset.errors import ConfigError
from tests.studies.planting import gest, winobias

pytestmark = pytest.mark.usefixtures("mirror")
WINOBIAS = "winobias_type1_test"


def run(path: Path, model: str, step: float, config: str = "en", **settings: Any) -> Path:
    """A GEST run in two templates whose ratios follow another pattern for each `step`."""
    return gest(path, model, lambda row, t: row["stereotype"] * step * t % 3, (1, 2), config, **settings)


def test_a_model_and_its_copy_count_once(tmp_path: Path) -> None:
    first = run(tmp_path / "a", "bert", 1.3, weights="0" * 64)
    again = run(tmp_path / "b", "bert", 1.3, weights="0" * 64)
    copied = run(tmp_path / "c", "owner/copy", 1.3, weights="0" * 64)
    other = run(tmp_path / "d", "roberta", 0.7, weights="1" * 64)
    with pytest.raises(ConfigError, match=r"Two runs of one model on en \(bert, bert\)"):
        studies.templates([first, again, other])
    with pytest.raises(ConfigError, match=r"on en \(bert, owner/copy\)"):
        studies.topical([first, copied, other])


def test_limits_and_toys_are_noted(tmp_path: Path) -> None:
    runs = [run(tmp_path / "a", "part", 1.3, limit=1200), run(tmp_path / "b", "toy", 0.7, "en_1_0", toy=True)]
    runs += [winobias(tmp_path / model, model, 0.5, 0.5, WINOBIAS) for model in ("part", "toy")]
    notes = "\n".join(studies.validity(runs).notes)
    assert "only the first 1,200 samples of a config" in notes
    assert "is a toy model: its numbers are not findings." in notes
