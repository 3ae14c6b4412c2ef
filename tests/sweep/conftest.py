"""Shared fixtures: a few small models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gest_dataset.runs.manifest import MANIFEST, read_manifest
from gest_dataset.sweep.run import Cell, Engine, list_cells, run_here, sweep
from gest_dataset.sweep.suite import Suite
from tests.conftest import in_one_thread
from tests.support.herd import bred


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    """The test mirror, and one thread: the models are too small for more."""
    with in_one_thread():
        yield


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two masked models, a causal one, an encoder-decoder, and one whose weights are damaged."""
    folder = tmp_path_factory.mktemp("models")
    found = {name: bred(folder / name, seed=seed) for seed, name in enumerate(("one", "two", "broken"))}
    found |= {"causal": bred(folder / "causal", "gpt2"), "spans": bred(folder / "spans", "t5")}
    (found["broken"] / "model.safetensors").write_bytes(b"damaged")
    return found


def finished_runs(folder: Path) -> dict[str, tuple[int, int]]:
    """The finished runs below a folder, with the inode and time of their manifests."""
    found = {}
    for path in folder.glob(f"runs/*/*/{MANIFEST}"):
        if read_manifest(path.parent).done:
            status = path.stat()
            found[str(path.parent.relative_to(folder))] = (status.st_ino, status.st_mtime_ns)
    return found


def run_suite(
    suite: Suite,
    output: Path,
    engine: Engine = run_here,
    on_result: Callable[[list[Cell]], None] = lambda cells: None,
) -> list[Cell]:
    """Run a suite, and return all its cells."""
    cells = {cell.name: cell for cell in list_cells(suite, output)}
    for job in sweep(cells.values(), output, engine):
        cells |= {cell.name: cell for cell in job}
        on_result(job)
    return list(cells.values())
