"""The model's own output layer on chosen hidden states, instead of on every position.

Every `XForMaskedLM` and `XForCausalLM` runs a base model and then a head on all hidden states. Here
the base runs once, the states at the queried positions are gathered, and the head runs on these
rows alone: the model is called with its base answering the rows. For a contrast the output matrix
is cut down to the few rows that are wanted. Both short ways are checked against the full one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

from gest_dataset.scoring.placement import is_spread

# Rows of the vocabulary's width that exist at one time, in bytes
_LOGITS_BYTES = 64 * 2**20


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

    def columns(self, rows: Tensor, ids: Tensor) -> Tensor:
        """The logits of the tokens `ids` only: the head runs with a cut-down output matrix."""
        output = self.output
        if output is None:
            return self.logits(rows)[:, ids]
        weight = output.weight[ids]
        bias = None if output.bias is None else output.bias[ids]
        with answering(output, lambda states: nn.functional.linear(states, weight, bias)):
            return self.logits(rows)

    def values(self, rows: Tensor, row: Tensor, target: Tensor, normalise: bool) -> Tensor:
        """ln P (or the logit) of `target[i]` at the state `row[i]`, a bounded piece of logits at a time."""
        values = torch.empty(len(row), dtype=torch.float32, device=rows.device)
        step = max(1, _LOGITS_BYTES // (4 * self.vocabulary))
        for start in range(0, len(rows), step):
            logits = self.logits(rows[start : start + step]).float()
            inside = (row >= start) & (row < start + step)
            here = row[inside] - start
            values[inside] = logits[here, target[inside]]
            if normalise:
                values[inside] -= torch.logsumexp(logits, dim=-1)[here]
        return values


def _plain_linear(output: Any) -> nn.Linear | None:
    """The output layer, if its rows can be taken one by one (not packed, quantised or wrapped)."""
    weight = getattr(output, "weight", None)
    if isinstance(output, nn.Linear) and isinstance(weight, Tensor) and weight.is_floating_point():
        return output if weight.shape == (output.out_features, output.in_features) else None
    return None
