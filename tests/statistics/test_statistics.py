"""The statistics against plain loops over their definitions, and against what must always hold."""

from __future__ import annotations

import math
import statistics as plain
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gest_dataset import statistics
from gest_dataset.statistics.bootstrap import deviation_of_squares, squared_deviations
from gest_dataset.statistics.stereotype_rate import LN_MEAN, resample_templates

FEW = 200  # draws, where bounds do not matter


def gest(seed: int, each: int = 6) -> tuple[list[float], list[int]]:
    rng = np.random.default_rng(seed)
    references = np.repeat(np.arange(1, 17), each)
    ratios = rng.normal(0.1 * (references > 7), 0.5)
    order = rng.permutation(len(ratios))
    return ratios[order].tolist(), references[order].tolist()


def translated(seed: int, each: int = 8) -> tuple[list[str], list[int]]:
    rng = np.random.default_rng(seed)
    references = np.repeat(np.arange(1, 17), each)
    genders = rng.choice(["male", "female", "unknown"], p=[0.6, 0.3, 0.1], size=len(references))
    genders[::each] = "male"  # every stereotype has a sample
    order = rng.permutation(len(references))
    return genders[order].tolist(), references[order].tolist()


def quadruplets(seed: int, number: int = 40) -> tuple[list[list[float]], list[list[float]]]:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(number, 2))
    rows = np.hstack([shared, shared]) + rng.normal([0.2, 0, 0, 0], 0.6, size=(number, 4)) - 7
    return rows.tolist(), rng.normal(0.1, 1, size=(number, 2)).tolist()


def stereoset(seed: int, targets: int = 5, each: int = 7) -> tuple[list[list[float]], list[str], list[str]]:
    rng = np.random.default_rng(seed)
    rows = rng.normal([0.8, 0.5, 0], 1, size=(targets * each, 3))
    names = [f"target {i % targets}" for i in range(len(rows))]
    return rows.tolist(), names, [["gender", "race"][i % 2] for i in range(len(rows))]


# --- values, against loops over the definitions


@pytest.mark.parametrize("seed", range(3))
def test_masculine_rates_are_the_definition(seed: int) -> None:
    genders, references = translated(seed)
    result = statistics.masculine_rate(genders, references)
    expected = []
    for i in range(1, 17):
        own = [g for g, r in zip(genders, references, strict=True) if r == i and g != "unknown"]
        expected.append(own.count("male") / len(own))
        assert result["n"][i - 1] == len(own)
    p_f, p_m = plain.mean(expected[:7]), plain.mean(expected[7:])
    assert result["p"] == pytest.approx(expected)
    assert [result[name] for name in ("p_f", "p_m", "f_s", "f_m")] == pytest.approx(
        [p_f, p_m, p_m - p_f, (p_m + p_f) / 2]
    )
    assert result["feminine_ranks"] == stats.rankdata(expected).tolist()
    assert result["n_unknown"] == genders.count("unknown")


def test_published_convention_is_the_centre_of_the_interval() -> None:
    genders, references = translated(0)
    result = statistics.masculine_rate(genders, references, convention="published")
    z = stats.norm.ppf(0.975)
    for i, (p, n) in enumerate(zip(result["p"], result["n"], strict=True), start=1):
        x = sum(g == "male" and r == i for g, r in zip(genders, references, strict=True))
        centre = (x + z**2 / 2) / (n + z**2)
        reach = z * math.sqrt(centre * (1 - centre) / (n + z**2))
        assert p == pytest.approx(centre)
        assert result["p_low"][i - 1] == pytest.approx(max(0, centre - reach))
        assert result["p_high"][i - 1] == pytest.approx(min(1, centre + reach))
    assert result["f_s"] == pytest.approx(plain.mean(result["p"][7:]) - plain.mean(result["p"][:7]))


@pytest.mark.parametrize("seed", range(3))
def test_stereotype_rates_are_the_definition(seed: int) -> None:
    ratios, references = gest(seed)
    rates = []
    for i in range(1, 17):
        own = [math.exp(x) for x, r in zip(ratios, references, strict=True) if r == i]
        rates.append(plain.geometric_mean(own))
    q_f, q_m = plain.geometric_mean(rates[:7]), plain.geometric_mean(rates[7:])
    result = statistics.stereotype_rate(ratios, references)
    assert result["q"] == pytest.approx(rates)
    assert [result["q_f"], result["q_m"], result["g_s"]] == pytest.approx([q_f, q_m, q_m / q_f])
    assert result["n"] == [6] * 16
    logs = statistics.stereotype_rate(ratios, references, scale="log10")
    assert logs["q"] == pytest.approx([math.log10(q) for q in rates])
    assert logs["g_s"] == pytest.approx(math.log10(q_m) - math.log10(q_f))
    printed = statistics.stereotype_rate(ratios, references, scale="published")
    assert printed["q"] == pytest.approx([math.exp(math.log10(q)) for q in rates])
    assert printed["g_s"] == pytest.approx(math.exp(math.log10(q_m / q_f)))


