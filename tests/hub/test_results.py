"""Results on a model's page: real runs of a model that came from the small Hub, proposed to it."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import EvalResultEntry, constants, parse_eval_result_entries

import gest_dataset
from gest_dataset import cli
from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.commands.console import err, out
from gest_dataset.data import build
from gest_dataset.data.card import write_card
from gest_dataset.data.croissant import write_croissant
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, GestError, HubError
from gest_dataset.hub.benchmark import write_benchmark
from gest_dataset.hub.results import Pushed, push_results
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import format_number
from gest_dataset.runs.folder import new_manifest, open_run, read_run, sha256
from gest_dataset.runs.manifest import DETECTIONS
from gest_dataset.storage import json_value, write_json
from gest_dataset.translation.masculine_rates import MasculineRates
from tests.conftest import MIRROR, use
from tests.hub.conftest import ANN, BOB, READER
from tests.support import zoo
from tests.support.hub import Fault, Hub, Request, pointed_at, running
from tests.support.hub.cards import wrong_results

DATA, MODEL = "org/gest", "org/tiny"
ASKED = ("en", "winobias_type1_dev", "crows_gender", "stereoset_en_intrasentence")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as `gest build` writes them."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        use(MIRROR, patch)
        for name in ASKED:
            build.build_config(CONFIGS[name], folder)
        builds = write_card(folder)
        write_croissant(folder, builds)
        write_benchmark(folder, [built.config for built in builds])
    return folder


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a model that was downloaded from a Hub, on all that it is asked here."""
    home = tmp_path_factory.mktemp("scored")
    with running(home) as hub, pointed_at(hub.url) as patch:
        use(MIRROR, patch)
        patch.setattr(constants, "HF_HUB_CACHE", str(home / "cache"))
        hub.add("model", MODEL, _files(zoo.directory("bert")))
        gest_dataset.score(MODEL, [*ASKED], templates=[1, 3], device="cpu", output=home / "runs")
    return home / "runs"


@pytest.fixture
def there(hub: Hub, folder: Path, mirror: Path) -> Hub:
    """The data set and the model's repository on the Hub."""
    hub.add("dataset", DATA, _files(folder))
    hub.add("model", MODEL, {"README.md": b"---\nlicense: mit\n---\n# Tiny\n"})
    return hub


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def push(runs: Any, to: str = MODEL, **options: Any) -> Pushed:
    return push_results(runs, to, dataset=DATA, **options)


def model(hub: Hub) -> Any:
    return hub.repositories["model", MODEL]


def entry_of(text: str) -> EvalResultEntry:
    assert wrong_results(text) == []
    (entry,) = parse_eval_result_entries(yaml.safe_load(text))
    return entry


def is_commit(request: Request) -> bool:
    return "/commit/" in request.path and request.method == "POST"


def test_a_pull_request_with_the_headline_of_a_run(there: Hub, scored: Path) -> None:
    pushed = push(scored / "winobias_type1_dev", report_url="https://example.org/report.html")
    assert pushed.committed.made
    assert pushed.committed.pull_request == f"{there.url}/{MODEL}/discussions/1"
    assert pushed.notes == ()
    repository = model(there)
    path = ".eval_results/org--gest--winobias_type1_dev.yaml"
    assert path not in repository.head.files  # proposed, not done
    text = there.read(repository, path, "refs/pr/1").decode()
    assert pushed.files == {path: text}
    run = read_run(scored / "winobias_type1_dev")
    entry, result = entry_of(text), run.result["result"]
    assert entry.value == pytest.approx(result["g_s"], abs=1e-6)
    assert (entry.dataset_id, entry.task_id) == (DATA, "winobias_type1_dev")
    assert entry.dataset_revision == there.dataset(DATA).head.oid
    assert entry.date == run.manifest.finished
    assert (entry.source_url, entry.source_name) == (
        "https://example.org/report.html",
        "Report of gest-dataset",
    )
    assert entry.notes is not None
    for said in (
        f"95 % interval {format_number(result['g_s_low'])} to {format_number(result['g_s_high'])}; "
        f"no stereotype is 1, negligible is",
        f"verdict: {result['verdict']}",
        f"model revision {run.manifest.metadata['revision'][:12]}",
        f"gest-dataset {gest_dataset.__version__}",
    ):
        assert said in entry.notes


