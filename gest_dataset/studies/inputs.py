"""The runs that a study is made from: finished ones on disk, and those of models that it scores first."""

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gest_dataset.builders import select_configs
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.measures.formatting import TOY_NOTE
from gest_dataset.probes.probe import Options
from gest_dataset.report.panel import Panel
from gest_dataset.runs.folder import Run, default_folder, find_runs, read_run
from gest_dataset.studies.study import RUNS, Study, Table, check_study_folder

HOME = Path("gest-studies")
logger = logging.getLogger(__name__)
progress = logging.getLogger("gest_dataset.progress")


@dataclass(frozen=True)
class Inputs:
    """Finished runs (or folders of them), and models to score first into `folder`.

    `folder` is by default gest-studies/STUDY. `loading` holds options of `gest_dataset.score`, such as
    device, dtype, revision and batch_tokens.
    """

    runs: Sequence[str | Path | Run] = ()
    models: Sequence[str] = ()
    folder: Path | None = None
    limit: int | None = None
    loading: Mapping[str, Any] = field(default_factory=dict)
    command: Sequence[str] = ()


@dataclass(frozen=True)
class Batch:
    """Configs to score with the same options."""

    configs: str
    options: Options = field(default_factory=Options)
    suffix: str = ""  # of the folder of runs with other options than the default
    kinds: tuple[str, ...] = ()  # of the models that the batch is for
    models: tuple[str, ...] = ()


def collect_runs(
    inputs: Inputs | Sequence[str | Path | Run],
    study: str,
    batches: Sequence[Batch],
    suitable: Callable[[Run], bool],
    group: Callable[[Run], Hashable] | None = None,
    others: Sized = (),
) -> list[Run]:
    """The finished runs and those of the models, less those that do not suit the study (with a warning).

    Two runs of one model in a `group` are an error. `others` are scores that are not runs.
    """
    inputs = inputs if isinstance(inputs, Inputs) else Inputs(inputs)
    found = find_runs(inputs.runs)
    folder = inputs.folder or HOME / study
    if inputs.models:
        check_study_folder(folder, study)
    for model in inputs.models:
        own = [batch for batch in batches if not batch.models or model in batch.models]
        found += _score_model(inputs, model, own, folder / RUNS)
    runs = [run for run in found if suitable(run)]
    for run in found:
        if not suitable(run):
            about = run.manifest.measure, run.manifest.about
            logger.warning("%s is skipped: study %s does not use %s on %s.", run.path, study, *about)
    if not (runs or others):
        raise ConfigError("There are no runs for this study. Give finished runs or a --model.")
    by_config: dict[str, Run] = {}
    by_model: dict[Hashable, Run] = {}
    for run in runs:
        manifest = run.manifest
        other = by_config.setdefault(manifest.config, run)
        if other.manifest.data_fingerprint != manifest.data_fingerprint:
            raise ConfigError(f"{other.path} and {run.path} use two versions of {manifest.config}.")
        # a copy under another name has the same hash of weights
        identity = manifest.settings.get("weights") or (manifest.model, manifest.settings.get("revision"))
        if group is not None and (other := by_model.setdefault((identity, group(run)), run)) is not run:
            names = f"{other.manifest.model}, {manifest.model}"
            raise ConfigError(f"Two runs are of the same model on {manifest.about} ({names}). Give only one.")
    return runs


def _score_model(inputs: Inputs, model: str, batches: Sequence[Batch], folder: Path) -> list[Run]:
    """The runs of a model; finished ones are only read."""
    # imports torch, which finished runs do not need
    from gest_dataset.models.base import Settings
    from gest_dataset.models.score import score_configs

    loading = {"device": "auto", "dtype": "auto", **inputs.loading}
    home = default_folder(model, loading.get("revision"), inputs.limit).name
    runs: list[Run] = []

    def add(scored: Any) -> None:
        runs.append(read_run(scored.path))
        progress.info("%s: %s on %s", scored.path, model, runs[-1].manifest.about)

    for batch in batches:
        if batch.kinds and runs and runs[0].manifest.settings["kind"] not in batch.kinds:
            continue
        # a config that does not suit the model is an error only if it is the only one
        names = [*select_configs(batch.configs)]
        configs = dict.fromkeys(names, len(names) == 1)
        target = folder / (f"{home}+{batch.suffix}" if batch.suffix else home)
        settings = Settings(**vars(batch.options), limit=inputs.limit, **loading)
        try:
            outcome = score_configs(model, configs, target, inputs.command, settings, False, add)
        except GestError as error:
            if not runs or isinstance(error, OutputError):
                raise
            logger.warning("%s on %s is skipped: %s", model, batch.configs, error)
            continue
        if outcome.failed and not runs:
            raise next(iter(outcome.failed.values()))
        for name, reason in {**outcome.left_out, **outcome.failed}.items():
            logger.warning("%s on %s is skipped: %s", model, name, reason)
    return runs


def model_names(runs: Sequence[Run]) -> list[str]:
    """The short names of the runs' models; with owner and revision where several would be the same."""
    ids = []
    for run in runs:
        revision = run.manifest.metadata.get("requested_revision")
        ids.append(f"{run.manifest.model.rstrip('/')}@{revision}" if revision else run.manifest.model)
    short = {model: model.rstrip("/").rpartition("/")[2] or model for model in ids}
    return [short[model] if [*short.values()].count(short[model]) == 1 else model for model in ids]


def make_study(
    name: str,
    title: str,
    tables: Sequence[Table],
    figures: Sequence[Panel] = (),
    runs: Sequence[Run] = (),
    models: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Study:
    """A study of runs (of `models`, by default with their short names); empty tables are left out."""
    named = list(zip(models or model_names(runs), (run.manifest for run in runs), strict=False))
    limitations: dict[str, None] = {}
    for model, manifest in named:
        if limit := manifest.settings.get("limit"):
            limitations[f"{model}: only the first {limit:,} samples of a config; the paper uses all."] = None
        if manifest.metadata.get("toy"):
            limitations[f"{model} is {TOY_NOTE}."] = None
    used = {str(run.path): run.manifest.signature for run in runs} | dict(sources or {})
    shown = tuple(table for table in tables if table.rows)
    return Study(name, title, shown, tuple(figures), (*limitations, *notes), used)
