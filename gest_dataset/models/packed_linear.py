"""Linear layers through oneDNN with packed weights, about twice as fast on a CPU as PyTorch's default.

PyTorch's own linear layers use MKL, which reaches less than half of an AMD EPYC's speed. oneDNN reorders the
weights once into the layout of its kernels (`torch.ops.mkldnn`, what TorchInductor's freezing calls too) and
gives the same values up to rounding. The layers are packed for the time of a run; afterwards the model has
its own weights again, bit for bit.
"""

import logging
import timeit
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.backends import mkldnn
from transformers.pytorch_utils import Conv1D

from gest_dataset.models.device import is_immovable, return_memory
from gest_dataset.probes.queries import Values

logger = logging.getLogger(__name__)

_TOLERANCE = 1e-5  # relative to the largest value
_ROWS = 1024  # of a typical batch, for which oneDNN chooses the layout
_LEAST_GAIN = 1.2  # in the measurement, below which nothing is packed
_SMALLEST = 256 * 256  # weights, below which a layer's time is that of the call


@contextmanager
def packed_linear_layers(model: Any, compute: Callable[[], Values]) -> Iterator[bool]:
    """Pack the linear layers of a model while the context is open, if that is faster here and exact.

    `compute` gives values of a small batch, which may differ by rounding only. Yields whether layers are
    packed. Models in half precision, quantised ones and those on other devices stay as they are.
    """
    layers = _packable_layers(model) if model.dtype == torch.float32 and not is_immovable(model) else []
    if not layers or not is_faster():
        yield False
        return
    expected = compute()
    finite = np.isfinite(expected)
    with ExitStack() as stack:
        for layer in layers:
            stack.enter_context(_packed(layer))
        try:
            difference = np.abs(compute()[finite] - expected[finite]).max(initial=0.0)
            works = difference <= _TOLERANCE * (1 + np.abs(expected[finite]).max(initial=0.0))
        except RuntimeError as error:  # a module reads the weights of its layers itself
            logger.debug("packed layers failed: %r", error)
            works = False
        if works:
            yield True
            return
    yield False


def _packable_layers(model: Any) -> list[nn.Module]:
    """The large linear layers on the CPU whose weights nothing else reads."""
    modules: list[Any] = list(model.modules())
    owners = Counter(id(parameter) for module in modules for parameter in module.parameters(recurse=False))
    output = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    return [
        module
        for module in modules
        if type(module) in (nn.Linear, Conv1D)
        and module is not output  # rows of it are selected
        and owners[id(module.weight)] == 1
        and module.weight.device.type == "cpu"
        and module.weight.numel() >= _SMALLEST
        and not (module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module))
    ]


@contextmanager
def _packed(layer: Any) -> Iterator[None]:
    """One packed layer; its own weight is empty meanwhile, so that memory holds the numbers once."""
    transposed = isinstance(layer, Conv1D)
    weight = layer.weight
    plain = weight.data.t().contiguous() if transposed else weight.data
    packed = _pack(plain)
    weight.data, plain = plain.new_empty(0), None
    layer.forward = partial(_linear, weight=packed, bias=layer.bias)
    return_memory()
    try:
        yield
    finally:
        del layer.forward
        dense = packed.to_dense()
        del packed
        weight.data = dense.t().contiguous() if transposed else dense
        return_memory()


def _pack(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
    return packed


def _linear(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return result


@cache
def is_faster() -> bool:
    """Whether packed layers are clearly faster on this machine, by a measurement of about 0.1 seconds."""
    if not mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    with torch.inference_mode():
        states, weight = torch.randn(_ROWS // 2, 768), torch.randn(768, 768)
        packed = _pack(weight)
        calls = (lambda: nn.functional.linear(states, weight), lambda: _linear(states, packed, None))
        default, fast = (min(timeit.repeat(call, number=1, repeat=6)) for call in calls)
    return default > _LEAST_GAIN * fast
