"""Which of the requested configs a kind of model can be scored on."""

from __future__ import annotations

from collections.abc import Mapping

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import Config
from gest_dataset.errors import SettingError
from gest_dataset.measures import measure_of
from gest_dataset.probes.probe import check_kind

# Families without keywords: their only number, `cs`, needs a masked model
_MASKED_ONLY = ("crows_control",)
# Configs of the group `all` that are scored only if they are named
_ONLY_NAMED = {"annotations": "contains rejected sentences too; name it to score it"}


def suitable_configs(configs: Mapping[str, bool], kind: str, model: str) -> tuple[list[str], dict[str, str]]:
    """The configs to score, and the reasons why others of a group are left out.

    A config that was named itself (True in `configs`) and does not fit is an error.
    """
    selected = []
    left_out = {}
    for name, named in configs.items():
        config = CONFIGS[name]
        reason = _mismatch(config, kind)
        if reason and named:
            check_kind(measure_of(list(config.features), name)[1], kind, model, name)
            raise SettingError(f"{name} {reason}: {model}. Choose another config or another model.")
        if reason:
            left_out[name] = reason
        elif not named and name in _ONLY_NAMED:
            left_out[name] = _ONLY_NAMED[name]
        else:
            selected.append(name)
    if not selected:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise SettingError(f"No config is left for {model}, a {kind} model: {reasons}.")
    return selected, left_out


def _mismatch(config: Config, kind: str) -> str | None:
    """Why a kind of model cannot be scored on a config."""
    try:
        probe = measure_of(list(config.features), config.name)[1]
    except SettingError:
        return "is not for scoring models"
    if kind not in probe.kinds:
        return f"needs a {' or '.join(sorted(probe.kinds))} model, and this one is {kind}"
    if config.family.name in _MASKED_ONLY and kind != "masked":
        return (
            f"has no keywords, so only `cs` is measured, which needs a masked model, and this one is {kind}"
        )
    return None
