"""How often another choice of seven of the 16 stereotypes sets them as far apart.

Tests that the rates q_i (or p_i) have nothing to do with which stereotypes are about women: if the two
kinds are exchangeable, each of the C(16, 7) = 11,440 choices of seven is as likely as the true one, and
p is the share of them whose difference of means, |male - female|, is at least the observed one (exact
and two-sided: Pitman, 1937, Supplement to the Journal of the Royal Statistical Society 4).

It takes the 16 values as they are and asks whether their split by gender is more than chance over
*stereotypes*, so it speaks of other stereotypes than these 16, of which the intervals say nothing; any
function of the text that differs between stereotypes for another reason than gender widens its null.
It does not ask whether the values are exact (sampling of sentences only adds noise, and so costs power)
nor why they differ: topics that go with the gender of a stereotype in these data are not told from the
gender itself. The least p is 1 / 11,440.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.weights import IS_FEMALE

_ROUNDING = 1e-9  # of differences that are the same but for the order of their sums


def permutation_p(values: Sequence[float] | Floats) -> float:
    """The exact p-value of male minus female over 16 values (ln q_i or p_i); nan where one is nan."""
    sixteen = np.asarray(values, dtype=np.float64)
    if not np.isfinite(sixteen).all():
        return math.nan
    centred = sixteen - sixteen.mean()
    # of values that add up to 0, the sum of seven says the difference of the means
    sums = np.abs(_choices() @ centred)
    own = abs(float(centred[IS_FEMALE].sum()))
    return float((sums >= own - _ROUNDING * float(np.abs(centred).sum())).mean())


@cache
def _choices() -> npt.NDArray[np.float64]:
    """All choices of as many of the stereotypes as are female, a row each."""
    picks = np.array(list(combinations(range(len(IS_FEMALE)), int(IS_FEMALE.sum()))))
    chosen = np.zeros((len(picks), len(IS_FEMALE)))
    np.put_along_axis(chosen, picks, 1.0, axis=1)
    return chosen
