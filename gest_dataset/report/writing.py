"""Reports on disk: the page, and the files of its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gest_dataset.errors import ConfigError
from gest_dataset.files import replacing
from gest_dataset.report.canvas import file_bytes
from gest_dataset.report.measured import measured
from gest_dataset.report.page import figures, render_page
from gest_dataset.report.panel import Panel
from gest_dataset.runs.reading import Run, find_runs


def report(
    paths_or_runs: Sequence[str | Path | Run], output: str | Path, figures: str | Path | None = None
) -> Path:
    """Write one self-contained HTML page about runs, and say where it is (`gest_dataset.report`).

    Paths are of runs, or of folders with runs below them. `figures` is a folder that gets each figure
    as PNG, SVG and CSV.
    """
    return write(find_runs(paths_or_runs), Path(output), figures_to=Path(figures) if figures else None)


def write(
    runs: Sequence[Run],
    path: Path,
    extra: Sequence[Panel] = (),
    notes: Sequence[str] = (),
    figures_to: Path | None = None,
) -> Path:
    """Write the report of some runs to `path`, and say where it is.

    `extra` panels come before the figures of the runs, `notes` are paragraphs at the top of the page.
    `figures_to` is a directory that gets each figure as PNG, SVG and CSV.
    """
    if not runs and not extra:
        raise ConfigError("A report needs one run or more.")
    named = measured(runs)
    panels = [*extra, *figures(named)]
    text = render_page(named, panels, notes, path)
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
    if figures_to is not None:
        for panel in panels:
            for kind in ("png", "svg"):
                with replacing(figures_to / f"{panel.name}.{kind}") as partial:
                    partial.write_bytes(file_bytes(panel.figure, kind))
            with replacing(figures_to / f"{panel.name}.csv") as partial:
                partial.write_text(panel.csv, encoding="utf-8")
    return path
