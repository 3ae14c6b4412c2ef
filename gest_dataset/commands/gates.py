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
        name, _, value = text.partition("=")
        if name not in NUMBERS:
            raise ConfigError(f"{option} {text!r}: unknown number {name!r}. Use one of {', '.join(NUMBERS)}.")
        try:
            limits.append(Limit(option, NUMBERS[name], float(value)))
        except ValueError as error:
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a number.") from error
        if not math.isfinite(limits[-1].value):
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a finite number.")
    return limits


def check_limits(limits: Iterable[Limit], outcome: Outcome) -> list[str]:
    """Messages on numbers that fail their limit."""
    from gest_dataset.measures.result import estimates  # imports datasets

    failures = []
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
    return failures


def inconclusive(limits: Iterable[Limit], outcome: Outcome) -> list[str]:
    """Notes on numbers that pass `--fail-above` although they may be above the limit."""
    from gest_dataset.measures import MEASURES  # imports datasets
    from gest_dataset.measures.result import estimates
    from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable

    notes = []
    above = [(name, limit) for option, name, limit in limits if option == ABOVE]
    for run, name, limit in ((run, *one) for run in outcome.runs for one in above):
        ratio = MEASURES[run.scores.metadata["measure"]].headline(run.result).ratio
        for _, low, high in estimates(run.result, name):
            if not low <= limit < high:
                continue
            if ratio and min(low, limit) > 0:
                error = error_from_interval(math.log(low), math.log(high))
                least = limit * math.exp(smallest_detectable(error))
            else:
                least = limit + smallest_detectable(error_from_interval(low, high))
            notes.append(
                f"{name} of {run.scores.metadata['config']} is inconclusive: not shown to be above "
                f"{limit:g}, but its upper bound is {high:.3f}. These samples would detect values from "
                f"{least:.3f} (power 80 %)."
            )
    return notes
