"""What a run of prompts will take, from a small sample of its answers: tokens, time and money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gest_dataset.probes.prompt import Answer, Prompt

SAMPLE = 20


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in and out, in any currency."""

    tokens_in: float
    tokens_out: float

    def of(self, answer: Answer) -> float:
        """What an answer has cost."""
        return (answer.tokens_in * self.tokens_in + answer.tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class Estimate:
    """Of all prompts that are left: how many, their tokens, the seconds, the money where there is a price."""

    prompts: int
    tokens_in: float
    tokens_out: float
    seconds: float
    money: float | None


def sample_of(prompts: Sequence[Prompt], number: int = SAMPLE) -> list[Prompt]:
    """So many prompts, evenly over all of them."""
    step = max(1, len(prompts) // number)
    return list(prompts[::step][:number])


def estimate(prompts: int, sample: Sequence[Answer], seconds: float, price: Price | None) -> Estimate:
    """All prompts cost what those of the sample do on average; they took `seconds` together."""
    share = prompts / max(1, len(sample))
    return Estimate(
        prompts,
        share * sum(answer.tokens_in for answer in sample),
        share * sum(answer.tokens_out for answer in sample),
        share * seconds,
        share * sum(price.of(answer) for answer in sample) if price else None,
    )
