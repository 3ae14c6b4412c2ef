"""The layers of the package: a module imports from its own layer or a lower one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import groupby

from tests.conftest import ROOT
from tests.support.modules import modules

# Lowest first; "" is the package itself
LAYERS = (
    ("errors", "storage", "cache", "display", "languages", "user_data", "retry", "stereotypes", "version"),
    ("data", "builders"),
    ("probes", "statistics", "published", "gender"),
    ("measures",),
    ("runs", "report"),  # results show themselves in notebooks
    ("models", "translation"),
    ("custom", "demo", "harness"),
    ("hub", "studies"),
    ("sweep",),
    ("commands", "metrics"),
    ("register", "cli", "__main__", ""),
)
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer}
MODULES = modules(ROOT)
MAX_LOCAL_IMPORTS = 10  # outside of `commands`, whose `run` functions import what they need


def imports() -> Iterator[tuple[str, str, ast.stmt]]:
    """Importing module, imported module of ours, statement; imports for type checkers do not count."""
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing_only = {
            id(statement)
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
            for statement in block.body
        }
        for node in ast.walk(tree):
            if id(node) in typing_only or not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.ImportFrom):
                targets = {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
            else:
                targets = {alias.name for alias in node.names}
            for target in targets & MODULES.keys() - {"gest_dataset"}:
                yield name, target, node


def layer(module: str) -> int:
    return LEVEL[f"{module}.".split(".")[1]]


def test_imports_go_down() -> None:
    assert not [f"{a}:{node.lineno} imports {b}" for a, b, node in imports() if layer(a) < layer(b)]


def test_few_imports_inside_functions() -> None:
    inside = {
        (name, node.lineno)
        for name, _, node in imports()
        if node.col_offset and layer(name) < LEVEL["commands"]
    }
    listed = {name: [line for _, line in group] for name, group in groupby(sorted(inside), lambda x: x[0])}
    assert len(inside) <= MAX_LOCAL_IMPORTS, listed


def test_few_modules_load_models() -> None:
    """They pass `trust_remote_code`; elsewhere transformers would ask on the standard input."""
    loaders = re.compile(r"\.(from_pretrained|from_config)\(|get_class_from_dynamic_module|import pipeline")
    found = [n for n, path in MODULES.items() if loaders.search(path.read_text(encoding="utf-8"))]
    assert found == ["gest_dataset.models.loading", "gest_dataset.models.pretrained"]
