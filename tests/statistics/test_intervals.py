"""The intervals against plain loops and textbook formulas, and paired comparisons."""

from __future__ import annotations

import math
from itertools import compress

import numpy as np
import pytest
from scipy import stats

from gest_dataset import statistics
from gest_dataset.statistics import bootstrap, comparison, proportions
from gest_dataset.statistics.bootstrap import Moments, SmoothFunction
from gest_dataset.statistics.resampling import contrasts
from gest_dataset.statistics.stereoset_icat import icat_of_means
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from tests.statistics.test_statistics import gest, quadruplets, stereoset, translated


def test_analytic_bounds_are_students_t() -> None:
    ratios, references = gest(4, each=15)
    result = statistics.stereotype_rate(ratios, references, scale="log10")
    for i in range(1, 17):
        own = [x / math.log(10) for x, r in zip(ratios, references, strict=True) if r == i]
        low, high = stats.ttest_1samp(own, 0).confidence_interval()
        assert result["q_analytic_low"][i - 1] == pytest.approx(low)
        assert result["q_analytic_high"][i - 1] == pytest.approx(high)


def test_analytic_bounds_of_two_groups_are_welchs() -> None:
    rng = np.random.default_rng(5)
    male, female = rng.normal(0.5, 1, 40), rng.normal(0, 2, 25)
    genders = ["male"] * 40 + ["female"] * 25
    result = statistics.winobias_rate([*male, *female], genders)
    low, high = stats.ttest_ind(male, female, equal_var=False).confidence_interval()
    assert math.log(result["g_s_analytic_low"]) == pytest.approx(low)
    assert math.log(result["g_s_analytic_high"]) == pytest.approx(high)


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


def test_bootstrap_sees_skewness() -> None:
    """Few rows with a long tail to the right: the mean may well be larger, hardly smaller."""
    ratios = [*np.random.default_rng(14).exponential(1, 40), 0.0, 0.0]
    result = statistics.winobias_rate(ratios, ["male"] * 40 + ["female"] * 2)
    value, low, high = (math.log(result[key]) for key in ("q_m", "q_m_low", "q_m_high"))
    assert high - value > 1.2 * (value - low)


def test_resamples_without_the_few_rows_that_differ_bound_nothing() -> None:
    """One row in 30 that differs: a third of the resamples never see it, so Student's t is used."""
    rows = [[0.0, 1.0, 0.5]] * 29 + [[1.0, 0.0, -1.0]]
    result = statistics.stereoset_icat(rows, ["a", "b"] * 15)
    assert 40 < result["lms_low"] == result["lms_analytic_low"] < result["lms"]
    assert 60 > result["lms_high"] == result["lms_analytic_high"] > result["lms"]
    assert not any(math.isnan(result[key]) for key in result if key != "by_bias_type")


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


def test_small_samples_use_students_t() -> None:
    result = statistics.winobias_rate([0.1, 0.5, 0.3, 0.2, 0.9], ["male", "male", "male", "female", "female"])
    assert result["q_m_low"] == result["q_m_analytic_low"] < result["q_m"]


SMOOTH: dict[str, tuple[SmoothFunction, tuple[int, int]]] = {
    "linear": (bootstrap.linear(np.array([[0.5, -1.0], [2.0, 0.0]])), (2, 2)),
    "icat above": (icat_of_means(np.array([0.25, 0.75]), stereotyped=True), (2, 2)),
    "icat below": (icat_of_means(np.array([0.25, 0.75]), stereotyped=False), (2, 2)),
    "ratio": (comparison._ln_mean_ratio(MALE_MINUS_FEMALE), (16, 3)),
    "contrast of rates": (
        SmoothFunction(comparison._contrast_of_rates, comparison._contrast_of_rates_gradient),
        (16, 2),
    ),
    "difference": (comparison._difference((comparison._ln_mean_ratio(MALE_MINUS_FEMALE),) * 2, 1), (16, 2)),
}


@pytest.mark.parametrize("name", list(SMOOTH))
def test_gradients_are_the_slopes(name: str) -> None:
    function, shape = SMOOTH[name]
    mean = np.random.default_rng(8).uniform(0.2, 0.8, size=shape)
    expected = np.zeros(shape)
    for place in np.ndindex(*shape):
        step = np.zeros(shape)
        step[place] = 1e-6
        expected[place] = (function.value(mean + step) - function.value(mean - step)) / 2e-6
    assert function.gradient(mean) == pytest.approx(expected, abs=1e-7)


