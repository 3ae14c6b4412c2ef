"""Input checks: an error names the argument and the first bad index."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.stereotypes import STEREOTYPES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Check = Callable[[str, Any], Any]


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """An argument that must be one of a few strings."""
    choices = list(choices)
    if value not in choices:
        raise ConfigError(f"Unknown {name}={value!r}; choose one of {', '.join(map(repr, choices))}.")
    return value


def same_length(**inputs: Sequence[Any] | npt.NDArray[Any]) -> int:
    """The common length of the inputs, which must not be 0."""
    lengths = {name: len(values) for name, values in inputs.items()}
    if len(set(lengths.values())) > 1:
        sizes = " vs ".join(map(str, lengths.values()))
        raise DataError(f"{' and '.join(lengths)} differ in length ({sizes}).")
    name, length = next(iter(lengths.items()))
    if not length:
        raise DataError(f"{name} is empty.")
    return length


def finite_array(name: str, values: Sequence[Any] | npt.NDArray[Any], width: int | None = None) -> Floats:
    """Finite numbers: one per sample, or rows of `width` numbers."""
    rows = values if isinstance(values, np.ndarray) and values.dtype.kind != "O" else as_list(values)
    shape = () if width is None else (width,)
    array = _numbers(rows, (len(rows), *shape))
    if array is None:
        expected = "a number" if width is None else f"a row of {width} numbers"
        index = next((i for i, row in enumerate(rows) if _numbers(row, shape) is None), 0)
        raise DataError.at(name, f"index {index}", f"{rows[index]!r} is not {expected}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise DataError.at(name, f"index {bad[0][0]}", f"{array[tuple(bad[0])]} is not a finite number")
    return array


def _numbers(values: Any, shape: tuple[int, ...]) -> Floats | None:
    """Values as an array of this shape; None if they are not numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" and array.shape == shape else None


def nullable_columns(name: str, values: Sequence[Any], width: int) -> Floats:
    """Rows of numbers as columns [width, rows]; nan for None."""
    rows = [[None] * width if row is None else list(row) for row in values]
    array = finite_array(name, [[0.0 if x is None else x for x in row] for row in rows], width)
    array[np.array([[x is None for x in row] for row in rows], dtype=bool)] = np.nan
    return array.T


def label_codes(name: str, values: Iterable[Any], labels: Sequence[Any]) -> Ints:
    """The index of each value in the labels."""
    values = as_list(values)
    indices = {label: index for index, label in enumerate(labels)}
    codes = [indices.get(value, -1) if isinstance(value, Hashable) else -1 for value in values]
    if -1 in codes:
        index = codes.index(-1)
        allowed = ", ".join(map(repr, labels))
        raise DataError.at(name, f"index {index}", f"{values[index]!r} is not one of {allowed}")
    return np.asarray(codes, dtype=np.int64)


def stereotype_codes(name: str, values: Iterable[Any]) -> Ints:
    """Stereotypes 1 to 16 as indices from 0."""
    return label_codes(name, values, list(STEREOTYPES))


def group_codes(name: str, values: Iterable[Any]) -> tuple[Ints, list[str]]:
    """Group names as indices into their sorted list, and that list."""
    texts = as_list(values)
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise DataError.at(name, f"index {index}", f"{text!r} is not a non-empty string")
    names = sorted(set(texts))
    return label_codes(name, texts, names), names


def check_texts(name: str, values: Iterable[Any]) -> None:
    """Texts, which may be empty."""
    for index, text in enumerate(as_list(values)):
        if not isinstance(text, str):
            raise DataError.at(name, f"index {index}", f"{text!r} is not a text")


def unit_codes(units: Sequence[Any] | npt.NDArray[Any] | None, **inputs: Sequence[Any]) -> Ints | None:
    """The unit of each sample, numbered from 0; None where each sample is a unit.

    The `inputs` about the samples must have the same length.
    """
    number = same_length(**inputs)
    if units is None:
        return None
    if len(units) != number:
        raise DataError(f"units and the samples differ in length ({len(units)} vs {number}).")
    codes, names = pd.factorize(pd.Series(as_list(units), dtype=object))
    if (codes < 0).any():
        raise DataError.at("units", f"index {codes.argmin()}", "the unit is missing; give a text or a number")
    return None if len(names) == number else codes.astype(np.int64)


def log_of_base(value: float) -> float:
    """The natural logarithm of a base of logarithms."""
    if not (math.isfinite(value) and value > 0 and value != 1):
        raise ConfigError(f"log_base={value!r} is not a base of logarithms; use math.e or 10.")
    return math.log(value)


def as_list(values: Any) -> list[Any]:
    """A list of Python objects, also from arrays, series and tensors."""
    return list(values.tolist() if hasattr(values, "tolist") else values)
