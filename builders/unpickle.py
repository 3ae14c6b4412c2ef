"""A reader of upstream's pickled data frames that runs no code from the pickle.

A pickle may ask for any function by name. `find_class` refuses every name that a pandas data frame of text
does not need, and returns inert stand-ins for the others, so the installed version of pandas does not matter.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from gest_dataset.builders.reading import File
from gest_dataset.errors import DataError

Columns = dict[str, list[Any]]


class _Type:
    """The dtype of an array: text or integers."""

    def __init__(self, name: str, *_: Any) -> None:
        if name not in ("O8", "O", "i8"):
            raise pickle.UnpicklingError(f"unexpected dtype {name!r}")
        self.code = name.removesuffix("8") if name.startswith("O") else name

    def __setstate__(self, state: Any) -> None:
        """Ignore byte order and flags."""


class _Array:
    """An array as the pickle describes it: (version, shape, dtype, is Fortran order, data)."""

    state: tuple[int, tuple[int, ...], _Type, bool, Any]

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def to_numpy(self) -> Any:
        _, shape, kind, fortran, data = self.state
        if kind.code == "O":
            flat = np.fromiter(data, dtype=object, count=len(data))
        else:
            flat = np.frombuffer(data, dtype=kind.code)
        return flat.reshape(shape, order="F" if fortran else "C")


def _array_from_buffer(data: Any, kind: _Type, shape: Any, order: str) -> _Array:
    array = _Array()
    array.state = (1, shape, kind, order == "F", data)
    return array


class _Manager:
    """The blocks of columns of a data frame, and its two axes."""

    def __init__(self, blocks: Any, axes: Any) -> None:
        self.blocks, self.axes = blocks, axes


class _Frame:
    """A data frame; only its block manager matters."""

    manager: _Manager

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.manager = state["_mgr"]


def _second(kind: Any, arguments: Any) -> Any:
    return arguments


def _block(values: Any, placement: Any, ndim: int) -> tuple[Any, Any]:
    return values, placement


_ALLOWED: dict[tuple[str, str], Any] = {
    ("builtins", "slice"): slice,
    ("numpy", "dtype"): _Type,
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _array_from_buffer,
    ("pandas._libs.internals", "_unpickle_block"): _block,
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas.core.indexes.base", "_new_Index"): _second,
    ("pandas.core.indexes.base", "Index"): "Index",
    ("pandas.core.indexes.numeric", "Int64Index"): "Int64Index",
    ("pandas.core.indexes.range", "RangeIndex"): "RangeIndex",
    ("pandas.core.internals.managers", "BlockManager"): _Manager,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"refused: the pickle asks for {module}.{name}, which a data frame of text does not need"
            ) from None


def read_frame(file: File) -> Columns:
    """Read the columns of a pickled pandas data frame as lists."""
    try:
        frame = _Unpickler(io.BytesIO(file.read_bytes())).load()
        names = frame.manager.axes[0]["data"].to_numpy().tolist()
        columns: Columns = {}
        for block, placement in frame.manager.blocks:
            if isinstance(placement, slice):
                indices = list(range(len(names)))[placement]
            else:
                indices = placement.to_numpy().tolist()
            for index, column in zip(indices, block.to_numpy().tolist(), strict=True):
                columns[names[index]] = column
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise DataError.at(file, "pickle", str(error) or repr(error)) from error
    return {name: columns[name] for name in names}
