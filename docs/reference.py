"""The API reference at the end of the page on Python.

mkdocstrings is not used because it takes `gest_dataset.report`, which is a function and a package, for the
package.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import gest_dataset
from gest_dataset import gender, published, statistics

# Public package -> the names to document
_PUBLIC: dict[ModuleType, Iterable[str]] = {
    gest_dataset: gest_dataset.__all__,
    gender: gender.__all__,
    statistics: list(vars(statistics)),
    published: ("names", "load"),
}


def markdown() -> str:
    """A section for each public function and class."""
    parts = ["## Reference"]
    for package, names in _PUBLIC.items():
        for name in names:
            thing = getattr(package, name)
            if isinstance(thing, ModuleType):  # a package named like its function
                thing = getattr(thing, name, None)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                parts += [f"### {package.__name__}.{name}", *_describe(thing)]
    return "\n\n".join(parts) + "\n"


def _describe(thing: Any) -> Iterator[str]:
    """Yield the declaration, the docstring, and the public members of a class."""
    yield f"```python\n{_declaration(thing)}\n```"
    if thing.__doc__:
        yield _prose(inspect.getdoc(thing) or "")
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        yield "\n".join(_members(thing))


def _members(thing: type) -> Iterator[str]:
    """Yield methods and properties with the first paragraph of their docstrings."""
    for name, member in vars(thing).items():
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and not name.startswith("_") and function.__doc__:
            call = "" if isinstance(member, property) else "()"
            paragraph = _prose(inspect.getdoc(function) or "").split("\n\n")[0]
            yield f"- `.{name}{call}`: {' '.join(paragraph.split())}"


def _declaration(thing: Any) -> str:
    """The source up to the docstring; for a class also its fields."""
    source = inspect.getsource(thing)
    (node,) = ast.parse(source).body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    header = source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    fields = [f"    {ast.unparse(line)}" for line in node.body if isinstance(line, ast.AnnAssign)]
    return "\n".join([*header, *(fields if isinstance(node, ast.ClassDef) else [])])


def _prose(text: str) -> str:
    """A docstring as Markdown: names of pages become links, examples are fenced."""
    text = re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text).replace("  # doctest: +SKIP", "")
    return re.sub(r"^>>> .*?(?=\n\n|\Z)", r"```pycon\n\g<0>\n```", text, flags=re.MULTILINE | re.DOTALL)
