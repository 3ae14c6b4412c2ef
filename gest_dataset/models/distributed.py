"""Data parallelism: a launcher (accelerate, torchrun) starts several processes that share the batches.

Every process runs the same code on the same batches and computes every n-th of them (`inference`). Only
the main process reads and writes runs; `on_main` gives its results to the others.
"""

import logging
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar, cast

from gest_dataset import progress
from gest_dataset.errors import GestError, ScoringError, SettingError, convert_errors, describe_error

T = TypeVar("T")
# The main process may download a model or write a report meanwhile; a process that dies is noticed at once
_TIMEOUT = timedelta(hours=12)


def world_size() -> int:
    """The number of processes that the launcher has started."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "LOCAL_RANK" in os.environ else 1


def rank() -> int:
    return int(os.environ.get("RANK", "0")) if world_size() > 1 else 0


def is_main() -> bool:
    return rank() == 0


def join(device: str, device_map: Any = None) -> str:
    """Connect to the other processes, and return the device of this one."""
    if world_size() == 1:
        return device
    if ":" in device:
        raise SettingError(f"{world_size()} processes cannot share {device}: omit the device.")
    if device_map is not None:
        raise SettingError("A device map uses all GPUs in one process: run the command without the launcher.")
    # slow to import, and not needed by a single process
    import torch
    from accelerate import PartialState

    on_gpu = device in ("auto", "cuda") and torch.cuda.is_available()
    with convert_errors(_connection_lost):
        # gloo reports a process that died at once; NCCL would wait for it
        state = PartialState(cpu=not on_gpu, backend="gloo", timeout=_TIMEOUT)
    if not state.is_main_process:
        logging.getLogger(progress.__name__).setLevel(logging.WARNING)  # the main process reports it
    return str(state.device) if on_gpu else device


def gather(value: T) -> list[T]:
    """The values of all processes, in the order of their ranks."""
    if world_size() == 1:
        return [value]
    from accelerate.utils import gather_object  # slow to import

    with convert_errors(_connection_lost):
        values: list[T] = gather_object([value])
    return values


def on_main(function: Callable[[], T]) -> T:
    """Call a function in the main process; every process gets its result or its error."""
    outcome: Any = None
    if is_main():
        try:
            outcome = function()
        except GestError as error:
            outcome = error
    result = gather(outcome)[0]
    if isinstance(result, GestError):
        raise result
    return cast(T, result)


def _connection_lost(error: BaseException) -> ScoringError:
    reason = describe_error(error)
    return ScoringError(f"Another process of this run has ended ({reason}). Run it again to resume.")