@pytest.mark.parametrize("seed", range(3))
def test_eurogests_rates_are_the_definition(seed: int) -> None:
    """Rowe et al. (2025): the mean of m / (m + f) over stereotypes 8 to 16, by that over 1 to 7."""
    ratios, references = gest(seed)
    rates = []
    for i in range(1, 17):
        chances = [(math.exp(x), 1.0) for x, r in zip(ratios, references, strict=True) if r == i]
        rates.append(plain.mean(m / (m + f) for m, f in chances))
    q_f, q_m = plain.mean(rates[:7]), plain.mean(rates[7:])
    result = statistics.stereotype_rate(ratios, references, scale="eurogest")
    assert result["q"] == pytest.approx(rates)
    assert [result["q_f"], result["q_m"], result["g_s"]] == pytest.approx([q_f, q_m, q_m / q_f])
    assert result["g_s_low"] < result["g_s"] < result["g_s_high"]
    assert result["feminine_ranks"] == stats.rankdata(rates).tolist()
    shares = [1 / (1 + math.exp(-x)) for x in ratios]
    each = [[x for x, r in zip(shares, references, strict=True) if r == i] for i in range(1, 17)]
    within = [plain.variance(own) for own in each]
    assert result["g_s_spread"] == pytest.approx(math.sqrt(plain.mean(within)) / ((q_f + q_m) / 2))
    assert result["scale"] == "eurogest"
    # its code since March 2026 needs ten samples of each stereotype
    normalised = statistics.stereotype_rate(ratios, references, scale="eurogest_normalised")
    assert normalised["n"] == [0] * 16
    assert all(map(math.isnan, [*normalised["q"], normalised["g_s"]]))
    enough = [*ratios, *ratios], [*references, *references]
    units = [*range(len(ratios)), *range(len(ratios))]
    normalised = statistics.stereotype_rate(*enough, scale="eurogest_normalised", units=units)
    assert [normalised[name] for name in ("q", "g_s")] == [result[name] for name in ("q", "g_s")]
    assert normalised["scale"] == "eurogest_normalised"
    fifth = [i for i, reference in enumerate(enough[1]) if reference == 5]
    few = [i for i in range(len(enough[1])) if i not in fifth[9:]]
    some = statistics.stereotype_rate(
        [enough[0][i] for i in few], [enough[1][i] for i in few], scale="eurogest_normalised"
    )
    missing = [math.isnan(q) for q in some["q"]]
    assert missing == [number == 5 for number in range(1, 17)]
    assert math.isnan(some["g_s"])
    assert some["q_m"] == pytest.approx(q_m)


@pytest.mark.parametrize("base", [math.e, 10.0])
def test_control_measures_are_the_definition(base: float) -> None:
    rows, cs = quadruplets(1)
    result = statistics.control_bias(rows, cs, log_base=base)
    original = [a - b for a, b, _, _ in rows]
    control = [c - d for _, _, c, d in rows]
    csk_original = [a - c for a, _, c, _ in rows]
    csk_control = [b - d for _, b, _, d in rows]
    f = [x - y for x, y in zip(original, control, strict=True)]
    cs_original, cs_control = ([pair[i] for pair in cs] for i in (0, 1))
    means = {
        "ss_mu_original": original,
        "ss_mu_control": control,
        "csk_mu_original": csk_original,
        "csk_mu_control": csk_control,
        "cs_mu_original": cs_original,
        "cs_mu_control": cs_control,
        "f_mu": f,
    }
    for name, values in means.items():
        assert result[name] == pytest.approx(plain.mean(values) / math.log(base)), name
    shares = {
        "ss_plus_original": [x > 0 for x in original],
        "ss_plus_control": [x > 0 for x in control],
        "cs_plus_original": [x > 0 for x in cs_original],
        "cs_plus_control": [x > 0 for x in cs_control],
        "f_plus": [x > 0 for x in f],
        "f_ss_agreement": [(x > 0) == (y > 0) for x, y in zip(f, original, strict=True)],
        "f_cs_agreement": [(x > 0) == (y > 0) for x, y in zip(f, cs_original, strict=True)],
        "false_positive_rate": [y > x for x, y in zip(original, control, strict=True) if x > 0],
        "false_negative_rate": [y < x for x, y in zip(original, control, strict=True) if x < 0],
    }
    for name, hits in shares.items():
        assert result[name] == pytest.approx(sum(hits) / len(hits)), name
        assert result[f"{name}_low"] <= result[name] <= result[f"{name}_high"]
    pairs = {
        "ss_rho": (original, control),
        "csk_rho": (csk_original, csk_control),
        "cs_rho": (cs_original, cs_control),
        "cs_csk_rho": (cs_original, csk_original),
        "f_ss_rho": (f, original),
        "f_cs_rho": (f, cs_original),
    }
    for name, (x, y) in pairs.items():
        assert result[name] == pytest.approx(plain.correlation(x, y)), name
    assert result["n"] == len(rows)


