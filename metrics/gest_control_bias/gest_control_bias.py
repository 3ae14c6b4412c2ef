"""The evaluate module `gest_control_bias`: word-filling measures against control groups."""

from __future__ import annotations

import math
from typing import Any

from datasets import List, Value

from gest_dataset.builders.families import STEREOSET_CONTROL
from gest_dataset.measures.measure import Headline
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, control_bias

_DESCRIPTION = """Is a stereotype score a bias or an artefact of the test? Compares a model's preference
for stereotypical keywords about a group (ss) with the same preference about a control group: their
difference f, false positive and false negative rates, CrowS-Pairs scores of original and control
pairs (cs, csk), correlations and agreements, with 95 % intervals."""

_INPUTS = """
Args:
    predictions: ln P of the keyword in each of the four sentences of a sample: original stereotype,
        original anti-stereotype, control stereotype, control anti-stereotype.
    cs: the CrowS-Pairs scores of each sample's original and control pair (optional).
    units: what each sample was drawn with, as texts (optional): samples of one unit, such as the copies
        of an original pair with other control groups, are resampled together.
    log_base: the base of logarithms of the means; the papers' tables are log_base=10.
    model_id, config: score this model on this config instead; with the other arguments of
        `gest_dataset.score` (device, batch_tokens, limit, templates, ...).
Returns:
    ss_mu_*, ss_plus_*, csk_mu_*, cs_mu_*, cs_plus_* of `original` and `control`, f_mu, f_plus,
    f_ss_agreement, f_cs_agreement, false_positive_rate and false_negative_rate with _low and _high;
    ss_rho, csk_rho, cs_rho, cs_csk_rho, f_ss_rho, f_cs_rho; n; verdict on f (on cs
    without keywords), with zone_low and zone_high.
"""


class GestControlBias(base.CheckedMetric):
    """ss, csk, cs and f (Pikuliak et al., 2023, eq. 1-3)."""

    texts = (_DESCRIPTION, _INPUTS)
    family = STEREOSET_CONTROL
    fields = {  # noqa: RUF012
        "predictions": (
            List(Value("float64")),
            lambda name, values: checks.finite(name, values, width=4),
        ),
        "cs": (List(Value("float64")), lambda name, values: checks.columns(name, values, width=2)),
        "units": base.UNITS,
    }
    optional = ("predictions", "cs", "units")
    options = {"log_base": lambda name, value: checks.logarithm_base(value)}  # noqa: RUF012
    statistic = staticmethod(control_bias)

    def _zone(self, head: Headline, **options: Any) -> tuple[float, float]:
        unit = checks.logarithm_base(options.get("log_base", math.e))
        return -head.zone / unit, head.zone / unit
