"""Other reasons for a difference than the stereotype: what sentences are about, and how they are made.

Sentences about women's and about men's stereotypes differ in more than the stereotype. For each property x
of a sentence: its correlation with the score within stereotypes, and g_s with sentences made equal in all of
them,

    ln r = a_i + b x      adjusted ln g_s = weighted sum of a_i, as in eq. 4

by least squares with an intercept for each stereotype. A large change says that g_s is about the property
too; no change does not say that nothing else could be behind it.

The topical-bias check (Pikuliak et al., 2024, section 7.4 and table 3).

A model may react to the topic of a sentence instead of what it says of the speaker. The papers
look at the samples of male stereotypes that mention the family: were the topic without effect,
their masculine rate would be near the one of all male samples; it is near the female one.

The word-frequency check of stereotypical keywords (Pikuliak et al., 2023, section 4.2).

A model may prefer the stereotypical keyword because it is the more frequent word. The papers
correlate ss with ln g(w_s) - ln g(w_a), g being a word's frequency. Theirs are from Google Books;
ours are from `wordfreq` (extra `frequency`), whose tables come with the package.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex
from scipy import special

from gest_dataset.errors import ConfigError
from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, LEVEL, SEED
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.correlation import pearson
from gest_dataset.statistics.masculine_rate import LABELS, masculine_rate
from gest_dataset.statistics.proportions import interval_entries, proportion
from gest_dataset.statistics.resampling import contrasts
from gest_dataset.statistics.stereotype_rate import SCALES, stereotype_rate
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")
_NEGATIONS = frozenset(
    ["not", "never", "no", "nobody", "nothing", "none", "neither", "nor", "nowhere", "cannot"]
)


@dataclass(frozen=True)
class AdjustedRate:
    """ln g_s as it is and with sentences made equal, with bounds, and each property's correlation."""

    ln_g_s: float
    adjusted: float
    low: float
    high: float
    correlations: dict[str, float]


def split_words(sentence: str) -> list[str]:
    """The words of an English sentence, in lower case."""
    return [word.lower() for word in _WORD.findall(sentence)]


def is_negated(sentence: str) -> bool:
    """Whether an English sentence holds a negation: a word such as *never*, or one in *n't*."""
    words = [word.replace("’", "'") for word in split_words(sentence)]
    return any(word in _NEGATIONS or word.endswith("n't") for word in words)


def sentence_properties(sentences: Sequence[str]) -> dict[str, Floats]:
    """Length in words, negation, mention of the family, and how often a sentence's words occur in the set.

    The last is the mean ln of the number of the set's sentences that hold a word: rare words, rare topics.
    """
    split = [split_words(sentence) for sentence in sentences]
    holding: dict[str, int] = {}
    for words in split:
        for word in set(words):
            holding[word] = holding.get(word, 0) + 1
    return {
        "length in words": np.array([float(len(words)) for words in split]),
        "negation": np.array([float(is_negated(sentence)) for sentence in sentences]),
        "mention of the family": np.array(mentions_any(sentences), dtype=float),
        "commonness of words": np.array(
            [float(np.mean([math.log(holding[w]) for w in words])) if words else 0.0 for words in split]
        ),
    }


def adjusted_g_s(scores: Floats, stereotypes: Ints, measured: Mapping[str, Floats]) -> AdjustedRate:
    """g_s beside properties of the sentences; `stereotypes` counts from 0.

    Bounds are of White's (1980) covariance in MacKinnon and White's (1985) form HC3. nan where a stereotype
    has fewer than two samples.
    """
    sizes = np.bincount(stereotypes, minlength=len(STEREOTYPES))
    names = [name for name, values in measured.items() if np.ptp(values) > 0]
    if (sizes < 2).any() or len(scores) <= len(STEREOTYPES) + len(names):
        return AdjustedRate(math.nan, math.nan, math.nan, math.nan, dict.fromkeys(measured, math.nan))

    def within(values: Floats) -> Floats:
        means = np.bincount(stereotypes, values, minlength=len(STEREOTYPES)) / sizes
        return np.asarray(values - means[stereotypes])

    columns = np.column_stack(
        [np.eye(len(STEREOTYPES))[stereotypes], *(measured[n] - measured[n].mean() for n in names)]
    )
    inverse = np.linalg.pinv(columns.T @ columns)
    coefficients = inverse @ columns.T @ scores
    leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    residual = (scores - columns @ coefficients) / np.maximum(1 - leverage, 1e-9)
    weights = np.r_[MALE_MINUS_FEMALE, np.zeros(len(names))]
    error = float(np.sqrt((((columns @ (inverse @ weights)) * residual) ** 2).sum()))
    adjusted = float(weights @ coefficients)
    reach = error * float(special.stdtrit(len(scores) - columns.shape[1], (1 + LEVEL) / 2))
    means = np.bincount(stereotypes, scores, minlength=len(STEREOTYPES)) / sizes
    correlations = {name: pearson(within(scores), within(values)) for name, values in measured.items()}
    return AdjustedRate(
        float(MALE_MINUS_FEMALE @ means), adjusted, adjusted - reach, adjusted + reach, correlations
    )


