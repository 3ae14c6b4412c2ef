"""The models of the GEST paper on `scale="ratio"`, and the rank of a run among them.

The paper prints e to the mean of log10 r, which is not a ratio: a printed 1.12 is a true ratio of 1.30
(docs/metrics.md). A run is compared with models of the same kind, in the same templates or on pairs of the
same language, without options. With several templates g_s is the mean over them, as in the paper's figure 4.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.languages import LANGUAGES
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import OWN_TABLE

_ENGLISH_CONFIGS = ("en", "en_1_0")
_LEAST_MODELS = 5  # of known d, for a rank


@dataclass(frozen=True)
class PublishedRates:
    """The rates of one published model (or translator) in one template (or language)."""

    model: str
    kind: str  # masked, causal or translator
    where: int | str
    rates: list[float]  # q_i, of translators p_i
    g_s: float
    spread: float | None = None  # s of d = ln g_s / s, if it is known

    @property
    def ranks(self) -> list[float]:
        return feminine_ranks(self.rates)


@cache
def language_models() -> dict[str, dict[str, Any]]:
    """The paper's language models by name: ids on the Hub, millions of parameters, and model family."""
    return {row["model"]: row for row in published.load("models")["rows"]}


@cache
def english_models() -> tuple[PublishedRates, ...]:
    """Tables 9 and 10: masked and causal models in English templates, on GEST 1.0."""
    if OWN_TABLE:
        return ()
    rows = published.load("gest_english_spreads")["rows"]
    spreads = {(row["model"], row["template"]): row["spread"] for row in rows}
    models = []
    for table, kind in (("gest_english_mlm", "masked"), ("gest_english_glm", "causal")):
        for row in published.load(table)["rows"]:
            model, template = row["model"], row["template"]
            rates = np.power(10, row["mean_log10_ratio"]).tolist()
            spread = spreads.get((model, template))
            models.append(PublishedRates(model, kind, template, rates, row["g_s"], spread))
    return tuple(models)


@cache
def slavic_models() -> tuple[PublishedRates, ...]:
    """Table 11: multilingual masked models on pairs, with the printed digits."""
    if OWN_TABLE:
        return ()
    models = []
    for row in published.load("gest_slavic_mlm")["rows"]:
        means = np.log(row["q"]) * LN10  # of ln r
        g_s = float(np.exp(means @ MALE_MINUS_FEMALE))
        model = row["model"].rpartition("/")[2]
        models.append(PublishedRates(model, "masked", row["language"], np.exp(means).tolist(), g_s))
    return tuple(models)


@cache
def translators() -> tuple[PublishedRates, ...]:
    """Tables 6 and 8: masculine rates of translators, by `convention="published"`."""
    if OWN_TABLE:
        return ()
    return tuple(
        PublishedRates(row["system"], "translator", row["language"], row["p"], float("nan"))
        for row in published.load("gest_mt_masculine_rates")["rows"]
    )


def comparable_models(kind: str, where: int | str, options: Mapping[str, Any]) -> tuple[PublishedRates, ...]:
    """The published models of a kind in a template (a number) or language; none for runs with options."""
    models = (*english_models(), *slavic_models())
    return () if options else tuple(model for model in models if (model.kind, model.where) == (kind, where))


def published_mean_g_s(templates: set[int]) -> dict[tuple[str, str], float]:
    """The mean g_s of each English model (by name and kind) over the given templates."""
    values: dict[tuple[str, str], list[float]] = {}
    for model in english_models():
        if model.where in templates:
            values.setdefault((model.model, model.kind), []).append(model.g_s)
    return {key: sum(g_s) / len(g_s) for key, g_s in values.items()}


