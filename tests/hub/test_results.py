"""Results on a model's page: real runs of a model that came from the small Hub, proposed to it."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import EvalResultEntry, constants, parse_eval_result_entries

import gest_dataset
from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.errors import ConfigError, GestError, HubError
from gest_dataset.hub.results import Pushed, push_results
from gest_dataset.measures import MEASURES
from gest_dataset.measures.formatting import format_number
from gest_dataset.runs.folder import new_manifest, open_run, read_run
from gest_dataset.runs.manifest import DETECTIONS
from gest_dataset.storage import json_value, sha256, write_json
from gest_dataset.translation.masculine_rates import MasculineRates
from tests.conftest import MIRROR, use
from tests.hub.conftest import Gest, built, files_of, is_commit
from tests.support import zoo
from tests.support.hub import Fault, Hub, pointed_at, running
from tests.support.hub.cards import wrong_results

DATA, MODEL = "org/gest", "org/tiny"
ASKED = ("en", "winobias_type1_dev", "crows_gender", "stereoset_en_intrasentence")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data as `gest build` writes them."""
    return built(tmp_path_factory.mktemp("built"), ASKED)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of a model that was downloaded from a Hub, on all that it is asked here."""
    home = tmp_path_factory.mktemp("scored")
    with running() as hub, pointed_at(hub.url) as patch:
        use(MIRROR, patch)
        patch.setattr(constants, "HF_HUB_CACHE", str(home / "cache"))
        hub.add("model", MODEL, files_of(zoo.directory("bert")))
        gest_dataset.score(MODEL, [*ASKED], templates=[1, 3], device="cpu", output=home / "runs")
    return home / "runs"


@pytest.fixture
def there(hub: Hub, folder: Path, mirror: Path) -> Hub:
    """The dataset and the model's repository on the Hub."""
    hub.add("dataset", DATA, files_of(folder))
    hub.add("model", MODEL, {"README.md": b"---\nlicense: mit\n---\n# Tiny\n"})
    return hub


def push(runs: Any, to: str = MODEL, **options: Any) -> Pushed:
    return push_results(runs, to, dataset=DATA, **options)


def model(hub: Hub) -> Any:
    return hub.repositories["model", MODEL]


def entry_of(text: str) -> EvalResultEntry:
    assert wrong_results(text) == []
    (entry,) = parse_eval_result_entries(yaml.safe_load(text))
    return entry


def test_runs_in_a_folder_are_one_pull_request_with_their_headlines(there: Hub, scored: Path) -> None:
    """Each measure's own headline, a file for each task; proposed, not done."""
    pushed = push(scored, report_url="https://example.org/report.html")
    repository = model(there)
    assert pushed.committed.made
    assert pushed.committed.pull_request == f"{there.url}/{MODEL}/discussions/1"
    assert pushed.notes == ()
    assert len(repository.pull_requests) == 1
    assert not pushed.files.keys() & repository.head.files.keys()
    assert {*pushed.files} == {f".eval_results/org--gest--{task}.yaml" for task in ASKED}
    for path, text in pushed.files.items():
        assert there.read(repository, path, "refs/pr/1").decode() == text
        entry = entry_of(text)
        run = read_run(scored / entry.task_id)
        head = MEASURES[run.manifest.measure].headline(run.result["result"])
        result = run.result["result"]
        assert path.endswith(f"--{entry.task_id}.yaml")
        assert entry.value == pytest.approx(result[head.name], abs=1e-6)
        assert (entry.dataset_id, entry.dataset_revision) == (DATA, there.dataset(DATA).head.oid)
        assert entry.date == run.manifest.finished
        assert entry.source_url == "https://example.org/report.html"
        notes = str(entry.notes)
        assert notes.startswith(f"{head.symbol}, {head.label}: 95 % interval ")
        revision = run.manifest.metadata["revision"][:12]
        for note in (f"no stereotype is {head.null:g}", result["verdict"], f"model revision {revision}"):
            assert note in notes
        if entry.task_id == "en":
            assert "mean of templates 1, 3" in notes
            assert f"{format_number(result['g_s_low'])} to {format_number(result['g_s_high'])}" in notes


def test_a_merged_result_is_not_proposed_again(there: Hub, scored: Path) -> None:
    push(scored / "en")
    model(there).merge(1, "ann")
    there.requests.clear()
    again = push(scored / "en").committed
    assert (again.made, again.pull_request) == (False, None)
    assert {request.method for request in there.requests} == {"GET"}
    # of two the new one only
    assert push([scored / "en", scored / "winobias_type1_dev"]).committed.made
    new = model(there).at("refs/pr/2").files.items() - model(there).head.files.items()
    assert {path for path, _ in new} == {".eval_results/org--gest--winobias_type1_dev.yaml"}


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


def _edited(run: Path, to: Path, changed: dict[str, Any], **facts: Any) -> Path:
    """A copy of a run with other entries in its result or its manifest."""
    folder = to / run.name
    shutil.copytree(run, folder)
    told = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    write_json(folder / "result.json", json_value(told | {"result": told["result"] | changed}))
    manifest = read_run(run).manifest
    files = manifest.files | {"result.json": sha256((folder / "result.json").read_bytes())}
    metadata = manifest.metadata | facts.pop("metadata", {})
    write_json(folder / "run.json", replace(manifest, files=files, metadata=metadata, **facts).to_dict())
    return folder


