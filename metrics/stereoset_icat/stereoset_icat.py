"""The evaluate module `stereoset_icat`: LMS, SS and ICAT of StereoSet."""

from functools import partial

from datasets import List, Value

from gest_dataset.builders.config import BIAS_TYPE, FAMILIES
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, stereoset_icat


class StereosetIcat(base.CheckedMetric):
    """LMS, SS, ICAT and their multi-class means (Ozturk et al., 2023, eq. 1-3)."""

    family = FAMILIES["stereoset"]
    fields = {  # noqa: RUF012
        "predictions": (List(Value("float64")), partial(checks.finite_array, width=3)),
        "references": (Value("string"), checks.group_codes),
        "bias_types": (Value("string"), checks.group_codes),
    }
    optional = ("bias_types",)
    labels = {"bias_types": BIAS_TYPE.names}  # noqa: RUF012
    statistic = staticmethod(stereoset_icat)
