"""What a model will be asked: the rows of a config, their probe, and what its numbers depend on."""

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
from gest_dataset.models.loading import CAUSAL, MASKED
from gest_dataset.models.subject import Subject
from gest_dataset.probes.options import effective_options
from gest_dataset.probes.probe import Options, Probe, check_kind
from gest_dataset.probes.tokenization import start_token

NUMBERED = "the rows have no ids and are numbered, from 0"


@dataclass(frozen=True)
class Request:
    """What a model will be asked: some rows, the measure that they are for, and its probe."""

    rows: datasets.Dataset
    name: str
    fingerprint: str
    measure: Measure
    probe: Probe
    options: Options
    limit: int | None
    batch_tokens: int | None
    notes: tuple[str, ...] = ()
    null: int = 0  # twins with fresh weights that are asked too

    @property
    def language(self) -> str:
        """The code of the language of the rows; empty where their name does not tell it."""
        if self.name in CONFIGS:
            return CONFIGS[self.name].languages[0]
        code = self.name.partition("_")[0]
        return code if code in LANGUAGES else ""

    def check(self, model: str, kind: str) -> None:
        """Whether a kind of model can be asked at all, and as the options say."""
        if self.probe.intersentence and kind == MASKED:
            return  # its checkpoint may have a next-sentence head, which loading it tells
        check_kind(self.probe, kind, model, self.name)
        self.probe.query_builders(kind, self.options)

    def settings(self, loaded: Subject) -> dict[str, Any]:
        """What the numbers depend on beside model, data and measure, versions and the machine."""
        return {
            "revision": loaded.revision,
            "kind": loaded.kind,
            **loaded.settings(self.batch_tokens),
            "templates": [
                number for number in self.probe.query_builders(loaded.kind, self.options) if number
            ],
            "options": effective_options(self.options, self.probe, loaded.kind),
            "start": self.start(loaded),
            "limit": self.limit,
            **({"null": self.null} if self.null else {}),
        }

    def start(self, loaded: Subject) -> str | None:
        """`eos` where that token stands in for a start token, which changes the numbers."""
        start = (
            start_token(loaded.tokenizer) if loaded.kind == CAUSAL and self.probe.scores_whole_texts else None
        )
        return "eos" if start and start[0] == "eos" else None

    def notes_on(self, loaded: Subject) -> list[str]:
        """What has to be said of the run beside its numbers, before it begins."""
        end = loaded.tokenizer.eos_token
        stands_in = f"the tokenizer has no start token: its end token {end} stands in front of each text"
        return [*self.notes, *([stands_in] if self.start(loaded) else [])]


def prepare(
    config: str | datasets.Dataset,
    limit: int | None,
    options: Options,
    batch_tokens: int | None,
    null: int = 0,
) -> Request:
    """The rows of a config and their probe; what is wrong with them shows before a model is loaded."""
    if batch_tokens is not None and batch_tokens < 1:
        raise SettingError(f"batch_tokens={batch_tokens} leaves no room for a token: use 1 or more.")
    if null < 0:
        raise SettingError(f"null={null} is no number of twins: use 0 or more.")
    rows, name, data_fingerprint, notes = _rows(config, limit)
    measure, probe = measure_of(rows.column_names, name)
    return Request(rows, name, data_fingerprint, measure, probe, options, limit, batch_tokens, notes, null)


def _rows(
    config: str | datasets.Dataset, limit: int | None
) -> tuple[datasets.Dataset, str, str, tuple[str, ...]]:
    """The rows to score, a name for them, a hash of their content, and notes on them."""
    notes: tuple[str, ...] = ()
    if limit is not None and limit < 1:
        raise SettingError(f"limit={limit} leaves nothing to score: use 1 or more.")
    if isinstance(config, str):
        rows = rows_of(get_config(config).name)
        mark = fingerprint_of(config, rows)
        if repo := hub_repository():
            notes = (f"the rows are those of {repo} on the Hub (GEST_REPO)",)
    else:
        rows, notes = _with_ids(config)
        config = rows.info.config_name or "data"
        mark = hash_of(rows)
    if limit is not None:
        rows = rows.select(range(min(limit, len(rows))))
    return rows, config, mark, notes


def _with_ids(rows: datasets.Dataset) -> tuple[datasets.Dataset, tuple[str, ...]]:
    """Rows whose `id` is a text; where there is none they are numbered, and a note says so."""
    if "id" not in rows.column_names:
        numbers = [str(number) for number in range(len(rows))]
        return rows.add_column("id", numbers), (NUMBERED,)
    text = datasets.Value("string")
    return rows if rows.features["id"] == text else rows.cast_column("id", text), ()
