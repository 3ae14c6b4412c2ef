"""Krippendorff's alpha: his worked example, a naive reference, and the coverage of the interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gest_dataset import studies
from gest_dataset.measures.grid import Estimate
from gest_dataset.statistics.agreement import nominal_alpha

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units
EXAMPLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def counts_of(units: list[list[int]], categories: int) -> np.ndarray:
    return np.array([np.bincount(unit, minlength=categories) for unit in units], dtype=float)


def naive(units: list[list[int]]) -> float:
    """1 - observed / expected disagreement, over all pairs of values one by one."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum(
        (a != b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    ) / len(values)
    pairs = [a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j]
    return 1 - observed / (sum(pairs) / len(pairs))


def test_krippendorffs_example() -> None:
    columns = zip(*(line.split() for line in EXAMPLE.strip().splitlines()), strict=True)
    units = [[int(value) - 1 for value in column if value != "."] for column in columns]
    assert round(nominal_alpha(counts_of(units, 5)).value, 3) == 0.743
    assert nominal_alpha(counts_of(units, 5)).value == pytest.approx(naive(units))


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_naive(seed: int) -> None:
    """Units of none to five values, in any order of the categories."""
    generator = np.random.default_rng(seed)
    units = [generator.integers(0, 3, size=generator.integers(0, 6)).tolist() for _ in range(60)]
    counts = counts_of(units, 3)
    found = nominal_alpha(counts)
    assert found.value == pytest.approx(naive(units))
    assert found.low < found.value < found.high
    assert nominal_alpha(counts[::-1, [2, 0, 1]]).value == pytest.approx(found.value)


def test_extremes() -> None:
    perfect = counts_of([[0, 0], [1, 1], [2, 2], [0, 0]], 3)
    assert nominal_alpha(perfect).value == 1
    assert nominal_alpha(counts_of([[0, 1], [1, 0]], 2)).value == pytest.approx(naive([[0, 1], [1, 0]]))
    for undefined in ([[0, 0], [0, 0]], [[0], [1]], [[]]):
        assert math.isnan(nominal_alpha(counts_of(undefined, 2)).value)


def test_coverage() -> None:
    """Two coders who give the true one of three categories, or with a share of 0.3 any of them."""
    generator = np.random.default_rng(0)

    def draw(number: int) -> np.ndarray:
        truth = generator.choice(3, size=number, p=[0.45, 0.1, 0.45])
        votes = [
            np.where(generator.random(number) < 0.3, generator.integers(0, 3, number), truth) for _ in "ab"
        ]
        return sum(np.eye(3)[one] for one in votes)

    truth = nominal_alpha(draw(400_000)).value
    found = [nominal_alpha(draw(150)) for _ in range(400)]
    assert 0.925 <= np.mean([one.low <= truth <= one.high for one in found]) <= 0.975


@pytest.mark.upstream
@pytest.mark.usefixtures("upstream")
def test_of_the_released_annotations() -> None:
    """The number in docs/studies.md."""
    (row, *_) = studies.annotators().table("alpha").rows
    assert row[1] == 4001
    assert isinstance(row[3], Estimate)
    assert [round(end, 3) for end in row[3]] == [0.804, 0.787, 0.821]
