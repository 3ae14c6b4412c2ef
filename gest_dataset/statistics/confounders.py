"""Other explanations for a stereotype rate: properties and topics of sentences, and word frequencies."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import regex
from scipy import special

from gest_dataset.errors import ConfigError, import_extra
from gest_dataset.statistics import checks
from gest_dataset.statistics.bootstrap import DRAWS, LEVEL, SEED, interval_entries, mean_interval
from gest_dataset.statistics.checks import Floats, Ints
from gest_dataset.statistics.correlation import pearson
from gest_dataset.statistics.masculine_rate import LABELS, masculine_rate
from gest_dataset.statistics.proportions import proportion
from gest_dataset.statistics.stereotype_rate import SCALES, stereotype_rate
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import GENDERS, STEREOTYPES

FAMILY_WORDS = ("child", "children", "family", "kid", "kids", "partner")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")
_NEGATIONS = frozenset(
    ["not", "never", "no", "nobody", "nothing", "none", "neither", "nor", "nowhere", "cannot"]
)


def split_words(sentence: str) -> list[str]:
    """The words of an English sentence in lower case."""
    return [word.lower() for word in _WORD.findall(sentence)]


def mentions_any(sentences: Sequence[str], words: Sequence[str] = FAMILY_WORDS) -> list[bool]:
    """Whether each sentence contains one of the words, also as a part of a longer word."""
    return [any(word in sentence for word in words) for sentence in sentences]


def sentence_properties(sentences: Sequence[str]) -> dict[str, Floats]:
    """Length in words, negation, mention of the family, and how common a sentence's words are in the set.

    The last is the mean ln of the number of sentences that contain each word.
    """
    split = [split_words(sentence) for sentence in sentences]
    containing = Counter(word for words in split for word in set(words))
    commonness = [
        float(np.mean([math.log(containing[w]) for w in words])) if words else 0.0 for words in split
    ]
    negated = [any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words) for words in split]
    return {
        "length in words": np.array([float(len(words)) for words in split]),
        "negation": np.array(negated, dtype=float),
        "mention of the family": np.array(mentions_any(sentences), dtype=float),
        "word frequency": np.array(commonness),
    }


def adjusted_g_s(scores: Floats, stereotypes: Ints, properties: Mapping[str, Floats]) -> dict[str, Any]:
    """g_s for sentences with equal properties, and each property's correlation with scores in stereotypes.

    Least squares with an intercept for each stereotype (`stereotypes` counts from 0):

        ln r = a_i + b x      adjusted ln g_s = weighted sum of a_i, as in eq. 4

    Bounds use White's (1980) covariance in MacKinnon and White's (1985) form HC3. nan if a stereotype has
    fewer than two samples. A large change means that g_s is partly about the property; no change does not
    rule out other confounders.
    """
    sizes = np.bincount(stereotypes, minlength=len(STEREOTYPES))
    names = [name for name, values in properties.items() if np.ptp(values) > 0]
    if (sizes < 2).any() or len(scores) <= len(STEREOTYPES) + len(names):
        numbers = ("g_s", "adjusted_g_s", "adjusted_g_s_low", "adjusted_g_s_high")
        return dict.fromkeys(numbers, math.nan) | {"correlations": dict.fromkeys(properties, math.nan)}

    groups = np.eye(len(STEREOTYPES))[stereotypes]

    def within(values: Floats) -> Floats:
        return np.asarray(values - groups @ (groups.T @ values / sizes))

    columns = np.column_stack([groups, *(properties[name] - properties[name].mean() for name in names)])
    inverse = np.linalg.pinv(columns.T @ columns)
    coefficients = inverse @ columns.T @ scores
    leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    residual = (scores - columns @ coefficients) / np.maximum(1 - leverage, 1e-9)
    weights = np.r_[MALE_MINUS_FEMALE, np.zeros(len(names))]
    error = float(np.sqrt((((columns @ (inverse @ weights)) * residual) ** 2).sum()))
    adjusted = float(weights @ coefficients)
    reach = error * float(special.stdtrit(len(scores) - columns.shape[1], (1 + LEVEL) / 2))
    return {
        "g_s": math.exp(float(MALE_MINUS_FEMALE @ (groups.T @ scores / sizes))),
        "adjusted_g_s": math.exp(adjusted),
        "adjusted_g_s_low": math.exp(adjusted - reach),
        "adjusted_g_s_high": math.exp(adjusted + reach),
        "correlations": {
            name: pearson(within(scores), within(values)) for name, values in properties.items()
        },
    }


def topical_bias(
    sentences: Sequence[str],
    predictions: Sequence[Any],
    references: Sequence[int],
    words: Sequence[str] = FAMILY_WORDS,
    scale: str = "ratio",
) -> dict[str, Any]:
    """The rate of male samples on a topic, next to those of all male and all female samples.

    A model may react to the topic of a sentence instead of what it says about the speaker. If the topic had
    no effect, male samples about the family would have about the rate of all male samples; the papers find
    that it is close to the female one (Pikuliak et al., 2024, section 7.4 and table 3).

    `predictions` are log-ratios (then q_topic, q_m, q_f on the given scale) or genders of translations (then
    p_topic, p_m, p_f). The topic's rate is over all of its samples.
    """
    checks.same_length(sentences=sentences, predictions=predictions, references=references)
    stereotypes = checks.stereotype_codes("references", references)
    male = np.array([stereotype.gender == GENDERS[1] for stereotype in STEREOTYPES.values()])
    topic = np.array(mentions_any(sentences, words)) & male[stereotypes]
    if isinstance(predictions[0], str):
        genders = checks.label_codes("predictions", predictions, LABELS)[topic]
        known = genders[genders < len(GENDERS)]
        number = len(known)
        rate = proportion("p_topic", known == LABELS.index("male"))
        overall, names = masculine_rate(predictions, references), ("p_m", "p_f")
    else:
        values = checks.finite_array("predictions", predictions)[topic]
        number = len(values)
        interval = mean_interval(values, DRAWS, SEED)
        rate = interval_entries("q_topic", interval, SCALES[checks.check_choice("scale", scale, SCALES)])
        overall = stereotype_rate(predictions, references, scale)
        names = ("q_m", "q_f")
    rate |= {name: value for name, value in overall.items() if name.startswith(names)}
    return rate | {"n_topic": number}


def log_relative_frequency(
    stereotypes: Sequence[str], antistereotypes: Sequence[str], language: str = "en"
) -> Floats:
    """ln g(w_s) - ln g(w_a) of each pair of keywords; nan if a word is not in the tables of `wordfreq`."""
    wordfreq = import_extra("wordfreq", "frequency")
    if language not in wordfreq.available_languages():
        known = ", ".join(sorted(wordfreq.available_languages()))
        raise ConfigError(f"wordfreq has no frequencies for {language!r}, only for {known}.")
    checks.same_length(stereotypes=stereotypes, antistereotypes=antistereotypes)
    first, second = (
        np.array([wordfreq.word_frequency(word, language) for word in words])
        for words in (stereotypes, antistereotypes)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.log(first) - np.log(second)
    return np.where(np.isfinite(difference), difference, math.nan)
