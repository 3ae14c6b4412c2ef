"""Runs on disk: killed and resumed to the same bytes, refused where anything differs, read again."""

from __future__ import annotations

import json
import logging
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from filelock import FileLock

import gest_dataset
from gest_dataset.data import parquet
from gest_dataset.errors import DataError, OutputError
from gest_dataset.models import batching, shards
from gest_dataset.models.batching import Values, answer
from gest_dataset.models.scorers import LanguageModel
from gest_dataset.probes.queries import Input, Lookup, Query
from gest_dataset.runs import reading
from gest_dataset.storage import json_value
from tests.conftest import MANIFEST, MIRROR
from tests.support import killing, zoo

pytestmark = pytest.mark.usefixtures("one_thread")

_ENVIRONMENT = {"GEST_MIRROR": str(MIRROR), "GEST_SOURCES": str(MIRROR / MANIFEST)}
FILES = {"run.json", "scores.parquet", "result.json"}  # a library call writes no report


@pytest.fixture(scope="module")
def bert() -> str:
    return str(zoo.directory("bert"))


def run(model: Any, output: Path, **options: Any) -> gest_dataset.Scores:
    return gest_dataset.score(model, "en", device="cpu", output=output, **{"batch_tokens": 40, **options})


@pytest.fixture(scope="module")
def undisturbed(bert: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    """The bytes of scores.parquet of a run that nothing disturbs."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _ENVIRONMENT.items():
            patch.setenv(name, value)
        torch.set_num_threads(1)
        path = tmp_path_factory.mktemp("undisturbed") / "run"
        run(bert, path)
        yield (path / "scores.parquet").read_bytes()


# Killed ---------------------------------------------------------------------------------------------


def test_ten_kills_at_random_moments(bert: str, undisturbed: bytes, tmp_path: Path) -> None:
    moments = random.Random(20240601)
    path = tmp_path / "run"
    kept = []
    for _ in range(10):
        process, pipe = killing.start(bert, path, _ENVIRONMENT, killing.slowly, 0.02)
        assert pipe.recv() == "ready"
        # after none, one or two shards more, so that a busy machine changes nothing, and somewhere in a batch
        wanted = (kept[-1] if kept else 0) + moments.choice((0, 1, 2))
        deadline = time.monotonic() + 60
        while len(list((path / "shards").glob("*.npz"))) < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.02))
        process.kill()
        process.join()
        assert process.exitcode == -9
        assert json.loads((path / "run.json").read_text())["status"] == "running"
        kept.append(len(list((path / "shards").glob("*.npz"))))
        assert not (path / "scores.parquet").exists()
    assert kept == sorted(kept)
    assert len(set(kept)) > 4, "the kills were at different moments, and each run went on"
    with pytest.raises(
        OutputError, match=r"not finished\. The same command goes on with it: python -c 'import"
    ):
        reading.read_run(path)
    asked: list[int] = []
    counting = LanguageModel.answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            LanguageModel,
            "answer",
            lambda self, inputs, asks: asked.append(1) or counting(self, inputs, asks),
        )
        scores = run(bert, path)
    assert len(asked) == scores.metadata["passes"]["batches"] - kept[-1] > 0
    assert (path / "scores.parquet").read_bytes() == undisturbed
    assert {one.name for one in path.iterdir()} == FILES


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("number", [1, 2, -3, -2, -1])
def test_kills_at_every_kind_of_file(
    bert: str, undisturbed: bytes, tmp_path: Path, number: int, after: bool
) -> None:
    """run.json, the first shard, scores.parquet, result.json and the last run.json."""
    path = tmp_path / "run"
    batches = gest_dataset.score(bert, "en", device="cpu", batch_tokens=40).metadata["passes"]["batches"]
    files = 1 + batches + 3
    at = number if number > 0 else files + 1 + number
    process, _ = killing.start(bert, path, _ENVIRONMENT, killing.killed_at, at, after)
    process.join()
    assert process.exitcode == -9
    run(bert, path)
    assert (path / "scores.parquet").read_bytes() == undisturbed
    assert {one.name for one in path.iterdir()} == FILES


@pytest.mark.parametrize(("name", "most"), [("shards", 300), ("scores.parquet", 1000), ("result.json", 1000)])
def test_full_disk(bert: str, undisturbed: bytes, tmp_path: Path, name: str, most: int) -> None:
    """The system refuses to write more (EFBIG); what is there stays whole, and the run goes on later."""
    path = tmp_path / "run"
    process, pipe = killing.start(bert, path, _ENVIRONMENT, killing.without_room, name, most)
    assert pipe.recv() == "ready"
    message = pipe.recv()
    process.join()
    assert message.startswith("OutputError: ")
    assert "could not be written" in message
    assert name in message
    assert "previous content is unchanged" in message
    left = {one.name for one in path.rglob("*")} - {".gest.lock"}
    assert not [one for one in left if one.startswith(".")], "no partial file"
    assert json.loads((path / "run.json").read_text())["status"] == "running"
    run(bert, path)
    assert (path / "scores.parquet").read_bytes() == undisturbed


def test_second_process_says_so_and_stops(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    process, pipe = killing.start(bert, path, _ENVIRONMENT, killing.slowly, 0.1)
    assert pipe.recv() == "ready"
    with pytest.raises(OutputError, match="Another process is writing to"):
        run(bert, path)
    process.kill()
    process.join()
    run(bert, path)


# Stopped in one process -----------------------------------------------------------------------------


class StoppedError(Exception):
    pass


class Composed:
    """A scorer whose values tell the batch that they were computed in, and the number type.

    It has `memory` for so many padded tokens, overflows on inputs that hold `poison` and runs in
    float32 from then on, and stops after so many batches.
    """

    causal = False

    def __init__(self, memory: int = 10**9, poison: int = -1, stop: int = -1) -> None:
        self.memory, self.poison, self.stop = memory, poison, stop
        self.dtypes = ["float16"]
        self.answered = 0

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Nothing is short here."""

    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        padded = len(inputs) * max(one.size for one in inputs)
        if padded > self.memory:
            raise torch.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {padded}")
        if self.answered == self.stop:
            raise StoppedError
        self.answered += 1
        if len(self.dtypes) == 1 and any(self.poison in one.input_ids for one in inputs):
            self.dtypes.append("float32")
        batch = sum(sum(one.input_ids) for one in inputs) + 1000 * len(inputs)
        return [np.array([batch + ask.target / 64 + 0.5 * len(self.dtypes) for ask in own]) for own in asks]


# one query that comes early, as it is long, and one that comes late
_POISONS = {36: (98,), 150: (99,)}


def queries() -> list[Query]:
    rng = np.random.default_rng(5)
    made = []
    for number in range(200):
        ids = tuple(int(i) for i in rng.integers(1, 9, rng.integers(1, 12)))
        made.append(Query((*ids, *_POISONS.get(number, ())), (0,), (number % 7,)))
    return made


@pytest.mark.parametrize("memory", [10**9, 40])
@pytest.mark.parametrize("poison", [-1, 98, 99])
@pytest.mark.parametrize("stop", [0, 2, 5])
def test_stopped_runs_meet_the_same_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, poison: int, stop: int
) -> None:
    """Also after the memory ran out and after an overflow, whenever shards are written."""
    monkeypatch.setattr(batching, "clear_device_cache", lambda **_: None)  # collects garbage, slowly
    whole, passes = answer(queries(), Composed(memory, poison), 90)
    for seconds in (0.0, 1e9):
        monkeypatch.setattr(shards, "SECONDS", seconds)
        directory = tmp_path / str(seconds)
        for _ in range(3):
            with suppress(StoppedError):
                answer(queries(), Composed(memory, poison, stop), 90, store=shards.Shards(directory))
        last = Composed(memory, poison)
        found, again = answer(queries(), last, 90, store=shards.Shards(directory))
        assert [list(values) for values in found] == [list(values) for values in whole]
        assert again == passes
        if not seconds and stop:
            assert last.answered < passes.batches


