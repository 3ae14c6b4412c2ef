"""The word-frequency check of stereotypical keywords (Pikuliak et al., 2023, section 4.2).

A model may prefer the stereotypical keyword because it is the more frequent word. The papers
correlate ss with ln g(w_s) - ln g(w_a), g being a word's frequency. Theirs are from Google Books;
ours are from `wordfreq` (extra `frequency`), whose tables come with the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gest_dataset.errors import ConfigError
from gest_dataset.statistics import checks
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.ranks import pearson


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
    scores = checks.finite("predictions", predictions)
    frequencies = log_relative_frequency(stereotypes, antistereotypes, language)
    known = np.isfinite(frequencies)
    rho = pearson(scores[known], frequencies[known])
    if math.isnan(rho):
        checks.undefined("frequency_rho is nan: fewer than two pairs of known words, or no variation")
    return {"frequency_rho": rho, "n": int(known.sum()), "n_unknown": int((~known).sum())}
