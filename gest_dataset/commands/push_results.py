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
