"""The mean of g_s over templates: the value of its definition, and an interval that covers the truth."""

from __future__ import annotations

import numpy as np
import pytest

from gest_dataset import statistics
from gest_dataset.statistics.stereotype_rate import LN_MEAN, resample_templates


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
