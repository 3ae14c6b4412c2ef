"""The evaluate module `gest_stereotype_rate`: which gender a language model gives to GEST's speakers."""

from __future__ import annotations

from typing import Any

from datasets import Value

from gest_dataset.builders.families import GEST
from gest_dataset.measures.measure import Headline
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, stereotype_rate
from gest_dataset.statistics.stereotype_rate import SCALES

_DESCRIPTION = """Stereotype rate of a language model: how much more likely the masculine word is for
male than for female stereotypes (g_s = q_m / q_f; 1: no stereotype), from the probability ratio of
a masculine and a feminine word in each sample, with the rate q_i of each of 16 stereotypes and 95 %
intervals."""

_INPUTS = """
Args:
    predictions: ln P(masculine word) - ln P(feminine word) of each sample.
    references: the stereotype of each sample, 1 to 16.
    units: what each sample was drawn with, as texts (optional): samples of one unit, such as the pairs
        of one source sentence, are resampled together.
    scale: "ratio" (geometric means of ratios, as defined), "log10" (means of log10 ratios and their
        difference) or "published" (e to the mean log10 ratio, as the 2024 tables print it).
    model_id, config: score this model on this config instead; with the other arguments of
        `gest_dataset.score` (device, batch_tokens, limit, templates, ...).
Returns:
    q, q_low, q_high, q_simultaneous_low, q_simultaneous_high, n (16 long); q_f, q_m, g_s with bounds
    (bootstrap, and _analytic_low and _analytic_high beside them); feminine_ranks with _low and _high;
    g_s_permutation_p; verdict on g_s, with zone_low and zone_high. A model that was scored with several
    templates: by_template, and the mean g_s.
"""


class GestStereotypeRate(base.CheckedMetric):
    """q_i, q_f, q_m and g_s (Pikuliak et al., 2024, eq. 3 and 4)."""

    texts = (_DESCRIPTION, _INPUTS)
    family = GEST
    fields = {  # noqa: RUF012
        "predictions": (Value("float64"), checks.finite),
        "references": (Value("int32"), checks.stereotypes),
        "units": base.UNITS,
    }
    optional = ("units",)
    options = {"scale": lambda name, value: checks.choice(name, value, SCALES)}  # noqa: RUF012
    statistic = staticmethod(stereotype_rate)

    def _zone(self, head: Headline, **options: Any) -> tuple[float, float]:
        scale = options.get("scale", "ratio")
        return SCALES[scale](-head.zone), SCALES[scale](head.zone)
