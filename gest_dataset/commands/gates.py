"""Limits that turn `gest score` into a gate for CI: `--fail-above` and `--fail-unless-below`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.measures.grid import Estimate
    from gest_dataset.models.score import Outcome
    from gest_dataset.models.scores import ScoredRun

ABOVE, UNLESS_BELOW = "--fail-above", "--fail-unless-below"


def parse_limits(option: str, texts: Sequence[str] | None) -> dict[str, float]:
    """The limits of an option, NAME=VALUE, by their names in a result."""
    from gest_dataset.measures import NUMBERS  # imports datasets

    limits = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        if name not in NUMBERS:
            raise ConfigError(f"{option} {text!r}: unknown number {name!r}. Use one of {', '.join(NUMBERS)}.")
        try:
            limits[NUMBERS[name]] = float(value)
        except ValueError as error:
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a number.") from error
        if not math.isfinite(limits[NUMBERS[name]]):
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a finite number.")
    return limits


def gate_failures(above: Mapping[str, float], below: Mapping[str, float], outcome: Outcome) -> list[str]:
    """Messages for numbers above their limit, and for numbers that are not shown to be below it."""
    messages = []
    for option, limits in ((ABOVE, above), (UNLESS_BELOW, below)):
        for name, limit in limits.items():
            estimates = list(_estimates(name, outcome))
            if not estimates and outcome.runs:
                messages.append(f"{option} {name}: no scored config has this number.")
            for run, (value, low, high) in estimates:
                label = f"{name} of {run.scores.metadata['config']}"
                if math.isnan(low) or math.isnan(high):
                    messages.append(f"{label} has no interval, so it is not shown to be below {limit:g}.")
                elif option == ABOVE and low > limit:
                    messages.append(f"{label} is above {limit:g}: {value:.3f}, lower bound {low:.3f}.")
                elif option == UNLESS_BELOW and high >= limit:
                    messages.append(
                        f"{label} is not shown to be below {limit:g}: {value:.3f}, upper bound {high:.3f}."
                    )
    return messages


def gate_doubts(above: Mapping[str, float], outcome: Outcome) -> list[str]:
    """Notes on numbers that pass `--fail-above` although they may be above the limit."""
    from gest_dataset.measures import MEASURES  # imports datasets
    from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable

    notes = []
    for name, limit in above.items():
        for run, estimate in _estimates(name, outcome):
            if not estimate.low <= limit < estimate.high:
                continue
            headline = MEASURES[run.scores.metadata["measure"]].headline(run.result)
            # the smallest true value that such a sample tells from the limit in four of five cases
            if headline.ratio and min(estimate.low, limit) > 0:
                error = error_from_interval(math.log(estimate.low), math.log(estimate.high))
                detectable = limit * math.exp(smallest_detectable(error))
            else:
                detectable = limit + smallest_detectable(error_from_interval(estimate.low, estimate.high))
            notes.append(
                f"{name} of {run.scores.metadata['config']} is not shown to be above {limit:g}, but it "
                f"may be: its upper bound is {estimate.high:.3f}. With this sample size {ABOVE} detects "
                f"values from {detectable:.3f} (power 80 %); {UNLESS_BELOW} is stricter."
            )
    return notes


def _estimates(name: str, outcome: Outcome) -> Iterator[tuple[ScoredRun, Estimate]]:
    from gest_dataset.measures.result import estimates  # imports datasets

    return ((run, estimate) for run in outcome.runs for estimate in estimates(run.result, name))
