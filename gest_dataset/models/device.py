"""Which device and which number type a run uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gest_dataset.errors import SettingError

if TYPE_CHECKING:
    import torch

DTYPES = ("auto", "float32", "float16", "bfloat16")
# Padded tokens in a batch. On a CPU more is slower: the batch no longer fits into the caches.
BATCH_TOKENS = {"cpu": 512, "mps": 8192, "cuda": 32768}


def pick_device(asked: str) -> torch.device:
    """The device asked for; `auto` takes CUDA, else Apple's GPU, else the CPU."""
    import torch

    if asked == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise SettingError(f"There is no device {asked!r}. Use auto, cuda, cuda:N, mps or cpu.") from error
    cuda = torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    at_hand = {"cuda": cuda, "mps": torch.backends.mps.is_available()}
    if not at_hand.get(device.type, True):
        raise SettingError(f"The device {asked!r} is not at hand on this machine. Use auto or cpu.")
    return device


def bfloat16_unit() -> str | None:
    """What this CPU multiplies bfloat16 with; where it has no such thing bfloat16 is the slower type."""
    import torch

    units = {"AMX": torch.cpu._is_amx_tile_supported, "AVX512-BF16": torch.cpu._is_avx512_bf16_supported}
    return next((name for name, has in units.items() if has()), None)


def pick_dtype(asked: str, device: torch.device) -> torch.dtype:
    """The type asked for; `auto` takes bfloat16 on a GPU that has it, else float16; float32 on a CPU."""
    import torch

    if asked not in DTYPES:
        raise SettingError(f"There is no dtype {asked!r}. Use one of {', '.join(DTYPES)}.")
    if asked != "auto":
        dtype: torch.dtype = getattr(torch, asked)
        return dtype
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.float16 if device.type == "mps" else torch.float32
