"""Collecting answers: each prompt is asked once, cached as it comes, within a budget of money."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

from tqdm.auto import tqdm

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.errors import ScoringError
from gest_dataset.models.base import Model, Sampling
from gest_dataset.probes.prompts import Answer, Prompt
from gest_dataset.runs.progress import ProgressWriter

SAMPLE = 20  # prompts that are asked first to estimate the rest


@dataclass(frozen=True)
class Price:
    """The price of a million tokens, in any currency."""

    tokens_in: float
    tokens_out: float

    def cost(self, answer: Answer) -> float:
        return (answer.tokens_in * self.tokens_in + answer.tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class Estimate:
    """What the missing prompts will take; `money` is None without a price."""

    prompts: int
    tokens_in: float
    tokens_out: float
    seconds: float
    money: float | None


class Collector:
    """Asks the distinct prompts of a run; prompts with the same text and seed share an answer."""

    def __init__(
        self,
        model: Model,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        cache: ResponseCache | None = None,
        price: Price | None = None,
        max_cost: float = math.inf,
    ) -> None:
        self.model, self.sampling, self.cache = model, sampling, cache
        self.price, self.max_cost = price, max_cost
        drawn = {name: value for name, value in asdict(sampling).items() if name != "repeats"}
        self.keys = {prompt: cache_key(prompt.text, prompt.repeat, drawn) for prompt in prompts}
        self.distinct = dict(zip(self.keys.values(), self.keys, strict=True))
        cached = {} if cache is None else cache.get(self.distinct)
        self.answers = {key: _from_json(value) for key, value in cached.items()}
        self.spent = sum(map(self._cost, self.answers.values()))

    def missing(self) -> list[Prompt]:
        """The prompts without an answer."""
        return [prompt for key, prompt in self.distinct.items() if key not in self.answers]

    def estimate(self) -> Estimate:
        """Lookup a few of the missing prompts, and extrapolate to all of them."""
        missing = self.missing()
        sample = missing[:: max(1, len(missing) // SAMPLE)][:SAMPLE]
        start = time.perf_counter()
        self.ask(sample)
        answers = [self.answers[self.keys[prompt]] for prompt in sample]
        if self.price is not None and not any(answer.tokens_in + answer.tokens_out for answer in answers):
            raise ScoringError(
                f"{self.model.name} does not report token counts (usage), so its cost is unknown. The "
                f"answers are cached; run the command without prices to continue."
            )
        factor = len(missing) / max(1, len(sample))
        return Estimate(
            len(missing),
            factor * sum(answer.tokens_in for answer in answers),
            factor * sum(answer.tokens_out for answer in answers),
            factor * (time.perf_counter() - start),
            factor * sum(map(self._cost, answers)) if self.price else None,
        )

    def ask(self, prompts: Sequence[Prompt]) -> None:
        """Lookup for the missing answers among some prompts; stop before they cost more than `max_cost`."""
        wanted = {self.keys[prompt]: prompt for prompt in prompts}
        waiting = [prompt for key, prompt in wanted.items() if key not in self.answers]
        done = len(wanted) - len(waiting)
        progress = ProgressWriter(self.cache, len(wanted), "prompts")
        progress.update(done)
        with tqdm(
            total=len(wanted),
            initial=done,
            desc=self.model.name,
            unit="prompts",
            disable=None,
            leave=False,
        ) as bar:
            while waiting:
                with closing(self.model.generate(self._affordable(waiting), self.sampling)) as generated:
                    for answers in generated:
                        self._add({self.keys[prompt]: answer for prompt, answer in answers})
                        done += len(answers)
                        bar.update(len(answers))
                        progress.update(done)
                left = [prompt for prompt in waiting if self.keys[prompt] not in self.answers]
                if len(left) == len(waiting):
                    raise ScoringError(
                        f"One more answer could exceed --max-cost {self.max_cost:g}; {done:,} of "
                        f"{len(wanted):,} answers are cached. Use a higher --max-cost to resume."
                    )
                waiting = left

    def _affordable(self, prompts: Sequence[Prompt]) -> Iterator[Prompt]:
        """Prompts, as long as the answers in flight fit into the rest of the budget."""
        before = len(self.answers)
        for sent, prompt in enumerate(prompts):
            in_flight = sent - (len(self.answers) - before)
            if self.spent + (in_flight + 1) * self._expected_cost(prompt) > self.max_cost:
                return
            yield prompt

    def _expected_cost(self, prompt: Prompt) -> float:
        """The mean cost so far; the highest possible cost of the first answer."""
        if self.answers:
            return self.spent / len(self.answers)
        return self._cost(Answer("", len(prompt.text.encode()), self.sampling.max_tokens))

    def _cost(self, answer: Answer) -> float:
        return self.price.cost(answer) if self.price else 0.0

    def _add(self, answers: dict[str, Answer]) -> None:
        if self.cache is not None:
            self.cache.put({key: asdict(answer) for key, answer in answers.items()})
        self.answers |= answers
        self.spent += sum(map(self._cost, answers.values()))


def _from_json(value: dict[str, object]) -> Answer:
    return Answer(**{**value, "top": tuple(map(tuple, value["top"]))})  # type: ignore[arg-type, call-overload]
