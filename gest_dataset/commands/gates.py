"""Limits that turn `gest score` into a gate for CI: `--fail-above` and `--fail-unless-below`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.models.score import Outcome

ABOVE, UNLESS_BELOW = "--fail-above", "--fail-unless-below"


class Limit(NamedTuple):
    """A limit of an option, for a number by its name in a result."""

    option: str
    name: str
    value: float


def parse_limits(option: str, texts: Sequence[str] | None) -> list[Limit]:
    """The limits of an option, NAME=VALUE."""
    from gest_dataset.measures import NUMBERS  # imports datasets

    limits = []
    for text in texts or []:
        name, _, number = text.partition("=")
        if name not in NUMBERS:
            raise ConfigError(f"{option} {text!r}: unknown number {name!r}. Use one of {', '.join(NUMBERS)}.")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a finite number.")
        limits.append(Limit(option, NUMBERS[name], value))
    return limits


def check_limits(limits: Iterable[Limit], outcome: Outcome) -> tuple[list[str], list[str]]:
    """Messages on numbers that fail their limit, and notes on those that pass but may be above it."""
    from gest_dataset.measures import MEASURES  # imports datasets
    from gest_dataset.measures.result import estimates, within_placebo

    failures, notes = [], []
    for option, name, limit in limits:
        found = [(run, estimate) for run in outcome.runs for estimate in estimates(run.result, name)]
        if not found and outcome.runs:
            failures.append(f"{option} {name}: no scored config has this number.")
        for run, (value, low, high) in found:
            label = f"{name} of {run.scores.metadata['config']}"
            numbers = f"{value:.3f} ({low:.3f} to {high:.3f})"
            if math.isnan(low) or math.isnan(high):
                failures.append(f"{label} has no interval, so it is not shown to be below {limit:g}.")
            elif option == UNLESS_BELOW and high >= limit:
                failures.append(f"{label} is not shown to be below {limit:g}: {numbers}.")
            elif option == ABOVE and low > limit:
                failures.append(f"{label} is above {limit:g}: {numbers}.")
                if name == "g_s" and within_placebo(run.result, value):
                    failures[-1] += " Pairs of words that differ in no gender show as much."
            elif option == ABOVE and high > limit:
                ratio = MEASURES[run.scores.metadata["measure"]].headline(run.result).ratio
                notes.append(
                    f"{label} is inconclusive: not shown to be above {limit:g}, but its upper bound is "
                    f"{high:.3f}. These samples would detect values from "
                    f"{_detectable(low, high, limit, ratio):.3f} (power 80 %)."
                )
    return failures, notes


def _detectable(low: float, high: float, limit: float, ratio: bool) -> float:
    """The smallest value that samples with this interval would show to be above the limit."""
    from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable

    if ratio and min(low, limit) > 0:
        error = error_from_interval(math.log(low), math.log(high))
        return limit * math.exp(smallest_detectable(error))
    return limit + smallest_detectable(error_from_interval(low, high))
