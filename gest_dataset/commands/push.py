"""`gest push`: configs to a data set on the Hub, and metrics to Spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gest_dataset.commands.console import err, fitted, interruptible, new_table, out, progress_bar, show_json
from gest_dataset.commands.options import Config, Json

if TYPE_CHECKING:
    from gest_dataset.hub.plan import Plan
    from gest_dataset.hub.push import Pushed

EXAMPLES = (
    "Examples: [bold]gest push your-name/gest --config sk_pairs,sk_translations --dry-run[/bold] (the plan), "
    "[bold]gest push your-name/gest --config sk_pairs[/bold], [bold]gest push their-name/gest --config "
    "sk_pairs --create-pr[/bold], [bold]gest push your-name --metrics[/bold]"
)


def run(
    repo: Annotated[
        str, typer.Argument(help="The data set, NAMESPACE/NAME; for the metrics alone a NAMESPACE.")
    ],
    config: Config = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Push the metrics, each to a Space NAMESPACE/METRIC.")
    ] = False,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Open a pull request instead: for a repository of others.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Make a repository that is not there yet private.")
    ] = False,
    revision: Annotated[
        str | None, typer.Option(help="A branch to write to; made of main where there is none.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Push configs to the Hugging Face Hub, where [bold]load_dataset(REPO, CONFIG)[/bold] finds them.

    Without --config these are all that [bold]gest build[/bold] writes (with --metrics: none). One commit adds
    or replaces them; other configs, what others have written in the card and the default config stay as they
    are, and what is unchanged makes no commit. After a fault the same command may be run again. The token is
    that of [bold]hf auth login[/bold], or HF_TOKEN.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from gest_dataset.builders import select_configs
    from gest_dataset.hub.push import push

    # the client's bars of what is uploaded are for people who have not said what they want
    if not err.is_terminal and constants.HF_HUB_DISABLE_PROGRESS_BARS is None:
        disable_progress_bars()
    bar = progress_bar()
    number = len(select_configs(config or "all"))
    task = bar.add_task("", total=number, visible=config is not None or not metrics)

    def on_config(name: str) -> None:
        bar.update(task, description=name, advance=1)

    def on_plan(plan: Plan) -> None:
        bar.update(task, visible=False)
        if not as_json:
            _show(plan)

    told = "What is on the Hub is whole, as it was or as it is to be; the same command goes on from there."
    with interruptible(told), bar:
        done = push(
            repo,
            config,
            metrics=metrics,
            create_pr=create_pr,
            private=private,
            revision=revision,
            dry_run=dry_run,
            on_config=on_config,
            on_plan=on_plan,
        )
    if as_json:
        show_json([_facts(each) for each in done])
        return
    for each in done:
        err.print(_outcome(each, dry_run), soft_wrap=True)


def _show(plan: Plan) -> None:
    """The plan as a table: each config or file, and what is not touched."""
    named = f"{plan.repo}{' (new)' if plan.missing else ''}"
    out.print(f"To push to {named}:", soft_wrap=True)
    table = new_table("", out, "part", "", "rows", "kB")
    for part in plan.parts:
        rows = "" if part.rows is None else f"{part.rows:,}"
        table.add_row(part.name, part.what, rows, f"{part.size / 1000:,.0f}")
    out.print(fitted(table, out))
    if plan.removed:
        out.print(f"Taken away with what they belong to: {', '.join(plan.removed)}")
    if plan.kept:
        out.print(f"Not touched: {', '.join(plan.kept)}")
    if plan.default is not None:
        out.print(f"Loaded where no config is named: {plan.default}")


def _outcome(pushed: Pushed, dry_run: bool) -> str:
    committed = pushed.committed
    if not pushed.plan.changes:
        return f"{committed.repo}: nothing has changed, so there is no commit. {committed.url}"
    if dry_run:
        return f"{committed.repo}: a dry run, nothing was changed."
    if committed.pull_request is not None:
        return f"{'Opened' if committed.made else 'Open already'}: {committed.pull_request}"
    return f"Pushed: {committed.url}"


def _facts(pushed: Pushed) -> dict[str, Any]:
    plan, committed = pushed.plan, pushed.committed
    return {
        "repo": plan.repo.id,
        "type": plan.repo.type,
        "revision": plan.repo.revision,
        "parts": [vars(part) for part in plan.parts],
        "not_touched": plan.kept,
        "taken_away": plan.removed,
        "default": plan.default,
        "committed": committed.made,
        "commit": committed.commit,
        "url": committed.url,
        "pull_request": committed.pull_request,
    }
