"""Runs on disk: what a run says (manifest), reading, writing and comparison (docs/runs.md)."""
