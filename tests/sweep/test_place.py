"""Where a sweep is kept: folders and URLs hold the same, and what cannot be written to says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gest_dataset.errors import OutputError
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.sweep.place import Place


@pytest.fixture(params=["", "file://", "local://", "memory://"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place that is not there yet: a folder, and file systems of fsspec with folders and without."""
    return Place(f"{request.param}{tmp_path / 'deep' / 'sweep'}")


def test_files_are_read_as_they_were_written(place: Place) -> None:
    assert place.read("sweep.json") is None
    assert place.names("models") == []
    for name in ("models/b.json", "models/a.json", "sweep.json"):
        place.write(name, name.encode())
    place.write("sweep.json", b"again")
    assert place.read("sweep.json") == b"again"
    assert place.read("models/a.json") == b"models/a.json"
    assert place.names("models") == ["a.json", "b.json"]
    with place.file("board.parquet") as path:
        path.write_bytes(b"columns")
    assert place.read("board.parquet") == b"columns"


def test_a_url_of_files_is_a_folder(tmp_path: Path) -> None:
    assert Place(f"file://{tmp_path}").folder == tmp_path
    assert Place(str(tmp_path)).folder == tmp_path
    assert Place(f"local://{tmp_path}").folder is None


def test_a_run_is_copied_without_its_lock_and_its_manifest_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    (run / "shards").mkdir(parents=True)
    for name in (MANIFEST, "scores.parquet", "result.json", ".lock"):
        (run / name).write_bytes(name.encode())
    place, written = Place("memory://bucket/copied"), []
    write = Place.write

    def noted(self: Place, name: str, content: bytes) -> None:
        written.append(name)
        write(self, name, content)

    monkeypatch.setattr(Place, "write", noted)
    place.keep(run, "runs/one/en")
    assert written[-1] == f"runs/one/en/{MANIFEST}"
    with place.run("runs/one/en") as path:
        there = {file.name: file.read_bytes() for file in path.iterdir()}
    assert there == {name: name.encode() for name in ("result.json", "scores.parquet", MANIFEST)}


def test_a_url_that_nothing_can_be_written_to() -> None:
    with pytest.raises(OutputError, match=r"http://127\.0\.0\.1:1/sweep/a cannot be written: .*--resume"):
        Place("http://127.0.0.1:1/sweep").write("a", b"")
    with pytest.raises(OutputError, match=r"http://127\.0\.0\.1:1/sweep/a cannot be read"):
        Place("http://127.0.0.1:1/sweep").read("a")
