"""Linear layers through oneDNN with packed weights, about twice as fast on a CPU as PyTorch's default.

PyTorch's own linear layers use MKL, which reaches less than half of an AMD EPYC's speed. oneDNN reorders the
weights once into the layout of its kernels (`torch.ops.mkldnn`, what TorchInductor's freezing calls too) and
gives the same values up to rounding; packed in bfloat16, the layers take half the time again on a CPU with
such instructions, and everything between them stays in float32. The layers are packed for the time of a run;
afterwards the model has its own weights again, bit for bit.
"""

import logging
import os
import timeit
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from torch import Tensor, nn
from torch.backends import mkldnn
from transformers.activations import GELUActivation, NewGELUActivation
from transformers.pytorch_utils import Conv1D

from gest_dataset.models.device import patched_forward, return_memory
from gest_dataset.probes.queries import Values

logger = logging.getLogger(__name__)

# oneDNN keeps about a megabyte of kernels for each size of a batch, of 1024 sizes by default
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
# Relative to the largest value; two correct computations differ by 5e-7 of it in float32
_TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
# Errors of models whose parts do not fit together as a fast path expects
_UNUSABLE = (RuntimeError, TypeError, AttributeError, KeyError, IndexError, ValueError)
_ROWS = 1024  # of a typical batch, for which oneDNN chooses the layout
_LEAST_GAIN = 1.2  # in the measurement, below which nothing is packed
_SMALLEST = 256 * 256  # weights, below which a layer's time is that of the call
# Activations that oneDNN computes with the layer before them, by its names
_ACTIVATIONS: dict[type[nn.Module], tuple[str, str]] = {
    GELUActivation: ("gelu", "none"),
    NewGELUActivation: ("gelu", "tanh"),
    nn.ReLU: ("relu", ""),
    nn.SiLU: ("swish", ""),
}


def largest_difference(compute: Callable[[], Values], expected: Values, optional: bool = True) -> float:
    """How far the values of a fast path are from the expected ones; infinite if it fails.

    An `optional` path also fails if memory runs out: the run goes on without it.
    """
    finite = np.isfinite(expected)
    try:
        differences = np.abs(compute()[finite] - expected[finite])
    except _UNUSABLE as error:
        if not optional and should_reduce_batch_size(error):
            raise
        logger.debug("a fast path failed: %r", error)
        return np.inf
    return float(np.nan_to_num(differences, nan=np.inf).max(initial=0.0))


def rounding(dtype: torch.dtype, values: Values) -> float:
    """The largest difference that rounding to a number type explains."""
    return _TOLERANCE.get(dtype, 1e-5) * (1 + float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))


@contextmanager
def packed_linear_layers(
    model: Any, compute: Callable[[], Values], dtype: torch.dtype = torch.float32
) -> Iterator[list[nn.Module]]:
    """Pack the linear layers of a model while the context is open, if that is faster here and exact.

    `compute` gives values of a small batch, which may differ by the rounding of `dtype` only. Yields the
    packed layers. Models in half precision, quantised ones and those on other devices stay as they are.
    """
    layers = packable_layers(model)
    if not layers or not is_faster(dtype):
        yield []
        return
    expected = compute()
    tolerance = rounding(dtype, expected)
    with ExitStack() as packed, ExitStack() as fused:
        for layer in layers:
            packed.enter_context(_packed(layer, dtype))
        # a module may read the weights of its layers itself
        if largest_difference(compute, expected) > tolerance:
            packed.close()
            layers = []
        fusable = list(_before_activations(model, layers))
        for layer, activation in fusable:
            function = _ACTIVATIONS[type(activation)]
            fused.enter_context(patched_forward(layer, partial(layer.forward, function=function)))
            fused.enter_context(patched_forward(activation, lambda states: states))
        if fusable and largest_difference(compute, expected) > tolerance:
            fused.close()
        yield layers


