"""Shared fixtures: a few small models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gest_dataset.runs.manifest import MANIFEST, read_manifest
from tests.conftest import in_one_thread
from tests.support.herd import bred


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    """The test mirror, and one thread: the models are too small for more."""
    with in_one_thread():
        yield


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two masked models, a causal one, and one whose weights are damaged."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: bred(folder / name, seed=seed) for seed, name in enumerate(("one", "two", "broken"))}
    found["causal"] = bred(folder / "causal", "gpt2")
    weights = found["broken"] / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    return found


def finished_runs(folder: Path) -> dict[str, tuple[int, int]]:
    """The finished runs below a folder, with the inode and time of their manifests."""
    found = {}
    for path in folder.glob(f"runs/*/*/{MANIFEST}"):
        if read_manifest(path.parent).done:
            status = path.stat()
            found[str(path.parent.relative_to(folder))] = (status.st_ino, status.st_mtime_ns)
    return found
