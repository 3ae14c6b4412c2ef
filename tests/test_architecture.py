"""Imports point one way: the graph of the package, lazy imports included, and every edge that goes up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.modules import PACKAGE, modules

ROOT = Path(__file__).parent.parent
# Rooms by layer, the lowest first; a loose module is its own room, "" is the package itself
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "storage", "home", "languages", "cache", "display", "stereotypes", "version"),
    ("data", "builders"),
    ("probes", "statistics", "published", "gender"),
    ("measures",),
    ("runs",),
    ("report",),  # which scores, answers and rates show themselves with in a notebook
    ("models", "translation"),
    ("custom", "calibration", "demo", "harness"),
    ("hub", "studies"),
    ("sweep",),
    ("commands", "metrics"),
    # they open everything: names for other libraries, the command line, what `import` gives
    ("register", "cli", "__main__", ""),
)

# `data` has the sources that builders read, and `build`, which reads the builders
TOGETHER = {"builders": "data"}

TYPES, LAZY, TOP = "for types", "lazy", "at import"


@dataclass(frozen=True, order=True)
class Edge:
    """One import: the names are of modules, `kind` says when it happens, `names` what is taken."""

    source: str
    target: str
    line: int
    kind: str
    names: tuple[str, ...]


def edges(files: Mapping[str, Path]) -> list[Edge]:
    """The import graph: imports at the top, inside functions, for types only, and by a module's name."""
    graph: dict[tuple[str, str, int, str], set[str]] = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for node, kind in _walk(tree, TOP):
            for target, name in _targets(node, package, files):
                if target != module:
                    line: int = node.lineno  # type: ignore[attr-defined]
                    graph.setdefault((module, target, line, kind), set()).update([name] if name else [])
    return sorted(Edge(*where, tuple(sorted(names))) for where, names in graph.items())


def _walk(node: ast.AST, kind: str) -> Iterator[tuple[ast.AST, str]]:
    for child in ast.iter_child_nodes(node):
        inner = LAZY if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else kind
        if isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for statement in child.body:
                yield statement, TYPES
            for statement in child.orelse:
                yield statement, kind
                yield from _walk(statement, kind)
            continue
        yield child, inner
        yield from _walk(child, inner)


