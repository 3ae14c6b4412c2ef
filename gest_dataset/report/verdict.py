"""What a run says, in words with numbers: one verdict for each run, on the headline of its measure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.measure import TOO_FEW, Headline
from gest_dataset.measures.words import shown
from gest_dataset.report.measured import Measured

ABOVE, HOLDS, BELOW, UNKNOWN = "above", "holds", "below", "unknown"


@dataclass(frozen=True)
class Verdict:
    """The number that a run is judged by, what it means in a few words, and the sentences about it."""

    run: Measured
    headline: Headline
    estimate: Estimate
    words: str
    sentences: list[str]

    @property
    def side(self) -> str:
        """Where the interval lies."""
        return side_of(self.estimate, self.headline.null)

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


def side_of(estimate: Estimate, null: float) -> str:
    """Where an interval lies: above the null, below it, or around it."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return UNKNOWN
    return ABOVE if estimate.low > null else BELOW if estimate.high < null else HOLDS


def verdict(run: Measured) -> Verdict:
    """The verdict on a run."""
    head = run.measure.headline(run.result)
    estimate = Estimate.of(run.result, head.name)
    side = side_of(estimate, head.null)
    if math.isnan(estimate.value):
        words, sentences = run.measure.undefined(run.result)
    elif side == UNKNOWN:
        words = TOO_FEW
        sentences = ["There are too few samples for an interval, so nothing follows from this number."]
    else:
        words = {ABOVE: head.above, HOLDS: head.around, BELOW: head.below}[side]
        holds = "contains" if side == HOLDS else "excludes"
        sentences = [
            f"{head.symbol} = {shown(estimate.value)} (95 % interval {shown(estimate.low)} to "
            f"{shown(estimate.high)}); the interval {holds} {shown(head.null)}.",
            *run.measure.sentences(run.result, run.facts),
        ]
    if side == HOLDS:
        sentences.append(
            f"An interval that contains {shown(head.null)} is no proof of no stereotype: a wide one leaves "
            f"room for it."
        )
    if run.facts.get("limit"):
        sentences.append(f"Only the first {shown(run.facts['limit'])} samples were asked.")
    return Verdict(run, head, estimate, words, sentences)
