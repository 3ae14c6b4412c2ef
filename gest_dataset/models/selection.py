"""Which of the configs that a user means a kind of model can do."""

from __future__ import annotations

from collections.abc import Mapping

from gest_dataset.builders import CONFIGS
from gest_dataset.builders.config import Config
from gest_dataset.errors import SettingError
from gest_dataset.measures import measure_of
from gest_dataset.probes.probe import check_kind

# Family whose rows give its probe less to ask than others do -> the kinds of models that it is left for
_KINDS = {"crows_control": ("masked", "has no keywords, so that only `cs` is measured, and that")}
# Config that is in the group `all`, and no set to measure a model on -> why
_ONLY_NAMED = {"annotations": "also the sentences that the validators refused; name it to score it"}


def split(configs: Mapping[str, bool], kind: str, model: str) -> tuple[list[str], dict[str, str]]:
    """The configs to score with a kind of model, and those of a group that are left out, with why.

    A config that was named itself and does not fit is an error.
    """
    chosen, left_out = [], {}
    for name, named in configs.items():
        config = CONFIGS[name]
        reason = _misfit(config, kind)
        if reason and named:
            check_kind(measure_of(list(config.features), name)[1], kind, model, name)
            raise SettingError(f"{name} {reason}: {model}. Choose another config or another model.")
        if reason:
            left_out[name] = reason
        elif not named and name in _ONLY_NAMED:
            left_out[name] = _ONLY_NAMED[name]
        else:
            chosen.append(name)
    if not chosen:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise SettingError(f"No config is left for {model}, a {kind} model: {reasons}.")
    return chosen, left_out


def _misfit(config: Config, kind: str) -> str | None:
    """Why a kind of model cannot be asked about a config, if it cannot."""
    try:
        probe = measure_of(list(config.features), config.name)[1]
    except SettingError:
        return "data only, no model is asked about it"
    if kind in probe.kinds:
        only, why = _KINDS.get(config.family.name, (kind, ""))
        return None if kind == only else f"{why} needs a {only} model, and this one is {kind}"
    return f"needs a {' or '.join(sorted(probe.kinds))} model, and this one is {kind}"
