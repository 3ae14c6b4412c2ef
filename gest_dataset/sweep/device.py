"""What a device does in a second: a measurement of some seconds, of blocks like those of transformers.

A block of width d on T tokens takes 2 · 12 d² T operations, and its attention 4 d T · (length) more. How many
of them a device does in a second depends on the width: narrow blocks leave it idle.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_WIDTHS = (64, 256, 768, 2048, 4096)
_LENGTH = 24  # tokens of a sentence
_SECONDS = 1.0  # for a width, at least; and no further width after so many
_ENOUGH = 40.0


@dataclass(frozen=True)
class Speed:
    """Operations in a second by the width of a block, on one device in one number type.

    `statistic` are the seconds that the intervals of a thousand samples take, on the processor.
    """

    device: str
    dtype: str
    widths: tuple[int, ...]
    operations: tuple[float, ...]
    statistic: float

    def at(self, width: float) -> float:
        """Operations in a second at a width; between measured ones on a straight line in logarithms."""
        logs = np.interp(math.log(max(width, 1.0)), np.log(self.widths), np.log(self.operations))
        return float(np.exp(logs))


def measure(device: str, dtype: str) -> Speed:
    """Measure this machine's device, for less than a minute."""
    from gest_dataset.models.device import BATCH_TOKENS, pick_device, pick_dtype

    place = pick_device(device)
    number_type = pick_dtype(dtype, place)
    budget = BATCH_TOKENS[place.type]
    begun = time.perf_counter()
    widths, operations = [], []
    for width in _WIDTHS:
        seconds, done = _block(width, budget, place, number_type)
        widths.append(width)
        operations.append(done / seconds)
        # the next width takes up to sixteen times as long
        if time.perf_counter() - begun + 16 * seconds > _ENOUGH:
            break
    name = str(number_type).removeprefix("torch.")
    return Speed(place.type, name, tuple(widths), tuple(operations), _statistic())


def _block(width: int, budget: int, place: Any, dtype: Any) -> tuple[float, float]:
    """The median seconds of a block, and the operations that it takes."""
    import torch
    from torch.nn import functional

    def dense(many: int, few: int) -> torch.nn.Linear:
        return torch.nn.Linear(many, few, device=place, dtype=dtype)

    heads = max(1, width // 64)
    into, out, up, down = (
        dense(width, 3 * width),
        dense(width, width),
        dense(width, 4 * width),
        dense(4 * width, width),
    )

    def forward(texts: torch.Tensor) -> torch.Tensor:
        parts = into(functional.layer_norm(texts, (width,))).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
        seen = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        texts = texts + out(seen)
        inner: torch.Tensor = down(functional.gelu(up(functional.layer_norm(texts, (width,)))))
        return texts + inner

    number = max(1, budget // _LENGTH)
    texts = torch.randn(number, _LENGTH, width, device=place, dtype=dtype)
    seconds: list[float] = []
    with torch.inference_mode():
        forward(texts)
        until = time.perf_counter() + _SECONDS
        while len(seconds) < 3 or time.perf_counter() < until:
            start = time.perf_counter()
            forward(texts)[0, 0, 0].item()  # waits for the device
            seconds.append(time.perf_counter() - start)
    tokens = number * _LENGTH
    return float(np.median(seconds)), operations_of(tokens, 12 * width**2, width, 1, _LENGTH)


def operations_of(tokens: float, parameters: float, width: float, layers: float, length: float) -> float:
    """Operations of one pass over some tokens: 2 for each parameter, and 4 d for each token attended to."""
    return tokens * (2 * parameters + 4 * width * layers * length)


def _statistic() -> float:
    """Seconds for the intervals of a thousand samples."""
    from gest_dataset.statistics import stereotype_rate

    number = 1600
    random = np.random.default_rng(0)
    references: Sequence[int] = (np.arange(number) % 16 + 1).tolist()
    start = time.perf_counter()
    stereotype_rate(random.normal(size=number).tolist(), references)
    return (time.perf_counter() - start) / number * 1000
