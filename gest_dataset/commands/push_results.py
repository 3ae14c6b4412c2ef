"""`gest push-results`: the headline of runs on a model's page, as a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gest_dataset.commands.console import err, interruptible, out, show_json
from gest_dataset.commands.options import Json

EXAMPLES = (
    "Examples: [bold]gest push-results gest-runs/xlm-roberta-base/sk_pairs --to FacebookAI/xlm-roberta-base "
    "--dataset ORG/gest --dry-run[/bold] (shows the files), [bold]gest push-results gest-runs/my-model --to "
    "ME/my-model --report-url https://...[/bold] (all runs below a folder, one pull request)"
)


def run(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Directories of runs, or directories that hold runs.")
    ],
    to: Annotated[
        str,
        typer.Option(help="The model on the Hub that the runs are of.", metavar="MODEL", show_default=False),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            help="The data set on the Hub that was asked (default: what GEST_REPO names).", metavar="REPO"
        ),
    ] = None,
    revision: Annotated[
        str, typer.Option(help="A commit, branch or tag of the data set.", metavar="REVISION")
    ] = "main",
    report_url: Annotated[
        str | None, typer.Option(help="Where the report can be read.", metavar="URL")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the files, and send nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Propose results for a model's page on the Hub.

    Opens a pull request with .eval_results/*.yaml: a file for each run, with its headline (g_s, SS, f_s and
    so on), and its interval and verdict in the notes. Anybody may propose results; the model's owner merges
    them. What is there or proposed already is not proposed again. The token is that of
    [bold]hf auth login[/bold] or HF_TOKEN. Finished runs on all samples of a published data set are taken,
    and no others.
    """
    from gest_dataset.hub.results import push_results

    with interruptible("The same command says whether it was proposed."):
        pushed = push_results(
            paths, to, dataset=dataset, revision=revision, report_url=report_url, dry_run=dry_run
        )
    for note in pushed.notes:
        err.print(note, soft_wrap=True)
    done = pushed.committed
    if as_json:
        proposed = {"pull_request": done.pull_request, "new": done.made, "dry_run": dry_run}
        show_json({"model": to, "files": dict(pushed.files), **proposed})
        return
    if dry_run:
        for path, text in pushed.files.items():
            out.print(f"# {path}\n{text}", soft_wrap=True, end="")
        err.print("Nothing was sent (--dry-run).")
    elif done.made:
        out.print(f"Proposed: {done.pull_request}", soft_wrap=True)
    elif done.pull_request is not None:
        out.print(f"Proposed before, and still open: {done.pull_request}", soft_wrap=True)
    else:
        out.print(f"{to} has {'this result' if len(pushed.files) == 1 else 'these results'} already.")
