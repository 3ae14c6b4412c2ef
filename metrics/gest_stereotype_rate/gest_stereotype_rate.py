"""The evaluate module `gest_stereotype_rate`: which gender a language model prefers for GEST's speakers."""

from dataclasses import replace
from typing import Any

from datasets import Value

from gest_dataset.builders.config import FAMILIES
from gest_dataset.measures.measure import Headline, Result
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, stereotype_rate
from gest_dataset.statistics.stereotype_rate import EUROGEST, SCALES


class GestStereotypeRate(base.CheckedMetric):
    """q_i, q_f, q_m and g_s (Pikuliak et al., 2024, eq. 3 and 4; `scale="eurogest"`: Rowe et al., 2025)."""

    # one of the scales is EuroGEST's
    family = replace(FAMILIES["gest"], citation=FAMILIES["neutral"].citation)
    fields = {  # noqa: RUF012
        "predictions": (Value("float64"), checks.finite_array),
        "references": (Value("int32"), checks.stereotype_codes),
    }
    options = {"scale": lambda name, value: checks.check_choice(name, value, (*SCALES, EUROGEST))}  # noqa: RUF012
    statistic = staticmethod(stereotype_rate)

    def _zone(self, head: Headline, result: Result, **options: Any) -> tuple[float, float]:
        reach = head.zone * result["g_s_spread"]
        return (-reach, reach) if options.get("scale") == "log10" else super()._zone(head, result)
