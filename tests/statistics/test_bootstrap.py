"""The bootstrap and its intervals: against finite differences, plain loops and textbook formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from gest_dataset import statistics
from gest_dataset.statistics import bootstrap, comparison
from gest_dataset.statistics.bootstrap import Interval, SmoothFunction, linear, mean_interval, resample
from gest_dataset.statistics.stereoset_icat import icat_of_means
from gest_dataset.statistics.stereotype_rate import LN_MEAN, LN_Q, LN_QUOTIENT
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

_RNG = np.random.default_rng(8)
_WEIGHTS = _RNG.uniform(0.2, 0.8, 3)
_G_S = comparison._g_s([0.0] * 16, [0.0] * 16, list(range(1, 17)), None).functions[0]
FUNCTIONS: dict[str, tuple[SmoothFunction, tuple[int, int]]] = {
    "linear": (bootstrap.linear(_RNG.normal(size=(3, 2))), (3, 2)),
    "icat below 50": (icat_of_means(_WEIGHTS, False), (3, 2)),
    "icat above 50": (icat_of_means(_WEIGHTS, True), (3, 2)),
    "ratio": (_G_S, (16, 1)),
    "ratio over templates": (_G_S, (16, 3)),
    "quotient of shares": (LN_QUOTIENT, (16, 2)),
    "d": (bootstrap.standardised(linear(MALE_MINUS_FEMALE), np.repeat(np.arange(16), 2), 16), (16, 2)),
    "d over templates": (bootstrap.standardised(LN_MEAN, np.repeat(np.arange(16), 2), 16), (16, 7)),
    "rates": (comparison._RATE_CONTRAST, (16, 2)),
    "mean g_s": (LN_MEAN, (16, 7)),
    "ln q over templates": (LN_Q[1], (16, 7)),
    "difference": (
        comparison._difference_function((icat_of_means(_WEIGHTS, False), icat_of_means(_WEIGHTS, True)), 2),
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


@pytest.mark.parametrize("size", [0, 1, 2])
def test_strata_that_are_not_used_do_not_matter(size: int) -> None:
    """Empty or not, whatever they hold."""
    rng = np.random.default_rng(6)
    used = rng.normal(size=20)
    alone = mean_interval(used, 300, 0)
    rows = np.r_[used, np.full(size, 1e9) * np.arange(1, size + 1)]
    strata = np.r_[np.zeros(20, dtype=np.int64), np.ones(size, dtype=np.int64)]
    found = resample(rows[:, None], strata, 2, None, 300, 0).interval(linear(np.array([[1.0], [0.0]])))
    assert found == alone


def students_interval(values: np.ndarray) -> Interval:
    strata = bootstrap.one_stratum(values)
    return resample(values[:, None], strata, 1, None, 300, 0).interval(linear(np.ones(1)), students=True)


def test_analytic_bounds_are_students_t() -> None:
    values = np.random.default_rng(4).normal(0.3, 1, 15)
    found = students_interval(values)
    low, high = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.p_value == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_analytic_bounds_of_two_groups_are_welchs() -> None:
    rng = np.random.default_rng(5)
    male, female = rng.normal(0.5, 1, 40), rng.normal(0, 2, 25)
    strata = np.repeat([0, 1], [40, 25])
    resamples = resample(np.r_[male, female][:, None], strata, 2, None, 300, 0)
    found = resamples.interval(linear(np.array([1.0, -1.0])), students=True)
    low, high = stats.ttest_ind(male, female, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))


def naive_bootstrap_t(groups: list[np.ndarray], weights: list[float], draws: int) -> tuple[float, float]:
    """Resample, one draw and one group after the other."""
    rng = np.random.default_rng(99)

    def measure(samples: list[np.ndarray]) -> tuple[float, float]:
        value = sum(w * s.mean() for w, s in zip(weights, samples, strict=True))
        error = sum(w**2 * s.var(ddof=1) / len(s) for w, s in zip(weights, samples, strict=True))
        return value, math.sqrt(error)

    value, error = measure(groups)
    ratios = []
    for _ in range(draws):
        again = measure([rng.choice(group, len(group)) for group in groups])
        ratios.append((again[0] - value) / again[1])
    low, high = np.quantile(ratios, [0.025, 0.975])
    return value - high * error, value - low * error


@pytest.mark.parametrize("shape", ["continuous", "repeated"])
def test_bootstrap_is_a_bootstrap_t(shape: str) -> None:
    """Against a plain loop, with rows that are all different and with rows that repeat."""
    rng = np.random.default_rng(6)
    groups = [rng.exponential(1, 60), rng.exponential(2, 45)]
    if shape == "repeated":
        groups = [np.minimum(np.floor(group), 2) for group in groups]
    ratios, genders = np.concatenate(groups), ["female"] * 60 + ["male"] * 45
    result = statistics.winobias_rate(ratios, genders, draws=20_000)
    low, high = naive_bootstrap_t(groups, [-1, 1], 20_000)
    width = high - low
    assert math.log(result["g_s_low"]) == pytest.approx(low, abs=0.02 * width)
    assert math.log(result["g_s_high"]) == pytest.approx(high, abs=0.02 * width)


def test_resamples_without_the_few_rows_that_differ_bound_nothing() -> None:
    """One row in 30 that differs: a third of the resamples never see it, so Student's t is used."""
    values = np.r_[np.zeros(29), 1.0]
    found = mean_interval(values, 2000, 0)
    assert -0.1 < found.low < found.value < found.high < 0.2
    assert found == students_interval(values)


def test_large_strata_use_their_normal_limit() -> None:
    rng = np.random.default_rng(7)
    rows = [np.sort(rng.gamma(4, size=bootstrap.NORMAL_FROM))[:, None]]
    drawn = bootstrap.bootstrap_moments(rows, 4000, 1)
    expected = rows[0].std() / math.sqrt(len(rows[0]))
    assert drawn.mean.std() == pytest.approx(expected, rel=0.05)
    few = bootstrap.bootstrap_moments([rows[0][:-1]], 4000, 1)
    assert few.mean.std() == pytest.approx(expected, rel=0.05)
    assert few.mean.mean() == pytest.approx(drawn.mean.mean(), abs=expected / 10)
    # in that limit the covariance is the sample's own in every draw
    assert np.ptp(drawn.covariance) == 0 < np.ptp(few.covariance)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("spread", [0.0, 400.0])
@pytest.mark.parametrize("number", [1, 2, 17, 34])
def test_small_samples_cause_no_numpy_warnings(number: int, spread: float) -> None:
    """Bounds of few samples can be beyond all numbers: they are infinite then, without a warning."""
    generator = np.random.default_rng(number)
    for again in range(2):
        a, b = spread * generator.normal(size=(2, number))
        references = generator.integers(1, 17, number) if again % 2 else np.arange(number) % 16 + 1
        statistics.compare("g_s", a, b, references, draws=200)
        statistics.compare("cs_mu_original", a, b, draws=200)
        statistics.stereotype_rate(a, references, draws=200)
        statistics.winobias_rate(a, np.where(b > 0, "male", "female").tolist(), draws=200)
        shares = [0.02, 0.03, 0.95] if again % 2 else [0.5, 0.2, 0.3]
        first, second = (generator.choice(["male", "female", "unknown"], number, p=shares) for _ in range(2))
        statistics.compare("f_s", first, second, references, draws=200)
        statistics.masculine_rate(first, references, draws=200)