def test_statistics_of_a_draw_are_those_of_its_data() -> None:
    """Value and gradient take the draws as a leading axis."""
    mean = np.random.default_rng(9).uniform(0.2, 0.8, size=(5, 2, 2))
    for name in ("linear", "icat above", "icat below"):
        function, _ = SMOOTH[name]
        assert function.value(mean).tolist() == pytest.approx([float(function.value(one)) for one in mean])
        assert function.gradient(mean) == pytest.approx(np.stack([function.gradient(one) for one in mean]))


def test_sums_of_proportions_are_price_and_bonetts() -> None:
    x, n, w = np.array([3.0, 10.0]), np.array([20.0, 12.0]), np.array([-1.0, 1.0])
    found = proportions.rate_contrast(proportions.StratifiedCounts(x, n), w)
    p = (x + 1) / (n + 2)  # 4 / k trials and 2 / k successes, k = 2: Agresti and Caffo
    reach = stats.norm.ppf(0.975) * math.sqrt(float((p * (1 - p) / (n + 2)).sum()))
    assert found.value == pytest.approx(10 / 12 - 3 / 20)
    assert found.analytic_low == pytest.approx(p[1] - p[0] - reach)
    assert found.analytic_high == pytest.approx(p[1] - p[0] + reach)
    many = proportions.rate_contrast(proportions.StratifiedCounts(100 * x, 100 * n), w)
    assert many.low == pytest.approx(many.analytic_low, abs=0.1 * (many.high - many.low))
    assert many.high == pytest.approx(many.analytic_high, abs=0.1 * (many.high - many.low))


def test_variances_are_those_of_the_delta_method() -> None:
    """On a product of two means, by simulation."""
    rng = np.random.default_rng(10)
    data = rng.normal([2.0, 0.6], [0.5, 0.1], size=(400, 200, 2))
    function = icat_of_means(np.ones(1), stereotyped=True)
    values = function.value(data.mean(axis=1)[:, None, :])
    moments = bootstrap.sample_moments([data[0]])
    variance = bootstrap._variances(function, moments).sum()
    assert variance == pytest.approx(values.var(), rel=0.3)
    assert isinstance(moments, Moments)


# --- comparison


def test_comparison_is_paired() -> None:
    """What both models share cancels out: the interval is far shorter than an unpaired one."""
    rng = np.random.default_rng(11)
    references = list(range(1, 17)) * 30
    shared = rng.normal(size=480)
    b = shared + 0.05 * rng.normal(size=480)
    a = b + 0.1 * (np.array(references) > 7)
    found = statistics.compare("g_s", a, b, references)
    one = statistics.stereotype_rate(a, references)
    assert found.a == pytest.approx(one["g_s"])
    assert found.difference == pytest.approx(math.log(found.a / found.b))
    assert found.low > 0
    assert found.p_value < 0.001
    assert found.high - found.low < 0.3 * math.log(one["g_s_high"] / one["g_s_low"])
    back = statistics.compare("g_s", b, a, references)
    assert (back.difference, back.a) == pytest.approx((-found.difference, found.b))


def test_comparisons_are_differences_of_the_measures() -> None:
    genders, references = translated(1, each=20)
    others, _ = translated(2, each=20)
    found = statistics.compare("f_s", genders, others, references)
    known = ["unknown" not in pair for pair in zip(genders, others, strict=True)]
    common = [list(compress(side, known)) for side in (genders, others, references)]
    rates = [statistics.masculine_rate(side, common[2])["f_s"] for side in common[:2]]
    assert found.difference == pytest.approx(rates[0] - rates[1])
    rows, targets, _ = stereoset(1, each=20)
    other_rows, _, _ = stereoset(2, each=20)
    found = statistics.compare("icat", rows, other_rows)
    values = [statistics.stereoset_icat(side, targets)["icat"] for side in (rows, other_rows)]
    assert (found.a, found.b) == pytest.approx(values)
    quads, more = quadruplets(1)[0], quadruplets(2)[0]
    found = statistics.compare("f_mu", quads, more)
    means = [statistics.control_bias(side)["f_mu"] for side in (quads, more)]
    assert found.difference == pytest.approx(means[0] - means[1])
    sides = [[row[0] for row in side] for side in (quads, more)]
    cs = statistics.compare("cs_mu_original", *sides)
    direct = [statistics.control_bias(None, [[x, None] for x in side])["cs_mu_original"] for side in sides]
    assert (cs.a, cs.b) == pytest.approx(direct)
    assert cs.p_value == pytest.approx(stats.ttest_rel(*sides).pvalue, abs=0.03)
    low, high = stats.ttest_rel(
        *([(a - b) - (c - d) for a, b, c, d in side] for side in (quads, more))
    ).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))


