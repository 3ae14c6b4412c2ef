"""What a paper takes from runs: each figure of their report in the widths of its columns, and LaTeX tables.

DIR/NAME-single.pdf, .svg, .txt   a figure as wide as a column, with its title and caption
DIR/NAME-double.pdf, .svg, .txt   the same, as wide as the text
DIR/NAME.csv                      its numbers, all of them
DIR/results.tex, details.tex      the runs with their headlines; the numbers of each run
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gest_dataset.display import printable
from gest_dataset.errors import ConfigError
from gest_dataset.report import figures_explored, latex, page
from gest_dataset.report.canvas import file_bytes
from gest_dataset.report.explorer.beside import beside
from gest_dataset.report.explorer.profiles import profiles
from gest_dataset.report.fitting import fit
from gest_dataset.report.measured import Measured, measured
from gest_dataset.report.style import COLUMNS, drawn_for
from gest_dataset.runs.reading import Run, find_runs
from gest_dataset.storage import atomic_path

DRAWN = ("pdf", "svg")
FORMATS = (*DRAWN, "csv", "tex")


def figures(
    paths_or_runs: Sequence[str | Path | Run], output: str | Path, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Write the figures of runs as papers need them, and say which files those are (`gest_dataset.figures`).

    Paths are of runs, or of folders with runs below them; several are put beside each other, as in a report.
    Each figure is there in the width of a column and in that of the text, with its caption.
    """
    return list(written(paths_or_runs, Path(output), formats))


def written(
    paths_or_runs: Sequence[str | Path | Run], folder: Path, formats: Sequence[str]
) -> Iterator[Path]:
    """The same, file by file."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        listed = ", ".join(map(repr, unknown)) or "of no name"
        raise ConfigError(f"There is no format {listed}. Choose from {', '.join(FORMATS)}.")
    for name, content in _files(measured(find_runs(paths_or_runs)), formats):
        with atomic_path(folder / name) as unfinished:
            unfinished.write_bytes(content)
        yield folder / name


def _files(runs: Sequence[Measured], formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    drawn = [kind for kind in DRAWN if kind in formats]
    alike, compared = profiles(runs), beside(runs)
    for layout in COLUMNS if drawn else COLUMNS[:1]:
        with drawn_for(layout):
            panels = [*page.figures(runs), *figures_explored.panels(alike, compared)]
        for panel in panels:
            stem = f"{panel.name}-{layout.name}"
            if drawn:
                fit(panel.figure)
                yield f"{stem}.txt", printable(f"{panel.title}\n\n{panel.caption}\n").encode()
            for kind in drawn:
                yield f"{stem}.{kind}", file_bytes(panel.figure, kind, layout, panel.title, panel.caption)
    if "csv" in formats:
        for panel in panels:
            yield f"{panel.name}.csv", panel.csv.encode()
    if "tex" in formats:
        yield "results.tex", latex.results(runs).encode()
        yield "details.tex", latex.details(runs).encode()
