"""Upstream pickles: tables of text are read, anything else is refused before it can run."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pandas
import pytest

from gest_dataset.builders import unpickle
from gest_dataset.builders.unpickle import read_frame
from gest_dataset.errors import DataError


class Attack:
    """Makes a pickle that calls a function when it is loaded."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_that_would_run_code_is_refused(tmp_path: Path, protocol: int) -> None:
    trace = tmp_path / "trace"
    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps([1, Attack(os.mkdir, str(trace))], protocol=protocol))
    with pytest.raises(DataError, match=r"refused: the pickle (asks for \w+\.mkdir|has the instruction)"):
        read_frame(path)
    assert not trace.exists()


@pytest.mark.parametrize("function", [eval, getattr, __import__, pandas.read_pickle, pickle.loads])
def test_no_way_round_the_list(tmp_path: Path, function: object) -> None:
    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps(Attack(function, "x")))
    with pytest.raises(DataError, match="refused"):
        read_frame(path)


def text(word: str) -> bytes:
    return b"\x8c" + bytes([len(word)]) + word.encode()


def name(module: str, what: str) -> bytes:
    return text(module) + text(what) + b"\x93"


INDEX = name("pandas.core.indexes.base", "_new_Index")
FRAME = name("pandas.core.frame", "DataFrame")
MANAGER = name("pandas.core.internals.managers", "BlockManager")
RECONSTRUCT = name("numpy.core.multiarray", "_reconstruct")
FROM_BUFFER = name("numpy.core.numeric", "_frombuffer")
OBJECTS = name("numpy", "dtype") + text("O8") + b"\x85R"
INTEGERS = name("numpy", "dtype") + text("i8") + b"\x85R"


def frame(blocks: bytes, names: bytes) -> bytes:
    """A pickle of a data frame, of the instructions that make its blocks and its names."""
    index = (
        names if names.startswith(INDEX) else INDEX + text("Index") + b"}" + text("data") + names + b"s\x86R"
    )
    return b"\x80\x05" + FRAME + b")\x81}" + text("_mgr") + MANAGER + blocks + b"]" + index + b"a\x86Rsb."


def array(shape: bytes, data: bytes, kind: bytes = OBJECTS) -> bytes:
    return RECONSTRUCT + b")R(K\x01" + shape + kind + b"\x89" + data + b"tb"


NAMES = array(b"K\x01\x85", b"]" + text("a") + b"a")
BLOCK = array(b"K\x01K\x01\x86", b"]" + text("x") + b"a")
PLACES = FROM_BUFFER + b"(C\x08" + bytes(8) + INTEGERS + b"K\x01\x85" + text("C") + b"tR"


def test_the_pickles_of_these_tests_are_read_where_nothing_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "frame.pkl"
    path.write_bytes(frame(b"]" + BLOCK + PLACES + b"\x86a", NAMES))
    assert read_frame(path) == {"a": ["x"]}


def test_allowed_names_cannot_forge_an_array(tmp_path: Path) -> None:
    """Bytes that are taken for pointers would end the process."""
    path = tmp_path / "frame.pkl"
    forged = FROM_BUFFER + b"(C\x08AAAAAAAA" + OBJECTS + b"K\x01K\x01\x86" + text("C") + b"tR"
    path.write_bytes(frame(b"]" + forged + PLACES + b"\x86a", NAMES))
    script = "import sys; from pathlib import Path; from gest_dataset.builders.unpickle import read_frame\n"
    script += "print(read_frame(Path(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert "frame.pkl, pickle: " in done.stderr


CHANGED = [FRAME, MANAGER, RECONSTRUCT, FROM_BUFFER, name("builtins", "slice"), name("numpy", "dtype")]
CHANGED += [name("pandas._libs.internals", "_unpickle_block"), INDEX]


