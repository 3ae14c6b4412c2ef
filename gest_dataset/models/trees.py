"""Rows of texts that share beginnings, as a causal model takes them: positions, and who attends to whom."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

# How transformers calls the attention that adds any mask it is given; others have a fixed idea of a mask
_MASKABLE = ("sdpa", "eager")


def tree_tensors(parents: Sequence[Sequence[int]], length: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """The position of each token in its own text, and the mask that is added to the attention's scores.

    A token attends to itself and to the tokens before it in its text, to its parent, to the parent of
    that one, and so on; their number is its position. What pads a row attends to itself, and no one to it.
    """
    parent = torch.full((len(parents), length), -1)
    for row, given in enumerate(parents):
        parent[row, : len(given)] = torch.tensor(given)
    seen = torch.eye(length, dtype=torch.bool).repeat(len(parents), 1, 1)
    before = parent
    while (above := before >= 0).any():
        rows, tokens = above.nonzero(as_tuple=True)
        seen[rows, tokens, before[rows, tokens]] = True
        before = torch.where(above, parent.gather(1, before.clamp(min=0)), -1)
    closed = torch.finfo(dtype).min
    mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, closed)
    return {"attention_mask": mask[:, None], "position_ids": seen.sum(dim=-1) - 1}


def in_line(length: int) -> tuple[int, ...]:
    """The parents in a plain text."""
    return tuple(range(-1, length - 1))


def refusal(model: Any, base: nn.Module, width: int) -> str | None:
    """Why a model cannot take rows so wide, if it is known without trying.

    Its tokens must look at all that is before them, and know their place from `position_ids` alone. What kind
    of layers it has, transformers tells by the cache that it would make for it.
    """
    if "position_ids" not in signature(base.forward).parameters:
        return "it takes no positions"
    attention = getattr(model.config, "_attn_implementation", None)
    if attention not in _MASKABLE:
        return f"its attention ({attention}) takes no such mask"
    for layer in DynamicCache(config=model.config).layers:
        if type(layer) is DynamicSlidingWindowLayer and layer.sliding_window < width:
            return f"its attention reaches {layer.sliding_window} tokens back"
        if type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer):
            return f"its layers keep more than keys and values ({type(layer).__name__})"
    return None
