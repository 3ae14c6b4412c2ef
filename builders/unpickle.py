"""Reads the data frames of upstream pickles without running anything that they carry.

A pickle is a program that may call any function. Before it runs, its instructions are counted and
compared with those that a pandas data frame of text needs. Then every name that it may ask for is an
inert stand-in (so the version of pandas does not matter), which no instruction can change; every
other name is refused before it is looked up.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np

from gest_dataset.builders.reading import File
from gest_dataset.errors import DataError

Columns = dict[str, list[Any]]
# What pickles of protocol 4 and 5 are made of, and a data frame needs. Not among them: what names a place in
# the memo, for which memory is taken up to that place, and all that looks a name up in another way.
# fmt: off
_INSTRUCTIONS = frozenset([
    "PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINGET", "LONG_BINGET", "NONE", "NEWTRUE", "NEWFALSE",
    "BININT", "BININT1", "BININT2", "SHORT_BINUNICODE", "BINUNICODE", "SHORT_BINBYTES", "BINBYTES",
    "BYTEARRAY8", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND",
    "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD",
])
# fmt: on
# Upstream's largest table has 450,000 instructions and 52,650 cells
_MOST_INSTRUCTIONS = 2_000_000
_MOST_CELLS = 1_000_000


class _Name:
    """What a pickle gets for an allowed name: it can be called, and nothing else."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *arguments: Any) -> Any:
        return self._make(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("refused: the pickle changes what a name stands for")


class _Array:
    """An array of objects or integers, as the state that the pickle gives: nothing is copied yet."""

    __slots__ = ("state",)
    state: Any

    def __setstate__(self, state: Any) -> None:
        self.state = state


def _from_buffer(data: Any, kind: Any, shape: Any, order: str) -> _Array:
    array = _Array()
    array.state = (1, shape, kind, order == "F", data)
    return array


class _Type:
    """The type of an array, by its code with or without its size in bytes."""

    __slots__ = ("code",)

    def __init__(self, name: str) -> None:
        codes = {"O8": "O", "O": "O", "i8": "i8"}
        if name not in codes:
            raise pickle.UnpicklingError(f"refused: values of the type {name!r}, expected text")
        self.code = codes[name]

    def __setstate__(self, state: Any) -> None:
        """Byte order and flags: those of these two types are known."""


class _Manager:
    """Blocks of columns and the two axes: column names, row labels."""

    __slots__ = ("axes", "blocks")

    def __init__(self, blocks: Any, axes: Any) -> None:
        self.blocks, self.axes = blocks, axes

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("refused: the pickle changes its blocks")


class _Frame:
    """A data frame: only its manager is kept. The one class that a pickle gets itself, to make one of it."""

    __slots__ = ("manager",)
    manager: _Manager

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.manager = state["_mgr"]


_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "slice"): _Name(slice),
    ("numpy", "dtype"): _Name(lambda name, *_: _Type(name)),
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): _Name(lambda *_: _Array()),
    ("numpy.core.numeric", "_frombuffer"): _Name(_from_buffer),
    ("pandas._libs.internals", "_unpickle_block"): _Name(lambda values, placement, ndim: (values, placement)),
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas.core.indexes.base", "_new_Index"): _Name(lambda kind, arguments: arguments),
    ("pandas.core.indexes.base", "Index"): "Index",
    ("pandas.core.indexes.numeric", "Int64Index"): "Index",
    ("pandas.core.indexes.range", "RangeIndex"): "RangeIndex",
    ("pandas.core.internals.managers", "BlockManager"): _Name(_Manager),
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


def read_frame(file: File) -> Columns:
    """The columns of a pickled pandas data frame, as lists."""
    content = file.read_bytes()
    try:
        _check(content)
        return _columns(_AllowListUnpickler(io.BytesIO(content)).load())
    except Exception as error:
        # a damaged pickle may raise nearly anything
        raise DataError.at(file, "pickle", f"{error}" or repr(error)) from error


def _check(content: bytes) -> None:
    """Refuse, before it runs, a pickle whose instructions are other or more than a table of text needs."""
    for number, (instruction, _, _) in enumerate(pickletools.genops(content)):
        if instruction.name not in _INSTRUCTIONS:
            raise pickle.UnpicklingError(
                f"refused: the pickle has the instruction {instruction.name}, which a table of text does "
                f"not need; nothing of it was run"
            )
        if number == _MOST_INSTRUCTIONS:
            raise pickle.UnpicklingError(
                f"refused: the pickle has more than {_MOST_INSTRUCTIONS:,} instructions; "
                f"nothing of it was run"
            )


def _columns(frame: Any) -> Columns:
    if not isinstance(frame, _Frame):
        raise pickle.UnpicklingError(f"holds a {type(frame).__name__}, expected a data frame")
    names = _values(frame.manager.axes[0]["data"]).tolist()
    cells = 0
    columns: Columns = {}
    for block, placement in frame.manager.blocks:
        values = _values(block)
        cells += values.size
        if cells > _MOST_CELLS:
            raise pickle.UnpicklingError(f"a table of more than {_MOST_CELLS:,} cells")
        is_slice = isinstance(placement, slice)
        places = range(len(names))[placement] if is_slice else _values(placement).tolist()
        for place, column in zip(places, values.tolist(), strict=True):
            columns[names[place]] = column
    return {name: columns[name] for name in names}


def _values(array: _Array) -> Any:
    """The array of numpy: of the data that there is, never of a size that a pickle only names."""
    _, shape, kind, fortran, data = array.state
    if max(shape) > _MOST_CELLS:
        raise pickle.UnpicklingError(f"an array of more than {_MOST_CELLS:,} cells")
    if kind.code == "O":
        flat = np.fromiter(data, dtype=object, count=len(data))
    else:
        flat = np.frombuffer(data, dtype=kind.code)
    return flat.reshape(shape, order="F" if fortran else "C")
