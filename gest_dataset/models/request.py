"""What a model is asked: the rows of a config, their measure and probe, and the settings."""

from collections.abc import Mapping
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
from gest_dataset.models.base import Model, Settings
from gest_dataset.probes.options import effective_options
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.tokenization import start_token


@dataclass(frozen=True)
class Request:
    rows: datasets.Dataset
    name: str
    fingerprint: str
    measure: Measure
    probe: Probe
    settings: Settings
    notes: tuple[str, ...] = ()

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
        if reason := _kind_problem(self.probe, kind):
            raise _unsuitable(self.name, reason, model)
        self.probe.query_builders(kind, self.settings)

    def facts(self, model: Model) -> dict[str, Any]:
        """What the numbers depend on, besides the data and what the model is.

        `start` is `eos` if the end token replaces a missing start token, which changes the numbers.
        """
        builders = self.probe.query_builders(model.kind, self.settings)
        scores_texts = model.kind == "causal" and self.probe.scores_whole_texts
        start = start_token(model.tokenizer) if scores_texts else None
        return {
            "revision": model.revision,
            "kind": model.kind,
            "templates": [number for number in builders if number],
            "options": effective_options(self.settings, self.probe, model.kind),
            "start": "eos" if start and start[0] == "eos" else None,
            "limit": self.settings.limit,
        }


def make_request(config: str | datasets.Dataset, settings: Settings | None = None) -> Request:
    """Load the rows of a config and find their measure and probe."""
    settings = settings or Settings()
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
            notes.append("the rows have no ids, so they are numbered from 0")
        elif rows.features["id"] != datasets.Value("string"):
            rows = rows.cast_column("id", datasets.Value("string"))
        config = rows.info.config_name or "data"
        fingerprint = hash_of(rows)
    if settings.limit is not None:
        rows = rows.select(range(min(settings.limit, len(rows))))
    measure, probe = measure_of(rows.column_names, config)
    return Request(rows, config, fingerprint, measure, probe, settings, tuple(notes))


def suitable_configs(configs: Mapping[str, bool], kind: str, model: str) -> tuple[list[str], dict[str, str]]:
    """The configs that a kind of model can be scored on, and the reasons why others are left out.

    A config that was named itself (True in `configs`) and does not fit is an error.
    """
    left_out = {}
    for name, named in configs.items():
        reason = _mismatch(name, named, kind)
        if reason and named:
            raise _unsuitable(name, reason, model)
        if reason:
            left_out[name] = reason
    if len(left_out) == len(configs):
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise SettingError(f"No config is left for {model}, a {kind} model: {reasons}.")
    return [name for name in configs if name not in left_out], left_out


def _mismatch(name: str, named: bool, kind: str) -> str:
    """Why a kind of model cannot be scored on a config; empty if it can."""
    if name == "annotations" and not named:
        return "contains rejected sentences too; name it to score it"
    try:
        probe = measure_of(list(CONFIGS[name].features), name)[1]
    except SettingError:
        if named:
            raise
        return "is not for scoring models"
    if CONFIGS[name].family.name == "crows_control" and kind != "masked":
        return (
            f"has no keywords, so only `cs` is measured, which needs a masked model, and this one is {kind}"
        )
    return _kind_problem(probe, kind)


def _kind_problem(probe: Probe, kind: str) -> str:
    kinds = " or ".join(sorted(probe.kinds))
    return "" if kind in probe.kinds else f"needs a {kinds} model, and this one is {kind}"


def _unsuitable(config: str, reason: str, model: str) -> SettingError:
    return SettingError(f"{config} {reason}: {model}. Choose another config or another model.")
