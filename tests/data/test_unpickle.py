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
    with pytest.raises(DataError, match=r"refused: the pickle asks for \w+\.mkdir"):
        read_frame(path)
    assert not trace.exists()


@pytest.mark.parametrize("function", [eval, getattr, __import__, pandas.read_pickle, pickle.loads])
def test_no_way_round_the_list(tmp_path: Path, function: object) -> None:
    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps(Attack(function, "x")))
    with pytest.raises(DataError, match="refused"):
        read_frame(path)


def test_allowed_names_cannot_forge_an_array(tmp_path: Path) -> None:
    """Bytes that are taken for pointers would end the process: an object type with other flags."""
    path = tmp_path / "frame.pkl"
    path.write_bytes(
        b"".join(
            (
                b"\x80\x05",
                b"cnumpy.core.numeric\n_frombuffer\n",
                b"(C\x08AAAAAAAA",
                b"cnumpy\ndtype\n(X\x02\x00\x00\x00O8\x89\x88tR",
                b"(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
                b"K\x01\x85X\x01\x00\x00\x00CtR.",
            )
        )
    )
    script = "import sys; from pathlib import Path; from gest_dataset.builders.unpickle import read_frame\n"
    script += "read_frame(Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot create an OBJECT array" in done.stderr


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
