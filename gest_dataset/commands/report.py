"""`gest report`: an HTML page about runs, and figures for papers."""

from pathlib import Path

from gest_dataset.commands.console import err


def run(
    paths: list[Path],
    output: Path | None = None,
    figures: Path | None = None,
    released: str | None = None,
    badge: Path | None = None,
    evidence: Path | None = None,
) -> None:
    import datasets

    from gest_dataset import report
    from gest_dataset.report.evidence import write_evidence
    from gest_dataset.report.page import write_badge
    from gest_dataset.runs.folder import REPORT, find_runs
    from gest_dataset.storage import STANDARD_OUTPUT

    datasets.disable_progress_bars()
    runs = find_runs(paths)
    page = output or (runs[0].path if len(runs) == 1 else Path()) / REPORT
    report(runs, page, figures, released)
    if badge is not None:
        write_badge(runs, badge)
    if evidence is not None:
        write_evidence(runs, evidence)
    if figures is not None:
        err.print(f"Figures: {figures}")
    if page != STANDARD_OUTPUT:
        err.print(f"Report: {page}")
