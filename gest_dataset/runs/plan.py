"""Plans of confirmatory measurements: what will be measured, sealed by a hash before it is.

`gest plan` writes one, `gest score --plan` follows it and stores it in run.json, and `deviations` says in
what a run differs from it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gest_dataset.data.rows import fingerprint_of, rows_of
from gest_dataset.errors import DataError
from gest_dataset.measures import measure_of
from gest_dataset.runs.folder import now
from gest_dataset.runs.manifest import MANIFEST, Manifest, differences, read_manifest
from gest_dataset.storage import json_value, parse_json, read_bytes, sha256
from gest_dataset.version import __version__

SEAL = "sha256"
# Arguments of a plan that a run has under the same name among its settings
_IN_SETTINGS = ("limit", "short", "quantization", "null", "where")


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the SHA-256 of its other entries as canonical JSON (sorted keys, no spaces, UTF-8)."""
    entries = json_value({name: value for name, value in content.items() if name != SEAL})
    text = json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return {**entries, SEAL: sha256(text.encode())}


def is_intact(content: Mapping[str, Any]) -> bool:
    """Whether a sealed record is unchanged."""
    return bool(sealed(content)[SEAL] == content.get(SEAL))


def read_sealed(path: Path) -> dict[str, Any]:
    """The content of a file with a seal, intact or not."""
    try:
        content = parse_json(read_bytes(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    if not isinstance(content, dict) or SEAL not in content:
        raise DataError(f"{path} is neither a plan nor an evidence file: it has no {SEAL}.")
    return content


def make_plan(model: str, configs: Sequence[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A plan: the model as runs name it, the data and headlines of each config, arguments of `gest score`."""
    data = {
        name: {
            "data_fingerprint": fingerprint_of(name),
            "headlines": [head.name for head in measure_of(rows_of(name).column_names, name)[0].headlines],
        }
        for name in configs
    }
    facts = {"plan": 1, "gest_dataset": __version__, "created": now(), "model": model, "configs": data}
    return sealed({**facts, "arguments": arguments})


def deviations(manifest: Manifest, plan: Mapping[str, Any]) -> list[str]:
    """In what a run differs from a plan, one line for each; empty if the run followed it."""
    config = plan["configs"].get(manifest.config, {})
    arguments, settings = plan["arguments"], manifest.settings
    # what a plan states, and what a run has
    entries = {
        "plan": (plan[SEAL], sealed(settings.get("plan", {}))[SEAL]),
        "model": (plan["model"], manifest.model),
        "data": (config.get("data_fingerprint"), manifest.data_fingerprint),
        "gest_dataset": (plan["gest_dataset"], manifest.versions["gest_dataset"]),
        "revision": (arguments["revision"], manifest.metadata.get("requested_revision")),
        "chat_template": (arguments["chat_template"], "chat_template" in settings),
        **{name: (arguments.get(name) or None, settings.get(name) or None) for name in _IN_SETTINGS},
    }
    expected, actual = ({name: pair[side] for name, pair in entries.items()} for side in (0, 1))
    lines = differences(actual, expected)
    lines = [line.replace("(existing)", "(run)").replace("(new)", "(plan)").strip() for line in lines]
    if manifest.metadata.get("stopped") and not arguments["stop_early"]:
        lines.append("it stopped early, and the plan does not say so")
    if manifest.started < plan["created"]:
        lines.append(f"it started at {manifest.started}, before the plan was made ({plan['created']})")
    return lines


def plan_lines(paths: Sequence[Path]) -> list[str]:
    """For each run with a plan, in some folders and below them, whether it followed the plan."""
    lines = []
    for file in sorted({file for path in paths for file in path.rglob(MANIFEST)}):
        manifest = read_manifest(file.parent)
        if plan := manifest.settings.get("plan"):
            problems = "; ".join(deviations(manifest, plan))
            followed, reason = ("did not follow", f": {problems}") if problems else ("followed", "")
            lines.append(f"{file.parent} {followed} its plan {plan[SEAL][:12]}{reason}.")
    return lines
