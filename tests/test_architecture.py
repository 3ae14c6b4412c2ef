"""The layers of the package: a module imports from its own layer or a lower one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT
from tests.support.modules import modules

# Lowest first; "" is the package itself
LAYERS = (
    (
        "errors",
        "storage",
        "cache",
        "display",
        "languages",
        "added_data",
        "progress",
        "retry",
        "stereotypes",
        "version",
    ),
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
MAX_LOCAL_IMPORTS = 40  # outside of `commands`, whose `run` functions import what they need


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


def test_few_imports_inside_functions_each_with_a_reason() -> None:
    """A comment on the line of an import, or above it, is the reason for it and for those that follow."""
    number, without_reason = 0, []
    for name, path in MODULES.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        for function in ast.walk(ast.parse("\n".join(lines))):
            if not isinstance(function, ast.FunctionDef) or name.startswith("gest_dataset.commands"):
                continue
            inside = [node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))]
            number += len(inside)
            if inside and "#" not in "".join(lines[inside[0].lineno - 2 : inside[0].lineno]):
                without_reason.append(f"{name}:{inside[0].lineno}")
    assert number <= MAX_LOCAL_IMPORTS
    assert without_reason == []


def test_few_modules_load_models() -> None:
    """They pass `trust_remote_code`; elsewhere transformers would ask on the standard input."""
    loaders = re.compile(r"\.(from_pretrained|from_config)\(|get_class_from_dynamic_module|import pipeline")
    found = [n for n, path in MODULES.items() if loaders.search(path.read_text(encoding="utf-8"))]
    assert found == ["gest_dataset.models.pretrained"]
