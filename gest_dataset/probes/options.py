"""Which of a user's options change the scores of a probe, and the rules of the authors' code.

Published numbers were made with code that sometimes differs from its paper. `rules="authors"` reproduces it,
and the name of a rule changes one thing. docs/reproduce.md describes each rule and its effect.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.probes.probe import Options, Probe
from gest_dataset.probes.templates import EXTENDED_NAME, EXTENDED_TEMPLATES
from gest_dataset.storage import read_yaml

AUTHORS = "authors"
OWN_NEGATION = "own-negation"
# Rule -> the `probes` and the `kinds` of models that it affects; none is the default
RULES: dict[str, dict[str, list[str]]] = read_yaml(Path(__file__).with_suffix(".yaml"))


def parse_rules(asked: str | Sequence[str]) -> tuple[str, ...]:
    """The names of rules, from a list or with commas; `authors` is all of them."""
    names = [name.strip() for name in asked.split(",")] if isinstance(asked, str) else list(asked)
    unknown = [name for name in names if name not in (AUTHORS, *RULES)]
    if unknown:
        raise SettingError(f"There is no rule {unknown[0]!r}. Choose from {AUTHORS}, {', '.join(RULES)}.")
    return tuple(name for name in RULES if name in names or AUTHORS in names)


def effective_options(options: Options, probe: Probe, kind: str) -> dict[str, Any]:
    """The non-default options that change this probe's scores."""
    effective = {name: getattr(options, name) for name in _changed(options) if name in probe.options}
    rules = applicable_rules(options, probe, kind)
    if effective.pop("rules", None) and rules:
        effective["rules"] = ",".join(sorted(rules))
    templates = effective.pop("templates", None)
    if isinstance(templates, (str, Path)) and templates != EXTENDED_NAME:
        path = Path(templates)
        effective["templates"] = f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    elif templates == EXTENDED_NAME or {*(templates or ())} & EXTENDED_TEMPLATES.keys():
        effective["templates"] = EXTENDED_NAME  # template numbers are in the run's metadata
    return effective


def applicable_rules(options: Options, probe: Probe, kind: str) -> frozenset[str]:
    """The selected author rules that apply to this probe and kind of model."""
    return frozenset(
        name for name in options.rules if probe.name in RULES[name]["probes"] and kind in RULES[name]["kinds"]
    )


def unused_options(options: Options, probe: Probe, kind: str) -> list[str]:
    """A note for each option that has no effect on this probe or kind of model."""
    unused = [name for name in _changed(options) if name not in probe.options]
    if options.rules and "rules" not in unused and not applicable_rules(options, probe, kind):
        unused.append("rules")
    return [f"{name} has no effect on the probe {probe.name}" for name in unused]


def _changed(options: Options) -> list[str]:
    return [field.name for field in fields(Options) if getattr(options, field.name) != field.default]
