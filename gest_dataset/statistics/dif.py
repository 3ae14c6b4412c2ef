"""Items that behave differently in one language (differential item functioning).

Languages are compared on the sources that all of them have, as their sets keep different ones. With scores
y[source, language], and both made comparable by taking away the mean of each language and of each source,

    e = y - mean of the language's sources in the stereotype - mean of the source + mean of the stereotype

a source whose e in a language lies far out of that language's others is listed: z = e / s with the robust
standard deviation s = 1.4826 median |e|, and Holm's correction over all sources and languages. Such a source
often is a matter of its translation, and is worth a look before languages are compared on it. Of two
languages each e is the other's with its sign turned, so that those of the second are all there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from scipy import special

from gest_dataset.statistics.comparison import holm

ROBUST = 1.4826  # of a normal distribution: standard deviation / median absolute deviation


@dataclass(frozen=True)
class DifItem:
    """A source that behaves differently in a language."""

    source: str
    language: str
    stereotype: int
    apart: float  # e
    z: float
    p_value: float  # after Holm's correction


def shared_sources(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The mean score of each source in each language, of the sources that all languages have.

    Each frame has the columns source, stereotype and log_ratio; several pairs of a source are averaged. The
    index is (source, stereotype), the columns are the languages.
    """
    means = {
        language: frame.groupby(["source", "stereotype"])["log_ratio"].mean()
        for language, frame in scores.items()
    }
    return pd.DataFrame(means).dropna()


def differing_items(wide: pd.DataFrame, level: float = 0.05) -> list[DifItem]:
    """The items of a table of `shared` that behave differently in a language, the farthest first."""
    if wide.shape[1] < 2 or wide.empty:
        return []
    groups = wide.groupby(level="stereotype")
    apart = wide - groups.transform("mean")
    apart = apart.sub(apart.mean(axis=1), axis=0)
    if wide.shape[1] == 2:
        apart = apart.iloc[:, 1:]
    deviations = ROBUST * apart.abs().median()
    z = (apart / deviations.where(deviations > 0)).stack().dropna()
    if z.empty:
        return []
    p_values = holm(2 * special.ndtr(-z.abs().to_numpy()))
    items = [
        DifItem(
            str(source),
            str(language),
            int(stereotype),
            float(apart.at[(source, stereotype), language]),
            float(value),
            p,
        )
        for ((source, stereotype, language), value), p in zip(z.items(), p_values, strict=True)
        if p < level
    ]
    return sorted(items, key=lambda item: -abs(item.z))