@pytest.mark.parametrize(
    ("changed", "facts", "said"),
    [
        ({}, {"metadata": {"limit": 5}}, "was scored with --limit"),
        ({}, {"metadata": {"short": True}}, "was scored with --limit, --short"),
        ({}, {"metadata": {"stopped": {"samples": 320, "of": 3565}}}, "or --stop-early; score all"),
        ({"g_s": math.nan}, {}, "has no g_s"),
        ({}, {"model": "org/other"}, "is a run of org/other, not of"),
        ({}, {"data_fingerprint": "0123456789abcdef"}, "was measured on rows of en that differ"),
        ({}, {"measure": "choice"}, "is a run of `gest ask`"),
        ({}, {"config": "own-mine"}, "has no config own-mine"),
        ({}, {"status": "running"}, "is not finished"),
    ],
)
def test_other_runs_are_refused(
    there: Hub, scored: Path, tmp_path: Path, changed: Any, facts: Any, said: str
) -> None:
    run = _edited(scored / "en", tmp_path, changed, **facts)
    with pytest.raises(GestError, match=said):
        push(run)
    assert not model(there).pull_requests
    assert not any(is_commit(request) for request in there.requests)


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


def test_missing_repositories(there: Hub, scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEST_REPO", raising=False)
    with pytest.raises(ConfigError, match="Specify the Hub dataset"):
        push_results(scored / "en", MODEL)
    with pytest.raises(HubError, match=r"refused the dataset org/nothing: .*Repository Not Found"):
        push_results(scored / "en", MODEL, dataset="org/nothing")
    with pytest.raises(HubError, match="dataset org/gest at v9"):
        push(scored / "en", revision="v9")
    with pytest.raises(ConfigError, match="has no namespace"):
        push(scored / "en", to="tiny")
    monkeypatch.setenv("GEST_REPO", DATA)
    assert push_results(scored / "en", MODEL).committed.made


def test_a_run_on_rows_of_the_hub_fits_that_dataset(
    there: Hub, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published with a word changed: a run on that is none of `en`, and fits that dataset only."""
    path = "en/test-00000-of-00001.parquet"
    table = pq.read_table(folder / path)
    sentences = ["I slept.", *table["sentence"].to_pylist()[1:]]
    pq.write_table(table.set_column(1, "sentence", pa.array(sentences)), tmp_path / "rows.parquet")
    rows = (tmp_path / "rows.parquet").read_bytes()
    there.add("dataset", "org/changed", {**files_of(folder), path: rows})
    monkeypatch.setenv("GEST_REPO", "org/changed")
    run = tmp_path / "run"
    gest_dataset.score(zoo.directory("bert"), "en", templates=[1], device="cpu", output=run)
    note = "the rows are those of org/changed on the Hub (GEST_REPO)"
    assert note in read_run(run).manifest.metadata["notes"]
    assert push_results(run, MODEL, dry_run=True).files
    with pytest.raises(HubError, match="was measured on rows of en that differ"):
        push_results(run, MODEL, dataset=DATA)


def test_translators(there: Hub, tmp_path: Path) -> None:
    """A model that translates has a task for each language; a service has no page."""
    there.add("model", "org/nllb", {"README.md": b"# NLLB\n"})
    for name, revision in (("hub", "cafe" * 10), ("local", "sha256:" + "0" * 16)):
        run = tmp_path / "runs" / name
        _translated(run, "hf:org/nllb", revision)
        pushed = push(run, to="org/nllb", dry_run=True)
        (text,) = pushed.files.values()
        assert entry_of(text).task_id == "en_to_sk"
        assert str(entry_of(text).notes).startswith("f_s, stereotype rate: 95 % interval ")
        assert bool(pushed.notes) == (name == "local")
    _translated(tmp_path / "deepl", "deepl", "")
    with pytest.raises(ConfigError, match="a run of deepl, which is not a model on the Hub"):
        push(tmp_path / "deepl", to="org/nllb")


def _translated(path: Path, system: str, revision: str) -> None:
    """A run of masculine rates: all sentences of male stereotypes are masculine, and half of the others."""
    columns = {"source": "I slept.", "translation": "Spal som.", "rule": "r", "problem": ""}
    rows = [
        {
            **columns,
            "id": f"{stereotype}-{number}",
            "stereotype": stereotype,
            "gender": "male" if stereotype > 7 or number % 2 else "female",
            "evidence": [],
            "conflict": False,
        }
        for stereotype in range(1, 17)
        for number in range(6)
    ]
    entries = {"measure": "masculine-rate", "config": "en", "language": "sk"}
    metadata = {"limit": None, "parser": "udpipe", "seconds": 0.0, "system": system, "revision": revision}
    metadata |= {**entries, "convention": "plain", "data_fingerprint": "", "translator": ""}
    metadata["gest_dataset"] = gest_dataset.__version__
    fresh = new_manifest(
        **entries,
        model=system,
        data_fingerprint=fingerprint(CONFIGS["en"]),
        table=DETECTIONS,
        settings={"convention": "plain"},
        command=["gest"],
        device=None,
    )
    with open_run(path, fresh) as record:
        record.finish(MasculineRates(pa.Table.from_pylist(rows), metadata))


def test_the_command(there: Hub, scored: Path, gest: Gest) -> None:
    arguments = ("push-results", str(scored / "en"), "--to", MODEL, "--dataset", DATA)
    dry = gest(*arguments, "--dry-run")
    assert dry.out.startswith("# .eval_results/org--gest--en.yaml\n")
    assert dry.err.endswith("Dry run: nothing was sent.\n")
    assert not any(request.method == "POST" for request in there.requests)
    url = f"{there.url}/{MODEL}/discussions/1"
    assert gest(*arguments).out == f"Opened: {url}\n"
    assert gest(*arguments).out == f"Already open: {url}\n"
    model(there).merge(1, "ann")
    assert gest(*arguments).out == f"{MODEL} already has this result.\n"
