"""Checks of the runs of a study: a model counts once, and limitations are noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gest_dataset import studies
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from tests.support import planted

pytestmark = pytest.mark.usefixtures("mirror")


def gest(path: Path, model: str, shift: float, config: str = "en", **settings: Any) -> Path:
    """A GEST run in two templates whose ratios go up and down, by another pattern for each `shift`."""
    rows = rows_of(config)
    samples = list(zip(rows["id"], rows["stereotype"], strict=True))
    columns = {
        "id": [name for name, _ in samples] * 2,
        "template": [1] * len(samples) + [2] * len(samples),
        "stereotype": [number for _, number in samples] * 2,
        "log_ratio": [(place * shift) % 3 for place in range(2 * len(samples))],
    }
    return planted.scored(path, model, config, columns, **settings)


def winobias(path: Path, model: str, **settings: Any) -> Path:
    rows = rows_of("winobias_type1_test")
    genders = [rows.features["occupation_gender"].int2str(gender) for gender in rows["occupation_gender"]]
    columns = {"id": rows["id"], "occupation_gender": genders, "log_ratio": [0.5] * len(rows)}
    return planted.scored(path, model, "winobias_type1_test", columns, **settings)


def test_a_model_and_its_copy_count_once(tmp_path: Path) -> None:
    first = gest(tmp_path / "a", "bert", 1.3, weights="0" * 64)
    again = gest(tmp_path / "b", "bert", 1.3, weights="0" * 64)
    copied = gest(tmp_path / "c", "owner/copy", 1.3, weights="0" * 64)
    other = gest(tmp_path / "d", "roberta", 0.7, weights="1" * 64)
    with pytest.raises(ConfigError, match=r"runs of the same model on en \(bert, bert\)"):
        studies.templates([first, again, other])
    with pytest.raises(ConfigError, match=r"on en \(bert, owner/copy\)"):
        studies.topical([first, copied, other])


def test_limits_toys_and_versions_are_noted(tmp_path: Path) -> None:
    runs = [gest(tmp_path / "a", "part", 1.3, limit=1200), winobias(tmp_path / "w", "part")]
    runs += [gest(tmp_path / "b", "toy", 0.7, "en_1_0", toy=True), winobias(tmp_path / "x", "toy")]
    notes = "\n".join(studies.validity(runs).notes)
    assert "only the first 1,200 samples of a config" in notes
    assert "is a toy model: its numbers are not findings." in notes
