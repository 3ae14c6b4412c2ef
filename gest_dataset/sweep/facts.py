"""What a sweep keeps of a finished run: its headline with its interval, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gest_dataset.files import plain
from gest_dataset.measures import MEASURES
from gest_dataset.measures.grid import Estimate
from gest_dataset.measures.result import of_templates
from gest_dataset.runs.reading import Run


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
    facts: dict[str, Any] = plain(
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
    facts |= plain({name: metadata.get(name) for name in own})
    facts["tokens"] = (metadata.get("passes") or {}).get("tokens")
    return facts