def test_all_runs_in_a_folder_are_one_pull_request(there: Hub, scored: Path) -> None:
    """Each measure's own headline, a file for each task."""
    pushed = push(scored)
    assert len(model(there).pull_requests) == 1
    entries = {entry.task_id: entry for entry in map(entry_of, pushed.files.values())}
    assert {*entries} == {*ASKED}
    for task, entry in entries.items():
        run = read_run(scored / task)
        head = MEASURES[run.manifest.measure].headline(run.result["result"])
        assert entry.value == pytest.approx(run.result["result"][head.name], abs=1e-6)
        assert entry.notes is not None
        assert entry.notes.startswith(f"{head.symbol}, {head.label}: 95 % interval ")
        assert f"no stereotype is {head.null:g}" in entry.notes
    assert "mean of templates 1, 3" in str(entries["en"].notes)


def test_without_a_report_no_source_is_named(there: Hub, scored: Path) -> None:
    (text,) = push(scored / "en", dry_run=True).files.values()
    assert "source" not in yaml.safe_load(text)[0]
    with pytest.raises(ConfigError, match="is not a web address"):
        push(scored / "en", report_url="report.html")


# again -------------------------------------------------------------------------------------------------


def test_an_open_proposal_is_not_repeated(there: Hub, scored: Path) -> None:
    first = push(scored / "en").committed
    again = push(scored / "en").committed
    assert (again.made, again.pull_request) == (False, first.pull_request)
    assert len(model(there).pull_requests) == 1


def test_a_merged_result_is_not_proposed_again(there: Hub, scored: Path) -> None:
    pushed = push(scored / "en")
    model(there).merge(1, "ann")
    there.requests.clear()
    again = push(scored / "en").committed
    assert (again.made, again.pull_request) == (False, None)
    assert {request.method for request in there.requests} == {"GET"}
    # of two the new one only
    both = push([scored / "en", scored / "winobias_type1_dev"]).committed
    assert both.made
    changed = {
        path
        for path, file in model(there).at("refs/pr/2").files.items()
        if model(there).head.files.get(path) != file
    }
    assert changed == {".eval_results/org--gest--winobias_type1_dev.yaml"}
    assert there.read(model(there), next(iter(pushed.files))).decode() == next(iter(pushed.files.values()))


@pytest.mark.parametrize("kind", ["500", "lost"])
def test_a_fault_at_any_request_leaves_one_pull_request(
    there: Hub, scored: Path, waits: list[float], kind: str
) -> None:
    """One run for each request; the command that is repeated ends with one pull request."""
    push(scored / "en")
    number = len(there.requests)
    for at in range(1, number + 1):
        there.repositories.pop(("model", MODEL))
        there.add("model", MODEL, {"README.md": b"# Tiny\n"})
        there.fault = Fault(kind, at=at)
        try:
            push(scored / "en")
        except GestError:
            there.fault = None
            push(scored / "en")
        assert there.fault is None or there.fault.happened
        there.fault = None
        repository = model(there)
        assert {*repository.head.files} == {".gitattributes", "README.md"}
        assert len(repository.pull_requests) == 1
        assert ".eval_results/org--gest--en.yaml" in repository.at("refs/pr/1").files


# refusals ----------------------------------------------------------------------------------------------


def _edited(run: Path, to: Path, change: Callable[[dict[str, Any]], dict[str, Any]], **facts: Any) -> Path:
    """A copy of a run with another result, or other entries in its manifest."""
    folder = to / run.name
    shutil.copytree(run, folder)
    told = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    write_json(folder / "result.json", json_value(told | {"result": change(told["result"])}))
    manifest = read_run(run).manifest
    files = manifest.files | {"result.json": sha256((folder / "result.json").read_bytes())}
    metadata = manifest.metadata | facts.pop("metadata", {})
    changed = replace(manifest, files=files, metadata=metadata, **facts)
    write_json(folder / "run.json", changed.to_json())
    return folder


def _same(result: dict[str, Any]) -> dict[str, Any]:
    return result


@pytest.mark.parametrize(
    ("change", "facts", "said"),
    [
        (_same, {"metadata": {"limit": 5}}, "was scored with --limit"),
        (lambda result: result | {"g_s": math.nan}, {}, "has no g_s"),
        (
            _same,
            {"model": "org/other", "metadata": {"model": "org/other"}},
            "is a run of org/other, not of",
        ),
        (
            _same,
            {"data_fingerprint": "0123456789abcdef"},
            "was measured on other rows of en than this version",
        ),
        (_same, {"measure": "choice"}, "has chat answers"),
        (_same, {"config": "own-mine"}, "has no config own-mine"),
        (_same, {"status": "running"}, "is not finished"),
    ],
)
def test_other_runs_are_refused(
    there: Hub, scored: Path, tmp_path: Path, change: Any, facts: Any, said: str
) -> None:
    run = _edited(scored / "en", tmp_path, change, **facts)
    with pytest.raises(GestError, match=said):
        push(run)
    assert not model(there).pull_requests
    assert not any(is_commit(request) for request in there.requests)


