"""Evidence: what runs measured, with hashes, versions, settings, verdicts and limits, in one sealed JSON.

evidence.schema.json describes the format. `differences` compares a file with the runs that it is about.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gest_dataset.builders import CONFIGS
from gest_dataset.measures.measure import render_text
from gest_dataset.report.labels import LabelledRun, label_runs, verdict_of
from gest_dataset.runs.folder import Run, now
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.runs.plan import deviations, sealed
from gest_dataset.storage import json_value, read_yaml, sha256, write_json
from gest_dataset.version import __version__

_TEXTS: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
_ENTRIES = ("measure", "versions", "machine", "seeds", "started", "finished", "signature")
_DATA = {"config": "config", "language": "language", "sha256": "data_fingerprint"}
_HASHES = ("revision", "weights", "model_settings", "tokenizer", "tokenizer_behaviour")
_NUMBERS = ("zone_low", "zone_high", "d", "d_low", "d_high", "placebo")
_COUNTS = ("samples", "asked", "scored", "known", "skipped", "problems")
_TEXT = ("sentences", "limits")  # parts of an entry that another version may word differently


def write_evidence(runs: Sequence[Run], path: Path) -> None:
    """Write the evidence file of some runs."""
    content = {
        "evidence": 1,
        "created": now(),
        "gest_dataset": __version__,
        "runs": [entry_of(run) for run in label_runs(runs)],
        "limits": _TEXTS["limits"],
    }
    write_json(path, sealed(content))


def entry_of(run: LabelledRun) -> dict[str, Any]:
    """What an evidence file says about a run."""
    manifest, facts, verdict = run.run.manifest, run.facts, verdict_of(run)
    plan = manifest.settings.get("plan")
    settings = {name: value for name, value in manifest.settings.items() if name not in (*_HASHES, "plan")}
    unscored = sum((facts.get("skipped") or facts.get("problems") or {}).values())
    values = {**facts, "unscored": unscored, "known_data": manifest.config in CONFIGS}
    entry = {
        **{name: getattr(manifest, name) for name in _ENTRIES},
        "data": {name: getattr(manifest, entry) for name, entry in _DATA.items()},
        "model": {"name": manifest.model, **{name: facts[name] for name in _HASHES if name in facts}},
        "settings": settings,
        "counts": {name: facts[name] for name in _COUNTS if name in facts},
        "headline": {
            "name": verdict.headline.name,
            **verdict.estimate._asdict(),
            "null": verdict.headline.null,
            **{name: run.result[name] for name in _NUMBERS if name in run.result},
            "verdict": verdict.text,
        },
        "sentences": verdict.sentences,
        "limits": list(filter(None, (render_text(text, values) for text in _TEXTS["of_run"]))),
        "plan": plan and {"sha256": plan["sha256"], "deviations": deviations(manifest, plan)},
        "files": {**manifest.files, MANIFEST: sha256((run.run.path / MANIFEST).read_bytes())},
    }
    return dict(json_value(entry))


def differences(content: Mapping[str, Any], runs: Sequence[Run]) -> list[str]:
    """In what runs differ from their entries in an evidence file: numbers, hashes and settings."""
    lines = []
    entries = {_key(entry): entry for entry in content["runs"]}
    for run in label_runs(runs):
        entry = entry_of(run)
        recorded = entries.get(_key(entry))
        if recorded is None:
            lines.append(f"{run.run.path}: the file has no run of {run.model} on {run.run.manifest.about}")
            continue
        nested = ({**one, **dict.fromkeys(_TEXT)} for one in (recorded, entry))
        old, new = (pd.json_normalize(one).iloc[0].to_dict() for one in nested)
        lines += [
            f"{run.run.path}: {name} is {new.get(name)}, and {old.get(name)} in the file"
            for name in dict.fromkeys([*old, *new])
            if old.get(name) != new.get(name)
        ]
    return lines


def _key(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (entry["model"]["name"], entry["data"]["config"], entry["data"]["language"], entry["measure"])
