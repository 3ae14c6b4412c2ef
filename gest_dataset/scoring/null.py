"""Twins of a model: its architecture with fresh weights, asked the same. What they show is no stereotype.

A twin has the model's configuration and tokeniser, so its headline moves as the architecture, the words
and the tokens of the sentences let it, and by nothing that was learnt.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from gest_dataset.errors import ModelError
from gest_dataset.scoring.loading import Loaded


def twin(loaded: Loaded, number: int) -> Loaded:
    """The model's `number`-th twin; the same number gives the same weights."""
    model = loaded.model
    with torch.random.fork_rng():
        torch.manual_seed(number)
        try:
            fresh: Any = type(model)(copy.deepcopy(model.config))
        except (TypeError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"{loaded.name} has no twin with fresh weights: a {type(model).__name__} cannot be made from "
                f"its configuration alone ({error}). Score it without --null."
            ) from error
    return replace(loaded, model=fresh.to(model.device, model.dtype).eval(), owned=True)


def headlines(loaded: Loaded, number: int, headline_of: Callable[[int, Loaded], float]) -> list[float]:
    """The headline of each of so many twins, made and measured one after the other."""
    with _once_told():
        return [headline_of(place, twin(loaded, place)) for place in range(1, number + 1)]


@contextmanager
def _once_told() -> Iterator[None]:
    """Without the warnings of samples that have no score: the model's own run has told them."""
    library = logging.getLogger("gest_dataset.scoring.scores")
    before = library.level
    library.setLevel(logging.ERROR)
    try:
        yield
    finally:
        library.setLevel(before)
