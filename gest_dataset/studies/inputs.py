"""The runs that a study is made from: finished ones on disk, and those of models that it scores first.

Models are scored into DIR/runs/MODEL/CONFIG below the study's folder, so an interrupted study resumes, and a
repeated one reads its runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from gest_dataset.builders import select_configs
from gest_dataset.data.rows import fingerprint_of
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.measures.formatting import TOY_NOTE
from gest_dataset.measures.stereotype_rate import TEMPLATES
from gest_dataset.probes.probe import Options
from gest_dataset.runs.folder import Run, default_folder, find_runs, read_run
from gest_dataset.studies.study import RUNS, check_study_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Inputs:
    """Finished runs (or folders of them), and models to score first into `folder`.

    `loading` holds options of `gest_dataset.score`: device, dtype, revision, trust_remote_code. `on_run` is
    called with each run of a model as soon as it is finished.
    """

    runs: Sequence[str | Path | Run] = ()
    models: Sequence[str] = ()
    folder: Path | None = None
    limit: int | None = None
    batch_tokens: int | None = None
    loading: tuple[tuple[str, Any], ...] = ()
    command: Sequence[str] = ()
    on_run: Callable[[Run], None] = lambda run: None

    @classmethod
    def of(cls, inputs: Inputs | Sequence[str | Path | Run]) -> Inputs:
        """The inputs themselves, or those of finished runs."""
        return inputs if isinstance(inputs, Inputs) else cls(runs=inputs)


@dataclass(frozen=True)
class Batch:
    """Configs to score with the same options.

    `suffix` keeps runs with other options than the default in a folder of their own. `kinds` and `models`
    restrict the models that the batch is for.
    """

    configs: str
    options: Options = field(default_factory=Options)
    suffix: str = ""
    kinds: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def collect_runs(
    inputs: Inputs | Sequence[str | Path | Run],
    study: str,
    batches: Sequence[Batch],
    suitable: Callable[[Run], bool],
    group: Callable[[Run], Hashable] | None = None,
) -> list[Run]:
    """The finished runs and those of the models, less those that do not suit the study (with a warning).

    In a `group` each model may have one run only.
    """
    inputs = Inputs.of(inputs)
    found = find_runs(inputs.runs)
    if inputs.models:
        if inputs.folder is None:
            raise ConfigError("A study needs a folder for the runs of its models. Set it with --output.")
        check_study_folder(inputs.folder, study)
    for model in inputs.models:
        found += _score_model(inputs, model, [b for b in batches if not b.models or model in b.models])
    for run in found:
        if not suitable(run):
            about = run.manifest.measure, run.manifest.about
            logger.warning("%s is skipped: study %s does not use %s on %s.", run.path, study, *about)
    runs = [run for run in found if suitable(run)]
    _check_same_data(runs)
    if group is not None:
        _check_unique_models(runs, group)
    return runs


def require_runs(found: Sequence[Any], study: str) -> None:
    """Raise an error if a study has nothing to work with."""
    if not found:
        raise ConfigError(
            f"There are no runs for this study. Give finished runs or a --model; gest study {study} "
            f"--help has examples."
        )


def _score_model(inputs: Inputs, model: str, batches: Sequence[Batch]) -> list[Run]:
    """The runs of a model; those that are finished are read."""
    loading = {"device": "auto", "dtype": "auto", **dict(inputs.loading)}
    revision = loading.get("revision")
    home = (inputs.folder or Path()) / RUNS / default_folder(model, revision, inputs.limit).name
    runs: list[Run] = []
    for batch in batches:
        if batch.kinds and runs and runs[0].manifest.settings["kind"] not in batch.kinds:
            continue
        folder = home.with_name(f"{home.name}+{batch.suffix}") if batch.suffix else home
        missing = select_configs(batch.configs)
        several = len(missing) > 1
        for name in list(missing):
            run = _finished_run(folder / name, name, model, inputs)
            if run is not None:
                runs.append(run)
                inputs.on_run(run)
                del missing[name]
        if not missing:
            continue
        from gest_dataset.models.score import score_configs  # imports torch, which finished runs do not need

        # a config that does not suit the model is an error only if it is the only one
        configs = {name: named and not several for name, named in missing.items()}
        scoring = batch.options, inputs.limit, inputs.batch_tokens
        try:
            outcome = score_configs(model, configs, folder, inputs.command, *scoring, **loading)
        except OutputError:
            raise
        except GestError as error:
            if not runs:
                raise
            logger.warning("%s on %s is skipped: %s", model, ", ".join(missing), error)
            continue
        for scored in outcome.runs:
            runs.append(read_run(scored.path))
            inputs.on_run(runs[-1])
        if outcome.failed and not runs:
            raise next(iter(outcome.failed.values()))
        for name, reason in {**outcome.left_out, **outcome.failed}.items():
            logger.warning("%s on %s is skipped: %s", model, name, reason)
    return runs


def _finished_run(path: Path, config: str, model: str, inputs: Inputs) -> Run | None:
    """The finished run of the same settings, if the model's files are not newer; its model is not loaded."""
    with suppress(OutputError):
        run = read_run(path)
        manifest, settings = run.manifest, run.manifest.settings
        local = Path(model).expanduser()
        files = [local] if local.is_file() else list(local.rglob("*")) if local.is_dir() else []
        changed = max((file.stat().st_mtime for file in files), default=0.0)
        if (
            manifest.config == config
            and manifest.data_fingerprint == fingerprint_of(config)
            and settings.get("limit") == inputs.limit
            and dict(inputs.loading).get("dtype", "auto") in ("auto", settings.get("dtype"))
            and inputs.batch_tokens in (None, settings.get("batch_tokens"))
            and changed <= datetime.fromisoformat(manifest.finished).timestamp()
        ):
            return run
    return None


