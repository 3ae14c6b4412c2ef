"""What a run says, in words with numbers: one verdict for each run, on the headline of its measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import Headline
from gest_dataset.measures.words import shown
from gest_dataset.report.measured import Measured

ABOVE, HOLDS, BELOW, UNKNOWN = "above", "holds", "below", "unknown"


@dataclass(frozen=True)
class Verdict:
    """The number that a run is judged by, what it means in a few words, and the sentences about it."""

    one: Measured
    headline: Headline
    estimate: Estimate
    sentences: list[str]

    @property
    def side(self) -> str:
        """Where the interval lies: above the null, below it, or around it."""
        low, high = self.estimate.low, self.estimate.high
        if math.isnan(low) or math.isnan(high):
            return UNKNOWN
        return ABOVE if low > self.headline.null else BELOW if high < self.headline.null else HOLDS

    @property
    def words(self) -> str:
        """What that means."""
        head = self.headline
        return {ABOVE: head.above, HOLDS: head.around, BELOW: head.below, UNKNOWN: "Too few samples"}[
            self.side
        ]

    def places(self) -> dict[str, float]:
        """Value, bounds and null on an axis from 0 to 100 that is symmetric about the null."""
        points = {name: getattr(self.estimate, name) for name in ("value", "low", "high")}
        points["null"] = self.headline.null
        if self.headline.ratio:
            points = {name: math.log(max(point, 1e-300)) for name, point in points.items()}
        null = points["null"]
        reach = 1.15 * max([abs(point - null) for point in points.values() if math.isfinite(point)] + [1e-9])
        return {
            name: round(50 + 50 * max(-1.0, min(1.0, (point - null) / reach)), 2)
            for name, point in points.items()
            if not math.isnan(point)
        }


def verdict(one: Measured) -> Verdict:
    """The verdict on a run."""
    head = one.measure.headline(one.result)
    judged = Verdict(one, head, Estimate.of(one.result, head.name), [])
    return Verdict(one, head, judged.estimate, _sentences(one, judged))


def _sentences(one: Measured, judged: Verdict) -> list[str]:
    head, estimate, side = judged.headline, judged.estimate, judged.side
    if math.isnan(estimate.value):
        sentences = [f"{head.symbol} has no value here: some of what it averages has no sample at all."]
    elif side == UNKNOWN:
        sentences = ["There are too few samples for an interval, so nothing follows from this number."]
    else:
        holds = "contains" if side == HOLDS else "excludes"
        sentences = [
            f"{head.symbol} = {shown(estimate.value)} (95 % interval {shown(estimate.low)} to "
            f"{shown(estimate.high)}); the interval {holds} {shown(head.null)}.",
            *one.measure.sentences(one.result),
        ]
    if side == HOLDS:
        sentences.append(
            f"An interval that contains {shown(head.null)} is no proof of no stereotype: a wide one leaves "
            f"room for it."
        )
    if one.facts.get("limit"):
        sentences.append(f"Only the first {shown(one.facts['limit'])} samples were asked.")
    return sentences
