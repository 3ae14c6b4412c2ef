"""Results on a model's page: a pull request on its repository with `.eval_results/*.yaml`.

A file holds one result, of one task of the data set (`benchmark.py`): the headline of a run, with its
interval, its verdict and what it was measured with in `notes`. It is proposed only where it is known to be of
that data: the run is of a config as this version has it, and the data set has just these rows.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import datasets
import pyarrow as pa
from huggingface_hub import CommitOperationAdd, EvalResultEntry, eval_result_entries_to_yaml
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]
from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.data.build import build_config
from gest_dataset.data.folder import BENCHMARK, DATA_FILE
from gest_dataset.data.parquet import read_table
from gest_dataset.data.rows import hash_of
from gest_dataset.data.sources import REPO_VARIABLE, hub_repository
from gest_dataset.errors import ConfigError, HubError, convert_errors, describe_error
from gest_dataset.hub.benchmark import translation_task
from gest_dataset.hub.commit import Committed, Operation, commit
from gest_dataset.hub.refusals import passes, refusal
from gest_dataset.hub.repo import MAIN, Parent, Repo, client, read_parent
from gest_dataset.measures import MEASURES
from gest_dataset.measures.choice import CHOICE
from gest_dataset.measures.formatting import format_distinct
from gest_dataset.measures.grid import Estimate
from gest_dataset.published.models import language_models
from gest_dataset.runs.manifest import Manifest
from gest_dataset.runs.reading import Run, find_runs
from gest_dataset.version import __version__

FOLDER = ".eval_results"
_DIGITS = 6
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUGGING_FACE = "hf:"  # in front of a translator that is a model


@dataclass(frozen=True)
class Pushed:
    """What is proposed: files by their paths, what became of it, and what has to be said of the runs."""

    files: Mapping[str, str]
    committed: Committed
    notes: tuple[str, ...]


def push_results(
    runs: str | Path | Run | Sequence[str | Path | Run],
    to: str,
    *,
    dataset: str | None = None,
    revision: str = MAIN,
    report_url: str | None = None,
    dry_run: bool = False,
) -> Pushed:
    """Open a pull request on the model `to` with the headline of each run.

    `dataset` is the repository that holds the data that was asked (else `GEST_REPO` names it), at a
    `revision` of it; the entry names the commit. `report_url` is where the report can be read. What the
    model's page has already, or an open pull request proposes, is not proposed again. With `dry_run` the
    files are made, and nothing is sent. Refused are runs that are not finished, of a `limit`, without a
    value, of another model of the Hub, or of other data than the data set's.
    """
    found = find_runs([runs] if isinstance(runs, (str, Path, Run)) else runs)
    model, source = Repo(to, "model"), Repo(_named(dataset), "dataset", revision)
    _check_address(report_url)
    by_task = _by_task(found)
    notes = [note for run in found for note in _checked(run, to)]
    files: dict[str, str] = {}
    lacking: list[str] = []

    def build(parent: Parent) -> list[Operation]:
        data, files_there = _read_data(source, {run.manifest.config for run in found})
        assert data.commit is not None, "a data set that was read has a commit"
        files.clear()
        for task, run in by_task.items():
            _check_data(run, source, files_there[run.manifest.config])
            path = f"{FOLDER}/{source.id.replace('/', '--')}--{task}.yaml"
            files[path] = _text(run, task, source.id, data.commit, report_url)
        lacking[:] = (
            []
            if BENCHMARK in data.files
            else [f"{source} has no {BENCHMARK}, where the Hub looks for its tasks: `gest build` writes one."]
        )
        return [
            CommitOperationAdd(path, text.encode())
            for path, text in files.items()
            if path not in parent.files or parent.read(path) != text.encode()
        ]

    committed = commit(model, build, _title(list(by_task), source.id), create_pr=True, dry_run=dry_run)
    return Pushed(files, committed, (*notes, *lacking))


def _named(dataset: str | None) -> str:
    named = dataset or hub_repository()
    if not named:
        raise ConfigError(
            f"Say on which data set of the Hub it was measured: --dataset NAMESPACE/NAME, or "
            f"{REPO_VARIABLE}. `gest push` publishes one."
        )
    return named


def _check_address(url: str | None) -> None:
    if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
        raise ConfigError(f"{url!r} is no address of a report: give one that begins with https://.")


def _title(tasks: Sequence[str], dataset: str) -> str:
    what = f"Result of {tasks[0]}" if len(tasks) == 1 else f"Results of {len(tasks)} tasks"
    return f"{what} on {dataset} (gest-dataset)"


def task_of(manifest: Manifest) -> str:
    """The task of the data set that a run is of."""
    if MEASURES[manifest.measure].probe:
        return manifest.config
    return translation_task(manifest.config, manifest.language)


def _by_task(runs: Iterable[Run]) -> dict[str, Run]:
    by_task: dict[str, Run] = {}
    for run in runs:
        task = task_of(run.manifest)
        if task in by_task:
            raise ConfigError(
                f"{by_task[task].path} and {run.path} are both of {task}, and a page has one result of a "
                f"task: choose one of them."
            )
        by_task[task] = run
    return by_task


def _checked(run: Run, to: str) -> list[str]:
    """What has to be said of a run; an error where it is no result of the model."""
    manifest, result = run.manifest, run.result["result"]
    if manifest.measure == CHOICE.name:
        raise ConfigError(
            f"The run in {run.path} is of answers in words (gest ask), and the data set has no such task: "
            f"propose a run of gest score or gest masculine-rate."
        )
    head = MEASURES[manifest.measure].headline(result)
    if manifest.metadata["limit"] is not None:
        raise ConfigError(
            f"The run in {run.path} is of the first {manifest.metadata['limit']:,} samples only: run it "
            f"again without a limit."
        )
    if math.isnan(Estimate.of(result, head.name).value):
        what, why = MEASURES[manifest.measure].describe_undefined(result)
        raise ConfigError(f"The run in {run.path} has no {head.symbol} ({what.lower()}): {' '.join(why)}")
    name, of_hub = _model_of(run)
    if not of_hub:
        return [
            f"The run in {run.path} names the model {name} and has not loaded it from the Hub: that it is "
            f"{to} is what you say."
        ]
    if name != to and not any({name, to} <= {*model.hub_ids} for model in language_models().values()):
        raise ConfigError(
            f"The run in {run.path} is of the model {name}, not of {to}: give --to {name}, or another run."
        )
    return []


def _model_of(run: Run) -> tuple[str, bool]:
    """The model as the run names it, and whether that is its name on the Hub."""
    manifest = run.manifest
    if MEASURES[manifest.measure].probe:
        return manifest.subject, manifest.metadata["from_hub"]
    if not manifest.subject.startswith(_HUGGING_FACE):
        raise ConfigError(f"The run in {run.path} is of {manifest.subject}, which is no model of the Hub.")
    # that of a folder is a hash of its content
    of_hub = _COMMIT.fullmatch(manifest.metadata["revision"] or "") is not None
    return manifest.subject.removeprefix(_HUGGING_FACE), of_hub


def _read_data(source: Repo, configs: Iterable[str]) -> tuple[Parent, dict[str, bytes]]:
    """The data set's commit, and the file of each config.

    What passes is raised as it is: then the commit is tried again, and this with it.
    """
    try:
        there = read_parent(client(needs_token=False), source)
        return there, {config: _file_of(there, config) for config in configs}
    except HTTPError as error:
        if passes(error):
            raise
        problem = refusal(error, source)
    raise problem  # out here: the client's error holds the request, and that the token


def _file_of(there: Parent, config: str) -> bytes:
    path = f"{config}/{DATA_FILE}"
    if path not in there.files:
        raise HubError(
            f"{there.repo} has no config {config}. Name the data set that the run was measured on with "
            f"--dataset; data of your own are published with `gest push`."
        )
    return there.read(path)


def _check_data(run: Run, source: Repo, content: bytes) -> None:
    """The data set has the rows of the run: as they stand there, or as this version builds the config."""
    config = run.manifest.config
    with convert_errors(lambda error: HubError(f"{source}: {config} is damaged: {describe_error(error)}")):
        theirs = read_table(pa.BufferReader(content))
        if run.manifest.data_fingerprint == hash_of(datasets.Dataset(theirs)):
            return  # asked as they stand on the Hub (GEST_REPO)
    known = CONFIGS.get(config)
    if known is None or run.manifest.data_fingerprint != fingerprint(known):
        raise HubError(
            f"The run in {run.path} is not of {config} as this version of gest-dataset ({__version__}) "
            f"builds it: it was measured on data of its own, or by another version "
            f"({run.manifest.versions['gest_dataset']}). Propose it with that one, or score the model again."
        )
    with tempfile.TemporaryDirectory(prefix="gest-results-") as folder:
        ours = read_table(build_config(known, Path(folder))[0].path)
    if not ours.equals(theirs):
        raise HubError(
            f"{source} has other rows in {config} than the run in {run.path}. Push those of the run (`gest "
            f"push {source.id} --config {config}`), or name with --revision the commit that has them."
        )


def _text(run: Run, task: str, dataset: str, revision: str, report_url: str | None) -> str:
    """The file of one result."""
    manifest, result = run.manifest, run.result["result"]
    head = MEASURES[manifest.measure].headline(result)
    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=task,
        value=round(float(result[head.name]), _DIGITS),
        dataset_revision=revision,
        date=manifest.finished,
        source_url=report_url,
        source_name=report_url and "Report of gest-dataset",
        notes=_notes(manifest, result, _model_of(run)[1]),
    )
    return str(yaml_dump(eval_result_entries_to_yaml([entry])))


def _notes(manifest: Manifest, result: Mapping[str, Any], of_hub: bool) -> str:
    """The headline with its interval and verdict, and what the number depends on."""
    facts = manifest.metadata
    head = MEASURES[manifest.measure].headline(result)
    bounds = Estimate.of(result, head.name)
    zone = (result["zone_low"], result["zone_high"])
    (low, high), (least, most) = format_distinct([bounds.low, bounds.high], zone)
    known = not math.isnan(bounds.low) and not math.isnan(bounds.high)
    templates = [str(number) for number in facts.get("templates", [])]
    parts = [
        f"{head.symbol}, {head.label}: {f'95 % interval {low} to {high}' if known else 'no interval'}",
        f"none is {head.null:g}, negligible is {least} to {most}",
        f"verdict: {result['verdict']}",
        f"{'mean of templates' if templates[1:] else 'template'} {', '.join(templates)}" if templates else "",
        ", ".join(f"{name} {value}" for name, value in facts.get("options", {}).items()),
        f"convention {facts['convention']}, parser {facts['parser']}" if "convention" in facts else "",
        "" if of_hub else "a copy of the model that was not loaded from the Hub",
        f"model revision {facts['revision'][:12]}" if of_hub and facts["revision"] else "",
        f"gest-dataset {facts['gest_dataset']}",
    ]
    return "; ".join(filter(None, parts))