def test_a_run_on_modified_rows_is_refused(there: Hub, tmp_path: Path, one_thread: None) -> None:
    """`en` without its last row, scored from Python: the name is the same, the data are not."""
    rows = rows_of("en")
    rows = rows.select(range(len(rows) - 1))
    assert rows.info.config_name == "en"
    gest_dataset.score(str(zoo.directory("bert")), rows, templates=[1], device="cpu", output=tmp_path / "run")
    assert read_run(tmp_path / "run").manifest.config == "en"
    with pytest.raises(HubError, match="was measured on other rows of en than this version"):
        push(tmp_path / "run")


def test_a_local_copy_is_accepted_with_a_note(
    there: Hub, scored: Path, tmp_path: Path, one_thread: None
) -> None:
    path = str(zoo.directory("bert"))
    gest_dataset.score(path, "en", templates=[1], device="cpu", output=tmp_path / "run")
    pushed = push(tmp_path / "run")
    assert pushed.committed.made
    (note,) = pushed.notes
    assert f"({path}) was not loaded from the Hub; make sure it really is {MODEL}" in note
    (text,) = pushed.files.values()
    assert "; a copy of the model that was not loaded from the Hub; " in text.replace("\n    ", " ")
    assert path not in text  # nobody else has that path


def test_renamed_models_are_accepted(there: Hub, scored: Path, tmp_path: Path) -> None:
    """The Hub has moved `gpt2`: runs of the old id are of the new one."""
    there.add("model", "openai-community/gpt2", {"README.md": b"# GPT-2\n"})
    facts = {"model": "gpt2", "metadata": {"model": "gpt2"}}
    run = _edited(scored / "en", tmp_path, _same, **facts)
    assert push(run, to="openai-community/gpt2").committed.made
    with pytest.raises(ConfigError, match=f"is a run of gpt2, not of {MODEL}"):
        push(run)


