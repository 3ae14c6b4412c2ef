"""`gest_dataset.push`: configs to a dataset on the Hub, and metrics to Spaces, each in one commit."""

import fnmatch
import json
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gest_dataset.builders import get_config, select_configs
from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built, build_config
from gest_dataset.data.folder import CARD, DATA_FILE, read_table, write_config
from gest_dataset.errors import ConfigError, HubError
from gest_dataset.hub.card import configs_of, default_config, merge_card, read_header
from gest_dataset.hub.repository import MAIN, UNCHANGED, Branch, Committed, Files, Repo, commit, hub_client

_DATA = (".arrow", ".csv", ".json", ".jsonl", ".parquet", ".tsv")
_NOT_PARQUET = re.compile(r"[^\s\"]+\.(arrow|csv|jsonl?|tsv|txt)\b")


@dataclass(frozen=True)
class Plan:
    """What a push changes in one repository."""

    repo: Repo
    parts: Mapping[str, str]  # its configs and files with their status
    unaffected: tuple[str, ...]  # the configs that it does not touch
    default: str | None
    missing: bool = field(compare=False)  # the repository or branch will be created

    @property
    def has_changes(self) -> bool:
        return {*self.parts.values()} != {UNCHANGED}


class Pushed(NamedTuple):
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
    options = {"create_pr": create_pr, "private": private, "dry_run": dry_run}
    pushed = []

    def send(repo: Repo, build: Callable[[Branch], Files], what: str) -> None:
        plans: list[Plan] = []

        def on_files(branch: Branch, files: Files) -> None:
            parts = {path.removesuffix(f"/{DATA_FILE}"): branch.status(path, files[path]) for path in files}
            header = read_header(files[CARD] or b"", str(branch.repo))
            others = tuple(name for name in configs_of(header) if name not in parts)
            plan = Plan(branch.repo, parts, others, default_config(header), branch.missing)
            if plan not in plans[-1:]:
                plans.append(plan)
                on_plan(plan)

        committed = commit(repo, build, f"Push {what}", on_files=on_files, **options)
        pushed.append(Pushed(plans[-1], committed))

    if target is not None:
        with tempfile.TemporaryDirectory(prefix="gest-push-") as folder:
            builds = [_build(get_config(name), Path(folder)) for name in select_configs(config or "all")]
            first = ", ".join(built.config.name for built in builds[:3])
            what = f"{first} and {len(builds) - 3} more configs" if len(builds) > 3 else first
            send(target, partial(_dataset_files, builds=builds), what)
    for name, files in metric_files().items() if metrics else ():
        space = Repo(f"{repo.partition('/')[0]}/{name}", "space", branch)
        send(space, lambda _, files=files: files, name)  # type: ignore[misc]
    return tuple(pushed)


def metric_files() -> dict[str, Files]:
    """The files of each metric, which `evaluate.load("NAMESPACE/METRIC")` downloads from its Space."""
    package = Path(__file__).parent.parent
    # in the package if installed, at the top of a checkout otherwise
    parent = package if (package / "metrics").exists() else package.parent
    page = parent / "metrics" / "app.py"
    files: dict[str, Files] = {}
    for requirements in sorted(page.parent.glob("*/requirements.txt")):
        folder = requirements.parent
        paths = (page, folder / f"{folder.name}.py", folder / "README.md", requirements)
        files[folder.name] = {path.name: path.read_bytes() for path in paths}
    return files


def _build(config: Config, folder: Path) -> Built:
    """Build a config, without the metadata of this version: the same rows are the same bytes."""
    built, _ = build_config(config, folder)
    table = read_table(built.path)
    metadata = {key: value for key, value in table.schema.metadata.items() if key != b"gest"}
    write_config(folder, config.name, table.replace_schema_metadata(metadata))
    return built


def _dataset_files(branch: Branch, builds: Sequence[Built]) -> Files:
    """The files of the configs and the card; earlier files of the configs go."""
    card, repo, ours = branch.read(CARD), str(branch.repo), {built.config.name for built in builds}
    # `datasets` reads all configs of a repository in one format, and only what the card names, if anything
    if configs := configs_of(read_header(card, repo)):
        texts = [json.dumps(entry.get("data_files")) for name, entry in configs.items() if name not in ours]
        wrong = [match[0] for text in texts if (match := _NOT_PARQUET.search(text))]
        reason = "is not Parquet, and all configs of a repository must have one format. Convert it"
    else:
        other = sorted(path for path in branch.files if path.endswith(_DATA))
        known = {*ours, "croissant.json", "dataset_infos.json"}
        wrong = [path for path in other if path.partition("/")[0] not in known]
        reason = "belongs to no config in the card. Name it under `configs:` in the card"
    if wrong:
        raise HubError(f"{repo}: {wrong[0]} {reason}, or use another repository. Nothing was changed.")
    data = {f"{built.config.name}/{DATA_FILE}": built.path.read_bytes() for built in builds}
    patterns = [f"{built.config.name}/test-*.parquet" for built in builds]
    earlier = {path for pattern in patterns for path in fnmatch.filter(branch.files, pattern)}
    return {
        **data,
        CARD: merge_card(card, builds, branch.repo.id),
        **dict.fromkeys(sorted(earlier - data.keys())),
    }