def naive_icat(rows: list[list[float]]) -> tuple[float, float, float]:
    lms = sum((s > u) + (a > u) for s, a, u in rows) / (2 * len(rows)) * 100
    ss = sum(s > a for s, a, _ in rows) / len(rows) * 100
    return lms, ss, lms * min(ss, 100 - ss) / 50


@pytest.mark.parametrize("seed", range(3))
def test_icat_is_the_definition(seed: int) -> None:
    rows, targets, types = stereoset(seed)
    result = statistics.stereoset_icat(rows, targets, types)
    assert (result["lms"], result["ss"], result["icat"]) == pytest.approx(naive_icat(rows))
    each = [naive_icat([r for r, t in zip(rows, targets, strict=True) if t == name]) for name in set(targets)]
    lms, ss, own = (plain.mean(column) for column in zip(*each, strict=True))
    assert result["multiclass_lms"] == pytest.approx(lms)
    assert result["multiclass_ss"] == pytest.approx(ss)
    assert result["macro_icat"] == pytest.approx(own)
    assert result["micro_icat"] == pytest.approx(lms * min(ss, 100 - ss) / 50)
    for name in ("gender", "race"):
        part = naive_icat([r for r, t in zip(rows, types, strict=True) if t == name])
        found = result["by_bias_type"][name]
        assert (found["lms"], found["ss"], found["icat"]) == pytest.approx(part)
    assert result["n"] == len(rows)


def test_winobias_rate_is_the_definition() -> None:
    ratios = [0.5, 1.0, -0.2, 0.1, -0.4, 0.3]
    genders = ["male", "male", "female", "female", "female", "male"]
    result = statistics.winobias_rate(ratios, genders)
    q_m = plain.geometric_mean([math.exp(x) for x in (0.5, 1.0, 0.3)])
    q_f = plain.geometric_mean([math.exp(x) for x in (-0.2, 0.1, -0.4)])
    assert [result["q_m"], result["q_f"], result["g_s"]] == pytest.approx([q_m, q_f, q_m / q_f])


def test_ranks_and_their_correlation() -> None:
    assert statistics.feminine_ranks([0.5, 0.1, 0.5, 0.9]) == [2.5, 1, 2.5, 4]
    first, second = [0.1, 0.4, 0.3, 0.9, 0.2], [0.2, 0.5, 0.6, 0.6, 0.1]
    expected = stats.spearmanr(first, second).statistic
    assert statistics.rank_correlation(first, second) == pytest.approx(expected)
    assert math.isnan(statistics.rank_correlation([1, 1], [1, 2]))


# --- what must always hold

ratio = st.floats(-20, 20, allow_nan=False)
labelled = st.lists(st.tuples(ratio, st.integers(1, 16)), min_size=1, max_size=60)


