"""Where a model's weights go, and in how many bits: on one device, spread over several, quantised.

A model that is spread (`device_map`, by accelerate) may have weights on the `meta` device, which says their
shape only; what they are is brought where it is needed. So nothing here asks such a weight for its values or
its place.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from accelerate.utils import align_module_device
from transformers import BitsAndBytesConfig

from gest_dataset.errors import ModelError, SettingError
from gest_dataset.models.device import pick_device, pick_dtype

DeviceMap = str | Mapping[str, Any]
# How accelerate spreads a model by itself; in Python also a table, module -> device
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
# What bitsandbytes is told; nf4 is the type for weights that are distributed normally (QLoRA, section 3)
QUANTIZATIONS: dict[str, dict[str, Any]] = {
    "8bit": {"load_in_8bit": True},
    "4bit": {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}
_NO_GPU = ("cpu", "disk")


@dataclass(frozen=True)
class Placement:
    """How the weights of a model are loaded."""

    device: torch.device
    dtype: torch.dtype
    device_map: DeviceMap | None = None
    quantization: str | None = None

    def loaded(self, load: Any) -> tuple[Any, Any]:
        """What `load(**arguments)` gives, a model and what is said of it, in its place."""
        arguments: dict[str, Any] = {"dtype": self.dtype, "output_loading_info": True}
        if self.quantization:
            if find_spec("bitsandbytes") is None:
                raise ModelError(
                    f"Loading a model in {self.quantization} needs one more package: pip install bitsandbytes"
                )
            # which tells of each product of matrices that float32 becomes float16
            logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
            own = {"bnb_4bit_compute_dtype": self.dtype} if self.quantization == "4bit" else {}
            typed: Any = BitsAndBytesConfig
            settings = typed(**QUANTIZATIONS[self.quantization], **own)
            arguments |= {"quantization_config": settings, "device_map": {"": self.device}}
        if self.device_map is None:
            model, info = load(**arguments)
            return (model if self.quantization else model.to(self.device)).eval(), info
        folder = tempfile.mkdtemp(prefix="gest-offload-")  # for what fits neither a GPU nor the memory
        try:
            model, info = load(**{**arguments, "device_map": self.device_map}, offload_folder=folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
        return model.eval(), info


def place(
    device: str, dtype: str, device_map: DeviceMap | None = None, quantization: str | None = None
) -> Placement:
    """How a model is loaded as the options say; an error says which of them do not go together."""
    if isinstance(device_map, str) and device_map not in DEVICE_MAPS:
        raise SettingError(f"There is no device map {device_map!r}. Use one of {', '.join(DEVICE_MAPS)}.")
    if device_map is not None and device != "auto":
        raise SettingError(
            f"A device map spreads the model over all devices, and {device!r} is one: give one of the two. "
            f"CUDA_VISIBLE_DEVICES says which GPUs there are."
        )
    if quantization not in (None, *QUANTIZATIONS):
        raise SettingError(f"There is no quantization {quantization!r}. Use {' or '.join(QUANTIZATIONS)}.")
    where = pick_device(device)
    return Placement(where, pick_dtype(dtype, where), device_map, quantization)


def main_device(model: Any) -> torch.device:
    """Where a model takes its inputs: of one that is spread, the first GPU that it has a part on."""
    spread = getattr(model, "hf_device_map", None)
    if not spread:
        single: torch.device = model.device
        return single
    return torch.device(next((place for place in spread.values() if str(place) not in _NO_GPU), "cpu"))


def is_fixed(model: Any) -> bool:
    """Whether a model can neither be moved nor go over to another number type."""
    return is_spread(model) or bool(getattr(model, "is_quantized", False))


def is_spread(model: Any) -> bool:
    """Whether its parts are in several places."""
    spread: Mapping[str, Any] = getattr(model, "hf_device_map", None) or {}
    return len({str(place) for place in spread.values()}) > 1


def weights_of(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Every weight under its name, one at a time; one that is offloaded is brought for so long."""
    for name, weight in sorted(model.state_dict().items()):
        if not isinstance(weight, torch.Tensor):
            continue  # what quantisers keep beside their weights
        if not weight.is_meta:
            yield name, weight
            continue
        module, _, own = name.rpartition(".")
        part = model.get_submodule(module)
        with align_module_device(part, "cpu"):
            yield name, getattr(part, own).detach()
