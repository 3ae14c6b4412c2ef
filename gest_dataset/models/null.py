"""Twins of a model: its architecture with fresh weights, asked the same. What they show is no stereotype.

A twin has the model's configuration and tokeniser, so its headline moves as the architecture, the words
and the tokens of the sentences let it, and by nothing that was learnt.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch

from gest_dataset.errors import ModelError
from gest_dataset.models.loading import Loaded
from gest_dataset.models.placement import is_fixed


def twin(loaded: Loaded, number: int) -> Loaded:
    """The model's `number`-th twin; the same number gives the same weights."""
    model = loaded.model
    if is_fixed(model):
        raise ModelError(
            f"{loaded.name} is spread over devices or quantised, and its twins would not be: score it "
            f"without --null."
        )
    with torch.random.fork_rng():
        torch.manual_seed(number)
        try:
            fresh: Any = type(model)(copy.deepcopy(model.config))
        except (TypeError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"{loaded.name} has no twin with fresh weights: a {type(model).__name__} cannot be made from "
                f"its configuration alone ({error}). Score it without --null."
            ) from error
    return replace(loaded, model=fresh.to(model.device, model.dtype).eval(), owned=True, twin=number)
