"""Reads the data frames of upstream pickles without running anything that they carry.

A pickle is a program that may call any function. This reader knows the few names that a pandas
data frame of text needs, puts inert stand-ins in the place of the pandas ones (so the version of
pandas does not matter) and refuses every other name before it is looked up.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.errors import DataError

Columns = dict[str, list[Any]]


def _index(kind: str, data: dict[str, Any]) -> Sequence[Any]:
    """The labels of an axis; `data` are the arguments of the index's own constructor."""
    if kind == "RangeIndex":
        return range(data["start"], data["stop"], data["step"])
    labels: list[Any] = data["data"].tolist()
    return labels


def _block(values: Any, placement: Any, ndim: int) -> tuple[Any, Any]:
    """Some columns of one type, and their places in the frame."""
    return values, placement


class _Manager:
    """Blocks of columns and the two axes: column names, row labels."""

    def __init__(self, blocks: Sequence[tuple[Any, Any]], axes: Sequence[Sequence[Any]]) -> None:
        self.blocks, self.axes = blocks, axes


class _Frame:
    """A data frame: only its manager is kept."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.manager: _Manager = state["_mgr"]


def _array(kind: str, shape: Any, code: Any) -> Any:
    """The empty array that a pickle fills afterwards; numpy checks the state that it is given."""
    return np.empty(0, dtype=np.int8)


# numpy's own instances: unlike those of a copy, their flags cannot be changed by a pickle
_TYPES = {name: np.dtype(name) for name in ("O", "i8")}


def _dtype(name: str, *_: Any) -> np.dtype[Any]:
    """A type by its code, with or without its size in bytes; only objects and integers are needed."""
    try:
        return _TYPES["O" if name == "O8" else name]
    except KeyError:
        raise pickle.UnpicklingError(f"refused: values of the type {name!r}, expected text") from None


# numpy hands out the function that reads a buffer, under whatever private name it has
_FROM_BUFFER: Any = np.empty(0, dtype=np.int64).__reduce_ex__(5)[0]

_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "slice"): slice,
    ("numpy", "dtype"): _dtype,
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy.core.numeric", "_frombuffer"): _FROM_BUFFER,
    ("pandas._libs.internals", "_unpickle_block"): _block,
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas.core.indexes.base", "_new_Index"): _index,
    ("pandas.core.indexes.base", "Index"): "Index",
    ("pandas.core.indexes.numeric", "Int64Index"): "Index",
    ("pandas.core.indexes.range", "RangeIndex"): "RangeIndex",
    ("pandas.core.internals.managers", "BlockManager"): _Manager,
}


class _AllowListUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"refused: the pickle asks for {module}.{name}, which a table of text does not "
                f"need; nothing of it was run"
            ) from None


def read_frame(path: Path) -> Columns:
    """The columns of a pickled pandas data frame, as lists."""
    with path.open("rb") as file:
        try:
            return _columns(_AllowListUnpickler(file).load())
        except DataError:
            raise
        except Exception as error:
            # a damaged pickle may raise nearly anything
            raise DataError.at(path, "pickle", f"{error}" or repr(error)) from error


def _columns(frame: Any) -> Columns:
    if not isinstance(frame, _Frame):
        raise pickle.UnpicklingError(f"holds a {type(frame).__name__}, expected a data frame")
    names = list(frame.manager.axes[0])
    columns: Columns = {}
    for values, placement in frame.manager.blocks:
        places = range(len(names))[placement] if isinstance(placement, slice) else placement
        for place, column in zip(places, values, strict=True):
            columns[names[place]] = column.tolist()
    return {name: columns[name] for name in names}
