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
from gest_dataset.data.build import build_config
from gest_dataset.data.folder import CARD, CROISSANT, DATA_FILE, write_config
from gest_dataset.data.parquet import read_table
from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.card import (
    ConfigCard,
    Header,
    config_card,
    configs_of,
    default_config,
    merge_card,
    read_header,
)
from gest_dataset.hub.commit import Committed, Operation, commit
from gest_dataset.hub.croissant import merge_croissant
from gest_dataset.hub.repository import MAIN, Branch, Repo, hub_client

NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"
_DATA = (".arrow", ".csv", ".json", ".jsonl", ".parquet", ".tsv")
_NOT_PARQUET = re.compile(r"[^\s\"]+\.(arrow|csv|jsonl?|tsv|txt)\b")
_METADATA = frozenset({CROISSANT, "dataset_infos.json"})
_SPACE_SDK = "gradio"


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
    on_config: Callable[[str], None] = lambda name: None,
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
        on_config: Called with each config before it is built.
        on_plan: Called with the plan, and again if someone else's commit has changed it.
    """
    if create_pr and revision is not None:
        raise ConfigError("--create-pr and --revision exclude each other: a pull request goes to main.")
    branch = revision or MAIN
    namespace = repo.partition("/")[0]
    spaces = {Repo(f"{namespace}/{name}", "space", branch): files for name, files in metric_files().items()}
    target = Repo(repo, revision=branch) if config is not None or not metrics else None
    hub_client(needs_token=not dry_run)  # fail before anything is built

    def send(repo: Repo, changes: Callable[[Branch], tuple[Plan, list[Operation]]], message: str) -> Pushed:
        plans: list[Plan] = []

        def build(branch: Branch) -> Sequence[Operation]:
            plan, operations = changes(branch)
            if plan not in plans[-1:]:
                plans.append(plan)
                on_plan(plan)
            return operations

        sdk = _SPACE_SDK if repo.type == "space" else None
        options = {"create_pr": create_pr, "private": private, "dry_run": dry_run}
        committed = commit(repo, build, message, space_sdk=sdk, **options)
        return Pushed(plans[-1], committed)

    pushed = []
    if target is not None:
        with tempfile.TemporaryDirectory(prefix="gest-push-") as folder:
            prepared = []
            for name in select_configs(config or "all"):
                on_config(name)
                prepared.append(_prepare(get_config(name), Path(folder)))
            first = ", ".join(each.name for each in prepared[:3])
            more = f" and {len(prepared) - 3} more configs" if len(prepared) > 3 else ""
            pushed.append(send(target, partial(_dataset_changes, configs=prepared), f"Push {first}{more}"))
    for space, files in spaces.items() if metrics else ():
        pushed.append(send(space, partial(_space_changes, files=files), f"Push {space.id.partition('/')[2]}"))
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
    parts = [Part(path.name, _status(branch, path.name, path), path.stat().st_size) for path in files]
    operations: list[Operation] = [
        CommitOperationAdd(part.name, path)
        for part, path in zip(parts, files, strict=True)
        if part.status != UNCHANGED
    ]
    return Plan(branch.repo, tuple(parts), missing=branch.missing), operations


def _prepare(config: Config, folder: Path) -> ConfigCard:
    """Build a config, without the metadata of this version: the same rows are the same bytes."""
    built, _ = build_config(config, folder)
    table = read_table(built.path)
    metadata = {key: value for key, value in table.schema.metadata.items() if key != b"gest"}
    write_config(folder, config.name, table.replace_schema_metadata(metadata))
    return config_card(built)


def _dataset_changes(branch: Branch, configs: Sequence[ConfigCard]) -> tuple[Plan, list[Operation]]:
    """Add or replace configs, the card and the Croissant metadata."""
    repo = str(branch.repo)
    card = branch.read(CARD)
    theirs = configs_of(read_header(card, repo))
    paths = {f"{config.name}/{DATA_FILE}": config for config in configs}
    others = {name: entry for name, entry in theirs.items() if name not in {one.name for one in configs}}
    _check_readable(branch, others if theirs else None, {config.name for config in configs})
    operations: list[Operation] = []
    parts = []
    for path, config in paths.items():
        status = _status(branch, path, config.built.path)
        parts.append(Part(config.name, status, config.built.path.stat().st_size, config.built.rows))
        if status != UNCHANGED:
            operations.append(CommitOperationAdd(path, config.built.path))
    patterns = [f"{config.name}/test-*.parquet" for config in configs]
    removed = sorted(
        path for path in branch.files.keys() - paths if any(fnmatch(path, own) for own in patterns)
    )
    operations += [CommitOperationDelete(path) for path in removed]
    new_card = merge_card(card, configs, branch.repo.id)
    croissant = branch.read(CROISSANT)
    new_croissant = merge_croissant(croissant, [config.built for config in configs], repo)
    for name, old, new in ((CARD, card, new_card), (CROISSANT, croissant, new_croissant)):
        status = UNCHANGED if new == old else CHANGED if old else NEW
        parts.append(Part(name, status, len(new)))
        if status != UNCHANGED:
            operations.append(CommitOperationAdd(name, new))
    default = default_config(read_header(new_card, repo))
    plan = Plan(branch.repo, tuple(parts), tuple(others), tuple(removed), default, branch.missing)
    return plan, operations


def _status(branch: Branch, name: str, path: Path) -> str:
    """Compare a file with the Hub's: large files by SHA-256, others by their git blob id."""
    theirs = branch.files.get(name)
    if theirs is None:
        return NEW
    content = path.read_bytes()
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
        reason = "is in no config of the card. Name it under `configs:` in the card"
    else:
        texts = [json.dumps(entry.get("data_files")) for entry in others.values()]
        wrong = [match[0] for text in texts if (match := _NOT_PARQUET.search(text))]
        reason = "is not Parquet, and all configs of a repository must have one format. Convert it"
    if wrong:
        raise HubError(f"{branch.repo}: {wrong[0]} {reason}, or use another repository. Nothing was changed.")