def test_equal_models_do_not_differ() -> None:
    ratios, references = gest(1)
    found = statistics.compare("g_s", ratios, ratios, references)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize(("number", "p_value"), [(2, 0.5), (5, 2 / 2**5), (40, 2 / 1000)])
@pytest.mark.parametrize("shift", [0.1, -3.0])
def test_a_constant_difference_is_a_difference(number: int, p_value: float, shift: float) -> None:
    """An interval of one point; p is the least of 999 draws, and not below that of a sign test.

    With a shift of 0.1 the differences are equal but for rounding.
    """
    b = np.random.default_rng(number).normal(size=number)
    for rows in (b, np.zeros(number)):
        found = statistics.compare("cs_mu_original", rows + shift, rows, draws=999)
        assert (found.difference, found.low, found.high) == pytest.approx((shift, shift, shift))
        assert found.p_value == p_value


def test_a_constant_difference_counts_the_smallest_stratum() -> None:
    references = [i for i in range(1, 17) for _ in range(4 if i == 1 else 12)]
    male = np.array([0.5 if i > 7 else 0.0 for i in references])
    found = statistics.compare("g_s", male, np.zeros(len(male)), references, draws=999)
    assert found.difference == found.low == found.high == 0.5
    assert found.p_value == 2 / 2**4


def test_a_constant_counts_the_strata_in_use_only() -> None:
    """Six equal samples with a weight of 1 beside three with none: a sign test on the six."""
    samples = [np.full((6, 1), 0.5), np.full((3, 1), 0.7)]
    found = bootstrap.interval(
        bootstrap.linear(np.array([[1.0], [0.0]])),
        bootstrap.sample_moments(samples),
        bootstrap.bootstrap_moments(samples, draws=999),
    )
    assert (found.value, found.low, found.high, found.p_value) == (0.5, 0.5, 0.5, 2 / 2**6)


@pytest.mark.parametrize("place", [0, 1])
def test_a_stratum_without_weight_changes_nothing(place: int) -> None:
    """Also one of a single sample, which has no variance: the bounds are those of the other stratum alone."""
    rows = np.sort(np.random.default_rng(10).exponential(size=40))[:, None]
    found = []
    for samples in ([rows], [rows, np.array([[3.0]])] if place else [np.array([[3.0]]), rows]):
        weights = np.array([[float(len(stratum) > 1)] for stratum in samples])
        moments = bootstrap.sample_moments(samples), bootstrap.bootstrap_moments(samples)
        found.append(bootstrap.interval(bootstrap.linear(weights), *moments))
    alone, beside = found
    assert beside == alone
    assert alone.low != alone.analytic_low


def test_mean_ratios_are_taken_as_their_logarithm() -> None:
    """ln of the mean over templates of exp(sum of w_i mean_i); of one template that sum itself."""
    weights = np.array([0.5, -1.0, 0.25])
    ratio = comparison._ln_mean_ratio(weights)
    mean = np.random.default_rng(11).normal(size=(4, 3, 2))
    each = np.exp(np.einsum("s,dst->dt", weights, mean))
    assert ratio.value(mean) == pytest.approx(np.log(each.mean(axis=1)))
    alone = mean[:, :, :1]
    assert ratio.value(alone) == pytest.approx(alone[:, :, 0] @ weights)
    assert ratio.gradient(alone)[2, :, 0] == pytest.approx(weights)


def test_what_two_models_share_leaves_no_rounding() -> None:
    """Differences of a billionth of a common part, which drowns them where variances are subtracted."""
    rng = np.random.default_rng(9)
    shared, small = 1e9 * rng.normal(size=60), rng.normal(size=60)
    found = statistics.compare("cs_mu_original", shared + small, shared)
    low, high = stats.ttest_1samp(small, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))


@pytest.mark.parametrize(("number", "students"), [(9, True), (10, True), (11, False), (12, False)])
def test_ten_degrees_of_freedom_are_the_least_of_the_bootstrap(number: int, students: bool) -> None:
    """n - 1 of them in one stratum: below 11 samples the bounds are Student's."""
    rows = np.random.default_rng(4).exponential(size=number)
    found = contrasts(rows, np.zeros(number, dtype=np.int64), [np.ones(1)], 500, 0)[0]
    assert ((found.low, found.high) == (found.analytic_low, found.analytic_high)) == students


