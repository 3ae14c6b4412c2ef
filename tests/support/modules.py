"""The modules of the package and the files that they are in; scripts that are in no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

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


def load_script(path: Path) -> ModuleType:
    """Import a file that is in no package, such as a benchmark."""
    specification = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look for it there
    specification.loader.exec_module(module)
    return module
