"""`gest_dataset.push`: configs to a data set on the Hub, and metrics to Spaces; each in one commit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gest_dataset.builders import get_config, select_configs
from gest_dataset.errors import ConfigError
from gest_dataset.hub.commit import Committed, Operation, commit
from gest_dataset.hub.dataset import changes, prepare
from gest_dataset.hub.plan import Plan
from gest_dataset.hub.repo import MAIN, Parent, Repo, client
from gest_dataset.hub.spaces import SDK, space_changes, spaces

Changes = Callable[[Parent], tuple[Plan, list[Operation]]]


@dataclass(frozen=True)
class Pushed:
    """What was to be done in one repository, and what came of it."""

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
    """Push configs to the data set `repo` (NAMESPACE/NAME), in one commit with its card.

    `config`: names and groups with commas; without it all that `gest build` writes, or with `metrics` none.
    The metrics go to Spaces NAMESPACE/METRIC. Other configs, others' text in the card and the default config
    stay as they are; what is unchanged makes no commit. `on_config` hears each config before it is built,
    `on_plan` what is to be done before it is, and again where somebody else's commit has changed that.
    """
    if create_pr and revision is not None:
        raise ConfigError("A pull request is made against main: leave --revision out, or --create-pr.")
    branch = revision or MAIN
    namespace = repo.partition("/")[0]
    repos = {name: Repo(f"{namespace}/{name}", "space", branch) for name in spaces()} if metrics else {}
    target = Repo(repo, revision=branch) if config is not None or not metrics else None
    client(needs_token=not dry_run)  # before anything is built
    send = partial(_send, on_plan, create_pr=create_pr, private=private, dry_run=dry_run)
    done = []
    if target is not None:
        with tempfile.TemporaryDirectory(prefix="gest-push-") as folder:
            prepared = []
            for name in select_configs(config or "all"):
                on_config(name)
                prepared.append(prepare(get_config(name), Path(folder)))
            message = _message([each.name for each in prepared])
            done.append(send(target, partial(changes, prepared=prepared), message))
    for name, space in repos.items():
        files = partial(space_changes, files=spaces()[name])
        done.append(send(space, files, f"Push {name}", space_sdk=SDK))
    return tuple(done)


def _send(
    on_plan: Callable[[Plan], None],
    repo: Repo,
    changes: Changes,
    message: str,
    *,
    create_pr: bool,
    private: bool,
    dry_run: bool,
    space_sdk: str | None = None,
) -> Pushed:
    plans: list[Plan] = []

    def build(parent: Parent) -> Sequence[Operation]:
        plan, operations = changes(parent)
        if plan not in plans[-1:]:
            plans.append(plan)
            on_plan(plan)
        return operations

    done = commit(
        repo, build, message, create_pr=create_pr, private=private, space_sdk=space_sdk, dry_run=dry_run
    )
    return Pushed(plans[-1], done)


def _message(configs: Sequence[str]) -> str:
    shown = ", ".join(configs[:3])
    return f"Push {shown}" if len(configs) <= 3 else f"Push {shown} and {len(configs) - 3} more configs"
