"""A plugin of pytest for run.py: the quickest tests come first, and catch most mutants at little cost.

mutmut runs the tests that reach a mutant until one fails, in no order; how long each takes it has
measured before, without a mutant, and written beside the copy of the project that they run in.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

MEASURED = Path("mutmut-stats.json")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if MEASURED.exists():
        seconds = json.loads(MEASURED.read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0.0))
