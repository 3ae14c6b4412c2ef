"""A first look at the models of a suite: their kinds and sizes, from their settings alone.

It needs the library of the models, which takes as much memory as all else, so it is done in a process of its
own that ends: the one that watches over a sweep stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from gest_dataset.errors import GestError
from gest_dataset.sweep.apart import apart
from gest_dataset.sweep.suite import Subject

_AT_ONCE = 8  # models whose settings are fetched at one time
_BATCH = 64  # models after which progress is told


@dataclass(frozen=True)
class Look:
    """What a model's settings say: its kind, about how many parameters it has; or why they cannot be read."""

    kind: str
    parameters: int
    error: str = ""


SERVED = Look("causal", 0)  # of a model behind a server nothing else is known


def look_at(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Look]]:
    """The look of each model, as soon as it is there."""
    served = [subject for subject in subjects if subject.server is not None]
    yield from ((subject, SERVED) for subject in served)
    here = [subject for subject in subjects if subject.server is None]
    if not here:
        return
    with apart() as pool:
        for start in range(0, len(here), _BATCH):
            part = here[start : start + _BATCH]
            yield from zip(part, pool.submit(_looks, part).result(), strict=True)


def _looks(subjects: Sequence[Subject]) -> list[Look]:
    # imported by one thread: several at once would meet half-made modules
    from gest_dataset.models import loading

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(_look, subjects))


def _look(subject: Subject) -> Look:
    from gest_dataset.models.loading import name_and_kind
    from gest_dataset.models.names import gguf_path
    from gest_dataset.models.pretrained import load_config

    trusted = subject.asking.trust_remote_code
    try:
        _, kind = name_and_kind(subject.model, subject.revision, trusted)
        file = gguf_path(subject.model)
        if file is not None:
            return Look(kind, file.stat().st_size)
        config = load_config(subject.model, trusted, revision=subject.revision)
        return Look(kind, rough_size(config.to_dict()))
    except GestError as error:
        return Look("", 0, str(error))


def rough_size(config: dict[str, Any]) -> int:
    """About how many parameters the settings of a transformer speak of: L (4 d² + 3 d d_inner E) + V d.

    Good enough to put models in an order: names of settings differ, and so do blocks.
    """
    told = {**config, **(config.get("text_config") or {})}

    def number(*names: str, default: float = 0) -> float:
        found = (told[name] for name in names if isinstance(told.get(name), (int, float)))
        return float(next(found, default))

    width = number("hidden_size", "n_embd", "d_model", "dim")
    layers = number("num_hidden_layers", "n_layer", "num_layers", "n_layers")
    layers += number("num_decoder_layers", "decoder_layers") if told.get("is_encoder_decoder") else 0
    inner = number("intermediate_size", "n_inner", "d_ff", "ffn_dim", "hidden_dim", default=4 * width)
    experts = number("num_local_experts", "num_experts", "n_routed_experts", default=1)
    block = 4 * width**2 + 3 * width * inner * max(experts, 1)
    return int(layers * block + number("vocab_size") * width)
