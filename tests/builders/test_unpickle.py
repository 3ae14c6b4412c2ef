"""Upstream pickles: data frames of text are read, and nothing else is run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pandas
import pytest

from gest_dataset.builders.reading import read_pickle
from gest_dataset.errors import DataError


class Call:
    """Pickles as a call of a function."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_calls_a_function_is_refused(tmp_path: Path, protocol: int) -> None:
    created = tmp_path / "created"
    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps([1, Call(os.mkdir, str(created))], protocol=protocol))
    with pytest.raises(DataError, match=r"refused: the pickle asks for \w+\.mkdir"):
        read_pickle(path)
    assert not created.exists()


def test_the_columns_are_those_that_pandas_reads(mirror: Path) -> None:
    for path in mirror.rglob("*.pkl"):
        expected = pandas.read_pickle(path)
        columns = read_pickle(path)
        assert list(columns) == list(expected.columns)
        for name in expected.columns:
            assert columns[name] == expected[name].tolist()
