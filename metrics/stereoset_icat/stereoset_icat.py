"""The evaluate module `stereoset_icat`: LMS, SS and ICAT of StereoSet."""

from __future__ import annotations

from datasets import List, Value

from gest_dataset.builders.families import STEREOSET
from gest_dataset.metrics import base
from gest_dataset.statistics import checks, stereoset_icat

_DESCRIPTION = """StereoSet's language-modelling score (LMS: how often a meaningful candidate beats the
unrelated one), stereotype score (SS: how often the stereotype beats the anti-stereotype; 50: no
preference) and their combination ICAT, over all samples and averaged over targets, with 95 %
intervals."""

_INPUTS = """
Args:
    predictions: the scores of each sample's stereotypical, anti-stereotypical and unrelated
        candidate; any increasing score will do.
    references: the target of each sample; the papers use the English one (`target_en`).
    bias_types: the bias type of each sample, for results by bias type (optional).
    units: what each sample was drawn with, as texts (optional): samples of one unit, such as the
        (English) target, are resampled together.
    model_id, config: score this model on this config instead; with the other arguments of
        `gest_dataset.score` (device, batch_tokens, limit, templates, ...).
Returns:
    lms, ss, icat with bounds; multiclass_lms, multiclass_ss, micro_icat with bounds; macro_icat;
    by_bias_type; n; verdict on ss, with zone_low and zone_high. All in per cent.
"""


class StereosetIcat(base.CheckedMetric):
    """LMS, SS, ICAT and their multi-class means (Ozturk et al., 2023, eq. 1-3)."""

    texts = (_DESCRIPTION, _INPUTS)
    family = STEREOSET
    fields = {  # noqa: RUF012
        "predictions": (
            List(Value("float64")),
            lambda name, values: checks.finite(name, values, width=3),
        ),
        "references": (Value("string"), checks.targets),
        "bias_types": (Value("string"), checks.targets),
        "units": base.UNITS,
    }
    optional = ("bias_types", "units")
    statistic = staticmethod(stereoset_icat)
