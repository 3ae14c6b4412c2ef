"""Runs in processes of their own, to be killed. The fork server imports what is slow once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.killing_imports"])


def pipe() -> tuple[Connection, Connection]:
    """Two ends; the second one is for a process."""
    return _CONTEXT.Pipe()


def process(target: Callable[..., None], *given: Any) -> ForkServerProcess:
    """A process that has begun with this function."""
    made = _CONTEXT.Process(target=target, args=given)
    made.start()
    return made


def start(
    model: str, output: Path, environment: Mapping[str, str], prepare: Callable[..., None], *given: Any
) -> tuple[ForkServerProcess, Connection]:
    """A process that scores; it says `ready` when it is about to ask the model, then how it ended."""
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_score, args=(model, output, dict(environment), there, prepare, given))
    process.start()
    there.close()
    return process, here


def _score(
    model: str,
    output: Path,
    environment: Mapping[str, str],
    pipe: Connection,
    prepare: Callable[..., None],
    given: tuple[Any, ...],
) -> None:
    os.environ.update(environment)
    import torch

    from gest_dataset.errors import GestError
    from gest_dataset.models import score, scores, shards

    torch.set_num_threads(1)
    shards.SECONDS = 0.0  # every batch is a shard
    prepare(*given)
    measure = scores.measure

    def announced(*arguments: Any) -> Any:
        pipe.send("ready")
        return measure(*arguments)

    scores.measure = announced
    try:
        score.score(model, "en", device="cpu", batch_tokens=40, output=output)
        pipe.send("done")
    except GestError as error:
        pipe.send(f"{type(error).__name__}: {error}")


def slowly(seconds: float) -> None:
    """Each batch takes so long at least."""
    from gest_dataset.models.scorers import LanguageModel

    answer = LanguageModel.answer

    def slow(self: Any, *arguments: Any) -> Any:
        time.sleep(seconds)
        return answer(self, *arguments)

    LanguageModel.answer = slow  # type: ignore[method-assign]


def killed_at(number: int, after: bool) -> None:
    """The process kills itself before or after it gives the file of that number its name."""
    replace = Path.replace
    calls = iter(range(1, 10_000))

    def deadly(self: Path, target: Any) -> Any:
        last = next(calls) == number
        if last and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = replace(self, target)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Path.replace = deadly  # type: ignore[method-assign]


def without_room(name: str, most: int) -> None:
    """A file of that name or in a directory of that name cannot become larger than so many bytes."""
    import resource

    from gest_dataset import storage
    from gest_dataset.data import parquet
    from gest_dataset.models import shards

    replacing = storage.atomic_path
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def small(path: Path) -> Any:
        limit = most if name in (path.name, path.parent.name) else hard
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        return replacing(path)

    storage.atomic_path = shards.replacing = parquet.replacing = small  # type: ignore[assignment]
