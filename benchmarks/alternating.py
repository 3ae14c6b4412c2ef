"""Contenders in turns, round after round: the ratio of two is the median over rounds, with its spread.

A busy machine makes one run two times as long as the next, so contenders that run one after the other
once say little. What counts on a CPU is the processor's time of the process; the clock stands beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any


def wait(device: str) -> None:
    """Until a GPU has done what it was given."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


class Alternating:
    """The values and the times of contenders, each of them run once a round."""

    def __init__(self, contenders: Mapping[str, Callable[[], Any]], rounds: int, device: str) -> None:
        self.values: dict[str, Any] = {}
        self.clocks: dict[str, list[float]] = {name: [] for name in contenders}
        self.processor: dict[str, list[float]] = {name: [] for name in contenders}
        self.device = device
        for _ in range(rounds):
            for name, run in contenders.items():
                clock, processor = time.perf_counter(), time.process_time()
                self.values[name] = run()
                wait(device)
                self.clocks[name].append(time.perf_counter() - clock)
                self.processor[name].append(time.process_time() - processor)

    def part(self, name: str, spent: Sequence[tuple[float, float]]) -> None:
        """Add what a contender spent in a part of its work, each round: of the clock and the processor."""
        self.clocks[name], self.processor[name] = ([times[i] for times in spent] for i in (0, 1))

    @property
    def times(self) -> dict[str, list[float]]:
        """What counts: a GPU works while the processor waits."""
        return self.clocks if self.device == "cuda" else self.processor

    def seconds(self, name: str) -> float:
        return median(self.times[name])

    def ratio(self, over: str, under: str, per: float = 1.0) -> dict[str, float]:
        """How many times as long one takes as another, of which `per` times as much is done."""
        told = {}
        for kind, times in (("", self.times), ("clock_", self.clocks)):
            ratios = [a / b * per for a, b in zip(times[over], times[under], strict=True)]
            told |= {f"{kind}median": median(ratios), f"{kind}low": min(ratios), f"{kind}high": max(ratios)}
        told["machine_share"] = sum(self.processor[under]) / sum(self.clocks[under])
        return told
