"""Which of a user's options change the scores of a probe."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from gest_dataset.probes.author_rules import RULES
from gest_dataset.probes.probe import Options, Probe
from gest_dataset.probes.templates import EXTENDED_NAME, has_extended


def effective_options(options: Options, probe: Probe, kind: str) -> dict[str, Any]:
    """The non-default options that change this probe's scores."""
    defaults = Options()
    effective = {
        name: getattr(options, name)
        for name in probe.options
        if getattr(options, name) != getattr(defaults, name)
    }
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
