"""The GEST paper's models on the scale of the definitions, and where a run stands among them.

[A] prints e to the mean of log10 r, which is no ratio: a printed 1.12 is a true ratio of 1.30
(docs/metrics.md). Here everything is on `scale="ratio"`.

The standing is the one answer of terminal, JSON and report. Only like stands beside like: models of the
same kind, in the same templates or on pairs of the same language, without options. Over several templates
g_s is the mean of theirs, as in the paper's figure 4.

Which published row is of a user's model: handles as printed, and where the Hub keeps them today.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.languages import LANGUAGES
from gest_dataset.statistics import feminine_ranks
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.statistics.weights import MALE_MINUS_FEMALE

_ENGLISH_CONFIGS = ("en", "en_1_0")


@dataclass(frozen=True)
class LanguageModel:
    """A language model of the paper: its ids on the Hub, its size, and whose sizes it belongs to."""

    name: str
    hub_ids: tuple[str, ...]
    millions: float  # of parameters
    family: str | None


@dataclass(frozen=True)
class PublishedRates:
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


def model_families() -> dict[str, list[str]]:
    """Names of the models that are sizes of one family."""
    members: dict[str, list[str]] = {}
    for model in language_models().values():
        if model.family:
            members.setdefault(model.family, []).append(model.name)
    return members


@cache
def english_models() -> tuple[PublishedRates, ...]:
    """Tables 9 and 10 of [A]: masked and causal models in English templates, on GEST 1.0."""
    return tuple(
        PublishedRates(
            row["model"], kind, row["template"], np.power(10, row["mean_log10_ratio"]).tolist(), row["g_s"]
        )
        for table, kind in (("gest_english_mlm", "masked"), ("gest_english_glm", "causal"))
        for row in published.load(table)["rows"]
    )


@cache
def slavic_models() -> tuple[PublishedRates, ...]:
    """Table 11 of [A]: multilingual masked models on pairs; the digits are those of print."""
    models = []
    for row in published.load("gest_slavic_mlm")["rows"]:
        means = np.log(row["q"]) * LN10  # of ln r
        g_s = float(np.exp(means @ MALE_MINUS_FEMALE))
        model = row["model"].rpartition("/")[2]
        models.append(PublishedRates(model, "masked", row["language"], np.exp(means).tolist(), g_s))
    return tuple(models)


@cache
def translators() -> tuple[PublishedRates, ...]:
    """Tables 6 and 8 of [A]: masculine rates of translators, by `convention="published"`."""
    return tuple(
        PublishedRates(row["system"], "translator", row["language"], row["p"], float("nan"))
        for row in published.load("gest_mt_masculine_rates")["rows"]
    )


def comparable_models(kind: str, where: int | str, options: Mapping[str, Any]) -> tuple[PublishedRates, ...]:
    """What a run may stand beside: models of its kind in its template (a number) or on pairs of its language.

    The paper's were asked in its own templates and on pairs that differ in one token, so a run with
    options of its own stands beside none.
    """
    if options:
        return ()
    return tuple(
        model for model in (*english_models(), *slavic_models()) if (model.kind, model.where) == (kind, where)
    )


def published_mean_g_s(templates: set[int]) -> dict[tuple[str, str], float]:
    """g_s of each English model, averaged over those of its templates that are asked for."""
    values: dict[tuple[str, str], list[float]] = {}
    for model in english_models():
        if model.where in templates:
            values.setdefault((model.model, model.kind), []).append(model.g_s)
    return {key: sum(over_templates) / len(over_templates) for key, over_templates in values.items()}


@dataclass(frozen=True)
class Ranking:
    """A model's g_s among the paper's; `models` are theirs, without the paper's entry for this model.

    `own` is that entry. `namesake` is a model of the paper that is called like this one, but need not
    be the same. `limited` says that not all samples were asked.
    """

    g_s: float
    among: str
    models: dict[str, float]
    own: float | None
    namesake: str | None
    limited: bool

    @property
    def rank(self) -> int:
        """1 has the strongest stereotypes."""
        return 1 + sum(value > self.g_s for value in self.models.values())

    @property
    def above(self) -> str | None:
        """The nearest model with stronger stereotypes."""
        stronger = (name for name, value in self.models.items() if value > self.g_s)
        return min(stronger, key=self.models.__getitem__, default=None)

    @property
    def below(self) -> str | None:
        """The nearest model with weaker or the same ones."""
        others = (name for name, value in self.models.items() if value <= self.g_s)
        return max(others, key=self.models.__getitem__, default=None)

    def text(self) -> str:
        """In words."""
        lines = [
            f"g_s {self.g_s:.2f}: below {self._told(self.above)} and above {self._told(self.below)}; rank "
            f"{self.rank} of {len(self.models) + 1} among the paper's {self.among}. Published values were "
            f"brought to the ratio scale."
        ]
        if self.own is not None:
            lines.append(f"The paper has {self.own:.2f} for this model.")
        if self.namesake is not None:
            theirs = self.models[self.namesake]
            lines.append(f"If this is a copy of {self.namesake}: the paper has {theirs:.2f} for it.")
        if self.limited:
            lines.append("The paper's are of all samples, this one of the first ones only.")
        return " ".join(lines)

    def _told(self, name: str | None) -> str:
        return "nothing" if name is None else f"{name} ({self.models[name]:.2f})"


def rank_among_published(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Ranking | None:
    """The standing of a run by its metadata; None where the paper has measured nothing of the kind."""
    wheres, told = _places(metadata)
    tables = [
        {model.model: model.g_s for model in comparable_models(metadata["kind"], where, metadata["options"])}
        for where in wheres
    ]
    models = {
        name: sum(table[name] for table in tables) / len(tables)
        for name in (tables[0] if tables else ())
        if all(name in table for table in tables)
    }
    g_s = result.get("g_s")
    if not models or g_s is None or math.isnan(g_s):
        return None
    own = models.pop(published_name(metadata) or "", None)
    last = re.split(r"[/\\]", str(metadata["model"]).rstrip("/\\"))[-1]
    return Ranking(
        g_s,
        f"{metadata['kind']} models in {told}",
        models,
        own,
        last if last in models else None,
        metadata["limit"] is not None,
    )


def _places(metadata: Mapping[str, Any]) -> tuple[tuple[int | str, ...], str]:
    """The templates of a run, or its language, and how they are called; nothing where the data differ."""
    config = CONFIGS.get(metadata["config"])
    if config is None:
        return (), ""
    if config.name in _ENGLISH_CONFIGS:
        numbers = tuple(metadata["templates"])
        return numbers, f"template{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
    if config.family.name != "pairs":
        return (), ""
    language = config.languages[0]
    return (language,), LANGUAGES[language].name


def published_name(metadata: Mapping[str, Any]) -> str | None:
    """The name that the paper has for the run's model: for the same id on the Hub, of which it is."""
    if not metadata.get("from_hub") or metadata.get("requested_revision") not in (None, "main"):
        return None
    known = language_models().values()
    return next((model.name for model in known if metadata["model"] in model.hub_ids), None)


