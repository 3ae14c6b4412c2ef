"""The topical-bias check (Pikuliak et al., 2024, section 7.4 and table 3).

A model may react to the topic of a sentence instead of what it says of the speaker. The papers
look at the samples of male stereotypes that mention the family: were the topic without effect,
their masculine rate would be near the one of all male samples; it is near the female one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, SEED
from gest_dataset.statistics.contrasts import contrasts
from gest_dataset.statistics.intervals import bounded, proportion
from gest_dataset.statistics.masculine_rate import LABELS, masculine_rate
from gest_dataset.statistics.stereotype_rate import SCALES, stereotype_rate
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

FAMILY_WORDS = ("child", "children", "family", "kid", "kids", "partner")


def mentions(sentences: Sequence[str], words: Sequence[str] = FAMILY_WORDS) -> list[bool]:
    """Whether each sentence holds one of the words, also inside a longer word.

    This is how the papers count 166 male samples about the family: "partners" is found as well,
    and so is "kidding".
    """
    return [any(word in sentence for word in words) for sentence in sentences]


def topical_bias(
    sentences: Sequence[str],
    predictions: Sequence[Any],
    references: Sequence[int],
    words: Sequence[str] = FAMILY_WORDS,
    scale: str = "ratio",
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Any]:
    """The rate of male samples on the topic, next to those of all male and all female samples.

    `predictions` are log-ratios (then q_topic, q_m, q_f on the scale asked for) or genders of
    translations (then p_topic, p_m, p_f). The topic's rate is over its samples at once.
    """
    checks.same_length(sentences=sentences, predictions=predictions, references=references)
    stereotypes = checks.stereotypes("references", references)
    male = np.array([stereotype.gender == GENDERS[1] for stereotype in STEREOTYPES.values()])
    topic = np.array(mentions(sentences, words)) & male[stereotypes]
    if isinstance(predictions[0], str):
        genders = checks.known("predictions", predictions, LABELS)[topic]
        known = genders[genders < len(GENDERS)]
        of_topic = proportion("p_topic", known == LABELS.index("male"))
        whole, names = masculine_rate(predictions, references, draws=draws, seed=seed), ("p_m", "p_f")
        number = len(known)
    else:
        values = checks.finite("predictions", predictions)[topic]
        number = len(values)
        strata = np.zeros(number, dtype=np.int64)
        rate = contrasts(values, strata, [np.ones(1)], draws, seed)[0]
        of_topic = bounded("q_topic", rate, SCALES[checks.choice("scale", scale, SCALES)])
        whole = stereotype_rate(predictions, references, scale, draws=draws, seed=seed)
        names = ("q_m", "q_f")
    if number < 2:
        gone = "its bounds are" if number else "its rate is"
        checks.undefined(f"{number} male samples with a score have one of the words: {gone} nan")
    beside = {key: value for key, value in whole.items() if key.startswith(names)}
    return of_topic | beside | {"n_topic": number}
