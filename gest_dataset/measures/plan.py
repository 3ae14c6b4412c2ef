"""What a config can show, before a model is asked: the smallest effects that its samples tell from none.

All are in standard deviations of the samples (`statistics.power`). Where several samples are of one unit
the units are counted: as if the samples of a unit all said the same, which is the most careful reading.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import datasets

from gest_dataset.measures.measure import Measure
from gest_dataset.measures.result import units_of
from gest_dataset.statistics.power import error_per_deviation, paired, smallest_shown

# The standard deviation of ln r within a stereotype, mean over templates, in the authors' scores of
# bert-base-uncased (0.34) and gpt2 (0.31)
TYPICAL = 0.33
CORRELATION = 0.5  # of the scores of two models that are compared


@dataclass(frozen=True)
class Plan:
    """Samples and units of a config, and the smallest effects that are shown with a power of 80 %.

    `alone` is of one model beside the zone of negligible effects, `paired` of the difference of two models
    whose scores correlate by `CORRELATION`; both in standard deviations. `typical` is `alone` as the
    headline of a model whose scores vary as BERT's do, where the headline is a ratio.
    """

    measure: str
    samples: int
    units: int
    alone: float
    paired: float
    typical: float


def plan_of(measure: Measure, rows: datasets.Dataset) -> Plan:
    """What some rows can show."""
    ids = rows["id"] if "id" in rows.column_names else list(map(str, range(len(rows))))
    named = units_of(measure.unit, ids, rows)
    units = list(range(len(rows))) if named is None else named
    groups = [None] * len(rows)
    weights = {None: 1.0}
    if measure.contrast is not None:
        feature = rows.features[measure.contrast.column]
        values = rows[measure.contrast.column]
        groups = feature.int2str(values) if isinstance(feature, datasets.ClassLabel) else list(values)
        weights = dict(measure.contrast.weights)
    sizes = Counter(group for group, _ in set(zip(groups, units, strict=True)))
    error = error_per_deviation(list(weights.values()), [sizes[group] for group in weights])
    head = measure.headlines[0]
    alone = smallest_shown(error, head.zone)
    typical = head.null * math.exp(alone * TYPICAL) if head.ratio else math.nan
    apart = smallest_shown(paired(error, CORRELATION))
    return Plan(measure.name, len(rows), len(set(units)), alone, apart, typical)
