"""Figures and a LaTeX table of runs as files for papers.

DIR/NAME-single.pdf, .svg, .png, .txt    a figure as wide as a column, with its title and caption
DIR/NAME-double.pdf, .svg, .png, .txt    the same, as wide as the text
DIR/NAME.csv                             all its numbers
DIR/results.tex, details.tex             the headlines of the runs; the numbers of each run
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gest_dataset.display import printable
from gest_dataset.errors import ConfigError
from gest_dataset.report import latex
from gest_dataset.report.explorer.comparisons import compare_groups
from gest_dataset.report.explorer.profiles import profiles_of
from gest_dataset.report.labels import LabelledRun
from gest_dataset.report.panel import Panel, file_bytes
from gest_dataset.report.panels import panels_of
from gest_dataset.report.panels_stereotypes import profile_panels, ratio_panels
from gest_dataset.report.plots import fit_figure
from gest_dataset.report.style import COLUMNS, use_layout
from gest_dataset.storage import atomic_path

_DRAWN = ("pdf", "svg", "png")
FORMATS = (*_DRAWN, "csv", "tex")
DEFAULT_FORMATS = ("pdf", "svg", "csv", "tex")


def check_formats(formats: Sequence[str]) -> None:
    """Raise an error for an unknown format, or for none."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        listed = ", ".join(map(repr, unknown)) or "none given"
        raise ConfigError(f"Unknown figure format: {listed}. Choose from {', '.join(FORMATS)}.")


def write_figures(
    runs: Sequence[LabelledRun], folder: Path, formats: Sequence[str], panels: Sequence[Panel] = ()
) -> None:
    """Write all figures of the runs, and further panels, into a folder; equal runs give equal bytes."""
    for name, content in _files(runs, formats, panels):
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content)


def _files(
    runs: Sequence[LabelledRun], formats: Sequence[str], further: Sequence[Panel]
) -> Iterator[tuple[str, bytes]]:
    drawn = [kind for kind in _DRAWN if kind in formats]
    profiles, groups = profiles_of(runs), compare_groups(runs)
    panels: list[Panel] = []
    for layout in COLUMNS if drawn else COLUMNS[:1]:
        with use_layout(layout):
            panels = [*further, *panels_of(runs)]
            panels += [panel for profile in profiles for panel in profile_panels(profile)]
            panels += ratio_panels(groups)
        for panel in panels if drawn else ():
            stem = f"{panel.name}-{layout.name}"
            fit_figure(panel.figure)
            yield f"{stem}.txt", printable(f"{panel.title}\n\n{panel.caption}\n").encode()
            for kind in drawn:
                yield f"{stem}.{kind}", file_bytes(panel.figure, kind, layout, panel.title, panel.caption)
    if "csv" in formats:
        for panel in panels:
            yield f"{panel.name}.csv", panel.csv.encode()
    if "tex" in formats and runs:
        yield "results.tex", latex.results_table(runs).encode()