def test_shards_of_other_work_and_damaged_ones_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shards, "SECONDS", 0.0)
    whole, _ = answer(queries(), Composed(), 90, store=shards.Shards(tmp_path))
    middle = sorted(tmp_path.glob("*.npz"))[3]
    middle.write_bytes(middle.read_bytes()[:-40])
    with caplog.at_level(logging.WARNING):
        again = Composed()
        found, _ = answer(queries(), again, 90, store=shards.Shards(tmp_path))
    assert "is damaged" in caplog.text
    assert again.answered > 3
    assert [list(values) for values in found] == [list(values) for values in whole]
    with caplog.at_level(logging.WARNING):
        found, _ = answer(queries()[:100], Composed(), 90, store=shards.Shards(tmp_path))
    first = tmp_path / "000000.npz"
    assert f"{first} is of other work: its answers are computed again." in caplog.messages
    expected, _ = answer(queries()[:100], Composed(), 90)
    assert [list(values) for values in found] == [list(values) for values in expected]


def test_overflow_survives_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real model in float16 that goes over to float32 before it is stopped."""
    model, tokenizer = zoo.load("bert")
    with torch.no_grad():
        model.cls.predictions.transform.LayerNorm.weight.mul_(40_000)
    monkeypatch.setattr(shards, "SECONDS", 0.0)
    whole = run((model, tokenizer), tmp_path / "whole", dtype="float16")
    assert whole.metadata["dtype"] == "float16+float32"
    real, calls = LanguageModel.answer, iter(range(1000))

    def stopping(self: LanguageModel, *arguments: Any) -> Any:
        if next(calls) == 9:
            raise StoppedError
        return real(self, *arguments)

    monkeypatch.setattr(LanguageModel, "answer", stopping)
    with pytest.raises(StoppedError):
        run((model, tokenizer), tmp_path / "run", dtype="float16")
    monkeypatch.setattr(LanguageModel, "answer", real)
    scores = run((model, tokenizer), tmp_path / "run", dtype="float16")
    assert scores.metadata["dtype"] == "float16+float32"
    assert scores.metadata["notes"] == whole.metadata["notes"]
    files = [(tmp_path / name / "scores.parquet").read_bytes() for name in ("whole", "run")]
    assert files[0] == files[1]


# Finished -------------------------------------------------------------------------------------------


def test_finished_run_is_read_and_not_computed(
    bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    first = run(bert, path)
    before = {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.iterdir()}

    def never(*_: Any) -> None:
        raise AssertionError("nothing is asked again")

    monkeypatch.setattr(LanguageModel, "answer", never)
    again = run(bert, path)
    assert again.table.equals(first.table)
    assert again.table.schema == first.table.schema
    assert again.skipped.equals(first.skipped)
    assert again.metadata == json_value(first.metadata)
    assert again.signature == first.signature
    assert {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in path.iterdir()} == before


def test_what_a_run_holds(bert: str, tmp_path: Path) -> None:
    scores = run(bert, tmp_path / "run", limit=20)
    one = reading.read_run(tmp_path / "run")
    assert one.table.replace_schema_metadata(None).equals(scores.table)
    assert one.result["result"] == json_value(scores.result())
    assert one.result["signature"] == one.manifest.signature == scores.signature
    assert (one.result["config"], one.result["measure"]) == ("en", "templates")
    m = one.manifest
    assert json.loads((tmp_path / "run" / "run.json").read_text())["format"] == 4
    assert (m.measure, m.config, m.language, m.table, m.done) == (
        *("templates", "en", "en"),
        *("scores.parquet", True),
    )
    assert m.subject == scores.metadata["model"]
    assert m.data_fingerprint == scores.metadata["data_fingerprint"]
    assert m.versions["torch"] == torch.__version__
    assert m.versions["gest_dataset"] == gest_dataset.__version__
    assert m.machine["threads"] == 1
    assert m.settings["limit"] == 20
    assert m.settings["templates"] == [1, 2, 3, 4]
    assert m.metadata == json_value(scores.metadata)
    assert m.seconds > 0
    assert m.command[:2] == ["python", "-c"]
    assert f"gest_dataset.score(model={bert!r}, limit=20, device='cpu'" in m.command[2]
    assert m.started <= m.finished
    assert b"seconds" not in pq.read_metadata(tmp_path / "run" / "scores.parquet").metadata[b"gest"]


def test_skipped_samples_are_kept(tmp_path: Path) -> None:
    from datasets import Dataset

    sentences = {"id": ["a", "b"], "sentence": ["I sing.", " "], "stereotype": [1, 2]}
    for _ in range(2):
        scores = run_on(Dataset.from_dict(sentences), tmp_path / "run")
        assert scores.skipped.to_pylist() == [{"id": "b", "template": 1, "reason": "empty sentence"}]
    assert "<Dataset>" in reading.read_run(tmp_path / "run").manifest.command[2]
    sentences["sentence"][0] = "I dance."
    with pytest.raises(OutputError, match=r"data_fingerprint: \w+"):
        run_on(Dataset.from_dict(sentences), tmp_path / "run")


def run_on(rows: Any, output: Path) -> gest_dataset.Scores:
    return gest_dataset.score(zoo.load("bert"), rows, templates=[1], device="cpu", output=output)


# Refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"limit": 7}, "limit: 9 there, 7 now"),
        ({"limit": None}, "limit: 9 there, none now"),
        ({"templates": [1, 3]}, r"templates: \[1, 2, 3, 4\] there, \[1, 3\] now"),
        ({"dtype": "bfloat16"}, "dtype: float32 there, bfloat16 now"),
        ({"batch_tokens": 50}, "batch_tokens: 40 there, 50 now"),
    ],
)
def test_changed_settings_are_spelled_out(
    bert: str, tmp_path: Path, options: dict[str, Any], difference: str
) -> None:
    run(bert, tmp_path / "run", limit=9)
    with pytest.raises(OutputError, match=difference) as raised:
        run(bert, tmp_path / "run", **{"limit": 9, **options})
    assert "Choose another directory with --output" in str(raised.value)
    # weights in another number type are other weights
    assert str(raised.value).count(" there, ") == (2 if "dtype" in options else 1)


def test_changed_model_is_noticed(bert: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(bert, model)
    run(str(model), tmp_path / "run", limit=9)
    changed, tokenizer = zoo.load("bert")
    with torch.no_grad():
        changed.bert.encoder.layer[0].output.dense.weight[3, 4] += 1e-3
    changed.save_pretrained(model)
    with pytest.raises(OutputError, match=r"weights: \w{12}… there, \w{12}… now\nChoose"):
        run(str(model), tmp_path / "run", limit=9)
    tokenizer.add_tokens(["brand-new"])
    tokenizer.save_pretrained(model)
    with pytest.raises(OutputError, match=r"tokenizer: \w{12}… there, \w{12}… now"):
        run(str(model), tmp_path / "run", limit=9)


def test_fingerprint_is_of_the_model_alone(bert: str, tmp_path: Path) -> None:
    """Not of where it lies, nor of what its tokeniser was asked before."""
    from gest_dataset.models.loading import load_model

    first = load_model(bert, "cpu", "auto")
    marks = first.fingerprint()
    first.tokenizer("a b", padding="max_length", truncation=True, max_length=9)
    assert first.fingerprint() == marks
    shutil.copytree(bert, tmp_path / "copy")
    assert load_model(str(tmp_path / "copy"), "cpu", "auto").fingerprint() == marks
    assert load_model(bert, "cpu", "bfloat16").fingerprint()["weights"] != marks["weights"]


def test_unfinished_run_of_another_version(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(bert, path, limit=9)
    change(path, status="running", versions={"gest_dataset": "0.0.1"})
    with pytest.raises(OutputError, match=r"an unfinished run .*\n  gest_dataset: 0\.0\.1 there") as raised:
        run(bert, path, limit=9)
    assert "torch: none there" in str(raised.value)
    change(path, status="done")
    run(bert, path, limit=9)  # a finished one is read


def change(path: Path, **entries: Any) -> None:
    manifest = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(manifest | entries))


def test_an_unfinished_run_that_kept_nothing_is_nobodys(bert: str, tmp_path: Path) -> None:
    """There is nothing of it to lose, and nothing to mix."""
    path = tmp_path / "run"
    run(bert, path, limit=9)
    change(path, status="running")
    for name in ("scores.parquet", "result.json"):
        (path / name).unlink()
    run(bert, path, limit=7)
    assert reading.read_run(path).manifest.settings["limit"] == 7


def test_files_that_are_called_like_a_runs_are_not_lost(bert: str, tmp_path: Path) -> None:
    """Without a run.json they are somebody's own."""
    (tmp_path / "result.json").write_text("mine")
    with pytest.raises(OutputError, match=r"contains result\.json, which is not part of a run"):
        run(bert, tmp_path, limit=9)
    assert (tmp_path / "result.json").read_text() == "mine"