def model_names(runs: Sequence[Run]) -> list[str]:
    """The short names of the runs' models; with owner and revision where several would be the same."""
    ids = []
    for run in runs:
        revision = run.manifest.metadata.get("requested_revision")
        ids.append(f"{run.manifest.model.rstrip('/')}@{revision}" if revision else run.manifest.model)
    short = {model: model.rstrip("/").rpartition("/")[2] or model for model in ids}
    return [short[model] if [*short.values()].count(short[model]) == 1 else model for model in ids]


def _check_same_data(runs: Sequence[Run]) -> None:
    """Refuse runs on two versions of a config."""
    first: dict[str, Run] = {}
    for run in runs:
        other = first.setdefault(run.manifest.config, run)
        if other.manifest.data_fingerprint != run.manifest.data_fingerprint:
            versions = " and ".join(one.manifest.versions["gest_dataset"] for one in (other, run))
            raise ConfigError(
                f"{other.path} and {run.path} use two versions of {run.manifest.config} (gest-dataset "
                f"{versions}). Score both again with one version."
            )


def _check_unique_models(runs: Sequence[Run], group: Callable[[Run], Hashable]) -> None:
    """Refuse two runs of one model in a group: a copy under another name has the same hash of weights."""
    first: dict[Hashable, Run] = {}
    for run in runs:
        settings = run.manifest.settings
        model = settings.get("weights") or (run.manifest.model, settings.get("revision"))
        other = first.setdefault((model, group(run)), run)
        if other is not run:
            raise ConfigError(
                f"{other.path} and {run.path} are runs of the same model on {run.manifest.about} "
                f"({other.manifest.model}, {run.manifest.model}). Give only one of them."
            )


def limitations(runs: Sequence[Run], models: Sequence[str]) -> Iterator[str]:
    """Notes on runs that are not comparable with the papers'."""
    named = list(zip(models, runs, strict=True))
    for model, limit in dict.fromkeys((model, run.manifest.settings.get("limit")) for model, run in named):
        if limit:
            yield f"{model}: only the first {limit:,} samples of a config; the paper uses all."
    for model in dict.fromkeys(model for model, run in named if run.manifest.metadata.get("toy")):
        yield f"{model} is {TOY_NOTE}."
    configs = sorted({run.manifest.config for run in runs if run.manifest.measure == TEMPLATES.name})
    if len(configs) > 1:
        yield f"The runs use {' and '.join(configs)}, whose sentences differ."


def sources_of(runs: Sequence[Run]) -> dict[str, str]:
    """The path and the signature of each run."""
    return {str(run.path): run.manifest.signature for run in runs}
