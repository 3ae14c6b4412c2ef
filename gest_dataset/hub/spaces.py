"""The metrics as Spaces: each folder of `metrics/` is one that `evaluate.load("NAMESPACE/METRIC")` finds.

`evaluate` downloads the module METRIC.py from the Space and imports it; the code behind it is this package,
which the Space's requirements.txt names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from huggingface_hub import CommitOperationAdd

from gest_dataset.hub.commit import Operation
from gest_dataset.hub.dataset import is_same
from gest_dataset.hub.plan import CHANGED, NEW, UNCHANGED, Part, Plan
from gest_dataset.hub.repo import Parent

SDK = "gradio"
_FOLDER = "metrics"


def spaces() -> Mapping[str, list[Path]]:
    """The files of each metric, by its name."""
    package = Path(__file__).parent.parent
    # in the package when installed, at the top of a checkout
    place = package / _FOLDER if (package / _FOLDER).exists() else package.parent / _FOLDER
    folders = sorted(path.parent for path in place.glob("*/requirements.txt"))
    return {
        folder.name: [
            folder / name for name in ("README.md", "app.py", "requirements.txt", f"{folder.name}.py")
        ]
        for folder in folders
    }


def space_changes(parent: Parent, files: list[Path]) -> tuple[Plan, list[Operation]]:
    """What a push changes in a Space: its own files are replaced, others stay."""
    operations: list[Operation] = []
    parts = []
    for path in files:
        same = is_same(parent.files.get(path.name), path)
        what = UNCHANGED if same else CHANGED if path.name in parent.files else NEW
        parts.append(Part(path.name, what, path.stat().st_size))
        if not same:
            operations.append(CommitOperationAdd(path.name, path))
    return Plan(parent.repo, tuple(parts), missing=parent.missing), operations
