"""Which configs a user means by a list of names and groups, and which of them a kind of model can do."""

from __future__ import annotations

import difflib

from gest_dataset.builders import CONFIGS, get_config
from gest_dataset.builders.config import Config
from gest_dataset.errors import ConfigError, ScoringError
from gest_dataset.measures import measure_of
from gest_dataset.probes.probe import check_kind

# Name of a group -> the families of its configs
GROUPS = {
    "slavic": ("pairs",),
    "controls": ("stereoset_control", "crows_control", "slovak_gender"),
    "crows": ("crows",),
    "stereoset": ("stereoset",),
    "winobias": ("winobias",),
    "demo": ("demo", "demo_control"),
}
ALL = "all"
# Family whose rows give its probe less to ask than others do -> the kinds of models that it is left for
_KINDS = {"crows_control": ("masked", "has no keywords, so that only `cs` is measured, and that")}
_OWN_GROUP = "demo"  # its numbers are for looking at


def names(asked: str) -> dict[str, bool]:
    """The configs that are meant, each once, and whether it was named itself (not by its group)."""
    found: dict[str, bool] = {}
    for name in filter(None, (part.strip() for part in asked.split(","))):
        if name == ALL or name in GROUPS:
            for config in CONFIGS.values():
                if name == ALL or config.family.name in GROUPS[name]:
                    found.setdefault(config.name, False)
        else:
            found[_config(name).name] = True
    if not found:
        raise ConfigError(f"--config {asked!r} names no config. Give names, or groups: {_groups()}.")
    return found


def split(configs: dict[str, bool], kind: str, model: str) -> tuple[list[str], dict[str, str]]:
    """The configs to score with a kind of model, and those of a group that are left out, with why.

    A config that was named itself and does not fit is an error.
    """
    chosen, left_out = [], {}
    everything = len(configs) == len(CONFIGS)
    for name, named in configs.items():
        config = CONFIGS[name]
        reason = _misfit(config, kind)
        if reason and named:
            check_kind(measure_of(list(config.features), name)[1], kind, model, name)
            raise ScoringError(f"{name} {reason}: {model}. Choose another config or another model.")
        if reason:
            left_out[name] = reason
        elif everything and not named and config.family.name in GROUPS[_OWN_GROUP]:
            left_out[name] = f"for trying things out; it is in the group `{_OWN_GROUP}`"
        else:
            chosen.append(name)
    if not chosen:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise ScoringError(f"No config is left for {model}, a {kind} model: {reasons}.")
    return chosen, left_out


def _misfit(config: Config, kind: str) -> str | None:
    """Why a kind of model cannot be asked about a config, if it cannot."""
    try:
        probe = measure_of(list(config.features), config.name)[1]
    except ScoringError:
        return "data only, no model is asked about it"
    if kind in probe.kinds:
        only, why = _KINDS.get(config.family.name, (kind, ""))
        return None if kind == only else f"{why} needs a {only} model, and this one is {kind}"
    return f"needs a {' or '.join(sorted(probe.kinds))} model, and this one is {kind}"


def _config(name: str) -> Config:
    try:
        return get_config(name)
    except ConfigError as error:
        close = difflib.get_close_matches(name, [*GROUPS, ALL], n=1)
        question = f" Did you mean the group {close[0]!r}?" if close else ""
        raise ConfigError(f"{error}\nGroups: {_groups()}.{question}") from error


def _groups() -> str:
    return ", ".join([*GROUPS, ALL])
