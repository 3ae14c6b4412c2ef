"""`gest push`: configs to a dataset on the Hub, and metrics to Spaces."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gest_dataset.commands.console import err, out, show_json, show_table

if TYPE_CHECKING:
    from gest_dataset.hub.push import Plan, Pushed


def run(
    repo: str,
    config: str | None = None,
    metrics: bool = False,
    create_pr: bool = False,
    private: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Push configs to the Hugging Face Hub, for [bold]load_dataset(REPO, CONFIG)[/bold].

    Without --config, push all configs that [bold]gest build[/bold] writes (none with --metrics). One commit
    adds or replaces them, and leaves the rest of the repository untouched. If nothing has changed there is no
    commit. Rerun the same command after an error. The token is that of [bold]hf auth login[/bold], or
    HF_TOKEN.
    """
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from gest_dataset.hub.push import push

    if not err.is_terminal:
        disable_progress_bars()
    done = push(
        repo,
        config,
        metrics=metrics,
        create_pr=create_pr,
        private=private,
        revision=revision,
        dry_run=dry_run,
        on_plan=(lambda plan: None) if as_json else _show,
    )
    if as_json:
        show_json([_as_json(each) for each in done])
        return
    for each in done:
        err.print(_outcome(each, dry_run))


def _show(plan: Plan) -> None:
    """Show each config or file of a plan."""
    out.print(f"Push to {plan.repo}{' (new)' if plan.missing else ''}:")
    rows = [(part.name, part.status, part.rows, round(part.size / 1000)) for part in plan.parts]
    show_table("", ("part", "", "rows", "kB"), rows)
    default = [plan.default] if plan.default else []
    for title, names in (
        ("Removed", plan.removed),
        ("Unaffected", plan.unaffected),
        ("Default config", default),
    ):
        if names:
            out.print(f"{title}: {', '.join(names)}")


def _outcome(pushed: Pushed, dry_run: bool) -> str:
    committed = pushed.committed
    if not pushed.plan.has_changes and not committed.made:
        return f"No changes in {committed.repo}, so there is no commit. {committed.url}"
    if dry_run:
        return f"Dry run: nothing was changed in {committed.repo.id}."
    if committed.pull_request is not None:
        return f"{'Opened' if committed.made else 'Already open'}: {committed.pull_request}"
    return f"Pushed: {committed.url}"


def _as_json(pushed: Pushed) -> dict[str, Any]:
    plan, committed = asdict(pushed.plan), asdict(pushed.committed)
    repo, made = plan.pop("repo"), committed.pop("made")
    del plan["missing"], committed["repo"]
    place = {"repo": repo["id"], "type": repo["type"], "revision": repo["revision"]}
    return {**place, **plan, "committed": made, **committed}
