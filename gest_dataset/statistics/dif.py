"""Sources that behave differently in one language (differential item functioning).

Languages are compared on the sources that all of them have. With scores y[source, language], centred by
language and by source within a stereotype,

    e = y - mean of the language's sources in the stereotype - mean of the source + mean of the stereotype

a source is listed if its e is an outlier in a language: z = e / s with the robust standard deviation
s = 1.4826 median |e|, and Holm's correction over all sources and languages. Such a source often has a bad
translation and should be checked before languages are compared. With two languages each e is minus the
other's, so only those of the second are tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from scipy import special

from gest_dataset.statistics.comparison import holm

ROBUST = 1.4826  # standard deviation / median absolute deviation of a normal distribution


@dataclass(frozen=True)
class DifItem:
    """A source that behaves differently in a language, with its residual e and adjusted p-value."""

    source: str
    language: str
    stereotype: int
    residual: float
    z: float
    p_value: float


def shared_sources(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The mean score of each source in each language, for the sources that all languages have.

    The frames have the columns source, stereotype and log_ratio. The index of the result is (source,
    stereotype), its columns are the languages.
    """
    means = {
        language: frame.groupby(["source", "stereotype"])["log_ratio"].mean()
        for language, frame in scores.items()
    }
    return pd.DataFrame(means).dropna()


def differing_items(wide: pd.DataFrame, level: float = 0.05) -> list[DifItem]:
    """The significant items of a `shared_sources` table, the most extreme first."""
    if wide.shape[1] < 2 or wide.empty:
        return []
    residuals = wide - wide.groupby(level="stereotype").transform("mean")
    residuals = residuals.sub(residuals.mean(axis=1), axis=0)
    if wide.shape[1] == 2:
        residuals = residuals.iloc[:, 1:]
    deviations = ROBUST * residuals.abs().median()
    z = (residuals / deviations.where(deviations > 0)).stack().dropna()
    if z.empty:
        return []
    items = []
    for (key, value), p in zip(z.items(), holm(2 * special.ndtr(-z.abs().to_numpy())), strict=True):
        source, stereotype, language = key
        if p < level:
            residual = float(residuals.at[(source, stereotype), language])
            items.append(DifItem(str(source), str(language), int(stereotype), residual, float(value), p))
    return sorted(items, key=lambda item: -abs(item.z))
