"""Every gradient against finite differences, and the definition of bounds and p-values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gest_dataset import statistics
from gest_dataset.statistics import bootstrap, comparison, template_mean
from gest_dataset.statistics.bootstrap import Moments, SmoothFunction
from gest_dataset.statistics.resampling import contrasts
from gest_dataset.statistics.stereoset_icat import icat_of_means
from gest_dataset.statistics.stereotype_rate import LN_QUOTIENT
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

_RNG = np.random.default_rng(8)
_WEIGHTS = _RNG.uniform(0.2, 0.8, 3)
FUNCTIONS: dict[str, tuple[SmoothFunction, tuple[int, int]]] = {
    "linear": (bootstrap.linear(_RNG.normal(size=(3, 2))), (3, 2)),
    "icat below 50": (icat_of_means(_WEIGHTS, False), (3, 2)),
    "icat above 50": (icat_of_means(_WEIGHTS, True), (3, 2)),
    "ratio": (comparison._ln_mean_ratio(MALE_MINUS_FEMALE), (16, 1)),
    "ratio over templates": (comparison._ln_mean_ratio(MALE_MINUS_FEMALE), (16, 3)),
    "quotient of shares": (LN_QUOTIENT, (16, 1)),
    "rates": (SmoothFunction(comparison._contrast_of_rates, comparison._contrast_of_rates_gradient), (16, 2)),
    "mean g_s": (SmoothFunction(template_mean._value, template_mean._gradient), (16, 6)),
    "ln q over templates": (template_mean._ln_q(1), (16, 6)),
    "difference": (
        comparison._difference((icat_of_means(_WEIGHTS, False), icat_of_means(_WEIGHTS, True)), 2),
        (3, 4),
    ),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_gradients_are_those_of_the_values(name: str) -> None:
    """Also of a whole table of draws at once."""
    function, shape = FUNCTIONS[name]
    means = np.random.default_rng(3).uniform(0.2, 0.9, size=(4, *shape))
    gradients = function.gradient(means)
    assert gradients.shape == means.shape
    assert function.value(means).shape == (4,)
    step = 1e-6
    for draw, place in ((0, (0, 0)), (2, (1, -1)), (3, (-1, 0)), (1, (2, -1))):
        up, down = means[draw].copy(), means[draw].copy()
        up[place] += step
        down[place] -= step
        slope = (function.value(up) - function.value(down)) / (2 * step)
        assert gradients[draw][place] == pytest.approx(float(slope), rel=1e-5, abs=1e-7)
        assert function.gradient(means[draw])[place] == pytest.approx(float(slope), rel=1e-5, abs=1e-7)


def test_mean_g_s_is_its_definition() -> None:
    """Each template's g_s of its own samples; bounds around it."""
    rng = np.random.default_rng(4)
    references = np.repeat(np.arange(16), 12)
    ratios = rng.normal(size=(192, 3)) + 0.3 * (references >= 7)[:, None]
    ratios[rng.uniform(size=ratios.shape) < 0.1] = np.nan
    each = []
    for column in ratios.T:
        means = [np.nanmean(column[references == i]) for i in range(16)]
        each.append(math.exp(np.mean(means[7:]) - np.mean(means[:7])))
    found = template_mean.ln_mean_g_s(ratios, references)
    assert found.value == pytest.approx(math.log(np.mean(each)))
    assert found.low < found.value < found.high
    # the spread over samples drawn anew from each stereotype
    again = []
    for _ in range(400):
        picks = np.concatenate([rng.integers(12, size=12) + 12 * i for i in range(16)])
        again.append(template_mean._value(np.vstack([_row(ratios[picks], references, i) for i in range(16)])))
    assert (found.analytic_high - found.analytic_low) / (2 * 1.96) == pytest.approx(np.std(again), rel=0.15)


def test_ln_q_over_templates_is_its_definition() -> None:
    """Sums of scores and shares of samples beside each other, for each stereotype: their mean ratio."""
    means = np.random.default_rng(5).uniform(0.2, 0.9, size=(16, 6))
    for stereotype in (0, 9):
        expected = np.mean([means[stereotype, t] / means[stereotype, 3 + t] for t in range(3)])
        assert float(template_mean._ln_q(stereotype).value(means)) == pytest.approx(expected)


