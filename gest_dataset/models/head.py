"""The model's own output layer on chosen hidden states, instead of on every position.

Every `XForMaskedLM` and `XForCausalLM` runs a base model and then a head on all hidden states. Here
the base runs once, the states at the queried positions are gathered, and the head runs on these
rows alone: the model is called with its base answering the rows. For a contrast the output matrix
is cut down to the few rows that are wanted, and for a normaliser it runs slice by slice, so that logits
stay in a CPU's caches. All short ways are checked against the full one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.backends import mkldnn
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from gest_dataset.models.placement import is_spread

# Logits that exist at one time, in bytes
_LOGITS_BYTES = 64 * 2**20
# Tokens of the vocabulary in a slice of the output matrix
_SLICE = 4096


@contextmanager
def answering(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Let a module answer with another function for a while."""
    before = vars(module).get("forward")
    module.forward = forward
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before


class Head:
    """The output layer of a language model whose base is `base`.

    `inputs` makes the arguments for a call of the whole model from placeholder token ids.
    """

    def __init__(self, model: Any, base: nn.Module, inputs: Callable[[Tensor], dict[str, Any]]) -> None:
        self.model, self.base, self.inputs = model, base, inputs
        self.vocabulary = int(model.config.get_text_config().vocab_size)
        self.output = None if is_spread(model) else _plain_linear(model.get_output_embeddings())
        # what the base answers with; some heads read more of it than the states
        self.output_class: type[Any] = BaseModelOutputWithPastAndCrossAttentions

    def logits(self, rows: Tensor) -> Tensor:
        """The logits of all tokens for some hidden states [N, H]."""
        placeholder = torch.zeros(1, len(rows), dtype=torch.long, device=rows.device)
        states = self.output_class(last_hidden_state=rows[None])
        with answering(self.base, lambda *args, **kwargs: states):
            logits: Tensor = self.model(**self.inputs(placeholder)).logits
        return logits[0]

    def columns(self, rows: Tensor, ids: Tensor | slice) -> Tensor:
        """The logits of the tokens `ids` only: the head runs with a cut-down output matrix."""
        output = self.output
        if output is None:
            return self.logits(rows)[:, ids]
        weight = output.weight[ids]
        bias = None if output.bias is None else output.bias[ids]
        with answering(output, lambda states: _product(states, weight, bias)):
            return self.logits(rows)

    def values(self, rows: Tensor, row: Tensor, target: Tensor, normalise: bool, cut: bool) -> Tensor:
        """ln P (or the logit) of `target[i]` at the state `row[i]`, a bounded piece of logits at a time.

        The normaliser of a state is computed once, for all targets there. With `cut` the output matrix is
        taken in slices, and their normalisers are added up.
        """
        values = torch.full((len(row),), torch.nan, device=rows.device)
        width = min(_SLICE, self.vocabulary) if cut else self.vocabulary
        step = max(1, _LOGITS_BYTES // (4 * width))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            inside = (row >= start) & (row < start + step)
            total = torch.full((len(some),), -torch.inf, device=rows.device)
            for first, logits in self._slices(some, cut):
                here = inside & (target >= first) & (target < first + logits.shape[1])
                values[here] = logits[row[here] - start, target[here] - first]
                if normalise:
                    total = torch.logaddexp(total, torch.logsumexp(logits, dim=-1))
            if normalise:
                values[inside] -= total[row[inside] - start]
        return values

    def _slices(self, rows: Tensor, cut: bool) -> Iterator[tuple[int, Tensor]]:
        """The logits of slices of the vocabulary, or of all of it, and the first token of each."""
        if not cut or self.output is None:
            yield 0, self.logits(rows).float()
            return
        for first in range(0, self.output.out_features, _SLICE):
            yield first, self.columns(rows, slice(first, first + _SLICE)).float()


def _product(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A linear map; of float32 on a CPU by oneDNN, where it is there.

    It has AVX-512 for the CPUs of all makers: on one of AMD it took half the time of what torch takes else.
    """
    there = mkldnn.is_available()  # type: ignore[no-untyped-call]
    if states.device.type != "cpu" or states.dtype != torch.float32 or not there:
        return nn.functional.linear(states, weight, bias)
    packed = None if bias is None else bias.to_mkldnn()
    return nn.functional.linear(states.to_mkldnn(), weight.to_mkldnn(), packed).to_dense()


def _plain_linear(output: Any) -> nn.Linear | None:
    """The output layer, if its rows can be taken one by one (not packed, quantised or wrapped)."""
    weight = getattr(output, "weight", None)
    if isinstance(output, nn.Linear) and isinstance(weight, Tensor) and weight.is_floating_point():
        return output if weight.shape == (output.out_features, output.in_features) else None
    return None
