"""Runs on disk: what a run says of itself (manifest), reading, writing and comparison (docs/runs.md)."""

from gest_dataset.runs.comparison import compare
from gest_dataset.runs.manifest import Manifest
from gest_dataset.runs.reading import Run, find_runs, read_run

__all__ = ["Manifest", "Run", "compare", "find_runs", "read_run"]
