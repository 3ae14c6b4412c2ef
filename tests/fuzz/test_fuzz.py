"""`make fuzz`: damaged files give the package's own errors or the right values, never anything else.

Each target has an equal share of FUZZ_SECONDS (300). The rounds have the seeds 0, 1, 2 …, so two runs try
the same files in the same order, as far as their time goes. What fails is shrunk, printed as edits, and lies
as a file in build/fuzz/TARGET, also where the process has died of it.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from gest_dataset.errors import GestError
from tests.conftest import ROOT
from tests.fuzz import damage
from tests.fuzz.targets import TARGETS, Target, marks_of

SECONDS = float(os.environ.get("FUZZ_SECONDS", "300")) / len(TARGETS)
_MEMORY = 6 << 30  # bytes of address space more than before: a file that asks for more has to be refused
_SETTINGS = settings(
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def little_memory() -> Iterator[None]:
    """A limit on memory, so that a size read from a damaged file harms nobody else on the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged name of a file must not be looked for on the Hub."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.fuzz
@pytest.mark.usefixtures("one_thread", "offline", "little_memory")
@pytest.mark.parametrize(
    "target", [pytest.param(target, id=target.name, marks=marks_of(target)) for target in TARGETS]
)
def test_damaged_files(target: Target) -> None:
    folder = ROOT / "build" / "fuzz" / target.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target.make(folder)
    whole_files = {name: (folder / name).read_bytes() for name in target.files}
    whole = target.read(folder)
    target.judge(whole, whole)

    def holds(name: str, edits: list[damage.Edit]) -> None:
        for other, content in whole_files.items():
            (folder / other).write_bytes(damage.damaged(content, edits) if other == name else content)
        try:
            found: Any = target.read(folder)
        except GestError:
            return
        target.judge(whole, found)

    drawn = given(name=st.sampled_from(target.files), edits=damage.edits(target.acts))
    round_of = settings(_SETTINGS, max_examples=target.examples, phases=target.phases)
    began = time.monotonic()
    for number in count():
        seed(number)(round_of(drawn(holds)))()
        if time.monotonic() - began > SECONDS:
            break
    print(f"{target.name}: {number + 1} rounds of {target.examples} files")  # noqa: T201


def test_edits_change_a_file_and_are_repeatable() -> None:
    content = b'{"a": [1, 2], "b": "text"}\n1,2,3\n'
    for act in {*damage.TABLE, *damage.JSON} - {"value"}:
        edit = damage.Edit(act, place=5, length=3, piece=6)
        assert damage.damaged(content, [edit]) == damage.damaged(content, [edit])
        assert act == "lines" or damage.damaged(content, [edit]) != content
    changed = damage.damaged(b'{"a": [1, 2]}', [damage.Edit("value", place=2, length=0, piece=0)])
    assert changed == b'{"a": [null, 2]}'
