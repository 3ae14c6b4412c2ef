"""`gest_dataset.push`: configs to a dataset on the Hub, and metrics to Spaces, each in one commit."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from gest_dataset.builders import get_config, select_configs
from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built, build_config
from gest_dataset.data.folder import CARD, CROISSANT, DATA_FILE, read_table, write_config
from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.card import Header, configs_of, default_config, merge_card, read_header
from gest_dataset.hub.croissant import merge_croissant
from gest_dataset.hub.repository import MAIN, Branch, Committed, Operation, Repo, commit, hub_client

NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"
_DATA = (".arrow", ".csv", ".json", ".jsonl", ".parquet", ".tsv")
_NOT_PARQUET = re.compile(r"[^\s\"]+\.(arrow|csv|jsonl?|tsv|txt)\b")
_METADATA = frozenset({CROISSANT, "dataset_infos.json"})


@dataclass(frozen=True)
class Part:
    """A config or a file of a push; `size` in bytes."""

    name: str
    status: str
    size: int
    rows: int | None = None


@dataclass(frozen=True)
class Plan:
    """What a push changes in one repository; `unaffected` are configs that it does not touch."""

    repo: Repo
    parts: tuple[Part, ...]
    unaffected: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    default: str | None = None
    missing: bool = field(default=False, compare=False)  # the repository or the branch will be created

    @property
    def has_changes(self) -> bool:
        return bool(self.removed) or any(part.status != UNCHANGED for part in self.parts)


@dataclass(frozen=True)
class Pushed:
    """What was planned for one repository, and the result."""

    plan: Plan
    committed: Committed


def push(
    repo: str,
    config: str | None = None,
    *,
    metrics: bool = False,
    create_pr: bool = False,
    private: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    on_plan: Callable[[Plan], None] = lambda plan: None,
) -> tuple[Pushed, ...]:
    """Push configs to the dataset `repo` (NAMESPACE/NAME), in one commit with its card.

    Args:
        repo: The dataset; with only `metrics`, a namespace is enough.
        config: Configs and groups separated by commas. By default all that `gest build` writes, or none with
            `metrics`. Other configs, other text of the card and the default config stay as they are.
        metrics: Push each metric to the Space NAMESPACE/METRIC.
        create_pr: Open a pull request instead.
        private: Create a missing repository as private.
        revision: The branch to write to, created from main if missing.
        dry_run: Only plan.
        on_plan: Called with the plan, and again if someone else's commit has changed it.
    """
    if create_pr and revision is not None:
        raise ConfigError("--create-pr and --revision exclude each other: a pull request goes to main.")
    branch = revision or MAIN
    target = Repo(repo, revision=branch) if config is not None or not metrics else None
    hub_client(needs_token=not dry_run)  # fail before anything is built

    def send(repo: Repo, changes: Callable[[Branch], tuple[Plan, list[Operation]]], what: str) -> Pushed:
        plans: list[Plan] = []

        def build(branch: Branch) -> Sequence[Operation]:
            plan, operations = changes(branch)
            if plan not in plans[-1:]:
                plans.append(plan)
                on_plan(plan)
            return operations

        committed = commit(repo, build, f"Push {what}", create_pr=create_pr, private=private, dry_run=dry_run)
        return Pushed(plans[-1], committed)

    pushed = []
    if target is not None:
        with tempfile.TemporaryDirectory(prefix="gest-push-") as folder:
            builds = [_build(get_config(name), Path(folder)) for name in select_configs(config or "all")]
            first = ", ".join(built.config.name for built in builds[:3])
            more = f" and {len(builds) - 3} more configs" if len(builds) > 3 else ""
            pushed.append(send(target, partial(_dataset_changes, builds=builds), f"{first}{more}"))
    if metrics:
        for name, files in metric_files().items():
            space = Repo(f"{repo.partition('/')[0]}/{name}", "space", branch)
            pushed.append(send(space, partial(_space_changes, files=files), name))
    return tuple(pushed)


def metric_files() -> dict[str, list[Path]]:
    """Return the files of each metric, which `evaluate.load("NAMESPACE/METRIC")` downloads from its Space."""
    package = Path(__file__).parent.parent
    # in the package if installed, at the top of a checkout otherwise
    parent = package if (package / "metrics").exists() else package.parent
    folders = sorted(path.parent for path in (parent / "metrics").glob("*/requirements.txt"))
    return {
        folder.name: [
            folder / name for name in ("README.md", "app.py", "requirements.txt", f"{folder.name}.py")
        ]
        for folder in folders
    }


def _space_changes(branch: Branch, files: list[Path]) -> tuple[Plan, list[Operation]]:
    """Replace the files of a metric; other files of its Space stay."""
    statuses = {path: _status(branch, path.name, path.read_bytes()) for path in files}
    parts = tuple(Part(path.name, status, path.stat().st_size) for path, status in statuses.items())
    operations: list[Operation] = [
        CommitOperationAdd(path.name, path) for path, status in statuses.items() if status != UNCHANGED
    ]
    return Plan(branch.repo, parts, missing=branch.missing), operations


def _build(config: Config, folder: Path) -> Built:
    """Build a config, without the metadata of this version: the same rows are the same bytes."""
    built, _ = build_config(config, folder)
    table = read_table(built.path)
    metadata = {key: value for key, value in table.schema.metadata.items() if key != b"gest"}
    write_config(folder, config.name, table.replace_schema_metadata(metadata))
    return built


def _dataset_changes(branch: Branch, builds: Sequence[Built]) -> tuple[Plan, list[Operation]]:
    """Add or replace configs, the card and the Croissant metadata."""
    repo, names = str(branch.repo), {built.config.name for built in builds}
    card, croissant = branch.read(CARD), branch.read(CROISSANT)
    theirs = configs_of(read_header(card, repo))
    others = {name: entry for name, entry in theirs.items() if name not in names}
    _check_readable(branch, others if theirs else None, names)
    parts, operations = [], []
    for built in builds:
        path = f"{built.config.name}/{DATA_FILE}"
        status = _status(branch, path, built.path.read_bytes())
        parts.append(Part(built.config.name, status, built.path.stat().st_size, built.rows))
        if status != UNCHANGED:
            operations.append(CommitOperationAdd(path, built.path))
    written = {f"{name}/{DATA_FILE}" for name in names}
    removed = sorted(
        path
        for path in branch.files.keys() - written
        if any(fnmatch(path, f"{name}/test-*.parquet") for name in names)
    )
    new_card = merge_card(card, builds, branch.repo.id)
    new_croissant = merge_croissant(croissant, builds, repo)
    for name, content in ((CARD, new_card), (CROISSANT, new_croissant)):
        status = _status(branch, name, content)
        parts.append(Part(name, status, len(content)))
        if status != UNCHANGED:
            operations.append(CommitOperationAdd(name, content))
    default = default_config(read_header(new_card, repo))
    plan = Plan(branch.repo, tuple(parts), tuple(others), tuple(removed), default, branch.missing)
    return plan, [*operations, *map(CommitOperationDelete, removed)]


def _status(branch: Branch, name: str, content: bytes) -> str:
    """Compare a file with the Hub's: large files by SHA-256, others by their git blob id."""
    theirs = branch.files.get(name)
    if theirs is None:
        return NEW
    if theirs.lfs is not None:
        same = theirs.lfs.sha256 == hashlib.sha256(content).hexdigest()
    else:
        same = theirs.blob_id == hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return UNCHANGED if same else CHANGED


def _check_readable(branch: Branch, others: Mapping[str, Header] | None, ours: Collection[str]) -> None:
    """Refuse to make other data unreadable.

    `datasets` reads all configs of a repository in one format, and once a card names configs, it does not
    find data outside of them. `others` are the other configs of the card, None if it names no configs at all.
    """
    if others is None:
        data = sorted(path for path in branch.files if path.endswith(_DATA) and path not in _METADATA)
        wrong = [path for path in data if path.partition("/")[0] not in ours]
        reason = "belongs to no config in the card. Name it under `configs:` in the card"
    else:
        texts = [json.dumps(entry.get("data_files")) for entry in others.values()]
        wrong = [match[0] for text in texts if (match := _NOT_PARQUET.search(text))]
        reason = "is not Parquet, and all configs of a repository must have one format. Convert it"
    if wrong:
        raise HubError(f"{branch.repo}: {wrong[0]} {reason}, or use another repository. Nothing was changed.")
