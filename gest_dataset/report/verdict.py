"""What a run says, in words with numbers: one verdict for each run, on the headline of its measure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gest_dataset.measures.formatting import format_distinct, format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Headline
from gest_dataset.report.measured import Measured
from gest_dataset.statistics.verdict import Verdict as Said
from gest_dataset.statistics.verdict import error_from_interval, smallest_detectable

UNKNOWN = "unknown"  # where there is no interval
# Where the interval lies, beside the zone of negligible effects
_WHERE: dict[Said, str] = {
    "shown": "all of it lies above the zone of negligible effects",
    "negligible": "all of it lies in the zone of negligible effects",
    "not shown": "part of it lies in the zone of negligible effects",
    "reversed": "all of it lies below the zone of negligible effects",
}
_LARGEST = {"f_s": 1.0, "ss": 100.0}  # of headlines that end somewhere


@dataclass(frozen=True)
class Verdict:
    """The number that a run is judged by, what it means in a few words, and the sentences about it.

    `said` is the result's own verdict, or `UNKNOWN`; `interval` has digits enough to see why.
    """

    run: Measured
    headline: Headline
    estimate: Estimate
    zone: tuple[float, float]
    said: str
    words: str
    interval: str
    sentences: list[str]

    def places(self) -> dict[str, float]:
        """Value, bounds, zone and null on an axis from 0 to 100 that is symmetric about the null."""
        points = {name: getattr(self.estimate, name) for name in ("value", "low", "high")}
        points |= {"null": self.headline.null, "zone_low": self.zone[0], "zone_high": self.zone[1]}
        if self.headline.ratio:
            points = {name: math.log(max(point, 1e-300)) for name, point in points.items()}
        null = points["null"]
        reach = 1.15 * max([abs(point - null) for point in points.values() if math.isfinite(point)] + [1e-9])
        return {
            name: round(50 + 50 * max(-1.0, min(1.0, (point - null) / reach)), 2)
            for name, point in points.items()
            if not math.isnan(point)
        }


def smallest(head: Headline, estimate: Estimate, zone_high: float) -> float:
    """The smallest value above the null that a sample like this one shows with a power of 80 %."""
    if not head.ratio:
        error = error_from_interval(estimate.low, estimate.high)
        return head.null + smallest_detectable(error, zone_high - head.null)
    if estimate.low <= 0 or math.isinf(estimate.high):
        return math.inf
    error = error_from_interval(math.log(estimate.low), math.log(estimate.high))
    return head.null * math.exp(min(smallest_detectable(error, math.log(zone_high / head.null)), 700.0))


def power_words(head: Headline, estimate: Estimate, zone_high: float) -> str:
    """What a sample in which nothing was shown could have shown."""
    least = smallest(head, estimate, zone_high)
    if least > _LARGEST.get(head.name, math.inf) or math.isinf(least):
        return "A sample like this one is too small to show an effect of any size in 80 of 100 cases."
    return (
        f"A sample like this one shows {head.symbol} of {format_number(least)} or more in 80 of 100 "
        f"cases; it may "
        f"miss a smaller effect, so this is no proof that there is none."
    )


def verdict(run: Measured) -> Verdict:
    """The verdict on a run."""
    head = run.measure.headline(run.result)
    estimate = Estimate.of(run.result, head.name)
    zone = run.result["zone_low"], run.result["zone_high"]
    said: Said = run.result["verdict"]
    bounds, marks = format_distinct(estimate[1:], (head.null, *zone))
    interval = " to ".join(bounds)
    known = not any(map(math.isnan, estimate))
    if known:
        words = head.verdict_labels[said]
        sentences = [
            f"{head.symbol} = {format_number(estimate.value)}, 95 % interval {interval}: "
            f"{_WHERE[said]}, {marks[1]} "
            f"to {marks[2]}.",
            *run.measure.describe(run.result, run.facts),
        ]
        excludes = not estimate.low <= head.null <= estimate.high
        if said in ("negligible", "not shown") and excludes:
            sentences.append(
                f"The interval excludes {marks[0]}, but so small a difference between groups of different "
                f"sentences comes from anything that depends on their words."
            )
        if said == "not shown" and estimate.low < estimate.high:  # without a width nothing is known of power
            sentences.append(power_words(head, estimate, zone[1]))
    elif math.isnan(estimate.value):
        words, sentences = run.measure.describe_undefined(run.result)
    else:
        words = TOO_FEW_SAMPLES
        sentences = ["There are too few samples for an interval, so nothing follows from this number."]
    if run.facts.get("limit"):
        sentences.append(f"Only the first {format_number(run.facts['limit'])} samples were asked.")
    return Verdict(run, head, estimate, zone, said if known else UNKNOWN, words, interval, sentences)


def over_runs(verdicts: Sequence[Verdict]) -> str:
    """How many runs were tried, and what they say: one of many finds something now and then."""
    counted = Counter(told.said for told in verdicts)
    told = ", ".join(f"{name} in {counted[name]}" for name in (*_WHERE, UNKNOWN) if counted[name])
    return (
        f"{len(verdicts)} runs were tried: {told}. Each interval holds at 95 % by itself, so one in twenty "
        f"misses its truth by chance: a single find among many is weak."
    )
