"""`gest push-results`: results on a model's page, as a pull request."""

from pathlib import Path

from gest_dataset.commands.console import err, out


def run(
    paths: list[Path],
    to: str,
    dataset: str | None = None,
    revision: str = "main",
    report_url: str | None = None,
    dry_run: bool = False,
) -> None:
    """Propose results for a model's page on the Hub.

    Opens a pull request with one file in .eval_results/ for each run: its headline (g_s, SS, f_s and so
    on), with its interval and verdict in the notes. The model's owner merges it. Results that are on the
    page already, or in an open pull request, are not proposed again. Only finished runs on all samples of a
    published dataset are accepted. The token comes from [bold]hf auth login[/bold] or HF_TOKEN.
    """
    from gest_dataset.hub.results import push_results

    pushed = push_results(
        paths, to, dataset=dataset, revision=revision, report_url=report_url, dry_run=dry_run
    )
    for note in pushed.notes:
        err.print(note)
    committed = pushed.committed
    if dry_run:
        for path, text in pushed.files.items():
            out.print(f"# {path}\n{text}", end="")
        err.print("Dry run: nothing was sent.")
    elif committed.pull_request is not None:
        out.print(str(committed))
    else:
        out.print(f"{to} already has {'this result' if len(pushed.files) == 1 else 'these results'}.")
