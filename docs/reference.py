"""The reference at the end of the page on Python: each public name as its source declares it.

mkdocstrings was weighed: it reads the source without importing, and takes `gest_dataset.report`, which is
a function and a room, for the room; it would bring four packages for what is here.
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

# The rooms that users import, and what of them is shown
_PUBLIC: dict[ModuleType, Iterable[str]] = {
    gest_dataset: gest_dataset.__all__,
    gender: gender.__all__,
    statistics: statistics.__all__,
    published: ("names", "load"),
}


def markdown() -> str:
    """A section for each public function and class."""
    parts = ["## Reference"]
    for room, names in _PUBLIC.items():
        for name in names:
            thing = getattr(room, name)
            if isinstance(thing, ModuleType):  # a room with the name of the function that it is for
                thing = getattr(thing, name, None)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                parts += [f"### {room.__name__}.{name}", *_described(thing)]
    return "\n\n".join(parts) + "\n"


def _described(thing: Any) -> Iterator[str]:
    """What is declared, the docstring, and a class's public members."""
    yield f"```python\n{_declaration(thing)}\n```"
    if thing.__doc__:
        yield _prose(inspect.getdoc(thing) or "")
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        yield "\n".join(_members(thing))


def _members(thing: type) -> Iterator[str]:
    """Methods and properties, each with the first paragraph of its docstring."""
    for name, member in vars(thing).items():
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and not name.startswith("_") and function.__doc__:
            call = "" if isinstance(member, property) else "()"
            paragraph = _prose(inspect.getdoc(function) or "").split("\n\n")[0]
            yield f"- `.{name}{call}`: {' '.join(paragraph.split())}"


def _declaration(thing: Any) -> str:
    """The source down to the docstring; of a class also its fields."""
    source = inspect.getsource(thing)
    (node,) = ast.parse(source).body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    header = source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    fields = [f"    {ast.unparse(line)}" for line in node.body if isinstance(line, ast.AnnAssign)]
    return "\n".join([*header, *(fields if isinstance(node, ast.ClassDef) else [])])


def _prose(text: str) -> str:
    """A docstring as Markdown: pages that it names as links, examples in fences."""
    text = re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text).replace("  # doctest: +SKIP", "")
    return re.sub(r"^>>> .*?(?=\n\n|\Z)", r"```pycon\n\g<0>\n```", text, flags=re.MULTILINE | re.DOTALL)
