"""What a statistic accepts: bad input is answered with its place, never with a number."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from gest_dataset.errors import ConfigError, DataError
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


_MASKED = "its masked values would count: leave those samples out (.compressed()), and give an array"
# What can be gone through, but is no list of samples: why not, and what to give
_NO_SAMPLES: dict[type, str] = {
    np.ma.MaskedArray: _MASKED,
    Mapping: "going through it gives its keys: give a list of its values, in the order of the samples",
    Set: "it has no order, and each value once: give a list",
    str: "that is one text: give a list",
    bytes: "going through it gives the numbers of its bytes: give a list",
    bytearray: "going through it gives the numbers of its bytes: give a list",
    memoryview: "going through it gives the numbers of its bytes: give a list",
}
# What numpy makes numbers of, though it is none
_NO_NUMBERS = (str, bytes, complex, np.ma.MaskedArray, np.ma.core.MaskedConstant)


class UndefinedWarning(UserWarning):
    """A statistic has no value on this input; it is nan."""


def warn_undefined(reason: str) -> None:
    """Say why a value is nan."""
    warnings.warn(reason, UndefinedWarning, stacklevel=3)


def check_choice(name: str, value: str, known: Iterable[str]) -> str:
    """An argument that must be one of a few words."""
    names = list(known)
    if value in names:
        return value
    raise ConfigError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, names))}.")


def check_samples(name: str, values: Any) -> None:
    """Refuse what has a length and can be gone through, but not sample by sample."""
    for kind, reason in _NO_SAMPLES.items():
        if isinstance(values, kind):
            raise DataError(f"{name} is a {type(values).__name__}: {reason}.")


def same_length(**inputs: Sequence[Any] | npt.NDArray[Any]) -> int:
    """The common length of the inputs, which must not be 0."""
    for name, values in inputs.items():
        check_samples(name, values)
    lengths = {name: len(values) for name, values in inputs.items()}
    shortest = min(lengths, key=lambda name: lengths[name])
    for name, length in lengths.items():
        if length != lengths[shortest]:
            first = lengths[shortest]
            raise DataError.at(
                name, f"index {first}", f"no partner: {length} {name} against {first} {shortest}"
            )
    if not lengths[shortest]:
        raise DataError.at(shortest, "index 0", "there is no sample")
    return lengths[shortest]


def finite_array(name: str, values: Sequence[Any] | npt.NDArray[Any], width: int | None = None) -> Floats:
    """Numbers without nan and infinity: one a sample, or rows of `width` of them."""
    check_samples(name, values)
    plain = values if isinstance(values, np.ndarray) else list(values)
    try:
        array = None if _has_others(plain, width) else np.array(plain, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    shape = (len(values),) if width is None else (len(values), width)
    if array is None or array.shape != shape:
        raise _first_odd(name, values, width)
    bad = ~np.isfinite(array)
    if bad.any():
        place = np.argwhere(bad)[0]
        raise DataError.at(name, f"index {place[0]}", f"{array[tuple(place)]} is not a finite number")
    return array


def _has_others(values: Sequence[Any] | npt.NDArray[Any], width: int | None) -> bool:
    """Whether there is something among the values that numpy would make a number of."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.dtype.kind not in "biuf"
    kinds = set(map(type, values))
    if width is not None:
        kinds |= {kind for row in values for kind in map(type, row)}
    return any(issubclass(kind, _NO_NUMBERS) for kind in kinds)


def nullable_columns(name: str, values: Sequence[Any], width: int) -> list[Floats | None]:
    """Rows of numbers, by column: None where no row has it, nan in the rows that have None."""
    check_samples(name, values)
    rows = [[None] * width if row is None else list(row) for row in values]
    filled = [[0.0 if x is None else x for x in row] for row in rows]
    array = finite_array(name, filled, width)
    absent = np.array([[x is None for x in row] for row in rows], dtype=bool).reshape(len(rows), width)
    array[absent] = np.nan
    return [None if absent[:, j].all() else array[:, j] for j in range(width)]


def _first_odd(name: str, values: Sequence[Any] | npt.NDArray[Any], width: int | None) -> DataError:
    """The error for the first value that is no number, or no row of `width` numbers."""
    expected = "a number" if width is None else f"a row of {width} numbers"
    for index, value in enumerate(values):
        try:
            row = np.asarray(value, dtype=np.float64)
            fits = row.shape == (() if width is None else (width,)) and not _has_others([value], width)
        except (TypeError, ValueError):
            fits = False
        if not fits:
            return DataError.at(name, f"index {index}", f"{value!r} is not {expected}")
    return DataError.at(name, "index 0", f"expected {expected} a sample")


def label_codes(name: str, values: Iterable[Any], labels: Sequence[Any]) -> Ints:
    """The index of each value among the labels."""
    check_samples(name, values)
    values = values.tolist() if hasattr(values, "tolist") else list(values)  # arrays, series, tensors
    places = {label: index for index, label in enumerate(labels)}
    codes = [places.get(value, -1) if isinstance(value, Hashable) else -1 for value in values]
    array = np.asarray(codes, dtype=np.int64)
    if (array < 0).any():
        index = int(np.argmax(array < 0))
        value = values[index]
        allowed = ", ".join(map(repr, labels))
        raise DataError.at(name, f"index {index}", f"{value!r} is not one of {allowed}")
    return array


def stereotype_codes(name: str, values: Iterable[Any]) -> Ints:
    """Numbers of stereotypes, 1 to 16, counted from 0."""
    return label_codes(name, values, list(STEREOTYPES))


def gender_codes(name: str, values: Iterable[Any]) -> Ints:
    """0 for female, 1 for male."""
    return label_codes(name, values, GENDERS)


def group_codes(name: str, values: Iterable[Any]) -> tuple[Ints, list[str]]:
    """Names of groups: the place of each in the sorted list of names, and that list."""
    check_samples(name, values)
    texts = list(values)
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise DataError.at(name, f"index {index}", f"{text!r} is not the name of a group")
    names = sorted(set(texts))
    return label_codes(name, texts, names), names


def unit_codes(name: str, values: Sequence[Any] | npt.NDArray[Any] | None, number: int) -> Ints | None:
    """The unit of each of `number` samples, counted from 0; None where each sample is one."""
    if values is None:
        return None
    check_samples(name, values)
    if len(values) != number:
        raise DataError.at(
            name, f"index {min(len(values), number)}", f"{len(values)} {name} for {number} samples"
        )
    names: dict[Any, int] = {}
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    for index, value in enumerate(plain):
        if value is None or not isinstance(value, Hashable) or value != value:
            raise DataError.at(name, f"index {index}", f"{value!r} is not the name of a unit")
        names.setdefault(value, len(names))
    codes = np.array([names[value] for value in plain], dtype=np.int64)
    return None if len(names) == number else codes


def count_units(strata: Ints, units: Ints | None, number: int) -> Ints:
    """How many units, or samples where each is one, each of so many strata has."""
    if units is None:
        return np.bincount(strata, minlength=number)
    cells = np.unique(units * number + strata)
    return np.bincount(cells % number, minlength=number)


def check_unit_names(name: str, values: Sequence[Any]) -> None:
    """Names of units as an `evaluate` module takes them: texts, without one that is empty."""
    group_codes(name, values)


def log_of_base(value: float) -> float:
    """The natural logarithm of the base in which a result is asked for."""
    if not (math.isfinite(value) and value > 0 and value != 1):
        raise ConfigError(f"log_base={value!r} is no base of logarithms; use math.e or 10.")
    return math.log(value)


Check = Callable[[str, Any], Any]
