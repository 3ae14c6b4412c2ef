"""How far answers to one prompt differ when they are drawn again.

With x the values of the r_k readable answers to prompt k, between 0 and 1, and m_k their mean:

    s_k^2 = sum of (x - m_k)^2 / (r_k - 1)
    repeat_variance = mean over sentences of the mean s_k^2 of their prompts
    repeat_agreement = the same mean of the shares of pairs of answers to prompt k that are the same
    answer_variance = mean over stereotypes of the variance of all answers about one

Of answers that do not depend on the sentence the first is as large as the last; of answers that are always
the same it is 0. Prompts with less than two readable answers say nothing of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.proportions import interval_entries
from gest_dataset.statistics.resampling import contrasts, pooled_deviation

# What an answer is worth, of choices and of texts
VALUES: Mapping[str, float] = {"male": 1.0, "neither": 0.5, "female": 0.0}


def repeat_variance(
    predictions: Sequence[str],
    references: Sequence[int],
    units: Sequence[Hashable],
    prompts: Sequence[Hashable],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """The variance of repeats with its interval over sentences; empty where no prompt has two answers.

    `units` names the sentence of each answer, `prompts` what it is an answer to. What is not worth anything
    (a refusal, an unknown gender) is left out.
    """
    checks.same_length(predictions=predictions, references=references, units=units, prompts=prompts)
    strata = checks.stereotype_codes("references", references)
    answers: dict[tuple[Hashable, Hashable], list[float]] = {}
    known, places = [], []
    for place, (said, unit, prompt) in enumerate(zip(predictions, units, prompts, strict=True)):
        if said in VALUES:
            answers.setdefault((unit, prompt), []).append(VALUES[said])
            known.append(VALUES[said])
            places.append(place)
    by_sentence: dict[Hashable, list[tuple[float, float]]] = {}
    for (unit, _), values in answers.items():
        if len(values) > 1:
            by_sentence.setdefault(unit, []).append((float(np.var(values, ddof=1)), _agreement(values)))
    if not by_sentence:
        return {}
    means = np.array([np.mean(own, axis=0) for own in by_sentence.values()])
    result: dict[str, Any] = {"n_repeated": sum(map(len, by_sentence.values()))}
    one = np.zeros(len(means), dtype=np.int64)
    for name, column in zip(("repeat_variance", "repeat_agreement"), means.T, strict=True):
        (found,) = contrasts(column, one, [np.ones(1)], draws, seed)
        result |= interval_entries(name, found, limits=(0.0, 1.0))
    return result | {"answer_variance": pooled_deviation(np.array(known), strata[places]) ** 2}


def _agreement(values: Sequence[float]) -> float:
    """The share of pairs that are the same."""
    number = len(values)
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (number * (number - 1)))
