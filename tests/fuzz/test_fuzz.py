"""`make fuzz`: a damaged file leads to an error of this package or to the right values, nothing else.

Each target gets an equal share of FUZZ_SECONDS (300). Rounds use the seeds 0, 1, 2, …, so that a failure
can be repeated; the damaged file stays in build/fuzz/TARGET.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import gest_dataset
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.builder import config_tables
from gest_dataset.cache import ResponseCache
from gest_dataset.data.user_tables import read_user_table
from gest_dataset.errors import GestError
from gest_dataset.gender.parsers.conllu import parse_conllu, read_file
from gest_dataset.runs import read_run
from tests.conftest import MIRROR, ROOT
from tests.fuzz import damage
from tests.fuzz.damage import BYTES, JSON, TABLE
from tests.support import zoo

_MAX_MEMORY = 6 << 30  # bytes of address space beyond the start: larger requests have to be refused
_ROWS = {
    "source": ["I am sad.", 'I, the cook, said "no".', "Two\nlines.", "", "Čučoriedka 😀"],
    "translation": ["Som smutný.", "", "Dva\nriadky.", "nič", "Čučoriedka"],
    "language": ["sk", "sk", "sk", "cs", "sk"],
}
# One config for every reader of upstream files
_UPSTREAM = (
    *("en", "annotations", "bg_translations", "sk_pairs", "crows_gender", "crows_gender_revised"),
    *("stereoset_en_intrasentence", "stereoset_de_intersentence", "stereoset_control_gender"),
    *("crows_control_negation", "slovak_gender", "winobias_type1_test"),
)


@dataclass(frozen=True)
class Target:
    """`make` writes files into a folder, one of `files` is damaged, `read` reads the folder.

    `check` compares the value of the intact files with the value of the damaged ones.
    """

    name: str
    make: Callable[[Path], object]
    files: tuple[str, ...]
    kinds: Sequence[str]
    read: Callable[[Path], Any]
    check: Callable[[Any, Any], None]


def _same(intact: Any, damaged: Any) -> None:
    assert damaged == intact


def _subset(intact: Any, damaged: Any) -> None:
    assert damaged.items() <= intact.items()


def _sound_rows(_: Any, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for name, value in row.items():
            if name.endswith("span"):
                assert 0 <= value[0] < value[1]


def _sound_columns(_: Any, columns: Mapping[str, Sequence[Any]]) -> None:
    assert len({len(column) for column in columns.values()}) == 1
    for column in columns.values():
        "".join(text for text in column if text is not None).encode()


# ---- runs and the cache ----------------------------------------------------------------------------------


@cache
def _finished_run() -> Path:
    folder = zoo.directory("gpt2").parent / "fuzzed-run"
    gest_dataset.score(str(zoo.directory("gpt2")), "en", device="cpu", limit=4, output=folder)
    return folder


def _copy_run(folder: Path) -> None:
    shutil.copytree(_finished_run(), folder, dirs_exist_ok=True)


def _read_run(folder: Path) -> Any:
    run = read_run(folder)
    return asdict(run.manifest), run.table.to_pydict(), run.result


def _same_numbers(intact: Any, damaged: Any) -> None:
    assert damaged[1:] == intact[1:]
    assert damaged[0].keys() == intact[0].keys()


def _make_cache(folder: Path) -> None:
    with ResponseCache(folder / "cache.sqlite3") as responses:
        responses.put({f"key {number}": [number / 7, "text"] for number in range(50)})


def _read_cache(folder: Path) -> Any:
    for path in (*folder.glob("*-journal"), *folder.glob("*-wal")):
        path.unlink()
    with ResponseCache(folder / "cache.sqlite3") as responses:
        found = responses.get([f"key {number}" for number in range(50)])
    return {key: tuple(value) for key, value in found.items()}


# ---- files of users --------------------------------------------------------------------------------------


def _make_table(folder: Path, name: str) -> None:
    table, path = pa.table(_ROWS), folder / name
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith(".jsonl"):
        lines = (json.dumps(row, ensure_ascii=False) for row in table.to_pylist())
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        table.to_pandas().to_csv(path, index=False, sep="\t" if name.endswith(".tsv") else ",")


def _read_table(folder: Path, name: str) -> Any:
    return read_user_table(folder / name).columns


def _make_conllu(folder: Path) -> None:
    blocks = (MIRROR.parent / "mirror_sk.conllu").read_text(encoding="utf-8").split("\n\n")
    (folder / "parsed.conllu").write_text("\n\n".join(blocks[:12]) + "\n\n", encoding="utf-8")


def _read_conllu(folder: Path) -> Any:
    parsed = read_file(folder / "parsed.conllu").items()
    return {text: parse_conllu(document, text) for text, document in parsed}


def _sound_trees(_: Any, parsed: Any) -> None:
    for text, trees in parsed.items():
        for tree in trees:
            ids = [token.id for token in tree.tokens]
            assert ids == sorted(set(ids))
            for token in tree.tokens:
                assert token.head == 0 or token.head in ids
                assert text[token.start : token.end] in ("", token.surface)


# ---- upstream files ------------------------------------------------------------------


def _make_upstream(folder: Path, name: str) -> None:
    for number, key in enumerate(CONFIGS[name].sources):
        shutil.copyfile(MIRROR / key, folder / str(number))


def _read_upstream(folder: Path, name: str) -> list[dict[str, Any]]:
    config = CONFIGS[name]
    files = {key: folder / str(number) for number, key in enumerate(config.sources)}
    return [row for table in config_tables(config, files, Counter()) for row in table.to_pylist()]


def _targets() -> Iterator[Target]:
    yield Target("manifest", _copy_run, ("run.json",), JSON, _read_run, _same_numbers)
    yield Target("result", _copy_run, ("result.json",), JSON, _read_run, _same)
    yield Target("scores", _copy_run, ("scores.parquet",), BYTES, _read_run, _same)
    yield Target("cache", _make_cache, ("cache.sqlite3",), BYTES, _read_cache, _subset)
    for name, kinds in {"a.csv": TABLE, "a.tsv": TABLE, "a.jsonl": JSON, "a.parquet": BYTES}.items():
        make, read = partial(_make_table, name=name), partial(_read_table, name=name)
        yield Target(f"table-{name}", make, (name,), kinds, read, _sound_columns)
    yield Target("conllu", _make_conllu, ("parsed.conllu",), TABLE, _read_conllu, _sound_trees)
    for name in _UPSTREAM:
        files = tuple(str(number) for number in range(len(CONFIGS[name].sources)))
        make, read = partial(_make_upstream, name=name), partial(_read_upstream, name=name)
        yield Target(f"upstream-{name}", make, files, TABLE, read, _sound_rows)


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """Limit memory, so that a damaged size in a file cannot exhaust the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MAX_MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.fuzz
@pytest.mark.usefixtures("one_thread", "limited_memory")
def test_damaged_files(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    targets = list(_targets())
    seconds = float(os.environ.get("FUZZ_SECONDS", "300")) / len(targets)
    for target in targets:
        with subtests.test(target.name):
            _fuzz(target, seconds)


def _fuzz(target: Target, seconds: float) -> None:
    folder = ROOT / "build" / "fuzz" / target.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target.make(folder)
    contents = {name: (folder / name).read_bytes() for name in target.files}
    intact = target.read(folder)
    target.check(intact, intact)

    def holds(name: str, edits: list[damage.Edit]) -> None:
        for other, content in contents.items():
            (folder / other).write_bytes(damage.damaged(content, edits) if other == name else content)
        try:
            value = target.read(folder)
        except GestError:
            return
        target.check(intact, value)

    drawn = given(name=st.sampled_from(target.files), edits=damage.edits(target.kinds))
    options = settings(
        max_examples=20,
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    start = time.monotonic()
    for number in count():
        seed(number)(options(drawn(holds)))()
        if time.monotonic() - start > seconds:
            break