def test_where_nothing_is_there(there: Hub, scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEST_REPO", raising=False)
    with pytest.raises(ConfigError, match="Specify the Hub dataset"):
        push_results(scored / "en", MODEL)
    with pytest.raises(HubError, match="refused the dataset org/nothing: It does not exist"):
        push_results(scored / "en", MODEL, dataset="org/nothing")
    with pytest.raises(HubError, match="refused the model org/nothing: It does not exist"):
        push(_renamed(scored, "org/nothing"), to="org/nothing")
    with pytest.raises(HubError, match="dataset org/gest at v9"):
        push(scored / "en", revision="v9")
    with pytest.raises(ConfigError, match="has no namespace"):
        push(scored / "en", to="tiny")
    monkeypatch.setenv("GEST_REPO", DATA)
    assert push_results(scored / "en", MODEL).committed.made


def _renamed(scored: Path, name: str) -> Path:
    """The run of `en`, of a model with another name."""
    folder = scored.parent / "renamed"
    if not folder.exists():
        _edited(scored / "en", folder, _same, model=name, metadata={"model": name})
    return folder / "en"


def test_changed_rows_on_the_hub_are_refused(there: Hub, scored: Path, folder: Path, tmp_path: Path) -> None:
    """One word of one row; and the same rows in another file are the same."""
    path = "en/test-00000-of-00001.parquet"
    table = pq.read_table(folder / path)
    sentences = ["I slept.", *table["sentence"].to_pylist()[1:]]
    for rows, said in (
        (table.set_column(1, "sentence", pa.array(sentences)), "has other rows in en than "),
        (table.slice(1), "has other rows in en than "),
        (table.replace_schema_metadata(None), ""),
    ):
        pq.write_table(rows, tmp_path / "rows.parquet", compression="zstd")
        there.commit(there.dataset(DATA), {path: (tmp_path / "rows.parquet").read_bytes()})
        if said:
            with pytest.raises(HubError, match=said):
                push(scored / "en", dry_run=True)
        else:
            assert push(scored / "en").committed.made


def test_a_run_on_rows_of_the_hub_fits_that_dataset(
    there: Hub, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published with a word changed: a run on that is none of `en`, and fits that data set only."""
    path = "en/test-00000-of-00001.parquet"
    table = pq.read_table(folder / path)
    sentences = ["I slept.", *table["sentence"].to_pylist()[1:]]
    pq.write_table(table.set_column(1, "sentence", pa.array(sentences)), tmp_path / "rows.parquet")
    changed = {**_files(folder), path: (tmp_path / "rows.parquet").read_bytes()}
    there.add("dataset", "org/changed", changed)
    marks = {}
    for name in (DATA, "org/changed"):
        monkeypatch.setenv("GEST_REPO", name)
        run = tmp_path / name
        gest_dataset.score(zoo.directory("bert"), "en", templates=[1], device="cpu", output=run)
        assert (
            f"the rows are those of {name} on the Hub (GEST_REPO)" in read_run(run).manifest.metadata["notes"]
        )
        marks[name] = read_run(run).manifest.data_fingerprint
        assert push_results(run, MODEL, dry_run=True).files
    assert len({*marks.values(), fingerprint(CONFIGS["en"])}) == 3
    with pytest.raises(HubError, match="was measured on other rows of en than this version"):
        push_results(tmp_path / "org/changed", MODEL, dataset=DATA)


def test_translators(there: Hub, folder: Path, tmp_path: Path) -> None:
    """A model that translates has a task for each language; a service has no page."""
    names = ("org/nllb", "cafe" * 10), ("org/nllb", "sha256:" + "0" * 16)
    there.add("model", "org/nllb", {"README.md": b"# NLLB\n"})
    for place, (name, revision) in enumerate(names):
        path = tmp_path / str(place)
        _translated(path, f"hf:{name}", revision)
        pushed = push(path, to="org/nllb", dry_run=True)
        (text,) = pushed.files.values()
        assert entry_of(text).task_id == "en_to_sk"
        assert str(entry_of(text).notes).startswith("f_s, stereotype rate: 95 % interval ")
        assert bool(pushed.notes) == bool(place)
    _translated(tmp_path / "deepl", "deepl", "")
    with pytest.raises(ConfigError, match="a run of deepl, which is not a model on the Hub"):
        push(tmp_path / "deepl", to="org/nllb")


def _translated(path: Path, system: str, revision: str) -> None:
    """A run of masculine rates: all sentences of male stereotypes are masculine, and half of the others."""
    rows = [
        {
            "id": f"{stereotype}-{place}",
            "stereotype": stereotype,
            "source": "I slept.",
            "translation": "Spal som.",
            "gender": "male" if stereotype > 7 or place % 2 else "female",
            "rule": "r",
            "evidence": [],
            "conflict": False,
            "problem": "",
        }
        for stereotype in range(1, 17)
        for place in range(6)
    ]
    facts = {"system": system, "revision": revision, "language": "sk", "convention": "plain"}
    metadata = {
        "measure": "masculine-rate",
        "config": "en",
        "limit": None,
        "parser": "udpipe",
        "seconds": 0.0,
    }
    metadata |= facts | {"data_fingerprint": "", "translator": "", "gest_dataset": gest_dataset.__version__}
    fresh = new_manifest(
        measure="masculine-rate",
        model=system,
        config="en",
        language="sk",
        data_fingerprint=fingerprint(CONFIGS["en"]),
        table=DETECTIONS,
        settings={"convention": "plain"},
        command=["gest"],
        device=None,
    )
    with open_run(path, fresh) as record:
        record.finish(MasculineRates(pa.Table.from_pylist(rows), metadata))


# rights ------------------------------------------------------------------------------------------------


def test_rights(there: Hub, scored: Path) -> None:
    with pointed_at(there.url):
        with pytest.raises(HubError, match="There is no token"):
            push(scored / "en")
        assert push(scored / "en", dry_run=True).files
    with (
        pointed_at(there.url, "hf_token_of_nobody"),
        pytest.raises(HubError, match="does not accept the token"),
    ):
        push(scored / "en")
    assert not model(there).pull_requests


# the command -------------------------------------------------------------------------------------------

Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gest:
    """`gest push-results` in this process: exit code, output, messages."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", "push-results", *arguments])
        for console in (out, err):
            monkeypatch.setattr(console, "_width", 100)
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        assert not any(token in captured.out + captured.err for token in (ANN, BOB, READER))
        return code, captured.out, captured.err

    return run


def test_the_command(there: Hub, scored: Path, gest: Gest) -> None:
    asked = (str(scored / "en"), "--to", MODEL, "--dataset", DATA)
    code, shown, told = gest(*asked, "--dry-run")
    assert (code, told) == (0, "Dry run: nothing was sent.\n")
    path, text = shown.split("\n", 1)
    assert path == "# .eval_results/org--gest--en.yaml"
    assert entry_of(text).task_id == "en"
    assert not any(request.method == "POST" for request in there.requests)
    url = f"{there.url}/{MODEL}/discussions/1"
    assert gest(*asked) == (0, f"Opened: {url}\n", "")
    assert gest(*asked) == (0, f"Already open: {url}\n", "")
    told_twice = json.loads(gest(*asked, "--json")[1])
    assert (told_twice["pull_request"], told_twice["new"]) == (url, False)
    assert told_twice["files"] == {
        path.removeprefix("# "): there.read(model(there), path[2:], "refs/pr/1").decode()
    }
    model(there).merge(1, "ann")
    assert gest(*asked) == (0, f"{MODEL} already has this result.\n", "")
