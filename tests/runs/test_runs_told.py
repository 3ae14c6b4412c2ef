"""What a run says of itself, word by word: run.json, result.json, folders, the call that made it."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import gest_dataset
from gest_dataset.errors import DataError, OutputError
from gest_dataset.measures import MEASURES
from gest_dataset.runs import find_runs, read_run
from gest_dataset.runs.manifest import ANSWERS, Manifest, differences, read_manifest, shown, signature
from gest_dataset.runs.writing import claim_run, claim_several, machine, python_call
from tests.conftest import MANIFEST, MIRROR, ROOT

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]

PARSED = ROOT / "tests" / "mirror_sk.conllu"
TRANSLATIONS = MIRROR / "kinit-sk/gest/data/translations"
AT_THE_START = [
    *("format", "measure", "subject", "config", "language", "data_fingerprint", "table", "command"),
    *("settings", "versions", "machine", "seeds", "started", "status"),
]
AT_THE_END = ["signature", "metadata", "seconds", "finished", "files"]


def rates(output: Path, system: str = "deepl", **options: Any) -> Path:
    """A real run that needs no model."""
    file = f"file:{TRANSLATIONS}/{system}/sk/translations.csv"
    gest_dataset.masculine_rates(file, "sk", parser="conllu", model=PARSED, output=output, **options)
    return output


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEST_MIRROR", str(MIRROR))
        patch.setenv("GEST_SOURCES", str(MIRROR / MANIFEST))
        return rates(tmp_path_factory.mktemp("kept") / "run")


@pytest.fixture
def path(kept: Path, tmp_path: Path) -> Path:
    """A finished run to change."""
    return Path(shutil.copytree(kept, tmp_path / "run"))


def told(path: Path) -> dict[str, Any]:
    entries: dict[str, Any] = json.loads((path / "run.json").read_text(encoding="utf-8"))
    return entries


def tell(path: Path, without: str = "", **entries: Any) -> None:
    changed = {name: value for name, value in (told(path) | entries).items() if name != without}
    (path / "run.json").write_text(json.dumps(changed), encoding="utf-8")


# run.json -------------------------------------------------------------------------------------------


def test_the_entries_of_a_finished_run(kept: Path) -> None:
    entries = told(kept)
    assert list(entries) == AT_THE_START + AT_THE_END
    assert (entries["format"], entries["status"]) == (4, "done")
    assert (entries["measure"], entries["config"], entries["language"]) == ("masculine-rate", "en", "sk")
    assert entries["table"] == "detections.parquet"
    assert entries["seeds"] == {"bootstrap": 0, "draws": 2000}
    assert set(entries["files"]) == {"detections.parquet", "result.json"}
    packages = ("datasets", "numpy", "tokenizers", "torch", "transformers", "ufal.udpipe")
    assert entries["versions"] == {
        "gest_dataset": gest_dataset.__version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
    assert entries["machine"] == {"processor": platform.machine()}, "nothing ran in torch"
    assert entries["seconds"] == entries["metadata"]["seconds"] > 0
    for moment in (entries["started"], entries["finished"]):
        at = datetime.fromisoformat(moment)
        assert at.utcoffset() == timedelta(0)
        assert at.microsecond == 0
        assert abs(datetime.now(timezone.utc) - at) < timedelta(hours=2)


def test_result_and_table_of_a_finished_run(kept: Path) -> None:
    manifest = read_manifest(kept)
    result = json.loads((kept / "result.json").read_text(encoding="utf-8"))
    assert list(result) == ["config", "measure", "result", "signature", "skipped"]
    assert (result["config"], result["measure"]) == ("en", "masculine-rate")
    assert result["skipped"] == {"id": [], "reason": []}
    facts = json.loads(pq.read_metadata(kept / "detections.parquet").metadata[b"gest"])
    assert facts == {"settings": manifest.identity(), "signature": manifest.signature}
    assert not list(kept.glob("*.html"))
    assert read_run(str(kept)).path == kept


def test_a_run_is_the_same_one_by_what_it_is_of_and_its_settings(kept: Path) -> None:
    manifest = read_manifest(kept)
    about = ("measure", "subject", "config", "language", "data_fingerprint")
    assert manifest.identity() == {
        **{name: getattr(manifest, name) for name in about},
        **manifest.settings,
    }


def test_the_entries_of_a_running_one(path: Path) -> None:
    tell(path, status="running")
    manifest = read_manifest(path)
    assert not manifest.done
    assert list(manifest.to_json()) == AT_THE_START
    assert manifest.to_json()["status"] == "running"
    for name in AT_THE_END:
        tell(path, without=name)
    assert read_manifest(path) == Manifest(
        **{name: told(path)[name] for name in AT_THE_START if name not in ("format", "status")}
    ), "what is known at the end is empty until then"


def test_a_number_without_a_fraction_is_a_number(path: Path) -> None:
    tell(path, seconds=3)
    assert read_manifest(path).seconds == 3


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"seeds": {"bootstrap": "x"}}, r"`seeds` is \{\"bootstrap\": \"x\"\}, not of type dict\[str, int\]"),
        ({"seeds": {"bootstrap": True}}, "`seeds` is .*, not of type dict"),
        ({"seeds": {"draws": 1, "bootstrap": 1.5}}, "`seeds` is .*, not of type dict"),
        ({"command": "gest"}, r"`command` is gest, not of type list\[str\]"),
        ({"command": [3, "gest"]}, r"`command` is \[3, \"gest\"\]"),
        ({"versions": {"torch": None}}, r"`versions` is \{\"torch\": null\}, not of type dict\[str, str\]"),
        ({"language": None}, "`language` is none, not of type str"),
        ({"seconds": "3"}, "`seconds` is 3, not of type float"),
        ({"config": 3, "subject": []}, r"`subject` is \[\], not of type str; `config` is 3, not of type str"),
        ({"measure": "x", "status": "y"}, "no measure 'x', .*; there is no status 'y', only running, done"),
        ({"table": "mine"}, r"there is no table 'mine', only scores\.parquet, detections\.parquet"),
        ({"files": {}}, r"nothing of detections\.parquet; `files` says nothing of result\.json"),
        ({"files": {"detections.parquet": "0"}}, r"gest`: `files` says nothing of result\.json\."),
        ({"format": "3"}, "it says no format"),
        ({"format": None}, "it says no format"),
        ({"format": 2, "versions": {"gest_dataset": "0.0.7"}}, r"an older format \(2, .* 0\.0\.7;"),
        ({"format": 3, "versions": {"gest_dataset": "0.0.8"}}, r"an older format \(3, .* 0\.0\.8;"),
        ({"format": 5, "versions": {}}, r"a newer format \(5, written by .* \?; this version reads 4"),
        ({"format": 5, "versions": "mine"}, r"written by gest-dataset \?;"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_entry_is_said(path: Path, entries: dict[str, Any], said: str) -> None:
    tell(path, **entries)
    with pytest.raises(OutputError, match=said) as raised:
        read_run(path)
    assert str(path) in str(raised.value)


def test_entries_that_are_not_there(path: Path) -> None:
    for name in ("subject", "finished"):
        tell(path, without=name)
    with pytest.raises(OutputError, match="it has no subject, finished"):
        read_manifest(path)
    tell(path, status="running", subject="s")
    assert read_manifest(path).finished == "", "it is not known before the end"
    tell(path, without="status")
    with pytest.raises(OutputError, match="it has no status"):
        read_manifest(path)


def test_entries_of_somebody_else_do_no_harm(path: Path) -> None:
    before = read_manifest(path)
    tell(path, mine={"a": 1})
    assert read_manifest(path) == before


def test_a_run_that_cannot_be_read_says_which_file_and_what_to_do(path: Path, tmp_path: Path) -> None:
    for place, said in (
        (tmp_path / "nowhere", f"{tmp_path / 'nowhere'} is no directory, so it is no run"),
        (path / "run.json", f"{path / 'run.json'} is no directory, so it is no run"),
        (tmp_path, f"{tmp_path} holds no run.json, so it is no run"),
    ):
        with pytest.raises(OutputError, match=re.escape(said)) as raised:
            read_manifest(place)
        assert "`gest score --output`" in str(raised.value)
    (path / "run.json").write_bytes(b'{"subject": "\xff"}')
    with pytest.raises(DataError, match=f"{re.escape(str(path / 'run.json'))} cannot be read: .*run again"):
        read_manifest(path)


def test_a_letter_that_is_not_ascii(path: Path) -> None:
    tell(path, subject="žena")
    text = json.dumps(told(path), ensure_ascii=False)
    (path / "run.json").write_text(text, encoding="utf-8")
    assert read_manifest(path).subject == "žena"


def test_what_a_run_is_about(kept: Path) -> None:
    manifest = read_manifest(kept)
    assert manifest.about == "en to sk"
    assert replace(manifest, measure="story", table=ANSWERS, language="en").about == "story (en)"
    assert {name for name, measure in MEASURES.items() if measure.probe is None} == {
        "masculine-rate",
        "choice",
        "first-person",
        "story",
    }


# Damage ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["detections.parquet", "result.json"])
def test_a_changed_file_is_named_with_the_command_to_run_again(path: Path, name: str) -> None:
    (path / name).write_bytes((path / name).read_bytes() + b" ")
    again = read_manifest(path).command
    with pytest.raises(
        DataError, match=f"{re.escape(str(path / name))} is not as the run has written"
    ) as raised:
        read_run(path)
    assert str(raised.value).endswith(f"run again: {shlex.join(again)}")


def test_a_file_that_agrees_and_is_none_of_its_kind(path: Path) -> None:
    """Its checksum is right, and its reader finds what is wrong."""
    files = told(path)["files"]
    for name in files:
        before = (path / name).read_bytes()
        (path / name).write_bytes(b"mine")
        tell(path, files={**files, name: hashlib.sha256(b"mine").hexdigest()})
        with pytest.raises(
            DataError, match=f"The run in {re.escape(str(path))} is damaged: .* run again: python -c"
        ):
            read_run(path)
        (path / name).write_bytes(before)


def test_an_unfinished_run_says_how_to_go_on(path: Path) -> None:
    tell(path, status="running", command=["gest", "score", "a b"])
    with pytest.raises(OutputError, match=f"{re.escape(str(path))} is not finished.*: gest score 'a b'$"):
        read_run(path)


# Folders --------------------------------------------------------------------------------------------


def test_runs_below_folders(kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("one/b", "one/a", "two/deep/c"):
        shutil.copytree(kept, tmp_path / name)
    loaded = read_run(tmp_path / "two" / "deep" / "c")
    runs = find_runs([loaded, tmp_path / "two", str(tmp_path / "one")])
    assert runs[0] is loaded
    assert [run.path.name for run in runs] == ["c", "a", "b"], "each once, where it came first"
    assert [run.path.name for run in find_runs([tmp_path / "one" / "b", loaded, loaded])] == ["b", "c"]
    shutil.copytree(kept, tmp_path / "one" / "a" / "inside")
    assert [run.path.name for run in find_runs([tmp_path / "one" / "a"])] == ["a"], "a run is itself"
    shutil.rmtree(tmp_path / "one" / "a" / "inside")
    tell(tmp_path / "one" / "a", status="running")
    with caplog.at_level(logging.WARNING):
        assert [run.path.name for run in find_runs([tmp_path])] == ["b", "c"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'one' / 'a'} is left out: the run is not finished."
    ]
    tell(tmp_path / "one" / "b", status="running")
    with pytest.raises(OutputError, match=f"no finished run below {re.escape(str(tmp_path / 'one'))}"):
        find_runs([tmp_path / "one"])
    with pytest.raises(OutputError, match="is no directory"):
        find_runs([tmp_path / "nowhere"])


def test_a_folder_is_claimed_for_a_run(kept: Path, tmp_path: Path) -> None:
    new = tmp_path / "deep" / "new"
    assert claim_run(new) is None
    assert new.is_dir()
    (new / ".gest.lock").touch()
    assert claim_run(new) is None, "another process may have just begun"
    assert claim_run(kept) == read_manifest(kept)
    several = tmp_path / "several"
    shutil.copytree(kept, several / "en")
    with pytest.raises(
        OutputError, match=f"{re.escape(str(several))} holds several runs, en among them"
    ) as raised:
        claim_run(several)
    assert f"--output, such as {several / 'en'} for" in str(raised.value)
    (several / "a.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"contains a\.txt, which is not part of a run. Choose an empty"):
        claim_run(several)


def test_a_folder_is_claimed_for_several_runs(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    claim_several(folder, ["en", "sk"])
    for name in ("en", "report.html", ".gest.lock"):
        (folder / name).touch()
    claim_several(folder, ["en", "sk"])
    (folder / "thesis.doc").touch()
    with pytest.raises(OutputError, match=r"contains thesis\.doc, which is not part of a folder of runs"):
        claim_several(folder, ["en", "sk"])


# Written --------------------------------------------------------------------------------------------


def test_what_was_there_before_is_gone_at_the_end(path: Path) -> None:
    """A report of other numbers, and what a run has kept on the way."""
    before = (path / "detections.parquet").read_bytes()
    (path / "report.html").write_text("of before")
    tell(path, status="running")
    (path / "shards").mkdir()
    rates(path)
    assert {file.name for file in path.iterdir()} == {"run.json", "detections.parquet", "result.json"}
    assert (path / "detections.parquet").read_bytes() == before


def test_a_run_that_was_killed_at_its_very_end_is_cleaned(path: Path) -> None:
    (path / "shards").mkdir()
    (path / "shards" / "000000.npz").write_bytes(b"left")
    rates(path)
    assert not (path / "shards").exists()


def test_an_unfinished_run_keeps_its_beginning(path: Path) -> None:
    tell(path, status="running", started="2020-01-01T00:00:00+00:00")
    rates(path)
    assert told(path)["started"] == "2020-01-01T00:00:00+00:00"
    assert told(path)["status"] == "done"


def test_nothing_is_kept_of_a_run_that_came_to_nothing(path: Path) -> None:
    """Its settings are those of the run that takes its place; a table or something on the way is kept."""
    for left in ("detections.parquet", "shards"):
        tell(path, status="running", started="2020-01-01T00:00:00+00:00")
        if left == "shards":
            (path / "detections.parquet").unlink()
            (path / "shards").mkdir()
        with pytest.raises(
            OutputError, match="an unfinished run that is not of the same:\n  limit: none there, 3 now"
        ):
            rates(path, limit=3)
    (path / "shards").rmdir()
    rates(path, limit=3)
    assert told(path)["settings"]["limit"] == 3
    assert told(path)["started"] > "2020-01-01T00:00:00+00:00"


def test_another_machine_does_not_go_on_and_may_read(path: Path) -> None:
    other = {"machine": {"processor": "abacus"}, "versions": {**told(path)["versions"], "torch": "0"}}
    tell(path, **other)
    rates(path)
    tell(path, **other, status="running", command=["gest", "masculine-rate", "a b"])
    with pytest.raises(OutputError, match="that is not of the same") as raised:
        rates(path)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{path} holds an unfinished run that is not of the same:"
    assert lines[1:3] == [
        f"  torch: 0 there, {torch.__version__} now",
        f"  processor: abacus there, {platform.machine()} now",
    ]
    assert lines[3].startswith("Choose another directory with --output.")
    assert lines[3].endswith("That run was: gest masculine-rate 'a b'")


def test_what_a_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"a graphics card at {device}")
    assert machine(torch.device("cuda", 1)) == {"processor": "a graphics card at cuda:1"}
    assert machine(None) == {"processor": platform.machine()}
    here = machine(torch.device("cpu"))
    capability = torch.backends.cpu.get_cpu_capability()
    assert here == {"processor": f"{platform.machine()} {capability}", "threads": torch.get_num_threads()}
    assert machine(torch.device("mps"))["processor"] == f"{platform.machine()} mps"


def test_a_call_in_python_can_be_repeated() -> None:
    def call(model: Any, config: Any = "en", limit: int | None = None, output: Any = None) -> None:
        """A function of the package's root."""

    def command(**given: Any) -> str:
        start, option, text = python_call(call, given)
        assert (start, option) == ("python", "-c")
        before, _, arguments = text.partition("gest_dataset.call(")
        assert before == "import gest_dataset; "
        assert arguments.endswith(")")
        return arguments[:-1]

    assert command(model="a'b", config="en", limit=None) == 'model="a\'b"'
    assert command(model="m", limit=3, output=Path("x/y")) == "model='m', limit=3, output='x/y'"
    assert command(model=["a", 1, 2.5, None], config=("a",)) == "model=['a', 1, 2.5, None], config=('a',)"
    assert command(model=(np.zeros(1), "t"), config=pa.table({})) == "model=<ndarray>, config=<Table>"


