"""Old name of `reliability`, until all callers have changed."""

from gest_dataset.report.reliability import wide_scores

__all__ = ["wide_scores"]
