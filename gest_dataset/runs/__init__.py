"""Runs on disk (docs/runs.md): manifest, reading, writing and comparison."""

from gest_dataset.runs.comparison import compare
from gest_dataset.runs.folder import Run, find_runs, read_run
from gest_dataset.runs.manifest import Manifest

__all__ = ["Manifest", "Run", "compare", "find_runs", "read_run"]
