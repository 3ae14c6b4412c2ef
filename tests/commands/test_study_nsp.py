"""`gest nsp-train` as a user meets it, up to the score of StereoSet between sentences."""

from __future__ import annotations

from pathlib import Path

from gest_dataset.runs.folder import read_run
from tests.commands.conftest import Gest
from tests.studies import corpora
from tests.support import zoo


def test_trained_and_scored(gest: Gest, tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.txt", corpora.documents(40))
    arguments = ("study", "nsp", str(zoo.directory("gpt2")), "--data", str(data), "--device", "cpu")
    arguments += ("--max-steps", "2", "--output", "nsp")
    done = gest(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Accuracy" in done.stdout
    assert "MISSING" not in done.stderr
    record = (tmp_path / "nsp" / "nsp.json").read_bytes()
    again = gest(*arguments)
    assert (again.stdout, again.returncode) == (done.stdout, 0)
    assert (tmp_path / "nsp" / "nsp.json").read_bytes() == record
    config = ("--config", "stereoset_en_intersentence", "--device", "cpu", "--output", "run")
    scored = gest("score", "nsp", *config)
    assert scored.returncode == 0, scored.stderr
    assert "icat" in scored.stdout
    assert read_run(tmp_path / "run").manifest.settings["kind"] == "nsp"
