"""The GEST paper's models: what they are, and their tables on the scale of the definitions.

[A] prints e to the mean of log10 r, which is no ratio: a printed 1.12 is a true ratio of 1.30
(docs/metrics.md). Here everything is on `scale="ratio"`, so that like stands beside like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE


@dataclass(frozen=True)
class LanguageModel:
    """A language model of the paper: its ids on the Hub, its size, and whose sizes it belongs to."""

    name: str
    hub_ids: tuple[str, ...]
    millions: float  # of parameters
    family: str | None


@dataclass(frozen=True)
class Published:
    """The rates of one published model (or translator) in one template (or language)."""

    model: str
    kind: str  # masked, causal or translator
    where: int | str
    rates: list[float]  # q_i, of translators p_i
    g_s: float

    @property
    def ranks(self) -> list[float]:
        return feminine_ranks(self.rates)


@cache
def language_models() -> dict[str, LanguageModel]:
    """The paper's language models by name."""
    rows = published.load("models")["rows"]
    return {
        row["model"]: LanguageModel(row["model"], tuple(row["hub_ids"]), row["millions"], row["family"])
        for row in rows
    }


def families() -> dict[str, list[str]]:
    """Names of the models that are sizes of one family."""
    members: dict[str, list[str]] = {}
    for model in language_models().values():
        if model.family:
            members.setdefault(model.family, []).append(model.name)
    return members


@cache
def english() -> tuple[Published, ...]:
    """Tables 9 and 10 of [A]: masked and causal models in English templates, on GEST 1.0."""
    return tuple(
        Published(
            row["model"],
            kind,
            row["template"],
            (10 ** np.array(row["mean_log10_ratio"])).tolist(),
            row["g_s"],
        )
        for table, kind in (("gest_english_mlm", "masked"), ("gest_english_glm", "causal"))
        for row in published.load(table)["rows"]
    )


@cache
def slavic() -> tuple[Published, ...]:
    """Table 11 of [A]: multilingual masked models on pairs; the digits are those of print."""
    models = []
    for row in published.load("gest_slavic_mlm")["rows"]:
        means = np.log(row["q"]) * LN10  # of ln r
        g_s = float(np.exp(means @ MALE_MINUS_FEMALE))
        model = row["model"].rpartition("/")[2]
        models.append(Published(model, "masked", row["language"], np.exp(means).tolist(), g_s))
    return tuple(models)


@cache
def translators() -> tuple[Published, ...]:
    """Tables 6 and 8 of [A]: masculine rates of translators, by `convention="published"`."""
    return tuple(
        Published(row["system"], "translator", row["language"], row["p"], float("nan"))
        for row in published.load("gest_mt_masculine_rates")["rows"]
    )


def beside(kind: str, where: int | str, options: Mapping[str, Any]) -> tuple[Published, ...]:
    """What a run may stand beside: models of its kind in its template (a number) or on pairs of its language.

    The paper's were asked in its own templates and on pairs that differ in one token, so a run with
    options of its own stands beside none.
    """
    if options:
        return ()
    return tuple(model for model in (*english(), *slavic()) if (model.kind, model.where) == (kind, where))


def published_mean_g_s(templates: set[int]) -> dict[tuple[str, str], float]:
    """g_s of each English model, averaged over those of its templates that are asked for."""
    values: dict[tuple[str, str], list[float]] = {}
    for model in english():
        if model.where in templates:
            values.setdefault((model.model, model.kind), []).append(model.g_s)
    return {key: sum(over_templates) / len(over_templates) for key, over_templates in values.items()}