def _row(ratios: np.ndarray, references: np.ndarray, stereotype: int) -> np.ndarray:
    own = ratios[references == stereotype]
    known = np.isfinite(own)
    return np.concatenate([np.where(known, own, 0).mean(axis=0), known.mean(axis=0)])


@pytest.mark.parametrize("number", [4, 38, 39, 40, 79, 80, 199])
@pytest.mark.parametrize("value", [0.0, 1.5, -2.5, 30.0])
def test_studentised_is_its_definition(number: int, value: float) -> None:
    """Order statistics k from either end, k = (n + 1) * 2.5 % but at least 1; p of both sides."""
    ratios = np.arange(number) - number // 2 + 0.0
    error = 0.5
    low, high, p_value = bootstrap.studentised(value, error, np.r_[ratios[::-1], np.nan])
    k = max(1, int((number + 1) * 0.025 + 1e-9))
    assert (low, high) == (value - ratios[-k] * error, value - ratios[k - 1] * error)
    side = min(sum(x >= value / error for x in ratios), sum(x <= value / error for x in ratios))
    assert p_value == pytest.approx(min(1, 2 * (side + 1) / (number + 1)))


@pytest.mark.parametrize("shift", [0.4, -0.4])
def test_students_p_of_few_samples(shift: float) -> None:
    rows = np.random.default_rng(2).normal(shift, 1, 8)
    found = contrasts(rows, np.zeros(8, dtype=np.int64), [np.ones(1)], 200, 0)[0]
    assert found.p_value == pytest.approx(stats.ttest_1samp(rows, 0).pvalue)
    assert (found.low, found.high) == pytest.approx(stats.ttest_1samp(rows, 0).confidence_interval())


@pytest.mark.parametrize(("missing", "students"), [(0.024, False), (0.026, True), (0.04, True)])
def test_resamples_that_bound_nothing(missing: float, students: bool) -> None:
    """More than 2.5 % of the draws without a spread, and the analytic bounds are taken."""
    data = Moments(np.array([[1.0]]), np.array([[[4.0]]]), np.array([50.0]))
    means = np.random.default_rng(1).normal(1, 0.3, size=(1000, 1, 1))
    spreads = np.full((1000, 1, 1, 1), 4.0)
    spreads[: round(1000 * missing)] = 0
    found = bootstrap.interval(bootstrap.linear(np.ones((1, 1))), data, Moments(means, spreads, data.size))
    assert ((found.low, found.high) == (found.analytic_low, found.analytic_high)) == students


@pytest.mark.parametrize("size", [0, 1, 2])
def test_strata_that_are_not_used_do_not_matter(size: int) -> None:
    """Empty or not, whatever they hold."""
    rng = np.random.default_rng(6)
    used = rng.normal(size=20)
    alone = contrasts(used, np.zeros(20, dtype=np.int64), [np.ones(1)], 300, 0)[0]
    rows = np.r_[used, np.full(size, 1e9) * np.arange(1, size + 1)]
    strata = np.r_[np.zeros(20, dtype=np.int64), np.ones(size, dtype=np.int64)]
    found = contrasts(rows, strata, [np.array([1.0, 0.0])], 300, 0)[0]
    assert found == alone


def test_icat_of_models_on_different_sides() -> None:
    """One prefers stereotypes, the other does not: each ICAT takes its own side of 50."""
    a = [[2.0, 1.0, 0.0]] * 30 + [[1.0, 2.0, 0.0]] * 10
    b = [[2.0, 1.0, 0.0]] * 8 + [[1.0, 2.0, 0.0]] * 32
    for one, other in ((a, b), (b, a)):
        found = statistics.compare("icat", one, other, draws=500)
        assert (found.a, found.b) == pytest.approx((50, 40) if one is a else (40, 50))
        assert found.difference == pytest.approx(found.a - found.b)
        assert found.low < found.difference < found.high
        # the variance of 100 * 2 * (1 - SS_a) - 100 * 2 * SS_b
        scores = [
            (-200 if x[0] > x[1] else 0) - (200 if y[0] > y[1] else 0) for x, y in zip(a, b, strict=True)
        ]
        assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(scores, ddof=1) / 40**0.5, rel=0.2)
