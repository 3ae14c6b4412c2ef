"""The models of the GEST paper on `scale="ratio"`, and the rank of a run among them.

The paper prints e to the mean of log10 r, which is not a ratio: a printed 1.12 is a true ratio of 1.30
(docs/metrics.md). A run is compared with models of the same kind, in the same templates or on pairs of the
same language, without options. With several templates g_s is the mean over them, as in the paper's figure 4.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Template

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.languages import LANGUAGES
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE
from gest_dataset.stereotypes import OWN_TABLE

_ENGLISH_CONFIGS = ("en", "en_1_0")
_LEAST_MODELS = 5  # of known d, for a rank
_SENTENCES = Template(Path(__file__).with_name("ranking.txt.jinja").read_text(encoding="utf-8"))


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

    @property
    def d(self) -> float | None:
        return math.log(self.g_s) / self.spread if self.spread else None


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
    return tuple(
        PublishedRates(
            model=row["model"],
            kind=kind,
            where=row["template"],
            rates=np.power(10, row["mean_log10_ratio"]).tolist(),
            g_s=row["g_s"],
            spread=spreads.get((row["model"], row["template"])),
        )
        for table, kind in (("gest_english_mlm", "masked"), ("gest_english_glm", "causal"))
        for row in published.load(table)["rows"]
    )


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
    models: dict[tuple[str, str], list[PublishedRates]] = {}
    for model in english_models():
        if model.where in templates:
            models.setdefault((model.model, model.kind), []).append(model)
    return {key: _mean(members).g_s for key, members in models.items()}


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
        below, above = texts[self.rank - 1 : self.rank + 1]
        choices = dict.fromkeys(1 + round(len(order) * end(self.stronger or [0])) for end in (min, max))
        same = 1 + sum(self.models[name] > self.g_s for name in self.d_models)
        text = _SENTENCES.render(ranking=self, below=below, above=above, same=same, choices=list(choices))
        return " ".join(text.split())


def rank_among_published(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Ranking | None:
    """The rank of a run; None if the paper has no comparable result or the run no interval."""
    config, kind = CONFIGS.get(metadata["config"]), metadata["kind"]
    if config is not None and config.name in _ENGLISH_CONFIGS:
        places: list[int | str] = metadata["templates"]
        among = f"template{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}"
    elif config is not None and config.family.name == "pairs":
        places = [config.languages[0]]
        among = LANGUAGES[config.languages[0]].name
    else:
        return None
    tables = [
        {model.model: model for model in comparable_models(kind, where, metadata["options"])}
        for where in places
    ]
    means = {
        name: _mean([table[name] for table in tables])
        for name in tables[0]
        if all(name in table for table in tables)
    }
    value, bound = result.get("g_s"), result.get("g_s_low", 0.0)  # None or nan: too few samples
    if not means or any(number is None or math.isnan(number) for number in (value, bound)):
        return None
    own = means.pop(published_name(metadata) or "", None)
    stronger = []
    for part, table in zip([result, *result.get("by_template", {}).values()], [means, *tables], strict=False):
        for number in ("g_s", "d"):
            known = [number_of for name in means if (number_of := getattr(table[name], number)) is not None]
            if _is_known(part.get(number), known):
                stronger.append(sum(other > part[number] for other in known) / len(known))
    return Ranking(
        g_s=float(result["g_s"]),
        among=f"{kind} models in {among}",
        models={name: model.g_s for name, model in means.items()},
        own=own.g_s if own else None,
        d=result.get("d"),
        d_models={name: model.d for name, model in means.items() if model.d is not None},
        stronger=tuple(stronger),
    )


def _mean(models: Sequence[PublishedRates]) -> PublishedRates:
    """A model over several templates: the mean of g_s, and s from the mean variance."""
    spreads = [model.spread for model in models if model.spread]
    spread = math.sqrt(sum(one**2 for one in spreads) / len(models)) if len(spreads) == len(models) else None
    return replace(models[0], g_s=sum(model.g_s for model in models) / len(models), spread=spread)


def _is_known(value: float | None, others: Collection[Any]) -> bool:
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