FAMILY_WORDS = ("child", "children", "family", "kid", "kids", "partner")


def mentions_any(sentences: Sequence[str], words: Sequence[str] = FAMILY_WORDS) -> list[bool]:
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
    stereotypes = checks.stereotype_codes("references", references)
    male = np.array([stereotype.gender == GENDERS[1] for stereotype in STEREOTYPES.values()])
    topic = np.array(mentions_any(sentences, words)) & male[stereotypes]
    if isinstance(predictions[0], str):
        genders = checks.label_codes("predictions", predictions, LABELS)[topic]
        known = genders[genders < len(GENDERS)]
        of_topic = proportion("p_topic", known == LABELS.index("male"))
        whole, names = masculine_rate(predictions, references, draws=draws, seed=seed), ("p_m", "p_f")
        number = len(known)
    else:
        values = checks.finite_array("predictions", predictions)[topic]
        number = len(values)
        strata = np.zeros(number, dtype=np.int64)
        rate = contrasts(values, strata, [np.ones(1)], draws, seed)[0]
        of_topic = interval_entries("q_topic", rate, SCALES[checks.check_choice("scale", scale, SCALES)])
        whole = stereotype_rate(predictions, references, scale, draws=draws, seed=seed)
        names = ("q_m", "q_f")
    if number < 2:
        gone = "its bounds are" if number else "its rate is"
        checks.warn_undefined(f"{number} male samples with a score have one of the words: {gone} nan")
    beside = {key: value for key, value in whole.items() if key.startswith(names)}
    return of_topic | beside | {"n_topic": number}


def log_relative_frequency(
    stereotypes: Sequence[str], antistereotypes: Sequence[str], language: str = "en"
) -> Floats:
    """ln g(w_s) - ln g(w_a) of each pair of keywords; nan where a word is not in the tables."""
    try:
        import wordfreq
    except ImportError as error:
        raise ConfigError(
            "Word frequencies come from the package `wordfreq`: pip install 'gest-dataset[frequency]'"
        ) from error
    if language not in wordfreq.available_languages():
        known = ", ".join(sorted(wordfreq.available_languages()))
        raise ConfigError(f"wordfreq has no frequencies for {language!r}; it knows {known}.")
    checks.same_length(stereotypes=stereotypes, antistereotypes=antistereotypes)
    tables = [
        np.array([wordfreq.word_frequency(word, language) for word in words])
        for words in (stereotypes, antistereotypes)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):  # the logarithm of 0, and two of them
        logs = [np.log(table) for table in tables]
        difference = logs[0] - logs[1]
    return np.where(np.isfinite(difference), difference, math.nan)


def word_frequency_check(
    predictions: Sequence[float],
    stereotypes: Sequence[str],
    antistereotypes: Sequence[str],
    language: str = "en",
) -> dict[str, Any]:
    """Pearson's correlation of ss with the log relative frequency of the two keywords."""
    checks.same_length(predictions=predictions, stereotypes=stereotypes)
    scores = checks.finite_array("predictions", predictions)
    frequencies = log_relative_frequency(stereotypes, antistereotypes, language)
    known = np.isfinite(frequencies)
    rho = pearson(scores[known], frequencies[known])
    if math.isnan(rho):
        checks.warn_undefined("frequency_rho is nan: fewer than two pairs of known words, or no variation")
    return {"frequency_rho": rho, "n": int(known.sum()), "n_unknown": int((~known).sum())}
