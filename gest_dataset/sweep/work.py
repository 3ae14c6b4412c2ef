"""What a worker does: it loads a model once, asks it all its configs, and tells of each as it comes.

Nothing that goes wrong with a cell stops the others: not an error of this package, nor one of a library. Only
a place that cannot be written to ends a sweep, because everybody would meet the same.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import Timeout

from gest_dataset.errors import GestError, OutputError
from gest_dataset.sweep.grid import Job
from gest_dataset.sweep.place import RUNS, Place, run_name
from gest_dataset.sweep.suite import Subject
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.models.score import Outcome, ScoredRun

# What a job tells. BEGUN, DONE, FAILED and LEFT_OUT are of a config; a job ends with ENDED, with LOST (its
# worker is), or with STOP: nobody can go on, as where the place cannot be written to
BEGUN, DONE, FAILED, LEFT_OUT, LOST, STOP, ENDED = (
    *("begun", "done", "failed", "left out"),
    *("lost", "stop", "ended"),
)
_OF_THE_PLACE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.EFBIG,
    errno.ENOTDIR,
}
_WAIT, _PATIENCE = 2.0, 900.0  # seconds for a run that a worker which was thought lost still writes


@dataclass(frozen=True)
class Event:
    """Something that a job tells: of a config, or of itself where there is none."""

    job: str
    what: str
    config: str = ""
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


Tell = Callable[[Event], None]


def work(job: Job, device: str, tell: Tell) -> None:
    """Do a job, and tell of it; `device` is where a model that is loaded here computes."""
    if job.version != __version__:
        reason = (
            f"{place_of_worker()} has gest-dataset {__version__}, and the sweep was begun with "
            f"{job.version}: their numbers need not agree. Install one version everywhere."
        )
        tell(Event(job.name, STOP, reason=reason))
        return
    rest = list(job.configs)
    begun: list[str] = []

    def finished(config: str, what: str, reason: str = "", facts: Mapping[str, Any] | None = None) -> None:
        rest.remove(config)
        tell(Event(job.name, what, config, reason, facts or {}))

    def on_the_way(config: str) -> None:
        begun.append(config)
        tell(Event(job.name, BEGUN, config))

    until = time.monotonic() + _PATIENCE
    while rest:
        begun.clear()
        try:
            outcome = _scored(job, rest, device, on_the_way, finished)
        except OutputError as error:
            cause = error.__cause__
            if isinstance(cause, Timeout) and time.monotonic() < until:
                time.sleep(_WAIT)
            elif isinstance(cause, OSError) and cause.errno in _OF_THE_PLACE:
                tell(Event(job.name, STOP, reason=str(error)))
                return
            else:
                finished(begun[-1] if begun else rest[0], FAILED, str(error))
        except (
            GestError
        ) as error:  # of the model, which all its configs need; or of the only one that is left
            for config in list(rest):
                finished(config, FAILED, str(error))
        except Exception as error:
            # a fault of ours or of a library: it may be of this config, and this process is not to be trusted
            told = f"{type(error).__name__}: {error}".strip()
            for config in begun[-1:] or list(rest):
                finished(config, FAILED, f"a fault of gest-dataset, or of a library that it uses: {told}")
            if rest:
                tell(Event(job.name, LOST, reason=told))
                return
        else:
            for config, reason in outcome.left_out.items():
                finished(config, LEFT_OUT, reason)
            for config, why in outcome.failed.items():
                finished(config, FAILED, str(why))
            for config in list(rest):
                finished(config, FAILED, "it was not scored, and nothing says why")
    tell(Event(job.name, ENDED))


def place_of_worker() -> str:
    """This process, as a message names it."""
    return f"{os.uname().nodename if hasattr(os, 'uname') else 'this machine'} (process {os.getpid()})"


def _scored(
    job: Job, configs: list[str], device: str, begun: Callable[[str], None], finished: Callable[..., None]
) -> Outcome:
    """Ask the model; each run is told of, and copied to where it belongs."""
    from gest_dataset.models.score import score_configs
    from gest_dataset.models.served.model import CONNECTIONS, connect

    subject, asking, place = job.subject, job.subject.asking, Place(job.place)
    model: Any = subject.model
    if subject.server is not None:
        at = subject.server
        model = connect(at.endpoint, model, at.tokenizer, at.connections or CONNECTIONS)
    loading: dict[str, Any] = {"device": device, "dtype": asking.dtype, "revision": subject.revision}
    loading |= {"trust_remote_code": asking.trust_remote_code, "quantization": asking.quantization}
    if (subject.needs.gpus or 0) > 1:
        loading |= {"device": "auto", "device_map": "auto"}
    with _folder(place, subject.name) as folder:

        def start(config: str) -> None:
            begun(config)
            _clear_if_foreign(folder / config, job.subject, device)

        def done(entry: ScoredRun) -> None:
            config = entry.path.name
            if place.folder is None:
                place.keep(entry.path, run_name(subject.name, config))
                shutil.rmtree(entry.path)
            finished(config, DONE, facts=_facts(entry))

        return score_configs(
            model,
            dict.fromkeys(configs, False),
            folder,
            job.command,
            asking.options,
            asking.limit,
            asking.batch_tokens,
            asking.null,
            on_start=start,
            on_run=done,
            **loading,
        )


@contextmanager
def _folder(place: Place, name: str) -> Iterator[Path]:
    """Where a model's runs are made: where they stay, or on this machine for a place elsewhere."""
    if place.folder is not None:
        yield place.folder / RUNS / name
        return
    with tempfile.TemporaryDirectory(prefix="gest-sweep-") as folder:
        yield Path(folder) / name


def _clear_if_foreign(run: Path, subject: Subject, device: str) -> None:
    """Remove what was begun and cannot be gone on with to the last digit: where another processor or other
    packages were, or when the suite asked otherwise. A run that is whole stays.
    """
    from gest_dataset.models.device import pick_device
    from gest_dataset.runs.folder import machine, versions
    from gest_dataset.runs.manifest import MANIFEST, read_manifest
    from gest_dataset.sweep.facts import is_run_of

    if not (run / MANIFEST).exists():
        return
    place = None if subject.server else pick_device(device)  # a server computes elsewhere
    with suppress(GestError):
        there = read_manifest(run)
        same = (there.machine, there.versions) == (machine(place), versions())
        if not there.done and not (same and is_run_of(there, subject, run.name)):
            shutil.rmtree(run, ignore_errors=True)


def _facts(entry: ScoredRun) -> dict[str, Any]:
    from gest_dataset.sweep.facts import told_facts

    facts = told_facts(entry.scores.metadata, entry.result, entry.scores.signature, "")
    return facts | {"new": entry.new, "worker": place_of_worker()}


def streamed(job: Job, device: str) -> Iterator[Event]:
    """The events of a job as a generator: what is told while the model is asked comes at once."""
    from queue import SimpleQueue
    from threading import Thread

    events: SimpleQueue[Event | None] = SimpleQueue()

    def run() -> None:
        try:
            work(job, device, events.put)
        except BaseException as error:
            events.put(Event(job.name, LOST, reason=f"{type(error).__name__}: {error}"))
        finally:
            events.put(None)

    Thread(target=run, daemon=True).start()
    while (event := events.get()) is not None:
        yield event