# Words ----------------------------------------------------------------------------------------------


def test_how_an_entry_is_shown() -> None:
    mark = "0123456789abcdef" * 4
    for value, text in (
        (None, "none"),
        ("none", "none"),
        ("a text", "a text"),
        ("žena", "žena"),
        (["žena", 1, None], '["žena", 1, null]'),
        ({"a": False}, '{"a": false}'),
        (mark, "0123456789ab…"),
        (mark[:-1], mark[:-1]),
        (mark[:-1] + "g", mark[:-1] + "g"),
    ):
        assert shown(value) == text


def test_only_what_differs_is_told() -> None:
    there = {"a": 1, "b": None, "c": [1], "d": 2}
    now = {"e": "x", "a": 1, "c": [2], "b": None}
    assert differences(there, now) == [
        "  c: [1] there, [2] now",
        "  d: 2 there, none now",
        "  e: none there, x now",
    ]
    assert differences(there, dict(there)) == []


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ({"a": "x", "b": None, "c": "", "d": 0}, "a:x|d:0"),
        ({"a": [], "b": {}, "c": [1, "x"]}, "c:1+x"),
        ({"options": {"cs": True, "multi_token": False}}, "options:cs=True+multi_token=False"),
        ({"hash": "0123456789abcdef"}, "hash:0123456789ab"),
        ({"hash": "0123456789abcde"}, "hash:0123456789abcde"),
        ({"model": "org/m@0123456789abcdef0123"}, "model:org/m@0123456789ab"),
    ],
)
def test_signature(parts: Mapping[str, Any], line: str) -> None:
    assert signature(**parts) == line


# Compared -------------------------------------------------------------------------------------------
