"""Python loads this when it starts with this folder in PYTHONPATH, as commands do that are to be killed.

A batch of a model takes 50 ms, is committed at once, and the number of its inputs is a line of ATTACK_LOG.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any


def _commit_every_batch(module: Any) -> None:
    module.COMMIT_SECONDS = 0.0


def _slow_batches(module: Any) -> None:
    compute = module.LanguageModelScorer.log_probs

    def log_probs(self: Any, inputs: Any, *arguments: Any) -> Any:
        with Path(os.environ["ATTACK_LOG"]).open("a") as log:
            log.write(f"{len(inputs)}\n")
        time.sleep(0.05)
        return compute(self, inputs, *arguments)

    module.LanguageModelScorer.log_probs = log_probs


def _slow_files(module: Any) -> None:
    write = module.write_parquet

    def write_parquet(*arguments: Any) -> None:
        time.sleep(0.02)
        write(*arguments)

    module.write_parquet = write_parquet


_HOOKS: dict[str, Callable[[ModuleType], None]] = {
    "gest_dataset.data.folder": _slow_files,
    "gest_dataset.models.forward_passes": _slow_batches,
    "gest_dataset.models.inference": _commit_every_batch,
}


class _Finder:
    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in _HOOKS else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_with_hook(module: ModuleType) -> None:
            execute(module)
            _HOOKS[name](module)

        setattr(spec.loader, "exec_module", execute_with_hook)  # noqa: B010
        return spec


if "ATTACK_LOG" in os.environ:
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]