def _targets(node: ast.AST, package: str, files: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """The modules that a statement imports, with the name that it takes from each."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name in files:
                yield alias.name, ""
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parents = package.split(".")
            kept = parents[: len(parents) - node.level + 1]
            base = ".".join([*kept, *([base] if base else [])])
        for alias in node.names:
            if f"{base}.{alias.name}" in files:
                yield f"{base}.{alias.name}", ""
            elif base in files:
                yield base, alias.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
        # importlib, resources and `python -m` take names; in an f-string it is the beginning of one
        name = node.value.rstrip(".")
        if name in files:
            yield name, "by its name"


def room(module: str, moves: Mapping[str, str] | None = None) -> str:
    """The first package below ours; a loose module is its own room.

    >>> room("gest_dataset.report.page"), room("gest_dataset.errors"), room("gest_dataset")
    ('report', 'errors', '')
    """
    first = f"{module}.".split(".")[1]
    return (moves or {}).get(first, first)


def going_up(
    graph: Sequence[Edge],
    layers: Sequence[Sequence[str]] = LAYERS,
    moves: Mapping[str, str] | None = None,
) -> list[Edge]:
    """The edges from a lower layer to a higher one; those for types only do not run."""
    level = {name: number for number, layer in enumerate(layers) for name in layer}
    unknown = sorted({room(m, moves) for edge in graph for m in (edge.source, edge.target)} - level.keys())
    if unknown:
        raise AssertionError(f"{', '.join(unknown)}: in no layer. Put it into LAYERS, or into a room.")
    return [
        edge
        for edge in graph
        if edge.kind != TYPES and level[room(edge.source, moves)] < level[room(edge.target, moves)]
    ]


def knots(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Groups of nodes each of which leads to every other (Tarjan's strongly connected components)."""
    after: dict[str, list[str]] = {}
    for source, target in pairs:
        after.setdefault(source, []).append(target)
        after.setdefault(target, [])
    reach = {node: _reachable(node, after) for node in after}
    groups = {
        frozenset(other for other in reach[node] if node in reach[other])
        for node in after
        if node in reach[node]
    }
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def _reachable(node: str, after: Mapping[str, Sequence[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(after[node])
    while waiting:
        step = waiting.pop()
        if step not in seen:
            seen.add(step)
            waiting += after[step]
    return seen


def told(edge: Edge) -> str:
    """An edge as a line of a message."""
    names = f" ({', '.join(edge.names)})" if edge.names else ""
    return f"{edge.source}:{edge.line} imports {edge.target}{names}, {edge.kind}"


GRAPH = edges(modules(ROOT))


def test_no_import_goes_up() -> None:
    assert not [told(edge) for edge in going_up(GRAPH)]


def test_rooms_lead_to_each_other_in_one_direction() -> None:
    """Also within a layer."""
    between = {
        (room(edge.source, TOGETHER), room(edge.target, TOGETHER)) for edge in GRAPH if edge.kind != TYPES
    }
    assert not knots(sorted(between))


def test_no_knot_of_modules() -> None:
    assert not knots([(edge.source, edge.target) for edge in GRAPH if edge.kind != TYPES])


@pytest.mark.parametrize(
    ("code", "kind", "target"),
    [
        ("from gest_dataset.b import c", TOP, "gest_dataset.b"),
        ("from gest_dataset import b", TOP, "gest_dataset.b"),
        ("from gest_dataset import score", TOP, "gest_dataset"),
        ("from . import b", TOP, "gest_dataset.b"),
        ("import gest_dataset.b as c", TOP, "gest_dataset.b"),
        ("def f():\n    if x:\n        from gest_dataset import b", LAZY, "gest_dataset.b"),
        ("if TYPE_CHECKING:\n    from gest_dataset.b import c", TYPES, "gest_dataset.b"),
        ("if TYPE_CHECKING:\n    x = 1\nelse:\n    import gest_dataset.b", TOP, "gest_dataset.b"),
        ("import_module('gest_dataset.b')", TOP, "gest_dataset.b"),
    ],
)
def test_every_way_to_import_is_seen(tmp_path: Path, code: str, kind: str, target: str) -> None:
    package = tmp_path / PACKAGE
    package.mkdir()
    for name, text in {"__init__": "", "a": code, "b": "c = 1"}.items():
        (package / f"{name}.py").write_text(text)
    graph = edges(modules(tmp_path))
    assert [(edge.source, edge.target, edge.kind) for edge in graph] == [("gest_dataset.a", target, kind)]
    up = going_up(graph, [["a"], ["b", ""]])
    assert up == ([] if kind == TYPES else graph)
    assert not going_up(graph, [["b", ""], ["a"]])


def test_a_room_without_a_layer_is_named() -> None:
    with pytest.raises(AssertionError, match="cellar: in no layer"):
        going_up([Edge("gest_dataset.cellar.x", "gest_dataset.errors", 1, TOP, ())])


def test_knots() -> None:
    assert knots([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [["a", "b", "c"]]
    assert knots([("a", "b"), ("b", "c"), ("a", "c")]) == []


# ---- one door to transformers ------------------------------------------------------------------------------

_LOADS = {"from_pretrained", "from_config", "pipeline", "get_class_from_dynamic_module"}
_DOOR = "gest_dataset.models.pretrained"


def loads(code: str) -> list[str]:
    """The ways to load something of transformers that a module names: calls, imports, strings."""
    named = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr in _LOADS - {"pipeline"}:
            named.append(node.attr)
        elif isinstance(node, ast.Constant) and node.value in _LOADS - {"pipeline"}:
            named.append(str(node.value))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformers"):
            named += [alias.name for alias in node.names if alias.name in _LOADS]
    return named


def test_one_module_loads_with_transformers() -> None:
    """It says `trust_remote_code`; where nobody does, transformers asks on the standard input."""
    files = modules(ROOT)
    assert [name for name, path in files.items() if loads(path.read_text(encoding="utf-8"))] == [_DOOR]


@pytest.mark.parametrize(
    "code",
    ["AutoModel.from_pretrained(x)", "getattr(m, 'from_pretrained')(x)", "from transformers import pipeline"],
)
def test_every_way_to_load_is_seen(code: str) -> None:
    assert loads(code)