@pytest.mark.parametrize("target", [*CHANGED, MANAGER + b"NN\x86R"])
@pytest.mark.parametrize(
    "state", [b"N}" + text("planted") + b"K\x01s\x86", b"}" + text("planted") + b"K\x01s"]
)
def test_nothing_that_outlives_the_pickle_can_be_changed(tmp_path: Path, target: bytes, state: bytes) -> None:
    """BUILD sets attributes, of classes and functions, too, where nothing stops it."""
    path = tmp_path / "frame.pkl"
    path.write_bytes(b"\x80\x05" + target + state + b"b.")
    with pytest.raises(DataError, match=r"refused|missing 1 required positional argument"):
        read_frame(path)
    for stand_in in unpickle._ALLOWED.values():
        assert not hasattr(stand_in, "planted")
        assert not hasattr(getattr(stand_in, "_make", None), "planted")


def long(number: int) -> bytes:
    return b"J" + number.to_bytes(4, "little")


MANY = 1 << 30
WIDE = array(b"K\x01" + long(1 << 16) + b"\x86", b"](" + b"N" * (1 << 16) + b"e")
LARGE = {
    "a place in the memo": b"\x80\x05Nr" + (MANY).to_bytes(4, "little") + b".",
    "a text": b"\x80\x05\x8d" + (MANY * 8).to_bytes(8, "little") + b"x.",
    "a buffer": b"\x80\x05\x96" + (MANY * 8).to_bytes(8, "little") + b"x.",
    "a shape": frame(b"]" + array(long(MANY) + b"K\x01\x86", b"]") + PLACES + b"\x86a", NAMES),
    "a shape of nothing": frame(b"]" + array(long(MANY) + b"K\x00\x86", b"]") + PLACES + b"\x86a", NAMES),
    "names": frame(b"]", array(long(MANY) + b"K\x00\x86", b"]")),
    "a range of names": frame(
        b"]",
        INDEX
        + name("pandas.core.indexes.range", "RangeIndex")
        + b"}("
        + b"".join(text(a) + n for a, n in (("start", b"K\x00"), ("stop", long(MANY)), ("step", b"K\x01")))
        + b"u\x86R",
    ),
    "the same cells again": frame(b"](" + WIDE + PLACES + b"\x86\x94" + b"h\x00" * 2000 + b"e", NAMES),
    "instructions": b"\x80\x05](" + b"}" * (1 << 22) + b"e.",
}


@pytest.mark.parametrize("what", list(LARGE))
def test_a_small_pickle_that_wants_much_memory_is_refused(tmp_path: Path, what: str) -> None:
    """In a process that may take half a gigabyte more than it has: no pickle gets so far."""
    path = tmp_path / "frame.pkl"
    path.write_bytes(LARGE[what])
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from gest_dataset.builders.unpickle import read_frame\n"
        "from gest_dataset.errors import DataError\n"
        "pages = int(Path('/proc/self/statm').read_text().split()[0])\n"
        "limit = pages * resource.getpagesize() + (1 << 29)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        "    read_frame(Path(sys.argv[1]))\n"
        "except DataError as error:\n"
        "    print(type(error.__cause__).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert "frame.pkl, pickle: " in done.stdout, done.stderr
    assert "MemoryError" not in done.stdout


@pytest.mark.parametrize("values", [[1.5], [True], [1 + 2j], ["text"]])
def test_types_that_no_table_of_text_has(tmp_path: Path, values: list[object]) -> None:
    """Columns of objects and whole numbers only: every other type is refused by its name."""
    path = tmp_path / "frame.pkl"
    with path.open("wb") as file:
        pickle.dump(numpy.array(values).dtype, file)
    with pytest.raises(DataError, match=r"refused: .* type"):
        read_frame(path)


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1, 2]), pickle.dumps({"a": 1})[:-3]])
def test_damaged_or_other_pickles(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "frame.pkl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"frame\.pkl, pickle: ."):
        read_frame(path)


def test_frame_is_the_one_that_pandas_reads(mirror: Path) -> None:
    """The stand-ins against pandas itself, on every pickle of the mirror."""
    for path in mirror.rglob("*.pkl"):
        expected = pandas.read_pickle(path)
        found = read_frame(path)
        assert list(found) == list(expected.columns)
        for name in expected.columns:
            assert found[name] == expected[name].tolist()
