"""Random baselines: copies of a model with freshly initialised weights, so they have learned nothing.

A baseline has the model's configuration and tokeniser. Its headline varies only with the architecture, the
words and the tokens of the sentences.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch

from gest_dataset.errors import ModelError
from gest_dataset.models.device import is_fixed
from gest_dataset.models.loading import LoadedModel


def random_baseline(loaded: LoadedModel, seed: int) -> LoadedModel:
    """A copy of the model with weights initialised from a seed."""
    model = loaded.model
    if is_fixed(model):
        raise ModelError(
            f"{loaded.name} is quantised or spread over devices, which its random baselines would not be. "
            f"Score it without --null."
        )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            fresh: Any = type(model)(copy.deepcopy(model.config))
        except (TypeError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"A {type(model).__name__} cannot be initialised from its configuration ({error}). "
                f"Score {loaded.name} without --null."
            ) from error
    return replace(loaded, model=fresh.to(model.device, model.dtype).eval(), owned=True, baseline_seed=seed)
