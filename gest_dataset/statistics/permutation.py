"""A permutation test over stereotypes: is their split by gender more than chance?

If rates q_i (or p_i) have nothing to do with which stereotypes are about women, each of the C(16, 7) = 11,440
choices of seven stereotypes is equally likely, and p is the share of them whose difference of means,
|male - female|, is at least the observed one (exact and two-sided: Pitman, 1937, Supplement to the Journal of
the Royal Statistical Society 4). The smallest p is 1 / 11,440.

The test generalises to other stereotypes than these 16, which intervals do not. Any other difference between
stereotypes widens its null, and sampling of sentences only costs power. It does not say why the rates differ:
topics that go along with the gender of a stereotype cannot be separated from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np

from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.weights import IS_FEMALE

_ROUNDING = 1e-9


def permutation_p(values: Sequence[float] | Floats) -> float:
    """The exact p-value of male minus female over 16 values (ln q_i or p_i); nan if one is nan."""
    rates = np.asarray(values, dtype=np.float64)
    if not np.isfinite(rates).all():
        return math.nan
    centred = rates - rates.mean()
    # since the centred values add up to 0, the sum of seven determines the difference of means
    sums = np.abs(_choices() @ centred)
    observed = abs(float(centred[IS_FEMALE].sum()))
    return float((sums >= observed - _ROUNDING * float(np.abs(centred).sum())).mean())


@cache
def _choices() -> Floats:
    """All choices of seven of the stereotypes, one per row."""
    picks = np.array(list(combinations(range(len(IS_FEMALE)), int(IS_FEMALE.sum()))))
    chosen = np.zeros((len(picks), len(IS_FEMALE)))
    np.put_along_axis(chosen, picks, 1.0, axis=1)
    return chosen