def test_directory_of_somebody_else(bert: str, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    with pytest.raises(OutputError, match=r"contains thesis\.doc, which is not part of a run"):
        run(bert, tmp_path, limit=9)
    assert {one.name for one in tmp_path.iterdir()} == {"thesis.doc"}
    with pytest.raises(OutputError, match="cannot be used"):
        run(bert, tmp_path / "thesis.doc", limit=9)


def test_lock_is_released(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    lock = FileLock(path / ".gest.lock")
    with lock, pytest.raises(OutputError, match="Another process"):
        run(bert, path, limit=9)
    run(bert, path, limit=9)
    assert {one.name for one in path.iterdir()} == FILES


# Read -----------------------------------------------------------------------------------------------


def test_read_says_what_is_wrong(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(OutputError, match="is no directory, so it is no run"):
        reading.read_run(path)
    path.mkdir()
    with pytest.raises(OutputError, match=r"holds no run\.json, so it is no run"):
        reading.read_run(path)
    run(bert, path, limit=9)
    whole = (path / "run.json").read_text()
    for number, age in ((3, "older"), (5, "newer")):
        change(path, format=number)
        for read in (lambda: reading.read_run(path), lambda: run(bert, path, limit=9)):
            with pytest.raises(OutputError, match=rf"is of an? {age} format \({number}, written by"):
                read()
    (path / "run.json").write_text("[]")
    with pytest.raises(OutputError, match="is not of `gest`"):
        reading.read_run(path)
    (path / "run.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        reading.read_run(path)
    (path / "run.json").write_text(whole)
    for entry, message in (
        ({"measure": "song"}, "there is no measure 'song', only neutral, templates, pairs"),
        ({"table": "../mine.parquet"}, "there is no table '../mine.parquet', only scores.parquet"),
        ({"status": "asleep"}, "there is no status 'asleep', only running, done"),
        ({"subject": 3}, "`subject` is 3, not of type str"),
        ({"seconds": True}, "`seconds` is true, not of type float"),
        ({"command": ["gest", 3]}, r'`command` is \["gest", 3\], not of type list\[str\]'),
        ({"settings": []}, r"`settings` is \[\], not of type dict"),
    ):
        change(path, **entry)
        with pytest.raises(OutputError, match=message):
            reading.read_run(path)
        (path / "run.json").write_text(whole)
    for missing in ("subject", "machine", "metadata"):
        told = json.loads(whole)
        del told[missing]
        (path / "run.json").write_text(json.dumps(told))
        with pytest.raises(OutputError, match=f"is not of `gest`: it has no {missing}"):
            reading.read_run(path)
    (path / "run.json").write_text(whole)
    change(path, measure="masculine-rate", table="detections.parquet")
    with pytest.raises(OutputError, match=r"`files` says nothing of detections\.parquet"):
        reading.read_run(path)
    (path / "run.json").write_text(whole)
    change(path, measure="masculine-rate")
    with pytest.raises(OutputError, match="measure: masculine-rate there, templates now"):
        run(bert, path, limit=9)
    (path / "run.json").write_text(whole)
    (path / "scores.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="is not as the run has written it"):
        reading.read_run(path)


def test_a_file_that_was_changed_is_told(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(bert, path, limit=9)
    assert set(reading.read_run(path).manifest.files) == FILES - {"run.json"}
    result = json.loads((path / "result.json").read_text())
    result["result"]["g_s"] = 9.9
    (path / "result.json").write_text(json.dumps(result))
    with pytest.raises(DataError, match=r"result\.json is not as .* run again: python"):
        reading.read_run(path)
    with pytest.raises(DataError, match="is not as the run has written it"):
        run(bert, path, limit=9)
    (path / "result.json").unlink()
    with pytest.raises(DataError, match=r"damaged: .*result\.json"):
        reading.read_run(path)


def test_no_flipped_bit_is_read(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(bert, path, limit=30)
    reading.read_run(path)
    flips = random.Random(7)
    for name in ("scores.parquet", "result.json"):
        whole = (path / name).read_bytes()
        for _ in range(150):
            place = flips.randrange(8 * len(whole))
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << place % 8
            (path / name).write_bytes(damaged)
            with pytest.raises(DataError, match="is not as the run has written it"):
                reading.read_run(path)
        (path / name).write_bytes(whole)
    reading.read_run(path)


def test_a_manifest_without_a_file_is_told(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(bert, path, limit=9)
    change(path, files={"result.json": "0" * 64})
    with pytest.raises(OutputError, match=r"`files` says nothing of scores\.parquet"):
        reading.read_run(path)


def test_pages_of_a_table_have_checksums(bert: str, tmp_path: Path) -> None:
    """So that other programs find damage too; the run's own check is over the whole file."""
    path = tmp_path / "run"
    run(bert, path, limit=30)
    content = bytearray((path / "scores.parquet").read_bytes())
    column = pq.read_metadata(path / "scores.parquet").row_group(0).column(0)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(content)
    with pytest.raises(OSError, match="CRC"):
        parquet.read_table(damaged)


def test_the_report_is_no_part_of_the_run(bert: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(bert, path, limit=9)
    (path / "report.html").write_text("made anew")
    reading.read_run(path)


def test_find(bert: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("a", "b", "deep/c"):
        run(bert, tmp_path / "all" / name, limit=9)
    found = reading.find_runs([tmp_path / "all" / "b", tmp_path / "all"])
    assert [one.path.name for one in found] == ["b", "a", "c"]
    change(tmp_path / "all" / "a", status="running")
    with caplog.at_level(logging.WARNING):
        assert [one.path.name for one in reading.find_runs([tmp_path / "all"])] == ["b", "c"]
    assert "a is left out: the run is not finished" in caplog.text
    with pytest.raises(OutputError, match="is not finished"):
        reading.find_runs([tmp_path / "all" / "a"])
    (tmp_path / "none").mkdir()
    with pytest.raises(OutputError, match="so it is no run"):
        reading.find_runs([tmp_path / "none"])


def test_plain() -> None:
    value = {
        1: np.float32(0.5),
        "a": (np.nan, np.inf, np.int64(3)),
        "b": np.array([[1.0, np.nan]]),
        "c": None,
    }
    assert json_value(value) == {"1": 0.5, "a": [None, None, 3], "b": [[1.0, None]], "c": None}


def test_default_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", "a/checkpoint-500", "b/checkpoint-500"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("tiny.gguf", "a/sk.csv"):
        (tmp_path / file).touch()
    for name, revision, limit, folder in (
        ("EleutherAI/pythia-70m", None, None, "EleutherAI--pythia-70m"),
        ("EleutherAI/pythia-70m", "step1000", 5, "EleutherAI--pythia-70m@step1000-limit5"),
        ("org/model", "refs/pr/1", None, "org--model@refs--pr--1"),
        ("mine", None, None, "mine"),
        ("./mine/", None, 9, "mine-limit9"),
        (f"{tmp_path}/mine/", None, None, "mine"),
        ("a/checkpoint-500", None, None, "a--checkpoint-500"),
        (f"{tmp_path}/b/checkpoint-500", None, None, "b--checkpoint-500"),
        ("tiny.gguf", None, None, "tiny"),
        ("a/sk.csv", None, None, "a--sk"),
        ("smollm2", None, None, "smollm2"),
        ("published:google", None, None, "published-google"),
    ):
        assert reading.default_folder(name, revision, limit) == Path("gest-runs", folder)
