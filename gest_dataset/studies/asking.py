"""The runs that a study is made of: finished ones on disk, and those of models that it scores first.

Runs of models are kept below the study's folder, DIR/runs/MODEL/CONFIG: a study that was interrupted goes on
with them, and one that is made again reads them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from gest_dataset.data.rows import fingerprint_of
from gest_dataset.data.selection import names
from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.measures.formatting import TOY_NOTE
from gest_dataset.measures.stereotype_rate import TEMPLATES
from gest_dataset.models import selection
from gest_dataset.probes.probe import Options
from gest_dataset.runs.reading import Run, default_folder, find_runs, read_run
from gest_dataset.studies.study import RUNS, claim_study

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What a study is made of: finished runs (or folders of them), and models to score first.

    `folder` is where the study and the runs of its models are kept; models need one. `loading` are options of
    `gest_dataset.score`: device, dtype, revision, trust_remote_code.
    """

    runs: Sequence[str | Path | Run] = ()
    models: Sequence[str] = ()
    folder: Path | None = None
    limit: int | None = None
    batch_tokens: int | None = None
    loading: tuple[tuple[str, Any], ...] = ()
    command: Sequence[str] = ()
    told: Callable[[Run], None] = lambda run: None

    @classmethod
    def of(cls, asked: Asked | Sequence[str | Path | Run]) -> Asked:
        """Of finished runs, or as it is."""
        return asked if isinstance(asked, Asked) else cls(runs=asked)


@dataclass(frozen=True)
class Batch:
    """Configs that a model is asked with the same options.

    Other options than the default have a `folder` of their own, beside that of the model. `kinds` and
    `models` say what models they are for; none is all of them.
    """

    configs: str
    options: Options = field(default_factory=Options)
    folder: str = ""
    kinds: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def runs_of(
    asked: Asked, study: str, configs: str | Sequence[Batch], suits: Callable[[Run], bool]
) -> list[Run]:
    """The runs that suit a study, of models those on `configs`; the others are left out, and said.

    `asked.told` hears of each run of a model as soon as it is there. A model that cannot be scored is left
    out as well, where another one can.
    """
    found = find_runs(asked.runs)
    batches = [Batch(configs)] if isinstance(configs, str) else configs
    if asked.models:
        if asked.folder is None:
            raise ConfigError("Models are scored into a folder of the study. Name it with --output.")
        claim_study(asked.folder, study)
        failed: dict[str, GestError] = {}

        def tried(model: str, work: Callable[[], Any]) -> Any:
            try:
                return work()
            except (ConfigError, OutputError):
                raise
            except GestError as error:
                failed[model] = error
                return None

        # a model of a kind that cannot be asked shows before another one is asked for hours
        plans = {model: tried(model, partial(_planned, asked, model, batches)) for model in asked.models}
        for model, parts in plans.items():
            found += tried(model, partial(_scored, asked, model, parts)) or [] if parts else []
        if failed and not found:
            raise next(iter(failed.values()))
        for model, error in failed.items():
            logger.warning("%s is left out: %s", model, error)
    suiting = [run for run in found if suits(run)]
    for run in found:
        if run not in suiting:
            logger.warning(
                "%s is left out: a run of %s on %s is not what the study %s is about.",
                *(run.path, run.manifest.measure, run.manifest.about, study),
            )
    return suiting


@dataclass(frozen=True)
class _Part:
    """A batch as one model has answered it: its runs that are finished, and what it is still to be asked."""

    batch: Batch
    home: Path
    kept: dict[str, Run]
    missing: dict[str, bool]


def _planned(asked: Asked, model: str, batches: Sequence[Batch]) -> list[_Part]:
    """What a model has answered already, and what it is to be asked; of neither is its kind an error."""
    if asked.folder is None:
        raise TypeError("models are scored into a folder")
    loading = dict(asked.loading)
    revision = loading.get("revision")
    own = default_folder(model, revision, asked.limit).name
    parts = []
    for batch in batches:
        if batch.models and model not in batch.models:
            continue
        wanted = names(batch.configs)
        home = asked.folder / RUNS / (f"{own}+{batch.folder}" if batch.folder else own)
        there = {name: _finished(home / name, name, model, asked) for name in wanted}
        kept = {name: run for name, run in there.items() if run is not None}
        missing = {name: named for name, named in wanted.items() if name not in kept}
        parts.append(_Part(batch, home, kept, missing))
    kind = next((run.manifest.metadata["kind"] for part in parts for run in part.kept.values()), None)
    if kind is None:
        from gest_dataset.models.loading import name_and_kind

        kind = name_and_kind(model, revision, loading.get("trust_remote_code", False))[1]
    suiting = [part for part in parts if not part.batch.kinds or kind in part.batch.kinds]
    return [_that_fits(part, model, kind) for part in suiting]


def _that_fits(part: _Part, model: str, kind: str) -> _Part:
    """The part without the configs that such a model cannot be asked; if it can be asked none, an error."""
    if not part.missing:
        return part
    unnamed = len(part.missing) + len(part.kept) > 1
    asked = {name: named and not unnamed for name, named in part.missing.items()}
    try:
        chosen, left_out = selection.split(asked, kind, model)
    except ConfigError:
        if not part.kept:
            raise
        return replace(part, missing={})
    for name, reason in left_out.items():
        logger.warning("%s on %s is left out: %s", model, name, reason)
    return replace(part, missing={name: asked[name] for name in chosen})


