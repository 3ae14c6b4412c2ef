"""`gest nsp-train` as a user meets it, up to the score of StereoSet between sentences."""

from __future__ import annotations

from pathlib import Path

from gest_dataset.runs.folder import read_run
from tests.commands.conftest import Called
from tests.studies.nsp import corpora
from tests.support import zoo


def test_trained_and_scored(gest_here: Called, tmp_path: Path) -> None:
    data = corpora.write(tmp_path / "corpus.txt", corpora.documents(40))
    arguments = ("study", "nsp", str(zoo.directory("gpt2")), "--data", str(data), "--device", "cpu")
    arguments += ("--max-steps", "2", "--output", "nsp")
    done = gest_here(*arguments)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "MISSING" not in done.stderr
    record = (tmp_path / "nsp" / "nsp.json").read_bytes()
    again = gest_here(*arguments)
    assert (again.stdout, again.returncode) == (done.stdout, 0)
    assert (tmp_path / "nsp" / "nsp.json").read_bytes() == record
    config = ("--config", "stereoset_en_intersentence", "--device", "cpu", "--output", "run")
    scored = gest_here("score", "nsp", *config)
    assert scored.returncode == 0, scored.stderr
    assert "icat" in scored.stdout
    assert read_run(tmp_path / "run").manifest.settings["kind"] == "nsp"


def test_what_goes_wrong_is_told(gest_here: Called, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"body": "One. Two."}\n')
    arguments = ("study", "nsp", str(zoo.directory("gpt2")), "--data", "one.jsonl", "--output", "nsp")
    wrong = gest_here(*arguments)
    assert wrong.returncode == 2
    assert "Choose one of body with --text" in wrong.stderr
    few = gest_here(*arguments, "--text", "body")  # the folder is not taken by what was wrong
    assert few.returncode == 1
    assert "at least 11 different ones" in few.stderr
    missing = gest_here("study", "nsp", str(zoo.directory("gpt2")), "--data", "none.csv", "--output", "nsp")
    assert missing.returncode == 2
    assert "Traceback" not in wrong.stderr + few.stderr + missing.stderr
