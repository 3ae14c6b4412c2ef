"""Where a model stands among those of the papers: the same templates or language, the same scale.

The final GEST paper prints g_s on a scale of its own (docs/metrics.md: e to the difference of means
of log10), so the model's is taken there: g_s to the power of 1 / ln 10. Over several templates it is
the mean of the templates' g_s, as in the paper's figure 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.statistics.masculine_rate import AVERAGES
from gest_dataset.statistics.stereotype_rate import LN10

# Kind of model -> the table of English models that are asked in the same templates
_ENGLISH = {
    "masked": ("gest_english_mlm", "masked models"),
    "seq2seq": ("gest_english_mlm", "masked models (the paper has no encoder-decoder)"),
    "causal": ("gest_english_glm", "causal models"),
}
_ENGLISH_CONFIGS = ("en", "en_1_0")


@dataclass(frozen=True)
class Standing:
    """A model's g_s on the paper's scale among the paper's own; `own` is what the paper has for it.

    `rank` counts from the strongest stereotypes, the model's own entry in the paper left out.
    """

    g_s: float
    among: str
    models: dict[str, float]
    own: float | None
    limited: bool

    @property
    def rank(self) -> int:
        """1 is the strongest."""
        return 1 + sum(value > self.g_s for value in self.models.values())

    @property
    def above(self) -> str | None:
        """The nearest model with stronger stereotypes."""
        return min(
            (m for m, v in self.models.items() if v > self.g_s), key=self.models.__getitem__, default=None
        )

    @property
    def below(self) -> str | None:
        """The nearest model with weaker or the same ones."""
        return max(
            (m for m, v in self.models.items() if v <= self.g_s), key=self.models.__getitem__, default=None
        )

    def text(self) -> str:
        """In words."""
        between = [
            f"{'below' if name == self.above else 'above'} {name} ({self.models[name]:.2f})"
            for name in (self.above, self.below)
            if name is not None
        ]
        lines = [
            f"On the paper's scale g_s is {self.g_s:.2f}: {' and '.join(between)}, rank {self.rank} of "
            f"{len(self.models) + 1} with the paper's {self.among}."
        ]
        if self.own is not None:
            lines.append(f"The paper has {self.own:.2f} for this model.")
        if self.limited:
            lines.append("The paper's are of all samples, this one of the first ones only.")
        return " ".join(lines)


def standing(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Standing | None:
    """The standing of a model; None where the papers have measured nothing of the kind."""
    found = _english(metadata, result) or _slavic(metadata, result)
    if found is None or math.isnan(found[0]):
        return None
    g_s, among, models = found
    name = str(metadata["model"]).rstrip("/").rpartition("/")[2]
    own = models.pop(name, None)
    return Standing(g_s, among, models, own, metadata["limit"] is not None)


Found = tuple[float, str, dict[str, float]]


def _english(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Found | None:
    templates = metadata["templates"]
    if metadata["config"] not in _ENGLISH_CONFIGS or metadata["kind"] not in _ENGLISH:
        return None
    if not set(templates) <= {1, 2, 3, 4} or "templates" in metadata["options"]:
        return None
    table, among = _ENGLISH[metadata["kind"]]
    rows = published.load(table)["rows"]
    models = {
        model: float(np.mean(values))
        for model in dict.fromkeys(row["model"] for row in rows)
        if len(
            values := [r["g_s_published"] for r in rows if r["model"] == model and r["template"] in templates]
        )
        == len(templates)
    }
    numbers = ", ".join(map(str, templates))
    word = "templates" if len(templates) > 1 else "template"
    each = result["by_template"].values() if "by_template" in result else [result]
    return _on_paper_scale([one["g_s"] for one in each]), f"{among} in {word} {numbers}", models


def _slavic(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Found | None:
    config = CONFIGS.get(metadata["config"])
    if config is None or config.family.name != "pairs" or metadata["kind"] != "masked" or metadata["options"]:
        return None
    rows = [r for r in published.load("gest_slavic_mlm")["rows"] if r["language"] in config.languages]
    weights = AVERAGES["m"] - AVERAGES["f"]
    models = {row["model"].rpartition("/")[2]: math.exp(float(np.log(row["q"]) @ weights)) for row in rows}
    if not models:
        return None
    return _on_paper_scale([result["g_s"]]), f"masked models in this language ({rows[0]['language']})", models


def _on_paper_scale(values: Sequence[float | None]) -> float:
    ratios = np.array([math.nan if value is None else value for value in values], dtype=float)
    return float((ratios ** (1 / LN10)).mean())
