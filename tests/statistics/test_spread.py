"""The spread of a result: what the zone of negligible effects is measured by."""

import math

import numpy as np
import pytest

from gest_dataset.statistics import control_bias, masculine_rate, stereotype_rate, winobias_rate
from gest_dataset.statistics.bootstrap import pooled_deviation

STEREOTYPES = np.repeat(np.arange(1, 17), 500)


def test_the_spread_is_that_within_stereotypes() -> None:
    scores = 0.7 * np.random.default_rng(0).normal(size=len(STEREOTYPES)) + STEREOTYPES
    assert stereotype_rate(scores, STEREOTYPES)["g_s_spread"] == pytest.approx(0.7, rel=0.04)
    in_log10 = stereotype_rate(scores, STEREOTYPES, scale="log10")["g_s_spread"]
    assert in_log10 == pytest.approx(0.7 / math.log(10), rel=0.04)
    genders = np.where(STEREOTYPES > 7, "male", "female").tolist()
    assert winobias_rate(scores - STEREOTYPES, genders)["g_s_spread"] == pytest.approx(0.7, rel=0.04)


def test_spreads_of_shares_and_of_quadruplets() -> None:
    labels = np.where(np.arange(len(STEREOTYPES)) % 4 == 0, "female", "male").tolist()
    assert masculine_rate(labels, STEREOTYPES.tolist())["f_s_spread"] == pytest.approx(math.sqrt(3) / 4)
    rows = np.random.default_rng(0).normal(size=(5_000, 4))
    result = control_bias(rows, None, log_base=10)
    assert result["f_mu_spread"] == pytest.approx(2 / math.log(10), rel=0.05)
    assert math.isnan(result["cs_mu_original_spread"])


def test_strata_of_one_have_no_spread() -> None:
    assert pooled_deviation(np.array([1.0, 5.0, 7.0]), np.array([0, 1, 1])) == pytest.approx(math.sqrt(2))
    assert math.isnan(pooled_deviation(np.array([1.0, 2.0]), np.array([0, 1])))
