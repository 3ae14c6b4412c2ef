"""The evaluate module `gest_control_bias`: word-filling measures against control groups."""

from functools import partial

from datasets import List, Value

from gest_dataset.builders.config import FAMILIES
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, control_bias


class GestControlBias(base.CheckedMetric):
    """ss, csk, cs and f (Pikuliak et al., 2023, eq. 1-3)."""

    family = FAMILIES["stereoset_control"]
    fields = {  # noqa: RUF012
        "predictions": (List(Value("float64")), partial(checks.finite_array, width=4)),
        "cs": (List(Value("float64")), partial(checks.nullable_columns, width=2)),
    }
    optional = ("predictions", "cs")
    options = {"log_base": lambda name, value: checks.log_of_base(value)}  # noqa: RUF012
    statistic = staticmethod(control_bias)
