"""The output layer of a model, run on chosen hidden states instead of on every position.

Every `XForMaskedLM` and `XForCausalLM` runs a base model and then a head on all hidden states. Here the base
runs once, the states at the queried positions are gathered, and the model is called again with its base
replaced by a function that returns them. A contrast needs only a few rows of the output matrix; a
normaliser is computed slice by slice so that the logits stay in a CPU's caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.backends import mkldnn
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from gest_dataset.models.device import is_spread

_LOGITS_BYTES = 64 * 2**20  # of the logits that exist at one time
_SLICE = 4096  # tokens of the vocabulary in a slice of the output matrix


@contextmanager
def patched_forward(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Replace a module's forward function temporarily."""
    original = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if original is None:
            del module.forward
        else:
            module.forward = original


class Head:
    """The output layer of a language model whose base is `base`.

    `make_inputs` turns placeholder token ids into the arguments of a call of the whole model.
    """

    def __init__(self, model: Any, base: nn.Module, make_inputs: Callable[[Tensor], dict[str, Any]]) -> None:
        self.model, self.base, self.make_inputs = model, base, make_inputs
        self.vocabulary = int(model.config.get_text_config().vocab_size)
        output = model.get_output_embeddings()
        # rows of a layer that is packed, quantised, wrapped or elsewhere cannot be selected
        is_plain = type(output) is nn.Linear and output.weight.is_floating_point() and not is_spread(model)
        self.output: nn.Linear | None = output if is_plain else None
        # some heads read more than the hidden states of the base's output
        self.output_class: type[Any] = BaseModelOutputWithPastAndCrossAttentions

    def logits(self, states: Tensor) -> Tensor:
        """The logits of all tokens for hidden states of shape [N, H]."""
        placeholder = torch.zeros(1, len(states), dtype=torch.long, device=states.device)
        output = self.output_class(last_hidden_state=states[None])
        with patched_forward(self.base, lambda *args, **kwargs: output):
            logits: Tensor = self.model(**self.make_inputs(placeholder)).logits
        return logits[0]

    def columns(self, states: Tensor, ids: Tensor | slice) -> Tensor:
        """The logits of some tokens, with only their rows of the output matrix."""
        output = self.output
        assert output is not None
        weight = output.weight[ids]
        bias = None if output.bias is None else output.bias[ids]
        with patched_forward(output, lambda hidden: _linear(hidden, weight, bias)):
            return self.logits(states)

    def values(self, states: Tensor, row: Tensor, target: Tensor, normalise: bool, cut: bool) -> Tensor:
        """ln P (or the logit) of `target[i]` at the state number `row[i]`.

        The normaliser of a state is computed once for all of its targets; with `cut`, from slices of the
        output matrix.
        """
        values = torch.full((len(row),), torch.nan, device=states.device)
        width = min(_SLICE, self.vocabulary) if cut else self.vocabulary
        step = max(1, _LOGITS_BYTES // (4 * width))
        for start in range(0, len(states), step):
            chunk = states[start : start + step]
            in_chunk = (row >= start) & (row < start + step)
            total = torch.full((len(chunk),), -torch.inf, device=states.device)
            for first, logits in self._slices(chunk, cut):
                in_slice = in_chunk & (target >= first) & (target < first + logits.shape[1])
                values[in_slice] = logits[row[in_slice] - start, target[in_slice] - first]
                if normalise:
                    total = torch.logaddexp(total, torch.logsumexp(logits, dim=-1))
            if normalise:
                values[in_chunk] -= total[row[in_chunk] - start]
        return values

    def _slices(self, states: Tensor, cut: bool) -> Iterator[tuple[int, Tensor]]:
        """The logits of slices of the vocabulary (or of all of it) with the first token of each."""
        if not cut or self.output is None:
            yield 0, self.logits(states).float()
            return
        for first in range(0, self.output.out_features, _SLICE):
            yield first, self.columns(states, slice(first, first + _SLICE)).float()


def _linear(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A linear layer; float32 on a CPU goes through oneDNN, which took half the time on an AMD EPYC."""
    has_onednn = mkldnn.is_available()  # type: ignore[no-untyped-call]
    if states.device.type != "cpu" or states.dtype != torch.float32 or not has_onednn:
        return nn.functional.linear(states, weight, bias)
    packed_bias = None if bias is None else bias.to_mkldnn()
    return nn.functional.linear(states.to_mkldnn(), weight.to_mkldnn(), packed_bias).to_dense()
