"""The request to a model: the rows of a config, their measure and probe, and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import datasets

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.data.rows import fingerprint_of, hash_of, rows_of
from gest_dataset.data.sources import hub_repository
from gest_dataset.errors import SettingError
from gest_dataset.languages import LANGUAGES
from gest_dataset.measures import measure_of
from gest_dataset.measures.measure import Measure
from gest_dataset.models.base import Model
from gest_dataset.probes.options import effective_options
from gest_dataset.probes.probe import Options, Probe, check_kind
from gest_dataset.probes.tokenization import start_token

NUMBERED = "the rows have no ids, so they are numbered from 0"


@dataclass(frozen=True)
class Request:
    """The rows to score, their measure and probe, and the options; `null` is a number of random baselines."""

    rows: datasets.Dataset
    name: str
    fingerprint: str
    measure: Measure
    probe: Probe
    options: Options
    limit: int | None
    batch_tokens: int | None
    notes: tuple[str, ...] = ()
    null: int = 0

    @property
    def language(self) -> str:
        """The language code of the rows; empty if their name does not contain one."""
        if self.name in CONFIGS:
            return CONFIGS[self.name].languages[0]
        code = self.name.partition("_")[0]
        return code if code in LANGUAGES else ""

    def check(self, model: str, kind: str) -> None:
        """Refuse a kind of model that cannot be asked, or not with these options."""
        if self.probe.intersentence and kind == "masked":
            return  # its checkpoint may have a next-sentence head
        check_kind(self.probe, kind, model, self.name)
        self.probe.query_builders(kind, self.options)

    def settings(self, model: Model) -> dict[str, Any]:
        """Everything that the numbers depend on, besides the model's name, the data and the measure."""
        settings = {
            "revision": model.revision,
            "kind": model.kind,
            **model.settings(self.batch_tokens),
            "templates": [number for number in self.probe.query_builders(model.kind, self.options) if number],
            "options": effective_options(self.options, self.probe, model.kind),
            "start": self.start(model),
            "limit": self.limit,
        }
        return settings | ({"null": self.null} if self.null else {})

    def start(self, model: Model) -> str | None:
        """`eos` if the end token replaces a missing start token, which changes the numbers."""
        start = (
            start_token(model.tokenizer) if model.kind == "causal" and self.probe.scores_whole_texts else None
        )
        return "eos" if start and start[0] == "eos" else None

    def notes_on(self, model: Model) -> list[str]:
        """Notes about the run that are known before it starts."""
        if not self.start(model):
            return [*self.notes]
        end = model.tokenizer.eos_token
        return [*self.notes, f"the tokenizer has no start token: its end token {end} precedes each text"]


def make_request(
    config: str | datasets.Dataset,
    limit: int | None,
    options: Options,
    batch_tokens: int | None,
    null: int = 0,
) -> Request:
    """Load the rows of a config and find their measure and probe."""
    for name, value, least in (("batch_tokens", batch_tokens, 1), ("null", null, 0), ("limit", limit, 1)):
        if value is not None and value < least:
            raise SettingError(f"{name}={value} is too small: use {least} or more.")
    notes: list[str] = []
    if isinstance(config, str):
        rows = rows_of(get_config(config).name)
        fingerprint = fingerprint_of(config, rows)
        if repo := hub_repository():
            notes.append(f"the rows are those of {repo} on the Hub (GEST_REPO)")
    else:
        rows = config
        if "id" not in rows.column_names:
            rows = rows.add_column("id", [str(number) for number in range(len(rows))])
            notes.append(NUMBERED)
        elif rows.features["id"] != datasets.Value("string"):
            rows = rows.cast_column("id", datasets.Value("string"))
        config = rows.info.config_name or "data"
        fingerprint = hash_of(rows)
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    measure, probe = measure_of(rows.column_names, config)
    return Request(
        rows, config, fingerprint, measure, probe, options, limit, batch_tokens, tuple(notes), null
    )