def _before_activations(model: Any, layers: Collection[nn.Module]) -> Iterator[tuple[Any, nn.Module]]:
    """The widening layers that stand before an activation in their module, with it."""
    for module in model.modules():
        first = next((child for child in module.children() if child in layers), None)
        activations = [child for child in module.children() if type(child) in _ACTIVATIONS]
        if first is not None and len(activations) == 1:
            outputs, inputs = first.forward.keywords["weight"].shape
            if outputs > inputs:
                yield first, activations[0]


def packable_layers(model: Any) -> list[nn.Module]:
    """The large float32 linear layers on the CPU whose weights nothing else reads."""
    modules: list[Any] = list(model.modules())
    owners = Counter(id(parameter) for module in modules for parameter in module.parameters(recurse=False))
    output = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    return [
        module
        for module in modules
        if type(module) in (nn.Linear, Conv1D)
        and module is not output  # rows of it are selected
        and type(module.weight) is nn.Parameter  # not a quantised tensor
        and owners[id(module.weight)] == 1
        and module.weight.device.type == "cpu"
        and module.weight.dtype == torch.float32
        and module.weight.numel() >= _SMALLEST
        and not (module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module))
    ]


@contextmanager
def _packed(layer: Any, dtype: torch.dtype) -> Iterator[None]:
    """One packed layer; its own weight is empty meanwhile, so that memory holds the numbers once."""
    transposed = isinstance(layer, Conv1D)
    weight = layer.weight
    plain = (weight.data.t() if transposed else weight.data).contiguous()
    rounded, low = (plain, None) if dtype == torch.float32 else _split(plain)
    packed = _pack(rounded)
    weight.data = plain.new_empty(0)
    del plain, rounded
    layer.forward = partial(_linear, weight=packed, bias=layer.bias)
    return_memory()
    try:
        yield
    finally:
        del layer.forward
        dense = packed.to_dense() if low is None else _joined(packed.to_dense(), low)
        del packed
        weight.data = dense.t().contiguous() if transposed else dense
        return_memory()


def _split(weight: Tensor) -> tuple[Tensor, Tensor]:
    """A weight rounded to bfloat16, and the lower halves of its numbers, which give it back."""
    halves = weight.view(torch.int16)
    low = halves[..., ::2].contiguous()
    return (halves[..., 1::2] - (low >> 15)).view(torch.bfloat16), low


def _joined(rounded: Tensor, low: Tensor) -> Tensor:
    weight = torch.empty(rounded.shape)
    halves = weight.view(torch.int16)
    halves[..., ::2] = low
    halves[..., 1::2] = rounded.view(torch.int16) + (low >> 15)
    return weight


def _pack(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
    return packed


def _linear(
    states: Tensor, weight: Tensor, bias: Tensor | None, function: tuple[str, str] | None = None
) -> Tensor:
    """A packed layer; with an activation, in the number type of its weights, as the next layer needs it."""
    name, variant = function or ("none", "")
    states = states.to(weight.dtype)
    result: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, name, [], variant)
    return result if function else result.float()


@cache
def is_faster(dtype: torch.dtype) -> bool:
    """Whether layers packed in `dtype` are clearly faster here than others, measured in about 0.1 seconds."""
    if not mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # type: ignore[no-untyped-call]
        return False
    with torch.inference_mode():
        states, weight = torch.randn(_ROWS // 2, 768), torch.randn(768, 768)
        try:
            float32, packed = _pack(weight), _pack(weight.to(dtype))
        except RuntimeError as error:  # no instructions for bfloat16
            logger.debug("no layers packed in %s: %r", dtype, error)
            return False
        calls = [lambda: _linear(states, packed, None), lambda: nn.functional.linear(states, weight)]
        if dtype != torch.float32:
            calls.append(lambda: _linear(states, float32, None))
        fast, *others = (min(timeit.repeat(call, number=1, repeat=6)) for call in calls)
    return min(others) > _LEAST_GAIN * fast
