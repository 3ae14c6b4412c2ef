"""Where a model stands among those of the GEST paper: the one answer of terminal, JSON and report.

Only like stands beside like: models of the same kind, in the same templates or on pairs of the same
language, without options. All g_s are on the ratio scale of the definition; `published.models` brings
the printed ones there. Over several templates g_s is the mean of theirs, as in the paper's figure 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gest_dataset.builders import CONFIGS
from gest_dataset.languages import LANGUAGES
from gest_dataset.published.models import beside, language_models

_ENGLISH_CONFIGS = ("en", "en_1_0")


@dataclass(frozen=True)
class Standing:
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


def standing(metadata: Mapping[str, Any], result: Mapping[str, Any]) -> Standing | None:
    """The standing of a run by its metadata; None where the paper has measured nothing of the kind."""
    wheres, told = _places(metadata)
    tables = [
        {model.model: model.g_s for model in beside(metadata["kind"], where, metadata["options"])}
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
    own = models.pop(_papers(metadata) or "", None)
    last = re.split(r"[/\\]", str(metadata["model"]).rstrip("/\\"))[-1]
    return Standing(
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


def _papers(metadata: Mapping[str, Any]) -> str | None:
    """The name that the paper has for the run's model: for the same id on the Hub, of which it is."""
    if not metadata.get("from_hub") or metadata.get("asked_revision") not in (None, "main"):
        return None
    known = language_models().values()
    return next((model.name for model in known if metadata["model"] in model.hub_ids), None)
