"""What a sweep keeps of a finished run: its headline with its interval, and how it was made; whether a run is
that of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import fingerprint_of
from gest_dataset.measures import MEASURES, measure_of
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import of_templates
from gest_dataset.models.names import gguf_file
from gest_dataset.probes.options import told_options
from gest_dataset.runs.manifest import Manifest
from gest_dataset.runs.reading import Run
from gest_dataset.storage import json_value
from gest_dataset.sweep.suite import Subject


def facts_of(run: Run) -> dict[str, Any]:
    """The facts of a run on disk."""
    manifest = run.manifest
    return told_facts(manifest.metadata, run.result["result"], manifest.signature, manifest.finished)


def told_facts(
    metadata: Mapping[str, Any], result: Mapping[str, Any], signature: str, finished: str
) -> dict[str, Any]:
    """Value and bounds of the headline (of templates their mean, and each), verdict, counts, origin."""
    measure = MEASURES[metadata["measure"]]
    head = measure.headline(result)
    parts = of_templates(result) if "by_template" in result else {}
    facts: dict[str, Any] = json_value(
        {
            "measure": measure.name,
            "number": head.name,
            "symbol": head.symbol,
            "estimate": Estimate.of(result, head.name),
            "zone": [result.get("zone_low"), result.get("zone_high")],
            "verdict": str(result.get("verdict", "")),
            "templates": {number: Estimate.of(part, head.name) for number, part in parts.items()},
            "signature": signature,
            "finished": finished,
        }
    )
    own = ("revision", "kind", "dtype", "device", "parameters", "asked", "scored", "seconds", "toy", "limit")
    facts |= json_value({name: metadata.get(name) for name in own})
    facts["tokens"] = (metadata.get("passes") or {}).get("tokens")
    return facts


def is_run_of(manifest: Manifest, subject: Subject, config: str) -> bool:
    """Whether a run, finished or not, is of a cell as the suite asks it now.

    Not its revision, which only a finished one tells.
    """
    asked, settings = subject.asking, manifest.settings
    probe = measure_of(list(CONFIGS[config].features), config)[1]
    kind = settings["kind"]
    file = gguf_file(subject.model)
    return (
        (manifest.subject, manifest.config) == (subject.model if file is None else file.name, config)
        and manifest.data_fingerprint == fingerprint_of(config)
        and settings.get("endpoint") == (None if subject.server is None else subject.server.endpoint)
        and settings["templates"] == [number for number in probe.askers(kind, asked.options) if number]
        and settings["options"] == told_options(asked.options, probe, kind)
        and settings["limit"] == asked.limit
        and settings.get("null", 0) == asked.null
        and settings.get("quantization") == asked.quantization
        and asked.dtype in ("auto", settings["dtype"])
        and asked.batch_tokens in (None, settings.get("batch_tokens"))
    )
