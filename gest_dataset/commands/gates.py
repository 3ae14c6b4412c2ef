"""Limits that make `gest score` a gate: what is above one, what is not known to be below one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gest_dataset.errors import ConfigError

if TYPE_CHECKING:
    from gest_dataset.measures.grid import Estimate
    from gest_dataset.measures.measure import Headline
    from gest_dataset.models.score import Entry, Outcome

ABOVE, UNLESS_BELOW = "--fail-above", "--fail-unless-below"


def limits(option: str, asked: Sequence[str] | None) -> dict[str, float]:
    """The limits of an option, NAME=VALUE, by the names in a result."""
    from gest_dataset.measures import NUMBERS

    named = {}
    for text in asked or []:
        name, _, value = text.partition("=")
        if name not in NUMBERS:
            raise ConfigError(
                f"{option} {text!r}: there is no number {name!r}. Numbers are {', '.join(NUMBERS)}."
            )
        try:
            limit = float(value)
        except ValueError as error:
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a number.") from error
        if not math.isfinite(limit):  # nothing would ever be beyond it
            raise ConfigError(f"{option} {text!r} is not NAME=VALUE with a finite number.")
        named[NUMBERS[name]] = limit
    return named


def failures(above: Mapping[str, float], below: Mapping[str, float], outcome: Outcome) -> list[str]:
    """Messages for what is above its limit, and for what is not known to be where it has to be."""
    messages = []
    for option, asked in ((ABOVE, above), (UNLESS_BELOW, below)):
        for name, limit in asked.items():
            estimates = list(_estimates(name, outcome))
            if not estimates and outcome.entries:
                messages.append(f"{option} {name}: no config that was scored has this number.")
            for entry, (value, low, high) in estimates:
                where = f"{name} of {entry.scores.metadata['config']}"
                if math.isnan(low) or math.isnan(high):
                    messages.append(f"{where} has no interval, so it is not known to be below {limit:g}.")
                elif option == ABOVE and low > limit:
                    messages.append(f"{where} is above {limit:g}: {value:.3f}, lower bound {low:.3f}.")
                elif option == UNLESS_BELOW and high >= limit:
                    messages.append(
                        f"{where} is not known to be below {limit:g}: {value:.3f}, upper bound {high:.3f}."
                    )
    return messages


def doubts(above: Mapping[str, float], outcome: Outcome) -> list[str]:
    """What has passed `--fail-above` and may be above its limit all the same: the sample is too small."""
    notes = []
    for name, limit in above.items():
        for entry, estimate in _estimates(name, outcome):
            if estimate.low <= limit < estimate.high:
                least = _least_failing(estimate, limit, _headline(entry))
                where = f"{name} of {entry.scores.metadata['config']}"
                notes.append(
                    f"{where} is not shown to be above {limit:g}, and may be: its upper bound is "
                    f"{estimate.high:.3f}. With a sample like this one {ABOVE} notices values from "
                    f"{least:.3f} on (with a power of 80 %); {UNLESS_BELOW} asks for proof."
                )
    return notes


def _estimates(name: str, outcome: Outcome) -> Iterator[tuple[Entry, Estimate]]:
    from gest_dataset.measures.result import estimates

    return ((entry, estimate) for entry in outcome.entries for estimate in estimates(entry.result, name))


def _headline(entry: Entry) -> Headline:
    from gest_dataset.measures import MEASURES

    return MEASURES[entry.scores.metadata["measure"]].headline(entry.result)


def _least_failing(estimate: Estimate, limit: float, head: Headline) -> float:
    """The least true value that such a sample tells from the limit in four of five cases."""
    from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable

    if head.ratio and min(estimate.low, limit) > 0:
        return limit * math.exp(
            smallest_detectable(error_from_interval(math.log(estimate.low), math.log(estimate.high)))
        )
    return limit + smallest_detectable(error_from_interval(estimate.low, estimate.high))
