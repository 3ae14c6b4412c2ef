"""The modules of the package and the files that they are in."""

from __future__ import annotations

from pathlib import Path

PACKAGE = "gest_dataset"
# Where the source of a package is: two of them stand at the top of the repository
PLACES = {PACKAGE: PACKAGE, f"{PACKAGE}.builders": "builders", f"{PACKAGE}.metrics": "metrics"}


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its name, with its file; a package is its `__init__`."""
    files = {}
    for package, place in PLACES.items():
        for path in sorted((root / place).rglob("*.py")):
            parts = path.relative_to(root / place).with_suffix("").parts
            files[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return files