def _scored(asked: Asked, model: str, parts: Sequence[_Part]) -> list[Run]:
    """The runs of a model, those that are finished as they are; one that fails leaves the others."""
    found: list[Run] = []
    for part in parts:
        for run in part.kept.values():
            asked.told(run)
        found += part.kept.values()
    for part in parts:
        if part.missing:
            try:
                found += _asked_now(asked, model, part)
            except OutputError:
                raise
            except GestError as error:
                if not found:
                    raise
                logger.warning("%s on %s is left out: %s", model, ", ".join(part.missing), error)
    return found


def _asked_now(asked: Asked, model: str, part: _Part) -> list[Run]:
    """Ask a model what it has not answered yet."""
    from gest_dataset.models.score import Entry, score_configs

    made: list[Run] = []

    def done(entry: Entry) -> None:
        made.append(read_run(entry.path))
        asked.told(made[-1])

    how = (part.batch.options, asked.limit, asked.batch_tokens)
    loading = {"device": "auto", "dtype": "auto", **dict(asked.loading)}
    outcome = score_configs(model, part.missing, part.home, asked.command, *how, done=done, **loading)
    if not made and outcome.failed:
        raise next(iter(outcome.failed.values()))
    for name, reason in {**outcome.left_out, **outcome.failed}.items():
        logger.warning("%s on %s is left out: %s", model, name, reason)
    return made


def _finished(path: Path, config: str, model: str, asked: Asked) -> Run | None:
    """The run of a model that is finished and would come out the same today; its model need not be loaded.

    A local model that has changed since, other data or another precision are for `score_configs` to judge.
    """
    with suppress(OutputError):
        run = read_run(path)
        manifest = run.manifest
        dtype = dict(asked.loading).get("dtype", "auto")
        same = (
            manifest.config == config
            and manifest.data_fingerprint == fingerprint_of(config)
            and manifest.settings.get("limit") == asked.limit
            and dtype in ("auto", manifest.settings.get("dtype"))
            and asked.batch_tokens in (None, manifest.settings.get("batch_tokens"))
        )
        if same and not _changed_since(Path(model).expanduser(), manifest.finished):
            return run
    return None


def _changed_since(model: Path, finished: str) -> bool:
    """Whether a model on this disk has a file that is newer than a run; one on the Hub has a revision."""
    files = [model] if model.is_file() else list(model.rglob("*")) if model.is_dir() else []
    newest = max((file.stat().st_mtime for file in files), default=0.0)
    return newest > datetime.fromisoformat(finished).timestamp()


def model_of(run: Run) -> str:
    """A model as a table names it: its own name, without owner or folder."""
    name: str = run.manifest.subject
    return name.rstrip("/").rpartition("/")[2] or name


def check_same_data(runs: Sequence[Run]) -> None:
    """Refuse runs of two versions of a config: their numbers do not stand side by side."""
    first: dict[str, Run] = {}
    for run in runs:
        other = first.setdefault(run.manifest.config, run)
        if other.manifest.data_fingerprint != run.manifest.data_fingerprint:
            written = [one.manifest.versions["gest_dataset"] for one in (other, run)]
            raise ConfigError(
                f"{other.path} and {run.path} are of two versions of {run.manifest.config} (written by "
                f"gest-dataset {' and '.join(written)}), so their numbers cannot stand side by side. Score "
                f"both with one version of gest-dataset."
            )


def check_given_once(runs: Sequence[Run], place: Callable[[Run], Any]) -> None:
    """Refuse a model that is twice in one `place`, as a copy of another name too.

    Two that are one would agree with each other, and count as two. A served model has no hash of its weights.
    """
    first: dict[Any, Run] = {}
    for run in runs:
        settings = run.manifest.settings
        model = settings.get("weights") or (run.manifest.subject, settings.get("revision"))
        other = first.setdefault((model, place(run)), run)
        if other is not run:
            names = dict.fromkeys(one.manifest.subject for one in (other, run))
            copies = ", which have the same weights" if len(names) > 1 else ""
            raise ConfigError(
                f"{other.path} and {run.path} are two runs of one model on {run.manifest.about} "
                f"({' and '.join(names)}{copies}), and would count as two models. Give one of them."
            )


def notes_of(runs: Sequence[Run], names: Sequence[str]) -> Iterator[str]:
    """What keeps runs from being like the paper's: a part of the samples, a toy, several versions of GEST."""
    limits = dict.fromkeys(
        (name, run.manifest.settings.get("limit")) for name, run in zip(names, runs, strict=True)
    )
    for name, limit in limits:
        if limit:
            yield f"{name}: of a config at most the first {limit:,} samples; the paper has all."
    toys = [name for name, run in zip(names, runs, strict=True) if run.manifest.metadata.get("toy")]
    for name in dict.fromkeys(toys):
        yield f"{name} is {TOY_NOTE}."
    gest = sorted({run.manifest.config for run in runs if run.manifest.measure == TEMPLATES.name})
    if len(gest) > 1:
        yield f"The runs are on {' and '.join(gest)}, which differ in their sentences."


def names_of(runs: Sequence[Run]) -> list[str]:
    """What the models of some runs are called: as briefly as tells them apart, with revisions if need be."""
    subjects = [
        (run.manifest.subject, str(run.manifest.metadata.get("asked_revision") or "")) for run in runs
    ]
    brief = {subject: model_of(run) for (subject, _), run in zip(subjects, runs, strict=True)}
    often = Counter(brief.values())
    revisions = Counter(subject for subject, _ in {*subjects})
    return [
        (brief[subject] if often[brief[subject]] == 1 else subject)
        + (f"@{revision}" if revision and revisions[subject] > 1 else "")
        for subject, revision in subjects
    ]


def sources_of(runs: Sequence[Run]) -> dict[str, str]:
    """What a study says of its runs: where each is, and its signature."""
    return {str(run.path): run.manifest.signature for run in runs}
