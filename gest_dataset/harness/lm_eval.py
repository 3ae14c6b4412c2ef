"""Functions that lm-evaluation-harness calls: rows to documents, answers to scores, scores to g_s.

The tasks of `gest build --format lm-eval` name them. A score is ln P(masculine) - ln P(feminine) of two
continuations. lm-eval tokenizes context and continuation together, and puts BOS (or EOS) before a
continuation without a context. To get the tokens of `gest score`:

- templates: the context is the text before the word; the space between them belongs to the word;
- other rows: the context is empty, and both texts are continuations.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import datasets
import numpy as np
import pyarrow as pa

from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.result import compute_result
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.templates import Template, select_templates

logger = logging.getLogger(__name__)
KIND = "causal"  # the kind of model of lm-eval
LOG_RATIO = "log_ratio"
RATES = ("g_s", "g_s_low", "g_s_high")


class Sample(NamedTuple):
    """A score with everything that the statistic needs."""

    measure: str
    id: str
    template: int
    about: Any
    unit: Any
    log_ratio: float


def has_two_continuations(probe: Probe) -> bool:
    """Whether a probe compares two texts of a causal model and nothing else."""
    return KIND in probe.kinds and probe.scores == (LOG_RATIO,)


def docs(rows: datasets.Dataset) -> datasets.Dataset:
    """Make a document for each row and template: `context` and `choices`, the masculine one first."""
    measure, probe = measure_of(rows.column_names, rows.info.config_name or "the data")
    about = str(probe.label)
    feature = rows.features[about]
    templates = select_templates(None, KIND)
    documents: list[dict[str, Any]] = []
    for row in rows.to_list():
        label = feature.int2str(row[about]) if isinstance(feature, datasets.ClassLabel) else row[about]
        if probe.scores_whole_texts:
            contrasts = [(0, "", [row["masculine"], row["feminine"]])]
        else:
            contrasts = [(one.id, *split_template(row["sentence"], one)) for one in templates]
        for template, context, choices in contrasts:
            documents.append(
                {
                    "measure": measure.name,
                    "id": row["id"],
                    "template": template,
                    "about": label,
                    "unit": row.get(measure.unit.column or ""),
                    "context": context,
                    "choices": choices,
                }
            )
    return datasets.Dataset.from_list(documents)


def split_template(sentence: str, template: Template) -> tuple[str, list[str]]:
    """Split a filled template into its context and the two words, each with the space before it.

    >>> from gest_dataset.probes.templates import TEMPLATES
    >>> split_template("I ran.", TEMPLATES[4])
    ('"I ran.", the', [' man', ' woman'])
    """
    continuations = []
    for word in (template.masculine, template.feminine):
        text, start, end = template.fill(sentence, word)
        context = text[:start].rstrip()
        continuations.append(text[len(context) : end])
    return context, continuations


def process_results(
    doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]
) -> dict[str, float | Sample]:
    """Return the log ratio of a document, and its sample for the rates."""
    (masculine, _), (feminine, _) = results
    log_ratio = masculine - feminine
    values = {name: doc[name] for name in Sample._fields if name != LOG_RATIO}
    return {LOG_RATIO: log_ratio, **dict.fromkeys(RATES, Sample(**values, log_ratio=log_ratio))}


def mean_log_ratio(values: Sequence[float]) -> float:
    """Return the mean of the scores. Its level depends on the words, and has no meaning by itself."""
    return float(np.mean(values))


def g_s(samples: Sequence[Sample]) -> float:
    """Return the stereotype rate; over several templates their mean."""
    return _rates(tuple(samples))["g_s"]


def g_s_low(samples: Sequence[Sample]) -> float:
    """Return the lower bound of its 95 % interval."""
    return _rates(tuple(samples))["g_s_low"]


def g_s_high(samples: Sequence[Sample]) -> float:
    """Return the upper bound of its 95 % interval."""
    return _rates(tuple(samples))["g_s_high"]


@lru_cache(maxsize=1)  # lm-eval asks for the three rates of a task one after the other
def _rates(samples: tuple[Sample, ...]) -> dict[str, float]:
    """Return the numbers of `gest score` for these samples."""
    scored = [sample for sample in samples if math.isfinite(sample.log_ratio)]
    if len(scored) < len(samples):
        missing = len(samples) - len(scored)
        logger.warning("%d of %d samples are not finite; use dtype=float32.", missing, len(samples))
    if not scored:
        return dict.fromkeys(RATES, math.nan)
    measure = MEASURES[scored[0].measure]
    assert measure.probe is not None
    columns = dict(zip(Sample._fields, zip(*scored, strict=True), strict=True))
    table = pa.table(
        {
            "id": columns["id"],
            "template": pa.array(columns["template"], pa.int32()),
            str(measure.probe.label): columns["about"],
            LOG_RATIO: pa.array(columns[LOG_RATIO], pa.float64()),
        }
    )
    units = {measure.unit.column: columns["unit"]} if measure.unit.column else {}
    rows = datasets.Dataset.from_dict({"id": columns["id"], **units})
    result = compute_result(measure, table, rows)
    return {name: float(result[name]) for name in RATES}
