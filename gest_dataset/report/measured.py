"""Old names of `labels`, until all callers have changed."""

from gest_dataset.report.labels import LabelledRun as Measured
from gest_dataset.report.labels import label_runs as measured

__all__ = ["Measured", "measured"]
