"""The evaluate module `winobias_rate`: which pronoun a language model gives to occupations."""

from datasets import Value

from gest_dataset.builders.config import FAMILIES
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, winobias_rate
from gest_dataset.stereotypes import GENDERS


class WinobiasRate(base.CheckedMetric):
    """q_m, q_f and g_s of WinoBias (Pikuliak et al., 2024, eq. 5)."""

    family = FAMILIES["winobias"]
    fields = {  # noqa: RUF012
        "predictions": (Value("float64"), checks.finite_array),
        "references": (Value("string"), checks.gender_codes),
    }
    labels = {"references": GENDERS}  # noqa: RUF012
    statistic = staticmethod(winobias_rate)