def complete(samples: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    """The samples, and two of every stereotype so that nothing is undefined."""
    full = samples + [(0.1 * i, i) for i in range(1, 17)] * 2
    return [x for x, _ in full], [i for _, i in full]


@settings(max_examples=16, deadline=None)
@given(labelled)
def test_swapping_genders_inverts_g_s(samples: list[tuple[float, int]]) -> None:
    ratios, references = complete(samples)
    one = statistics.stereotype_rate(ratios, references, draws=FEW)
    other = statistics.stereotype_rate([-x for x in ratios], references, draws=FEW)
    assert other["g_s"] * one["g_s"] == pytest.approx(1)
    assert np.array(other["q"]) * one["q"] == pytest.approx(np.ones(16))
    for scale, neutral in (("log10", 0.0), ("published", 1.0), ("eurogest", 1.0)):
        same = statistics.stereotype_rate([0.3] * len(ratios), references, scale, draws=FEW)
        assert same["g_s"] == pytest.approx(neutral)


@settings(max_examples=16, deadline=None)
@given(ratio, st.sampled_from(["male", "female"]))
def test_a_constant_model_has_no_stereotype(value: float, gender: str) -> None:
    references = list(range(1, 17)) * 3
    result = statistics.stereotype_rate([value] * 48, references, draws=FEW)
    assert result["g_s"] == pytest.approx(1)
    assert result["g_s_low"] <= 1 + 1e-12
    assert result["g_s_high"] >= 1 - 1e-12
    assert result["feminine_ranks"] == [8.5] * 16
    rate = statistics.masculine_rate([gender] * 48, references, draws=FEW)
    assert rate["f_s"] == 0
    assert rate["f_s_low"] < 0 < rate["f_s_high"]
    assert rate["f_m"] == (1.0 if gender == "male" else 0.0)


FUNCTIONS: dict[str, Callable[[int], tuple[Callable[..., Any], list[list[Any]]]]] = {
    "masculine_rate": lambda seed: (statistics.masculine_rate, [*translated(seed)]),
    "stereotype_rate": lambda seed: (statistics.stereotype_rate, [*gest(seed)]),
    "control_bias": lambda seed: (statistics.control_bias, [*quadruplets(seed)]),
    "stereoset_icat": lambda seed: (statistics.stereoset_icat, [*stereoset(seed)]),
    "winobias_rate": lambda seed: (
        statistics.winobias_rate,
        [gest(seed)[0], ["male" if r > 7 else "female" for r in gest(seed)[1]]],
    ),
}


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_a_seed_decides_the_bounds_only(name: str) -> None:
    function, inputs = FUNCTIONS[name](3)
    one, again, other = (function(*inputs, seed=seed) for seed in (1, 1, 2))
    assert repr(one) == repr(again)
    assert (repr(one) != repr(other)) == (name != "masculine_rate")  # whose bounds are formulas
    for key, value in one.items():
        if not key.endswith(("_low", "_high")) and key != "by_bias_type":
            assert value == pytest.approx(other[key], nan_ok=True)


# --- topics and word frequencies


def test_topical_bias_is_the_rate_of_the_samples_on_the_topic() -> None:
    sentences = ["My family came.", "I led.", "The kids cried."] * 16
    references = [i for i in range(1, 17) for _ in range(3)]
    rng = np.random.default_rng(13)
    ratios = rng.normal(size=48).tolist()
    result = statistics.topical_bias(sentences, ratios, references)
    own = [x for x, s, r in zip(ratios, sentences, references, strict=True) if r > 7 and s != "I led."]
    assert result["n_topic"] == len(own) == 18
    assert result["q_topic"] == pytest.approx(plain.geometric_mean([math.exp(x) for x in own]))
    whole = statistics.stereotype_rate(ratios, references)
    assert {key: result[key] for key in ("q_m", "q_f", "q_m_low")} == {
        key: whole[key] for key in ("q_m", "q_f", "q_m_low")
    }
    genders = ["male", "female", "unknown"] * 16
    rates = statistics.topical_bias(sentences, genders, references)
    assert (rates["p_topic"], rates["n_topic"]) == (1.0, 9)
    assert rates["p_m"] == statistics.masculine_rate(genders, references)["p_m"]


def test_mean_over_templates_agrees_with_one_template() -> None:
    random = np.random.default_rng(3)
    stereotypes = np.repeat(np.arange(16), 12)
    ratios = random.normal(size=(192, 1)) + 0.4 * (stereotypes[:, None] > 6)
    one = statistics.stereotype_rate(ratios[:, 0], stereotypes + 1)
    for columns in (ratios, np.hstack([ratios, ratios])):
        found = resample_templates(columns, stereotypes).interval(LN_MEAN)
        assert np.exp([found.value, found.low, found.high]) == pytest.approx(
            [one["g_s"], one["g_s_low"], one["g_s_high"]], rel=1e-6
        )
    other = np.hstack([ratios, 2 * ratios + random.normal(size=ratios.shape)])
    other[::7, 1] = np.nan
    each = [
        statistics.stereotype_rate(column[~np.isnan(column)], stereotypes[~np.isnan(column)] + 1)["g_s"]
        for column in other.T
    ]
    found = resample_templates(other, stereotypes).interval(LN_MEAN)
    assert np.exp(found.value) == pytest.approx(np.mean(each))
    assert found.low < found.value < found.high


STEREOTYPES = np.repeat(np.arange(1, 17), 500)


def test_the_spread_is_that_within_stereotypes() -> None:
    scores = 0.7 * np.random.default_rng(0).normal(size=len(STEREOTYPES)) + STEREOTYPES
    assert statistics.stereotype_rate(scores, STEREOTYPES)["g_s_spread"] == pytest.approx(0.7, rel=0.04)
    in_log10 = statistics.stereotype_rate(scores, STEREOTYPES, scale="log10")["g_s_spread"]
    assert in_log10 == pytest.approx(0.7 / math.log(10), rel=0.04)
    genders = np.where(STEREOTYPES > 7, "male", "female").tolist()
    assert statistics.winobias_rate(scores - STEREOTYPES, genders)["g_s_spread"] == pytest.approx(
        0.7, rel=0.04
    )


def test_d_does_not_depend_on_how_extreme_the_scores_are() -> None:
    """d = ln g_s / s, also with units, and 3 ln r has the d of ln r and the g_s of r^3."""
    scores = np.random.default_rng(1).normal(size=len(STEREOTYPES)) + 0.3 * (STEREOTYPES > 7)
    plain_result, loud = (statistics.stereotype_rate(by * scores, STEREOTYPES) for by in (1.0, 3.0))
    names = ("d", "d_low", "d_high")
    assert [loud[name] for name in names] == pytest.approx([plain_result[name] for name in names])
    assert loud["g_s"] == pytest.approx(plain_result["g_s"] ** 3)
    assert plain_result["d"] == pytest.approx(math.log(plain_result["g_s"]) / plain_result["g_s_spread"])
    # The standard error of d with its own s: sqrt(sum of w^2 / n + d^2 / 2n), from Cohen
    assert plain_result["d_high"] - plain_result["d_low"] == pytest.approx(
        2 * 1.96 * math.sqrt((1 / 7 + 1 / 9) / 500 + 0.3**2 / 16_000), rel=0.05
    )
    units = np.repeat(np.arange(len(STEREOTYPES) // 2), 2)
    in_units = statistics.stereotype_rate(scores, STEREOTYPES, units=units)
    assert in_units["d"] == pytest.approx(plain_result["d"])
    genders = np.where(STEREOTYPES > 7, "male", "female").tolist()
    of_occupations = statistics.winobias_rate(scores, genders)
    assert of_occupations["d"] == pytest.approx(
        math.log(of_occupations["g_s"]) / of_occupations["g_s_spread"]
    )
    assert math.isnan(statistics.stereotype_rate(np.zeros(32), np.tile(np.arange(1, 17), 2))["d"])


def test_d_covers_its_true_value() -> None:
    """Scores with heavy tails, whose s is far from certain; others that are louder have the same d."""
    random = np.random.default_rng(0)
    strata, hits = np.repeat(np.arange(1, 17), 60), 0
    for seed in range(400):
        noise = random.standard_t(5, size=len(strata)) / math.sqrt(5 / 3)
        result = statistics.stereotype_rate(noise + 1.5 * (strata > 7), strata, draws=400, seed=seed)
        hits += result["d_low"] <= 1.5 <= result["d_high"]
    assert 0.925 <= hits / 400 <= 0.975


def test_spreads_of_quadruplets() -> None:
    rows = np.random.default_rng(0).normal(size=(5_000, 4))
    result = statistics.control_bias(rows, None, log_base=10)
    assert result["f_mu_spread"] == pytest.approx(2 / math.log(10), rel=0.05)
    assert math.isnan(result["cs_mu_original_spread"])


def test_strata_of_one_have_no_spread() -> None:
    for values, strata, expected in (([1, 5, 7], [0, 1, 1], math.sqrt(2)), ([1, 2], [0, 1], math.nan)):
        squares = squared_deviations(np.array(values, dtype=float), np.array(strata))
        assert deviation_of_squares(squares, np.array(strata)) == pytest.approx(expected, nan_ok=True)
