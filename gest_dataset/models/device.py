"""Where a model runs and in which number type: one device, several devices, or quantised."""

import ctypes
import logging
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import BitsAndBytesConfig

from gest_dataset.errors import SettingError, convert_errors, describe_error, import_extra
from gest_dataset.models.base import Settings
from gest_dataset.statistics.checks import check_choice

DTYPES = ("auto", "float32", "float16", "bfloat16")
# Padded tokens in a batch. Larger batches are slower on a CPU because they do not fit into its caches.
BATCH_TOKENS = {"cpu": 512, "mps": 8192, "cuda": 32768}
# Options of bitsandbytes; nf4 suits normally distributed weights (QLoRA, section 3)
QUANTIZATIONS: dict[str, dict[str, Any]] = {
    "8bit": {"load_in_8bit": True},
    "4bit": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}
_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def return_memory() -> None:
    """Return freed memory to the system: glibc keeps it, in pieces that other tensors do not fit."""
    if _malloc_trim:
        _malloc_trim(0)


@contextmanager
def patched_forward(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    original = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        del module.forward
        if original is not None:
            module.forward = original


def pick_device(requested: str) -> torch.device:
    """The requested device; `auto` takes CUDA, else Apple's GPU, else the CPU."""
    if requested == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    problem, advice = f"The device {requested!r} cannot be used", "Use auto, cuda, cuda:N, mps or cpu."
    with convert_errors(lambda _: SettingError(f"{problem}. {advice}")):
        device = torch.device(requested)  # whose list also has devices without kernels
    with convert_errors(lambda error: SettingError(f"{problem} ({describe_error(error)}). {advice}")):
        torch.empty(0, device=device)
    return device


def pick_dtype(requested: str, device: torch.device) -> torch.dtype:
    """The requested number type; `auto` takes bfloat16 (else float16) on a GPU and float32 on a CPU."""
    check_choice("dtype", requested, DTYPES)
    if requested != "auto":
        dtype: torch.dtype = getattr(torch, requested)
        return dtype
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.float16 if device.type == "mps" else torch.float32


def resolve_placement(settings: Settings) -> tuple[torch.device, torch.dtype]:
    """Check the settings that say where a model goes, and resolve `auto`."""
    if settings.device_map is not None and settings.device != "auto":
        raise SettingError(
            "device_map cannot be combined with device; choose GPUs with CUDA_VISIBLE_DEVICES."
        )
    if settings.quantization is not None:
        check_choice("quantization", settings.quantization, QUANTIZATIONS)
    device = pick_device(settings.device)
    return device, pick_dtype(settings.dtype, device)


def place_model(
    from_pretrained: Callable[..., tuple[Any, Any]],
    settings: Settings,
    device: torch.device,
    dtype: torch.dtype,
) -> tuple[Any, Any]:
    """Call `from_pretrained` for a device: the model in evaluation mode and its loading info."""
    options: dict[str, Any] = {"dtype": dtype, "output_loading_info": True}
    if settings.quantization:
        import_extra("bitsandbytes", "quantized")
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns at every matrix product
        quantization = QUANTIZATIONS[settings.quantization] | {"bnb_4bit_compute_dtype": dtype}
        options["quantization_config"] = BitsAndBytesConfig(**quantization)  # type: ignore[no-untyped-call]
        options["device_map"] = {"": device}
    if settings.device_map is None:
        model, info = from_pretrained(**options)
        return (model if settings.quantization else model.to(device)).eval(), info
    # for weights that do not fit into memory
    folder = tempfile.TemporaryDirectory(prefix="gest-offload-", ignore_cleanup_errors=True)
    options |= {"device_map": settings.device_map, "offload_folder": folder.name}
    model, info = from_pretrained(**options)
    weakref.finalize(model, folder.cleanup)
    return model.eval(), info


def main_device(model: Any) -> torch.device:
    """The device for a model's inputs: its own, or the first GPU of a model with a device map."""
    device_map = getattr(model, "hf_device_map", None)
    if not device_map:
        return torch.device(model.device)
    gpus = (device for device in device_map.values() if str(device) not in ("cpu", "disk"))
    return torch.device(next(gpus, "cpu"))


def spans_devices(model: Any) -> bool:
    return len({str(device) for device in (getattr(model, "hf_device_map", None) or {}).values()}) > 1


def is_immovable(model: Any) -> bool:
    """Whether a model cannot be moved or converted to another number type."""
    return spans_devices(model) or bool(getattr(model, "is_quantized", False))
