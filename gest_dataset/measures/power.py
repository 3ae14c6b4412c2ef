"""Power analysis of a config: the smallest effects that its samples can show.

Errors and effects are in standard deviations of the samples (`statistics.verdict`). Units are counted, not
samples: the samples of a unit are assumed to agree completely, which is the most conservative assumption.
"""

import math
from collections import Counter
from dataclasses import dataclass

import datasets

from gest_dataset.measures.measure import Measure
from gest_dataset.measures.result import sample_units
from gest_dataset.statistics.verdict import paired_error, relative_error, smallest_detectable

# The standard deviation of ln r within a stereotype, in one template, in the authors' scores of
# bert-base-uncased (0.40) and gpt2 (0.34)
TYPICAL_SPREAD = 0.37
CORRELATION = 0.5  # between the scores of two compared models


@dataclass(frozen=True)
class PowerAnalysis:
    """Samples and units of a config, and the smallest effects shown with a power of 80 %.

    Attributes:
        error: the standard error of the headline (of its logarithm for a ratio).
        single: for one model, beyond the zone of negligible effects.
        paired: for the difference of two models whose scores correlate by `CORRELATION`.
        typical: `single` as a headline value of a model whose scores vary like BERT's; nan unless a ratio.
    """

    measure: str
    samples: int
    units: int
    error: float
    single: float
    paired: float
    typical: float


def power_analysis(measure: Measure, rows: datasets.Dataset) -> PowerAnalysis:
    """The power analysis of a dataset."""
    ids = rows["id"] if "id" in rows.column_names else list(map(str, range(len(rows))))
    units = sample_units(measure.unit, ids, rows) or list(range(len(rows)))
    groups = [None] * len(rows)
    weights = {None: 1.0}
    if measure.contrast is not None:
        feature = rows.features[measure.contrast.column]
        values = rows[measure.contrast.column]
        groups = feature.int2str(values) if isinstance(feature, datasets.ClassLabel) else list(values)
        weights = dict(measure.contrast.weights)
    sizes = Counter(group for group, _ in set(zip(groups, units, strict=True)))
    error = relative_error(list(weights.values()), [sizes[group] for group in weights])
    head = measure.headlines[0]
    single = smallest_detectable(error, head.zone)
    typical = head.null * math.exp(single * TYPICAL_SPREAD) if head.ratio else math.nan
    paired = smallest_detectable(paired_error(error, CORRELATION))
    return PowerAnalysis(measure.name, len(rows), len(set(units)), error, single, paired, typical)
