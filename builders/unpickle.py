"""A reader of upstream's pickled data frames that loads nothing else.

A pickle may ask for any function by name; every name that a data frame of text does not need is refused.
"""

import io
import pickle
from importlib.util import find_spec
from typing import Any

from gest_dataset.builders.config import File
from gest_dataset.errors import DataError

Columns = dict[str, list[Any]]
_ALLOWED = {
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.numeric", "Int64Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.internals.managers", "BlockManager"),
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(
                f"refused: the pickle asks for {module}.{name}, which a data frame of text does not need"
            )
        if name == "Int64Index":  # of pandas before 2.0
            module, name = "pandas.core.indexes.base", "Index"
        if find_spec("numpy._core"):  # numpy 2
            module = module.replace("numpy.core", "numpy._core")
        return super().find_class(module, name)


def read_frame(file: File) -> Columns:
    """Read the columns of a pickled pandas data frame as lists."""
    try:
        frame = _Unpickler(io.BytesIO(file.read_bytes())).load()
        return {name: frame[name].tolist() for name in frame.columns}
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise DataError.at(file, "pickle", str(error) or repr(error)) from error
