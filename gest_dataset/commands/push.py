"""`gest push`: configs to a dataset on the Hub, and metrics to Spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import err, fit_table, new_table, out, progress_bar, show_json
from gest_dataset.commands.options import Config, Json

if TYPE_CHECKING:
    from gest_dataset.hub.push import Plan, Pushed

EXAMPLES = (
    "Examples: [bold]gest push your-name/gest --config sk_pairs,sk_translations --dry-run[/bold] (the plan), "
    "[bold]gest push your-name/gest --config sk_pairs[/bold], [bold]gest push their-name/gest --config "
    "sk_pairs --create-pr[/bold], [bold]gest push your-name --metrics[/bold]"
)


def run(
    repo: Annotated[
        str, typer.Argument(help="The dataset, NAMESPACE/NAME; a NAMESPACE is enough for --metrics.")
    ],
    config: Config = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Push each metric to the Space NAMESPACE/METRIC.")
    ] = False,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Open a pull request: for someone else's repository.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Create the repository as private if it does not exist.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="Branch to write to; created from main if missing.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Push configs to the Hugging Face Hub, for [bold]load_dataset(REPO, CONFIG)[/bold].

    Without --config, push all configs that [bold]gest build[/bold] writes (none with --metrics). One commit
    adds or replaces them, and leaves the rest of the repository untouched. If nothing has changed there is no
    commit. Rerun the same command after an error. The token is that of [bold]hf auth login[/bold], or
    HF_TOKEN.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from gest_dataset.builders import select_configs
    from gest_dataset.hub.push import push

    if not err.is_terminal and constants.HF_HUB_DISABLE_PROGRESS_BARS is None:
        disable_progress_bars()
    bar = progress_bar()
    number = len(select_configs(config or "all"))
    task = bar.add_task("", total=number, visible=config is not None or not metrics)

    def on_plan(plan: Plan) -> None:
        bar.update(task, visible=False)
        if not as_json:
            _show(plan)

    with bar:
        done = push(
            repo,
            config,
            metrics=metrics,
            create_pr=create_pr,
            private=private,
            revision=revision,
            dry_run=dry_run,
            on_config=lambda name: bar.update(task, description=name, advance=1),
            on_plan=on_plan,
        )
    if as_json:
        show_json([_as_json(each) for each in done])
        return
    for each in done:
        err.print(_outcome(each, dry_run), soft_wrap=True)


def _show(plan: Plan) -> None:
    """Show each config or file of a plan."""
    out.print(f"Push to {plan.repo}{' (new)' if plan.missing else ''}:", soft_wrap=True)
    table = new_table("", out, "part", "", "rows", "kB")
    for part in plan.parts:
        rows = "" if part.rows is None else f"{part.rows:,}"
        table.add_row(part.name, part.status, rows, f"{part.size / 1000:,.0f}")
    out.print(fit_table(table, out))
    if plan.removed:
        out.print(f"Removed: {', '.join(plan.removed)}")
    if plan.unaffected:
        out.print(f"Unaffected: {', '.join(plan.unaffected)}")
    if plan.default is not None:
        out.print(f"Default config: {plan.default}")


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
    plan, committed = pushed.plan, pushed.committed
    return {
        "repo": plan.repo.id,
        "type": plan.repo.type,
        "revision": plan.repo.revision,
        "parts": [vars(part) for part in plan.parts],
        "unaffected": plan.unaffected,
        "removed": plan.removed,
        "default": plan.default,
        "committed": committed.made,
        "commit": committed.commit,
        "url": committed.url,
        "pull_request": committed.pull_request,
    }
