"""What a user's options mean to a probe: those that change its numbers, those that it does not use."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from gest_dataset.probes.author_rules import matching_rules
from gest_dataset.probes.probe import Options, Probe
from gest_dataset.probes.templates import EXTENDED_NAME, has_extended


def _given(options: Options) -> list[str]:
    return [option.name for option in fields(Options) if getattr(options, option.name) != option.default]


def effective_options(options: Options, probe: Probe, kind: str) -> dict[str, Any]:
    """The options that change this probe's numbers, where they are not the default."""
    told = {name: getattr(options, name) for name in _given(options) if name in probe.options}
    rules = applicable_rules(options, probe, kind)
    if told.pop("rules", None) and rules:
        told["rules"] = ",".join(sorted(rules))
    templates = told.pop("templates", None)
    if has_extended(templates):  # numbers are told as `templates` of the metadata
        told["templates"] = EXTENDED_NAME
    elif isinstance(templates, (str, Path)):
        path = Path(templates)
        told["templates"] = f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    return told


def applicable_rules(options: Options, probe: Probe, kind: str) -> frozenset[str]:
    """The rules of the authors that the options name and that change what this probe asks such a model."""
    return matching_rules(options.rules, probe.name, kind)


def unused_options(options: Options, probe: Probe, kind: str) -> list[str]:
    """A note for each option that was given and means nothing to this probe, or to such a model."""
    unused = [name for name in _given(options) if name not in probe.options]
    if options.rules and "rules" not in unused and not applicable_rules(options, probe, kind):
        unused.append("rules")
    return [f"{name} means nothing to the probe {probe.name} and was not used" for name in unused]
