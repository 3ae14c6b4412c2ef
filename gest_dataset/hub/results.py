"""Results on a model's page: the tasks of the dataset (`eval.yaml`), and a pull request with results.

Each `.eval_results/*.yaml` has the headline of one run, with its interval, verdict and settings in `notes`. A
result is only proposed if the dataset on the Hub has the rows that the run was measured on.
"""

import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import datasets
import pyarrow as pa
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, fingerprint
from gest_dataset.builders.config import Config
from gest_dataset.data.build import HOMEPAGE, build_config
from gest_dataset.data.folder import BENCHMARK, DATA_FILE, read_parquet
from gest_dataset.data.rows import hash_of
from gest_dataset.data.sources import REPO_VARIABLE, hub_repository
from gest_dataset.errors import ConfigError, HubError, SettingError
from gest_dataset.gender import languages
from gest_dataset.hub.repository import MAIN, Committed, Repo, commit, hub_client, read_branch, with_retries
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.formatting import format_distinct
from gest_dataset.measures.gest import CHOICE
from gest_dataset.measures.grid import Estimate, effect_size_text
from gest_dataset.measures.measure import render_text
from gest_dataset.measures.result import verdict_text
from gest_dataset.published.models import language_models
from gest_dataset.runs.folder import Run, find_runs
from gest_dataset.storage import read_yaml, write_file

_HUGGING_FACE = "hf:"  # prefix of a translator that is a model
_TEXTS = read_yaml(Path(__file__).with_suffix(".yaml"))


def write_benchmark(folder: Path, configs: Iterable[Config]) -> None:
    """Write `eval.yaml` for some configs: one task for models, and for `en` one per translated language.

    `evaluation_framework` is left out, because the Hub has a fixed list of frameworks.
    """
    tasks = []
    for config in configs:
        try:
            measure_of(list(config.features), config.name)
        except SettingError:  # data only
            continue
        translated = languages() if config.name == DEFAULT_CONFIG else []
        ids = [config.name, *(f"{config.name}_to_{language}" for language in translated)]
        tasks += [{"id": task, "config": config.name, "split": "test"} for task in ids]
    content = {"name": _TEXTS["name"], "description": _TEXTS["description"], "tasks": tasks}
    write_file(folder / BENCHMARK, f"# written by `gest build` of {HOMEPAGE}\n{yaml_dump(content)}")