# The Hub has given owners to the models that had none; the longest beginning of a name that fits says which
_OWNERS = {
    "albert-": "albert",
    "bert-": "google-bert",
    "distilbert-": "distilbert",
    "gpt2": "openai-community",
    "roberta-": "FacebookAI",
    "t5-": "google-t5",
    "xlm-roberta-": "FacebookAI",
}


def hub_ids(handle: str) -> tuple[str, ...]:
    """The ids that a model has on the Hub: the handle itself, and its address of today.

    >>> hub_ids("bert-base-cased"), hub_ids("google/mt5-base")
    (('bert-base-cased', 'google-bert/bert-base-cased'), ('google/mt5-base',))
    """
    owner = next((owner for begin, owner in _OWNERS.items() if handle.startswith(begin)), None)
    return (handle,) if owner is None or "/" in handle else (handle, f"{owner}/{handle}")


def rows_for_model(
    rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], column: str
) -> list[Mapping[str, Any]]:
    """The rows of a published table that are of the model of a run, by the `column` with its handle.

    As with `published.standing` only a model that was loaded from the Hub under such an id is the papers'.
    """
    if not metadata.get("from_hub") or metadata.get("requested_revision") not in (None, "main"):
        return []
    return [row for row in rows if metadata["model"] in hub_ids(row[column])]
