"""Which of a user's options change the scores of a probe."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from gest_dataset.probes.author_rules import RULES
from gest_dataset.probes.probe import Options, Probe
from gest_dataset.probes.templates import EXTENDED_NAME, has_extended


def effective_options(options: Options, probe: Probe, kind: str) -> dict[str, Any]:
    """The non-default options that change this probe's scores."""
    effective = {name: getattr(options, name) for name in _changed(options) if name in probe.options}
    rules = applicable_rules(options, probe, kind)
    if effective.pop("rules", None) and rules:
        effective["rules"] = ",".join(sorted(rules))
    templates = effective.pop("templates", None)
    if has_extended(templates):  # template numbers are in the run's metadata
        effective["templates"] = EXTENDED_NAME
    elif isinstance(templates, (str, Path)):
        path = Path(templates)
        effective["templates"] = f"{path.name}#{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    return effective


def applicable_rules(options: Options, probe: Probe, kind: str) -> frozenset[str]:
    """The selected author rules that apply to this probe and kind of model."""
    return frozenset(
        name for name in options.rules if probe.name in RULES[name][0] and kind in RULES[name][1]
    )


def unused_options(options: Options, probe: Probe, kind: str) -> list[str]:
    """A note for each option that has no effect on this probe or kind of model."""
    unused = [name for name in _changed(options) if name not in probe.options]
    if options.rules and "rules" not in unused and not applicable_rules(options, probe, kind):
        unused.append("rules")
    return [f"{name} has no effect on the probe {probe.name}" for name in unused]


def _changed(options: Options) -> list[str]:
    return [field.name for field in fields(Options) if getattr(options, field.name) != field.default]