@dataclass(frozen=True)
class Pushed:
    """The proposed files by path, the result of the commit, and notes on the runs."""

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

    Refuses runs that are unfinished, incomplete, without a value, of another model or of other data.

    Args:
        runs: Runs, or folders with runs.
        to: The model on the Hub.
        dataset: The dataset on the Hub that the runs were measured on (default: GEST_REPO).
        revision: A commit, branch or tag of the dataset; the entry names the commit.
        report_url: The address of a report.
        dry_run: Make the files, but send nothing.
    """
    all_runs = find_runs([runs] if isinstance(runs, (str, Path, Run)) else runs)
    name = dataset or hub_repository()
    if not name:
        raise ConfigError(f"Specify the Hub dataset with --dataset NAMESPACE/NAME or {REPO_VARIABLE}.")
    if report_url is not None and urlsplit(report_url).scheme not in ("http", "https"):
        raise ConfigError(f"{report_url!r} is not a web address.")
    model, source = Repo(to, "model"), Repo(name, "dataset", revision)
    by_task: dict[str, Run] = {}
    for run in all_runs:
        config, language = run.manifest.config, run.manifest.language
        is_model = MEASURES[run.manifest.measure].probe
        by_task[config if is_model else f"{config}_to_{language}"] = run
    if len(by_task) < len(all_runs):
        raise ConfigError("Several runs are for the same config; give only one of them.")
    notes = [note for run in all_runs for note in _check_run(run, to)]
    newest, contents, has_tasks = with_retries(source, lambda _: _read_dataset(source, all_runs))
    if not has_tasks:
        notes.append(f"{source} has no {BENCHMARK} with the names of its tasks; `gest build` writes one.")
    files: dict[str, str] = {}
    for task, run in by_task.items():
        _check_rows(run, source, contents[run.manifest.config])
        path = f".eval_results/{source.id.replace('/', '--')}--{task}.yaml"
        files[path] = _entry(run, task, source.id, newest, report_url)
    proposed = {path: text.encode() for path, text in files.items()}
    what = f"Result of {next(iter(by_task))}" if len(by_task) == 1 else f"Results of {len(by_task)} tasks"
    title = f"{what} on {source.id} (gest-dataset)"
    committed = commit(model, lambda _: proposed, title, create_pr=True, dry_run=dry_run)
    return Pushed(files, committed, tuple(notes))


def _check_run(run: Run, to: str) -> list[str]:
    """Refuse a run that is not a result of the model; return notes on it."""
    manifest, result = run.manifest, run.result["result"]
    measure = MEASURES[manifest.measure]
    if measure.name == CHOICE.name:
        raise ConfigError(
            f"{run.path} is a run of `gest ask`; only runs of the dataset's tasks can be published."
        )
    if any(manifest.metadata.get(name) for name in ("limit", "short", "stopped")):
        raise ConfigError(f"{run.path} was scored with --limit, --short or --stop-early; score all samples.")
    head = measure.headline(result)
    if math.isnan(Estimate.of(result, head.name).value):
        what, *why = measure.sentences("undefined", result)
        raise ConfigError(f"{run.path} has no {head.symbol} ({what.lower()}): {' '.join(why)}")
    name, is_from_hub = _model_name(run)
    if not is_from_hub:
        return [f"{run.path} ({name}) was not loaded from the Hub; make sure it really is {to}."]
    if name != to and not any({name, to} <= {*model["hub_ids"]} for model in language_models().values()):
        raise ConfigError(f"{run.path} is a run of {name}, not of {to}. Check --to.")
    return []


def _model_name(run: Run) -> tuple[str, bool]:
    """The name of the model, and whether it was loaded from the Hub."""
    manifest = run.manifest
    if MEASURES[manifest.measure].probe:
        return manifest.model, manifest.metadata["from_hub"]
    if not manifest.model.startswith(_HUGGING_FACE):
        raise ConfigError(f"{run.path} is a run of {manifest.model}, which is not a model on the Hub.")
    # a local folder has a hash of its content as revision
    is_commit = re.fullmatch(r"[0-9a-f]{40}", manifest.metadata["revision"] or "") is not None
    return manifest.model.removeprefix(_HUGGING_FACE), is_commit


def _read_dataset(source: Repo, runs: Iterable[Run]) -> tuple[str | None, dict[str, bytes], bool]:
    """The commit of the dataset, the file of each config, and whether the dataset names its tasks."""
    branch = read_branch(hub_client(needs_token=False), source)
    configs = {run.manifest.config for run in runs}
    contents = {config: branch.read(f"{config}/{DATA_FILE}") for config in configs}
    for config, content in contents.items():
        if not content:
            raise HubError(f"{source} has no config {config}. Push it, or choose another --dataset.")
    return branch.commit, contents, BENCHMARK in branch.files


def _check_rows(run: Run, source: Repo, content: bytes) -> None:
    config, theirs = run.manifest.config, read_parquet(pa.BufferReader(content))
    accepted = hash_of(datasets.Dataset(theirs))  # of a run that has read the rows from the Hub (GEST_REPO)
    if config in CONFIGS and accepted != run.manifest.data_fingerprint:
        with tempfile.TemporaryDirectory(prefix="gest-results-") as folder:
            ours = read_parquet(build_config(CONFIGS[config], Path(folder))[0].path)
        accepted = fingerprint(CONFIGS[config]) if ours.equals(theirs) else accepted
    if accepted != run.manifest.data_fingerprint:
        raise HubError(
            f"{run.path} was measured on rows of {config} that differ from those of {source}. Choose a "
            f"commit with these rows (--revision), push them (`gest push`), or score the model again."
        )


def _entry(run: Run, task: str, dataset: str, revision: str | None, report_url: str | None) -> str:
    """The file of one result: the headline, with what the number depends on in the notes."""
    manifest, result, measure = run.manifest, run.result["result"], MEASURES[run.manifest.measure]
    head = measure.headline(result)
    estimate = Estimate.of(result, head.name)
    bounds, zone = format_distinct(estimate[1:], (result["zone_low"], result["zone_high"]))
    facts = {
        **manifest.metadata,
        **result,
        "head": head,
        "has_interval": not any(map(math.isnan, estimate[1:])),
        "bounds": bounds,
        "zone": zone,
        "effect_size": effect_size_text(result),
        "verdict": verdict_text(measure, result),
        "from_hub": _model_name(run)[1],
    }
    notes = [render_text(text, facts) for text in _TEXTS["notes"]]
    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=task,
        value=round(float(result[head.name]), 6),
        dataset_revision=revision,
        date=manifest.finished,
        source_url=report_url,
        source_name=report_url and "Report of gest-dataset",
        notes="; ".join(filter(None, notes)),
    )
    return str(yaml_dump(eval_result_entries_to_yaml([entry])))
