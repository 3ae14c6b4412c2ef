"""Paired comparison of two models: differences, p-values, templates and single stereotypes."""

from __future__ import annotations

import math
from itertools import compress

import numpy as np
import pytest
from scipy import stats

from gest_dataset import statistics
from tests.statistics.test_statistics import gest, quadruplets, stereoset, translated

REFERENCES = np.repeat(np.arange(1, 17), 40)
MALE = (REFERENCES > 7)[:, None]


def scores(seed: int, templates: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(len(REFERENCES), templates))


def test_the_mean_over_templates_is_compared() -> None:
    """a and b are the means of the templates' g_s, and the bounds are those of ln of their ratio."""
    b = scores(1)
    a = b + 0.3 * scores(2) + MALE * np.array([0.4, 0.1, 0.2])
    found = statistics.compare("g_s", a, b, REFERENCES)
    for side, value in ((a, found.a), (b, found.b)):
        each = [statistics.stereotype_rate(column, REFERENCES)["g_s"] for column in side.T]
        assert value == pytest.approx(np.mean(each))
    assert found.difference == pytest.approx(math.log(found.a / found.b))
    assert found.times == pytest.approx([math.exp(x) for x in (found.difference, found.low, found.high)])
    assert found.low < found.difference < found.high
    one = statistics.compare("g_s", a[:, :1], b[:, :1], REFERENCES)
    assert one == statistics.compare("g_s", a[:, 0], b[:, 0], REFERENCES)


def test_a_louder_model_has_a_higher_g_s_and_a_lower_d() -> None:
    """Each model by its own s, also over templates."""
    for templates in (1, 3):
        b = scores(1, templates) + MALE
        a = 4 * (scores(2, templates) + 0.2 * scores(1, templates)) + 2.4 * MALE
        g_s, d = (statistics.compare(name, a, b, REFERENCES) for name in ("g_s", "d"))
        assert g_s.low > 0 > d.high
        if templates == 1:
            each = [statistics.stereotype_rate(side[:, 0], REFERENCES)["d"] for side in (a, b)]
            assert (d.a, d.b, d.difference) == pytest.approx((*each, each[0] - each[1]))
        assert statistics.compare("d", a, a, REFERENCES).p_value == 1


def test_the_difference_of_d_has_its_coverage_and_its_type_i_error() -> None:
    hits = rejected = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        shared, *noise = random.standard_t(6, size=(3, len(REFERENCES))) / math.sqrt(1.5)
        a = 3 * (0.6 * shared + 0.8 * noise[0] + MALE[:, 0])
        b = 0.6 * shared + 0.8 * noise[1] + MALE[:, 0]
        found = statistics.compare("d", a, b, REFERENCES, draws=399)
        hits += found.low <= 0 <= found.high
        rejected += found.p_value < 0.05
    assert 0.92 <= hits / 300 <= 0.98
    assert rejected / 300 <= 0.08


def test_a_planted_stereotype_is_the_one_that_is_shown() -> None:
    b = scores(8)
    a = b + 0.5 * scores(9) + 0.6 * (REFERENCES == 4)[:, None]
    found = statistics.compare_stereotypes(a, b, REFERENCES)
    assert [one.stereotype for one in found] == list(range(1, 17))
    assert [one.stereotype for one in found if one.shown] == [4]
    own = REFERENCES == 4
    assert found[3].difference == pytest.approx((a - b)[own].mean())
    assert found[3].a == pytest.approx(math.exp(a[own].mean()))
    assert found[3].difference == pytest.approx(math.log(found[3].a / found[3].b))


ANSWERS = 6  # to each of two sentences of every stereotype
ABOUT = [number for number in range(1, 17) for _ in range(2 * ANSWERS)]
SENTENCES = [place // ANSWERS for place in range(len(ABOUT))]


def answers(seed: int, unreadable: float) -> list[str]:
    share = (1 - unreadable) / 3
    generator = np.random.default_rng(seed)
    named = ["male", "female", "neither", "other"]
    return generator.choice(named, len(ABOUT), p=[share] * 3 + [unreadable]).tolist()


def naive_rate(chosen: list[str], other: list[str]) -> float:
    """Over the sentences about which both have a readable answer, one by one."""
    of_stereotype: dict[int, list[float]] = {}
    for sentence in dict.fromkeys(SENTENCES):
        places = [i for i, own in enumerate(SENTENCES) if own == sentence]
        own, others = ([side[i] for i in places if side[i] != "other"] for side in (chosen, other))
        if own and others:
            share = (own.count("male") - own.count("female")) / len(own)
            of_stereotype.setdefault(ABOUT[places[0]], []).append(share)
    means = {number: sum(shares) / len(shares) for number, shares in of_stereotype.items()}
    male, female = [means[i] for i in range(8, 17)], [means[i] for i in range(1, 8)]
    return (sum(male) / 9 - sum(female) / 7) / 2


@pytest.mark.parametrize("unreadable", [0.0, 0.4])
def test_choices_are_compared_sentence_by_sentence(unreadable: float) -> None:
    a, b = answers(1, unreadable), answers(2, unreadable)
    if unreadable:  # of one model only, so that the other's sentence is left out as well
        a[:ANSWERS] = ["other"] * ANSWERS
    found = statistics.compare("stereotype_rate", a, b, ABOUT, SENTENCES)
    assert (found.a, found.b) == pytest.approx((naive_rate(a, b), naive_rate(b, a)))
    assert found.difference == pytest.approx(found.a - found.b)
    assert found.low < found.difference < found.high
    if not unreadable:
        apart = [statistics.choice_rate(side, ABOUT, SENTENCES)["stereotype_rate"] for side in (a, b)]
        assert (found.a, found.b) == pytest.approx(apart)


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


@pytest.mark.parametrize("templates", [1, 2, 4])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_rounding_is_no_difference(templates: int, shift: float) -> None:
    """A copy, or a copy with a constant added to all scores, has the same g_s, whatever the last bit says."""
    for seed in range(20):
        b = 3 * scores(seed, templates)
        found = statistics.compare("g_s", b + shift, b, REFERENCES, draws=99)
        assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)
        assert math.isnan(found.smallest)
    genders, references = translated(seed, each=20)
    assert statistics.compare("f_s", genders, genders, references, draws=99).p_value == 1


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


@pytest.mark.slow
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
