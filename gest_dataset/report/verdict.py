"""The verdict on each run in words: its headline number, interval, zone of negligible effects, sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gest_dataset.measures.formatting import format_distinct, format_number
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import TOO_FEW_SAMPLES, Headline
from gest_dataset.report.labels import LabelledRun
from gest_dataset.statistics.verdict import Verdict, error_from_interval, smallest_detectable

UNKNOWN = "unknown"  # the verdict without an interval
# Where the interval lies
_POSITION: dict[Verdict, str] = {
    "shown": "all of it lies above the zone of negligible effects",
    "negligible": "all of it lies in the zone of negligible effects",
    "not shown": "part of it lies in the zone of negligible effects",
    "reversed": "all of it lies below the zone of negligible effects",
}
_LARGEST = {"f_s": 1.0, "ss": 100.0}  # headlines that have a maximum


@dataclass(frozen=True)
class RunVerdict:
    """The headline of a run, what it means in a few words, and sentences about it.

    `verdict` is the result's, or `UNKNOWN`; `interval` has enough digits to show why.
    """

    run: LabelledRun
    headline: Headline
    estimate: Estimate
    zone: tuple[float, float]
    verdict: str
    summary: str
    interval: str
    sentences: list[str]

    def positions(self) -> dict[str, float]:
        """Value, bounds, zone and null on an axis from 0 to 100 that is symmetric about the null."""
        points = self.estimate._asdict()
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


def smallest_effect(head: Headline, estimate: Estimate, zone_high: float) -> float:
    """The smallest value above the null that a sample like this one shows with a power of 80 %."""
    if not head.ratio:
        error = error_from_interval(estimate.low, estimate.high)
        return head.null + smallest_detectable(error, zone_high - head.null)
    if estimate.low <= 0 or math.isinf(estimate.high):
        return math.inf
    error = error_from_interval(math.log(estimate.low), math.log(estimate.high))
    return head.null * math.exp(min(smallest_detectable(error, math.log(zone_high / head.null)), 700.0))


def power_sentence(head: Headline, estimate: Estimate, zone_high: float) -> str:
    """What a sample that shows nothing could have shown."""
    smallest = smallest_effect(head, estimate, zone_high)
    if smallest > _LARGEST.get(head.name, math.inf) or math.isinf(smallest):
        return "A sample like this one is too small to show an effect of any size in 80 of 100 cases."
    return (
        f"A sample like this one shows {head.symbol} of {format_number(smallest)} or more in 80 of 100 "
        f"cases; it may miss a smaller effect, so this does not prove that there is none."
    )


def verdict_of(run: LabelledRun) -> RunVerdict:
    """The verdict on a run."""
    result = run.result
    head = run.measure.headline(result)
    estimate = Estimate.of(result, head.name)
    zone = result["zone_low"], result["zone_high"]
    verdict: Verdict = result["verdict"]
    bounds, marks = format_distinct(estimate[1:], (head.null, *zone))
    interval = " to ".join(bounds)
    has_interval = not any(map(math.isnan, estimate))
    if has_interval:
        summary = head.verdict_labels[verdict]
        sentences = [
            f"{head.symbol} = {format_number(estimate.value)}, 95 % interval {interval}: "
            f"{_POSITION[verdict]}, {marks[1]} to {marks[2]}.",
            *run.measure.describe(result, run.facts),
        ]
        excludes_null = not estimate.low <= head.null <= estimate.high
        if verdict in ("negligible", "not shown") and excludes_null:
            sentences.append(
                f"The interval excludes {marks[0]}, but so small a difference between groups of different "
                f"sentences can be caused by anything that depends on their words."
            )
        if verdict == "not shown" and estimate.low < estimate.high:
            sentences.append(power_sentence(head, estimate, zone[1]))
    elif math.isnan(estimate.value):
        summary, sentences = run.measure.describe_undefined(result)
    else:
        summary = TOO_FEW_SAMPLES
        sentences = ["There are too few samples for an interval, so nothing follows from this number."]
    if run.facts.get("limit"):
        sentences.append(f"Only the first {format_number(run.facts['limit'])} samples were scored.")
    name = verdict if has_interval else UNKNOWN
    return RunVerdict(run, head, estimate, zone, name, summary, interval, sentences)


def verdict_counts(verdicts: Sequence[RunVerdict]) -> str:
    """How many runs there are, with their verdicts, and a warning about multiple testing."""
    counts = Counter(one.verdict for one in verdicts)
    listed = ", ".join(f"{name} in {counts[name]}" for name in (*_POSITION, UNKNOWN) if counts[name])
    return (
        f"{len(verdicts)} runs: {listed}. Each interval holds at 95 % by itself, so one in twenty misses the "
        f"true value by chance: a single finding among many is weak."
    )