def test_p_values_are_uniform_without_a_difference() -> None:
    """Over 300 pairs of equal models, about 5 % are below 0.05; and p and the interval agree."""
    references = list(range(1, 17)) * 12
    found = []
    for seed in range(300):
        rng = np.random.default_rng([12, seed])
        shared = rng.normal(size=192)
        a, b = (shared + rng.normal(size=192) for _ in range(2))
        found.append(statistics.compare("g_s", a, b, references, draws=999))
    p = np.array([one.p_value for one in found])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    for one in found:
        if abs(one.p_value - 0.05) > 0.004:
            assert (one.p_value < 0.05) == (one.low > 0 or one.high < 0)


def test_holm_is_the_definition() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert statistics.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1, 1]
    assert statistics.holm([0.04]) == [0.04]


@pytest.mark.parametrize("share", [0.5, 0.95, 0.98, 1.0])
@pytest.mark.parametrize("convention", ["plain", "published"])
def test_rates_are_within_their_bounds(share: float, convention: str) -> None:
    genders = ["male" if i % 100 < 100 * share else "female" for i in range(3200)]
    result = statistics.masculine_rate(genders, [i % 16 + 1 for i in range(3200)], convention)
    for name in ("p_f", "p_m", "f_s", "f_m"):
        assert result[f"{name}_low"] <= result[name] <= result[f"{name}_high"]


@pytest.mark.parametrize("each", [2, 10, 200])
def test_published_bounds_lie_around_the_published_point(each: int) -> None:
    """Small samples pull the centres far from the shares; a share's bounds do not fit a centre."""
    genders = ["male" if i % 10 else "female" for i in range(each)] * 16
    references = [i for i in range(1, 17) for _ in range(each)]
    plain = statistics.masculine_rate(genders, references)
    found = statistics.masculine_rate(genders, references, convention="published")
    assert abs(found["f_m"] - plain["f_m"]) == pytest.approx(
        abs(plain["f_m"] - 0.5) * 3.84 / (each + 3.84), rel=0.01
    )
    for name in ("p_f", "p_m", "f_s", "f_m"):
        for kind in ("", "analytic_"):
            low, high = found[f"{name}_{kind}low"], found[f"{name}_{kind}high"]
            assert low < found[name] < high
            skewed = 0.35 if kind else 1.0  # Wilson's bounds lean towards 1/2
            assert found[name] - low == pytest.approx(high - found[name], rel=skewed)
    # one rate alone is the Agresti-Coull interval, which the tables print
    one = proportions.rate_contrast(
        proportions.StratifiedCounts(np.array([9.0]), np.array([10.0])), np.ones(1), centres=True
    )
    centre, low, high = proportions.agresti_coull(np.array(9.0), np.array(10.0))
    assert one.value == pytest.approx(centre)
    assert one.analytic_low == pytest.approx(low)
    assert one.analytic_high == pytest.approx(2 * centre - low)
    assert one.analytic_high > 1 == high  # cut in a result


def test_cs_is_of_the_rows_that_have_it() -> None:
    rng = np.random.default_rng(3)
    rows, cs = rng.normal(size=(40, 4)), rng.normal(size=(40, 2)).tolist()
    some = [pair if i % 4 else [None, None] for i, pair in enumerate(cs)]
    kept = [i for i in range(40) if i % 4]
    result = statistics.control_bias(rows, some)
    alone = statistics.control_bias(rows[kept], [cs[i] for i in kept])
    assert (result["n"], result["n_cs"]) == (40, 30)
    assert result["cs_mu_original"] == pytest.approx(alone["cs_mu_original"])
    assert result["cs_rho"] == pytest.approx(alone["cs_rho"])
    assert result["f_cs_rho"] == pytest.approx(alone["f_cs_rho"])
    assert result["f_mu"] == pytest.approx(statistics.control_bias(rows)["f_mu"])


@pytest.mark.filterwarnings("error", "ignore::gest_dataset.statistics.checks.UndefinedWarning")
@pytest.mark.parametrize("spread", [0.0, 1.0, 400.0])
@pytest.mark.parametrize("number", [1, 2, 17, 34, 64])
def test_small_samples_make_numpy_say_nothing(number: int, spread: float) -> None:
    """Bounds of few samples can be beyond all numbers: they are infinite then, without a warning."""
    generator = np.random.default_rng(number)
    for again in range(6):
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
