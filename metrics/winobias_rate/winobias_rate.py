"""The evaluate module `winobias_rate`: which pronoun a language model gives to occupations."""

from __future__ import annotations

from datasets import Value

from gest_dataset.builders.families import WINOBIAS
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, winobias_rate

_DESCRIPTION = """How much more likely a language model finds a masculine pronoun for stereotypically
male than for stereotypically female occupations (g_s = q_m / q_f; 1: no stereotype), from WinoBias
sentences, with 95 % intervals."""

_INPUTS = """
Args:
    predictions: ln P(masculine pronoun) - ln P(feminine pronoun) of each sample.
    references: the stereotypical gender of the occupation, "male" or "female".
    units: what each sample was drawn with, as texts (optional): samples of one unit, such as the
        occupation, are resampled together.
    model_id, config: score this model on this config instead; with the other arguments of
        `gest_dataset.score` (device, batch_tokens, limit, templates, ...).
Returns:
    q_m, q_f, g_s with bounds (bootstrap, and _analytic_low and _analytic_high beside them); verdict on
    g_s, with zone_low and zone_high.
"""


class WinobiasRate(base.CheckedMetric):
    """q_m, q_f and g_s of WinoBias (Pikuliak et al., 2024, eq. 5)."""

    texts = (_DESCRIPTION, _INPUTS)
    family = WINOBIAS
    fields = {  # noqa: RUF012
        "predictions": (Value("float64"), checks.finite),
        "references": (Value("string"), checks.genders),
        "units": base.UNITS,
    }
    optional = ("units",)
    statistic = staticmethod(winobias_rate)
