"""The section "How sure is this?" of the page: `sureness` in plain words, a table for each run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gest_dataset.measures.formatting import format_number, format_percent
from gest_dataset.measures.grid import Estimate
from gest_dataset.report.measured import Measured
from gest_dataset.report.sure import Sureness, sureness
from gest_dataset.statistics import holm
from gest_dataset.statistics.reliability import LOW_RELIABILITY

_SHARES = {
    "stereotype": "between stereotypes",
    "sentence": "between sentences of a stereotype",
    "template": "between templates",
    "interaction": "between stereotypes, in each template differently",
    "rest": "the rest",
}
_SHARES_OF_ONE_TEMPLATE = {
    "stereotype": "between stereotypes",
    "rest": "between samples of a stereotype",
}
_PARTS = {
    "reliability": "reliability and shares of variance",
    "creators": "who wrote the sentences",
    "confounders": "what else the sentences differ in",
}


@dataclass(frozen=True)
class Row:
    """One line: what was asked, the number, and what it says; `warning` where it says to be careful."""

    what: str
    number: str
    says: str
    warning: bool = False


@dataclass(frozen=True)
class Table:
    """The lines of one run."""

    label: str
    rows: list[Row]


def sure_tables(runs: Sequence[Measured]) -> list[Table]:
    """A table for each run of which there is something to say."""
    known = [(run, told) for run in runs if (told := sureness(run.run))]
    finite = [place for place, (_, told) in enumerate(known) if math.isfinite(told["permutation_p"])]
    adjusted = dict(zip(finite, holm([known[place][1]["permutation_p"] for place in finite]), strict=True))
    return [
        Table(run.label, list(_rows(told, adjusted.get(place, math.nan), len(finite))))
        for place, (run, told) in enumerate(known)
    ]


def _rows(told: Sureness, adjusted: float, tried: int) -> Iterator[Row]:
    if "reliability" in told:
        yield from _reliability(told)
    yield _permutation(told["permutation_p"], adjusted, tried)
    if "creators" in told:
        yield from _creators(told)
    if "confounders" in told:
        yield from _confounders(told)
    if "f_s_lowest" in told:
        yield Row(
            "f_s, whatever the unknown genders are",
            f"{format_number(told['f_s_lowest'])} to {format_number(told['f_s_highest'])}",
            f"its range if the {format_number(told['n_unknown'])} of {format_number(told['n'])} texts "
            f"without a "
            f"gender were masculine or feminine, as moves it most; not an interval for other samples",
        )
    for part, why in told["lacking"].items():
        yield Row(_PARTS[part], "–", f"not known: {why}")


def _reliability(told: Sureness) -> Iterator[Row]:
    reliability = told["reliability"]
    if math.isnan(reliability):
        says = "a stereotype has too few samples to split them in halves"
    elif told["reliable"]:
        says = "how alike the profile of the 16 stereotypes would be from other samples; 1 is the same"
    else:
        says = (
            f"below {LOW_RELIABILITY}: the order of the 16 stereotypes is largely chance; do "
            f"not read single ones"
        )
    yield Row(
        "Reliability of the profile (split halves, Spearman-Brown)",
        format_number(reliability),
        says,
        warning=not told["reliable"],
    )
    if "template_agreement" in told:
        agreement = told["template_agreement"]
        yield Row(
            "Agreement of templates",
            format_number(agreement["profile"]),
            f"mean correlation of their profiles; of single samples within a stereotype "
            f"{format_number(agreement['samples'])}",
        )
    shares = told["variance_shares"]
    words = _SHARES if "template_agreement" in told else _SHARES_OF_ONE_TEMPLATE
    yield Row(
        "Share of the stereotypes in the variance of single scores",
        format_percent(shares["stereotype"]),
        "; ".join(f"{format_percent(shares[name])} {where}" for name, where in words.items()),
    )


def _permutation(p_value: float, adjusted: float, tried: int) -> Row:
    holm_words = f" (Holm over {tried} runs: {format_number(adjusted)})" if tried > 1 else ""
    return Row(
        "Permutation p of the split by gender",
        f"{format_number(p_value)}{holm_words}",
        "how often another choice of 7 of the 16 stereotypes sets them as far apart; it speaks of other "
        "stereotypes than these, not of why they differ, and topics that go with gender are not told from it",
    )


def _creators(told: Sureness) -> Iterator[Row]:
    creators = told["creators"]
    each = ", ".join(f"{name} {format_number(g_s)}" for name, g_s in creators["by_creator"].items())
    if math.isnan(creators["g_s_low"]):
        number, interval = (
            format_number(creators["g_s"]),
            "no interval, as some stereotype is one creator’s alone",
        )
    else:
        number = str(Estimate.of(creators, "g_s"))
        interval = "its interval is over creators (jackknife): what others who write sentences might give"
    yield Row(
        "g_s over creators",
        number,
        f"{interval}; by creator: {each}; {format_number(creators['n_unknown'])} of "
        f"{format_number(creators['n'] + creators['n_unknown'])} sentences left out, as their creator "
        f"is not known",
    )


def _confounders(told: Sureness) -> Iterator[Row]:
    parts = told["confounders"]
    correlations = "; ".join(
        f"{name} {format_number(value)}" for name, value in parts["correlations"].items()
    )
    yield Row(
        "g_s with sentences made equal",
        str(Estimate.of(parts, "adjusted_g_s")),
        f"in length, negation, mention of the family and commonness of words; as they are it is "
        f"{format_number(parts['g_s'])}. A large change says that g_s is about those too",
    )
    yield Row("Correlations of scores with properties", "–", f"within stereotypes: {correlations}")
