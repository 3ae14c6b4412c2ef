"""Run folders: resuming after kills, refusing other settings and foreign files, reading, damage."""

from __future__ import annotations

import json
import logging
import random
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from datasets import Dataset
from filelock import FileLock

import gest_dataset
from gest_dataset import progress
from gest_dataset.data.folder import read_parquet
from gest_dataset.errors import DataError, GestError, OutputError
from gest_dataset.models.forward_passes import LanguageModelScorer
from gest_dataset.runs import find_runs, read_run
from gest_dataset.runs.folder import (
    CACHE,
    check_run_folder,
    check_runs_folder,
    check_work_folder,
    default_folder,
    python_command,
)
from gest_dataset.runs.manifest import read_manifest
from gest_dataset.storage import json_value, write_json
from tests.conftest import in_one_thread
from tests.support import killing, zoo

pytestmark = pytest.mark.usefixtures("one_thread")
FILES = {"run.json", "scores.parquet", "result.json"}  # the library writes no report


@pytest.fixture(scope="module")
def bert() -> str:
    return str(zoo.directory("bert"))


def run(model: Any, output: Path, **options: Any) -> gest_dataset.Scores:
    return gest_dataset.score(model, "en", device="cpu", output=output, **{"batch_tokens": 40, **options})


@pytest.fixture(scope="module")
def finished(bert: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished run of nine samples that no test changes."""
    with in_one_thread():
        path = tmp_path_factory.mktemp("finished") / "run"
        run(bert, path, limit=9)
        yield path


@pytest.fixture
def path(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def change(path: Path, remove: str = "", **entries: Any) -> None:
    """Change or remove entries of run.json."""
    content = json.loads((path / "run.json").read_text()) | entries
    content.pop(remove, None)
    (path / "run.json").write_text(json.dumps(content))


def assert_same(scores: gest_dataset.Scores, expected: gest_dataset.Scores) -> None:
    for name in expected.table.column_names:
        found, wanted = (one.table[name].to_pylist() for one in (scores, expected))
        assert found == (pytest.approx(wanted, abs=1e-6) if name == "log_ratio" else wanted)


# ---- killed and resumed ----------------------------------------------------------------------------------


def test_a_killed_run_resumes_with_the_same_scores(bert: str, tmp_path: Path) -> None:
    """Three kills at random moments, each after more batches."""
    moments = random.Random(20240601)
    path = tmp_path / "run"
    cached = [0]
    for _ in range(3):
        process, pipe = killing.start(bert, path, killing.slowly, 0.02)
        assert pipe.recv() == "ready"
        killing.wait_for_rows(path / CACHE, cached[-1] + moments.choice((1, 20, 40)))
        process.kill()
        process.join()
        assert process.exitcode == -9
        assert json.loads((path / "run.json").read_text())["status"] == "running"
        cached.append(killing.rows(path / CACHE))
    assert cached == sorted(cached)
    with pytest.raises(OutputError, match=r"not finished\. Resume it with: python -c 'import"):
        read_run(path)
    computed: list[int] = []
    compute = LanguageModelScorer.log_probs

    def counting(self: Any, inputs: Any, asks: Any) -> Any:
        computed.append(len(inputs))
        return compute(self, inputs, asks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanguageModelScorer, "log_probs", counting)
        scores = run(bert, path)
    assert sum(computed) == scores.metadata["passes"]["inputs"] - (cached[-1] - 1)  # and one row of state
    assert_same(scores, gest_dataset.score(bert, "en", device="cpu", batch_tokens=40))
    assert {one.name for one in path.iterdir()} == FILES


@pytest.mark.parametrize(
    ("file", "after"),
    [
        ("run.json", True),
        pytest.param("run.json", False, marks=pytest.mark.slow),
        pytest.param("scores.parquet", True, marks=pytest.mark.slow),
        ("result.json", False),
        pytest.param("result.json", True, marks=pytest.mark.slow),
    ],
)
def test_a_kill_while_a_file_is_written(bert: str, tmp_path: Path, file: str, after: bool) -> None:
    path = tmp_path / "run"
    process, _ = killing.start(bert, path, killing.killed_at, file, after)
    process.join()
    assert process.exitcode == -9
    run(bert, path)
    read_run(path)
    assert {one.name for one in path.iterdir()} == FILES


def test_a_damaged_manifest_does_not_stop_a_resume(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    process, _ = killing.start(bert, path, killing.slowly, 0.02)
    killing.wait_for_rows(path / CACHE, 20)
    process.kill()
    process.join()
    cached = killing.rows(path / CACHE)
    (path / "run.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        run(bert, path, limit=9)
    assert killing.rows(path / CACHE) == cached
    scores = run(bert, path)
    assert_same(scores, gest_dataset.score(bert, "en", device="cpu", batch_tokens=40))


@pytest.mark.parametrize("file", sorted(FILES))
def test_a_damaged_run_is_written_again(bert: str, path: Path, finished: Path, file: str) -> None:
    damaged = (path / file).read_bytes().replace(b"s", b"t", 1)
    damaged = b"{" if file == "run.json" else damaged
    (path / file).write_bytes(damaged)
    with pytest.raises(GestError):
        run(bert, path, limit=8)
    assert (path / file).read_bytes() == damaged
    run(bert, path, limit=9)
    assert read_run(path).table.equals(read_run(finished).table)


def test_another_process_is_refused(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    with FileLock(path / ".gest.lock"), pytest.raises(OutputError, match="Another process is writing to"):
        run(bert, path, limit=9)
    run(bert, path, limit=9)
    assert {one.name for one in path.iterdir()} == FILES


def test_a_finished_run_is_read(bert: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("nothing is computed again")

    before = {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.iterdir()}
    monkeypatch.setattr(LanguageModelScorer, "log_probs", never)
    scores = run(bert, path, limit=9)
    assert scores.table.equals(read_run(path).table.replace_schema_metadata(None))
    assert scores.metadata == read_run(path).manifest.metadata
    assert {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.iterdir()} == before


# ---- the same run? ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"limit": None}, r"limit: 9 \(existing\), none \(new\)"),
        ({"templates": [1, 3]}, r"templates: \[1, 2, 3, 4\] \(existing\), \[1, 3\] \(new\)"),
        ({"dtype": "bfloat16"}, r"dtype: float32 \(existing\), bfloat16 \(new\)"),
        ({"batch_tokens": 50}, r"batch_tokens: 40 \(existing\), 50 \(new\)"),
    ],
)
def test_other_settings_are_refused(bert: str, path: Path, options: dict[str, Any], difference: str) -> None:
    with pytest.raises(OutputError, match=difference):
        run(bert, path, **{"limit": 9, **options})


def test_a_changed_model_or_tokenizer_is_refused(bert: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(bert, model)
    run(str(model), tmp_path / "run", limit=9)
    changed, tokenizer = zoo.load("bert")
    with torch.no_grad():
        changed.bert.encoder.layer[0].output.dense.weight[3, 4] += 1e-3
    changed.save_pretrained(model)
    with pytest.raises(OutputError, match=r"weights: \w{12}… \(existing\), \w{12}… \(new\)\nChoose"):
        run(str(model), tmp_path / "run", limit=9)
    tokenizer.add_tokens(["brand-new"])
    tokenizer.save_pretrained(model)
    with pytest.raises(OutputError, match=r"tokenizer: \w{12}… \(existing\)"):
        run(str(model), tmp_path / "run", limit=9)


def test_changed_rows_are_refused(tmp_path: Path) -> None:
    rows = {"id": ["a", "b"], "sentence": ["I sing.", " "], "stereotype": [1, 2]}

    def score() -> gest_dataset.Scores:
        data = Dataset.from_dict(rows)
        return gest_dataset.score(zoo.load("bert"), data, templates=[1], device="cpu", output=tmp_path)

    for _ in range(2):
        assert score().skipped.to_pylist() == [{"id": "b", "template": 1, "reason": "empty sentence"}]
    rows["sentence"][0] = "I dance."
    with pytest.raises(OutputError, match=r"data_fingerprint: \w+"):
        score()


def test_an_unfinished_run_without_a_cache_is_replaced(bert: str, path: Path) -> None:
    change(path, status="running")
    run(bert, path, limit=7)
    assert read_run(path).manifest.settings["limit"] == 7
    change(path, status="running")
    (path / CACHE).touch()
    with pytest.raises(OutputError, match="was made by: python"):
        run(bert, path, limit=8)


def test_foreign_files_are_refused(bert: str, finished: Path, tmp_path: Path) -> None:
    for name in ("thesis.doc", "result.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(OutputError, match=f"contains {name}, which is not part of a run"):
            run(bert, folder, limit=9)
        assert {one.name: one.read_text() for one in folder.iterdir()} == {name: "mine"}
    several = tmp_path / "several"
    shutil.copytree(finished, several / "en")
    with pytest.raises(OutputError, match="contains en, which is not part of a run"):
        check_run_folder(several)
    (several / "report.html").touch()
    shutil.copytree(finished, several / "mine")  # a run on the user's own data
    check_runs_folder(several, ["en", "sk"])
    (several / "thesis.doc").touch()
    with pytest.raises(OutputError, match=r"contains thesis\.doc, which is not part of a folder of runs"):
        check_runs_folder(several, ["en", "sk"])


def test_a_work_folder_continues_with_the_same_settings_only(tmp_path: Path) -> None:
    record = tmp_path / "record.json"

    def check(number: int) -> Any:
        return check_work_folder(record, {record.name}, {"a": number}, "gest pairs", "a folder of pairs")

    assert check(1) is None
    write_json(record, {"settings": {"a": 1}, "rows": 3})
    assert check(1) == {"settings": {"a": 1}, "rows": 3}
    with pytest.raises(OutputError, match=r"a: 1 \(existing\), 2 \(new\)"):
        check(2)
    record.write_text("[]")
    with pytest.raises(OutputError, match="was not written by `gest pairs`"):
        check(1)


# ---- content ---------------------------------------------------------------------------------------------


def test_the_content_of_a_run(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    scores = run(bert, path, limit=20)
    one = read_run(path)
    assert one.table.replace_schema_metadata(None).equals(scores.table)
    assert list(one.result) == ["config", "measure", "result", "signature", "skipped"]
    assert one.result["result"] == json_value(scores.result())
    assert one.result["signature"] == one.manifest.signature == scores.signature
    m = one.manifest
    assert json.loads((path / "run.json").read_text())["format"] == 5
    assert (m.measure, m.config, m.about, m.language) == ("templates", "en", "en", "en")
    assert m.model == scores.metadata["model"]
    assert m.data_fingerprint == scores.metadata["data_fingerprint"]
    assert (m.versions["torch"], m.versions["gest_dataset"]) == (torch.__version__, gest_dataset.__version__)
    assert m.seeds == {"bootstrap": 0, "draws": 2000}
    assert (m.settings["limit"], m.settings["templates"]) == (20, [1, 2, 3, 4])
    assert m.metadata == json_value(scores.metadata)
    assert m.started <= m.finished
    facts = json.loads(pq.read_metadata(path / "scores.parquet").metadata[b"gest"])
    assert facts == {"settings": m.identity(), "signature": m.signature}


def test_python_commands() -> None:
    arguments = {"model": (1, object()), "config": "en", "output": Path("a b")}
    (*_, code) = python_command(gest_dataset.score, arguments)
    assert code == "import gest_dataset; gest_dataset.score(model=[1, '<object>'], output='a b')"


@pytest.mark.parametrize(
    ("name", "revision", "limit", "folder"),
    [
        ("org/model", "refs/pr/1", None, "org--model@refs--pr--1"),
        ("./mine/", None, 9, "mine-limit9"),
        ("a/checkpoint-500", None, None, "a--checkpoint-500"),
        ("tiny.gguf", None, None, "tiny"),
        ("published:google", None, None, "published-google"),
        ("../../x", None, None, "_--..--x"),
    ],
)
def test_default_folders(
    name: str, revision: str | None, limit: int | None, folder: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for existing in ("mine", "a/checkpoint-500"):
        (tmp_path / existing).mkdir(parents=True)
    (tmp_path / "tiny.gguf").touch()
    assert default_folder(name, revision, limit) == Path("gest-runs", folder)


# ---- reading ---------------------------------------------------------------------------------------------


def test_folders_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"is not a directory. Give the folder of a run"):
        read_run(tmp_path / "nowhere")
    with pytest.raises(OutputError, match=r"has no run\.json"):
        read_run(tmp_path)
    for content, error, message in (
        ("{", DataError, "cannot be read"),
        ("[]", OutputError, "has format None"),
        ('{"format": 4}', OutputError, "has format 4, and this version reads 5"),
    ):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(error, match=message):
            read_run(tmp_path)


@pytest.mark.parametrize(
    "entries",
    [
        {"measure": "song"},
        {"table": "../mine.parquet"},
        {"status": "asleep"},
        {"model": 3},
        {"command": ["gest", 3]},
        {"settings": []},
        {"remove": "model"},
        {"files": {"result.json": "0"}},
    ],
)
def test_invalid_entries_of_a_manifest(path: Path, entries: dict[str, Any]) -> None:
    change(path, **entries)
    with pytest.raises(OutputError, match="was not written by `gest`"):
        read_run(path)


def test_unknown_entries_of_a_manifest_are_ignored(path: Path) -> None:
    before = read_manifest(path)
    change(path, foreign={"a": 1}, seconds=3)
    assert read_manifest(path) == replace(before, seconds=3.0)


def test_changed_files_are_detected(path: Path) -> None:
    flips = random.Random(7)
    for name in ("scores.parquet", "result.json"):
        content = (path / name).read_bytes()
        for _ in range(20):
            position = flips.randrange(8 * len(content))
            damaged = bytearray(content)
            damaged[position // 8] ^= 1 << position % 8
            (path / name).write_bytes(damaged)
            with pytest.raises(DataError, match=f"{name} was changed after the run.*run again: python"):
                read_run(path)
        (path / name).unlink()
        with pytest.raises(DataError, match=rf"is damaged: .*{name}"):
            read_run(path)
        (path / name).write_bytes(content)
    read_run(path)


def test_table_pages_have_checksums(bert: str, tmp_path: Path) -> None:
    """So that other programs detect damage too."""
    run(bert, tmp_path / "run", limit=30)
    content = bytearray((tmp_path / "run" / "scores.parquet").read_bytes())
    column = pq.read_metadata(tmp_path / "run" / "scores.parquet").row_group(0).column(0)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    (tmp_path / "damaged.parquet").write_bytes(content)
    with pytest.raises(OSError, match="CRC"):
        read_parquet(tmp_path / "damaged.parquet")


def test_find_runs(finished: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("one/b", "one/a", "two/deep/c"):
        shutil.copytree(finished, tmp_path / name)
    loaded = read_run(tmp_path / "two" / "deep" / "c")
    runs = find_runs([loaded, tmp_path / "two", str(tmp_path / "one")])
    assert runs[0] is loaded
    assert [one.path.name for one in runs] == ["c", "a", "b"]
    change(tmp_path / "one" / "a", status="running")
    with caplog.at_level(logging.WARNING):
        assert [one.path.name for one in find_runs([tmp_path])] == ["b", "c"]
    assert "one/a: the run is not finished" in caplog.text
    with pytest.raises(OutputError, match="is not finished"):
        find_runs([tmp_path / "one" / "a"])
    change(tmp_path / "one" / "b", status="running")
    with pytest.raises(OutputError, match="There is no finished run below"):
        find_runs([tmp_path / "one"])


def test_progress_is_logged_now_and_then_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    caplog.set_level(logging.INFO, "gest_dataset.progress")
    for terminal, lines in ((True, []), (False, ["6 of 1,000 inputs", "36 of 1,000 inputs"])):
        monkeypatch.setattr(sys.stderr, "isatty", lambda shown=terminal: shown, raising=False)
        caplog.clear()
        clock[0] = 0.0
        bar = progress.ProgressBar(1000, "inputs", done=2)
        for second in range(4, 60, 2):
            clock[0] = float(second)
            bar.update(2)
        assert caplog.messages == lines


def test_a_slow_task_logs_its_time(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gest_dataset.progress")
    with progress.log_time("A quick task"):
        pass
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.01)
    with progress.log_time("Report of 2 runs"):
        time.sleep(0.3)
    assert caplog.messages == ["Report of 2 runs: 0 s so far"]
