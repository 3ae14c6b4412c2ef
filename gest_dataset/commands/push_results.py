"""`gest push-results`: results on a model's page, as a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, out, show_json
from gest_dataset.commands.options import Json

EXAMPLES = (
    "Examples: [bold]gest push-results gest-runs/xlm-roberta-base/sk_pairs --to FacebookAI/xlm-roberta-base "
    "--dataset ORG/gest --dry-run[/bold] (shows the files), [bold]gest push-results gest-runs/my-model --to "
    "ME/my-model --report-url https://...[/bold] (all runs in a folder, one pull request)"
)


def run(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN", help="Runs, or folders with runs.")],
    to: Annotated[str, typer.Option(help="The model on the Hub.", metavar="MODEL", show_default=False)],
    dataset: Annotated[
        str | None,
        typer.Option(help="The dataset on the Hub that was used (default: GEST_REPO).", metavar="REPO"),
    ] = None,
    revision: Annotated[
        str, typer.Option(help="Commit, branch or tag of the dataset.", metavar="REVISION")
    ] = "main",
    report_url: Annotated[str | None, typer.Option(help="Address of a report.", metavar="URL")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the files, and send nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Propose results for a model's page on the Hub.

    Opens a pull request with one file in .eval_results/ for each run: its headline (g_s, SS, f_s and so on),
    with its interval and verdict in the notes. The model's owner merges it. Results that the page has, or an
    open pull request proposes, are not proposed again. Only finished runs on all samples of a published
    dataset are accepted. The token is that of [bold]hf auth login[/bold], or HF_TOKEN.
    """
    from gest_dataset.hub.results import push_results

    pushed = push_results(
        paths, to, dataset=dataset, revision=revision, report_url=report_url, dry_run=dry_run
    )
    for note in pushed.notes:
        err.print(note, soft_wrap=True)
    committed = pushed.committed
    if as_json:
        proposed = {"pull_request": committed.pull_request, "new": committed.made, "dry_run": dry_run}
        show_json({"model": to, "files": dict(pushed.files), **proposed})
    elif dry_run:
        for path, text in pushed.files.items():
            out.print(f"# {path}\n{text}", soft_wrap=True, end="")
        err.print("Dry run: nothing was sent.")
    elif committed.pull_request is not None:
        what = "Opened" if committed.made else "Already open"
        out.print(f"{what}: {committed.pull_request}", soft_wrap=True)
    else:
        out.print(f"{to} already has {'this result' if len(pushed.files) == 1 else 'these results'}.")
