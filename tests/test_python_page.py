"""The page on Python: its examples run, on the demo's toy model, and its reference is complete."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import gest_dataset
from gest_dataset.demo.show import TOY_MODEL
from tests.conftest import ROOT

_TEXT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
_EXAMPLES = [
    (heading.splitlines()[0], block)
    for heading in _TEXT.split("\n## ")[1:]
    for block in re.findall(r"^```python\n(.*?)^```", heading, re.DOTALL | re.MULTILINE)
]
# What the page names and a machine without a network has not: something of ours stands for it
_STAND_INS = {
    '"xlm-roberta-base"': repr(str(TOY_MODEL)),
    '"./tuned"': repr(str(TOY_MODEL)),
    '"sk_pairs"': '"demo_sk_pairs"',
    'model="sk.udpipe"': f'parser="conllu", model={str(ROOT / "tests" / "mirror_sk.conllu")!r}',
}


@pytest.mark.parametrize(("heading", "example"), _EXAMPLES)
@pytest.mark.usefixtures("one_thread")
@pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning")
def test_example_runs(heading: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for there, ours in _STAND_INS.items():
        example = example.replace(there, ours)
    exec(compile(example, heading, "exec"), {})


def test_every_public_name_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    import reference

    shown = re.findall(r"^### (\S+)$", reference.markdown(), re.MULTILINE)
    public = {name: getattr(gest_dataset, name) for name in gest_dataset.__all__}
    calls = {name for name, thing in public.items() if callable(thing) or isinstance(thing, ModuleType)}
    assert {f"gest_dataset.{name}" for name in calls} <= {*shown}
    assert {"gest_dataset.score", "gest_dataset.gender.detect", "gest_dataset.published.load"} <= {*shown}
    for name in shown:
        assert inspect.getdoc(_found(name)), name


def _found(name: str) -> object:
    """What a heading names; where a room has the function's name, the function."""
    thing: object = gest_dataset
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return getattr(thing, part) if isinstance(thing, ModuleType) else thing
