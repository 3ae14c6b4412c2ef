"""Whether a run is that of a cell: a real one, beside suites that ask otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.models.score import score
from gest_dataset.runs.manifest import Manifest, read_manifest
from gest_dataset.sweep.facts import is_run_of
from gest_dataset.sweep.suite import suite_of
from tests.conftest import in_one_thread
from tests.support import zoo

MODEL = str(zoo.directory("bert"))
ASKED: dict[str, Any] = {"templates": [1, 3], "limit": 8}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manifest]:
    folder = tmp_path_factory.mktemp("facts") / "run"
    with in_one_thread():
        score(MODEL, "demo_en", **ASKED, device="cpu", batch_tokens=99, output=folder)
        yield read_manifest(folder)


def is_asked(manifest: Manifest, config: str = "demo_en", **told: Any) -> bool:
    """Whether a run is what a suite with other keys asks."""
    entry = {key: value for key, value in {"model": MODEL, **ASKED, **told}.items() if value is not None}
    (subject,) = suite_of({"configs": config, "models": [entry]}, "s").checked().subjects
    return is_run_of(manifest, subject, config)


@pytest.mark.parametrize("told", [{}, {"dtype": "float32"}, {"batch_tokens": 99}, {"multi_token": True}])
def test_the_run_is_its_cell(manifest: Manifest, told: dict[str, Any]) -> None:
    """What means nothing to its probe makes no other run of it."""
    assert is_asked(manifest, **told)


@pytest.mark.parametrize(
    "told",
    [
        *({"templates": None}, {"templates": [3, 1]}, {"templates": "extended"}),
        *({"limit": None}, {"limit": 9}, {"null": 2}, {"dtype": "bfloat16"}, {"quantization": "8bit"}),
        *({"batch_tokens": 98}, {"model": str(zoo.directory("roberta"))}, {"config": "demo_sk_pairs"}),
        {"dtype": None, "endpoint": "http://127.0.0.1:1"},
    ],
)
def test_a_run_that_was_asked_otherwise_is_another(manifest: Manifest, told: dict[str, Any]) -> None:
    assert not is_asked(manifest, **told)


def test_other_data_and_options_make_another_run(manifest: Manifest) -> None:
    assert not is_asked(replace(manifest, data_fingerprint="0"))
    assert not is_asked(replace(manifest, settings=manifest.settings | {"options": {"templates": "mine"}}))


def test_a_gguf_file_is_named_without_its_folder(manifest: Manifest, tmp_path: Path) -> None:
    assert is_asked(replace(manifest, subject="tiny.gguf"), model=str(tmp_path / "tiny.gguf"))
    assert not is_asked(replace(manifest, subject="tiny.gguf"), model=str(tmp_path / "other.gguf"))
