"""The runs that a study is made of: finished ones on disk, and those of models that it scores first.

Runs of models are kept below the study's folder, DIR/runs/MODEL/CONFIG: a study that was interrupted goes on
with them, and one that is made again reads them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gest_dataset.builders import CONFIGS, fingerprint
from gest_dataset.data.selection import names
from gest_dataset.errors import ConfigError, GestError, OutputError
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


def runs_of(asked: Asked, study: str, configs: str, suits: Callable[[Run], bool]) -> list[Run]:
    """The runs that suit a study, of models those on `configs`; the others are left out, and said.

    `asked.told` hears of each run of a model as soon as it is there. A model that cannot be scored is left
    out as well, where another one can.
    """
    found = find_runs(asked.runs)
    if asked.models:
        if asked.folder is None:
            raise ConfigError("Models are scored into a folder of the study. Name it with --output.")
        claim_study(asked.folder, study)
        failed: list[GestError] = []
        for model in asked.models:
            try:
                found += _scored(asked, model, configs)
            except (ConfigError, OutputError):
                raise
            except GestError as error:
                logger.warning("%s is left out: %s", model, error)
                failed.append(error)
        if failed and not found:
            raise failed[0]
    suiting = [run for run in found if suits(run)]
    for run in found:
        if run not in suiting:
            logger.warning(
                "%s is left out: a run of %s on %s is not what the study %s is about.",
                *(run.path, run.manifest.measure, run.manifest.about, study),
            )
    return suiting


def _scored(asked: Asked, model: str, configs: str) -> Iterator[Run]:
    """The runs of a model, those that are finished as they are."""
    from gest_dataset.probes.probe import Options
    from gest_dataset.scoring.score import Entry, score_configs

    if asked.folder is None:
        raise TypeError("models are scored into a folder")
    loading = dict(asked.loading)
    home = asked.folder / RUNS / default_folder(model, loading.get("revision"), asked.limit).name
    wanted = names(configs)
    kept = {name: run for name in wanted if (run := _finished(home / name, name, model, asked))}
    missing = {name: named for name, named in wanted.items() if name not in kept}
    made: dict[str, Run] = {}

    def done(entry: Entry) -> None:
        made[entry.path.name] = read_run(entry.path)
        asked.told(made[entry.path.name])

    for run in kept.values():
        asked.told(run)
    if missing:
        options = (Options(), asked.limit, asked.batch_tokens)
        outcome = score_configs(model, missing, home, asked.command, *options, done=done, **loading)
        for name, reason in {**outcome.left_out, **outcome.failed}.items():
            logger.warning("%s on %s is left out: %s", model, name, reason)
        if not made and not kept and outcome.failed:
            raise next(iter(outcome.failed.values()))
    return iter([run for name in wanted if (run := kept.get(name) or made.get(name))])


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
            and manifest.data_fingerprint == fingerprint(CONFIGS[config])
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


def sources_of(runs: Sequence[Run]) -> dict[str, str]:
    """What a study says of its runs: where each is, and its signature."""
    return {str(run.path): run.manifest.signature for run in runs}