@dataclass(frozen=True)
class Ranking:
    """A model's g_s and d among those of the paper.

    `among` says what the models have in common, `models` are the g_s of the paper's models without this one,
    `d_models` the d of those whose standard deviation is known, and `own` is the paper's g_s of this model.
    `stronger` has the share of models with stronger stereotypes by each reasonable choice: g_s or d, in one
    template or in the mean.
    """

    g_s: float
    among: str
    models: dict[str, float]
    own: float | None
    d: float | None = None
    d_models: dict[str, float] = field(default_factory=dict)
    stronger: tuple[float, ...] = ()

    @property
    def rank(self) -> int:
        """1 has the strongest stereotypes."""
        return 1 + sum(value > self.g_s for value in self.models.values())

    @property
    def d_rank(self) -> int | None:
        """The rank in d; None if too few models have one."""
        if self.d is None or not _is_known(self.d, self.d_models):
            return None
        return 1 + sum(value > self.d for value in self.d_models.values())

    def text(self) -> str:
        """The rank in sentences."""
        order = sorted(self.models, key=self.models.__getitem__, reverse=True)
        texts = ["", *(f"{name} ({self.models[name]:.2f})" for name in order), ""]
        sides = zip(("below", "above"), texts[self.rank - 1 : self.rank + 1], strict=True)
        neighbours = [f"{side} {model}" for side, model in sides if model]
        sentences = [
            f"g_s {self.g_s:.2f}: {' and '.join(neighbours)}; rank {self.rank} of "
            f"{len(self.models) + 1} among the paper's {self.among}. Published values were converted to the "
            f"ratio scale."
        ]
        if self.d_rank is not None:
            same = 1 + sum(self.models[name] > self.g_s for name in self.d_models)
            sentences.append(
                f"d {self.d:.2f}: rank {self.d_rank} of {len(self.d_models) + 1} among those whose d is "
                f"known, with rank {same} in g_s.".replace("-", "−")
            )
        if len(self.stronger) > 2:
            number = len(self.models)
            ranks = dict.fromkeys(str(1 + round(number * end(self.stronger))) for end in (min, max))
            sentences.append(
                f"Depending on the choice (g_s or d, one template or the mean), its rank is "
                f"{' to '.join(ranks)} of {number + 1}."
            )
        if self.own is not None:
            sentences.append(f"The paper reports {self.own:.2f} for this model.")
        return " ".join(sentences)


def rank_among_published(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Ranking | None:
    """The rank of a run; None if the paper has no comparable result or the run no interval."""
    config = CONFIGS.get(metadata["config"])
    places: tuple[int | str, ...] = ()
    among = ""
    if config is not None and config.name in _ENGLISH_CONFIGS:
        places = tuple(metadata["templates"])
        among = f"template{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}"
    elif config is not None and config.family.name == "pairs":
        places = (config.languages[0],)
        among = LANGUAGES[config.languages[0]].name
    kind = metadata["kind"]
    rates: dict[str, list[PublishedRates]] = {}
    for where in places:
        for model in comparable_models(kind, where, metadata["options"]):
            rates.setdefault(model.model, []).append(model)
    g_s, d = {}, {}
    for name, models in rates.items():
        if len(models) == len(places):
            g_s[name] = sum(model.g_s for model in models) / len(models)
            if all(model.spread for model in models):
                squares = sum((model.spread or 0.0) ** 2 for model in models)
                d[name] = math.log(g_s[name]) / math.sqrt(squares / len(models))
    value = result.get("g_s")
    bound = result.get("g_s_low", 0.0)  # None or nan: too few samples for an interval
    if not g_s or any(number is None or math.isnan(number) for number in (value, bound)):
        return None
    published = published_name(metadata) or ""
    of_paper = g_s.pop(published, None)
    d.pop(published, None)
    choices = [(result["g_s"], g_s), (result.get("d"), d)]
    for index, part in enumerate(result.get("by_template", {}).values()):
        others = {name: rates[name][index] for name in g_s}
        choices += [
            (part["g_s"], {name: one.g_s for name, one in others.items()}),
            (part["d"], {name: math.log(one.g_s) / one.spread for name, one in others.items() if one.spread}),
        ]
    known = [(own, printed.values()) for own, printed in choices if _is_known(own, printed)]
    stronger = tuple(sum(other > own for other in printed) / len(printed) for own, printed in known)
    among = f"{kind} models in {among}"
    return Ranking(float(result["g_s"]), among, g_s, of_paper, result.get("d"), d, stronger)


def _is_known(value: float | None, others: Mapping[str, float]) -> bool:
    return value is not None and not math.isnan(value) and len(others) >= _LEAST_MODELS


def _from_hub(metadata: Mapping[str, Any]) -> bool:
    """Whether a run's model is the main revision of a model on the Hub."""
    return bool(metadata.get("from_hub")) and metadata.get("requested_revision") in (None, "main")


def published_name(metadata: Mapping[str, Any]) -> str | None:
    """The paper's name of a run's model, if it was loaded from the Hub under one of its ids."""
    models = language_models().values() if _from_hub(metadata) else ()
    return next((model["model"] for model in models if metadata["model"] in model["hub_ids"]), None)


def hub_ids(handle: str) -> tuple[str, ...]:
    """The ids of a model on the Hub: its original handle, and its current id.

    >>> hub_ids("bert-base-cased"), hub_ids("google/mt5-base")
    (('bert-base-cased', 'google-bert/bert-base-cased'), ('google/mt5-base',))
    """
    owners: dict[str, str] = published.load("models")["owners"]
    owner = next((owner for prefix, owner in owners.items() if handle.startswith(prefix)), None)
    return (handle,) if owner is None or "/" in handle else (handle, f"{owner}/{handle}")


def rows_for_model(
    rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], column: str
) -> list[Mapping[str, Any]]:
    """The rows of a published table for a run's model, by the `column` with its handle."""
    return [row for row in rows if _from_hub(metadata) and metadata["model"] in hub_ids(row[column])]
