"""Figures and a LaTeX table of runs as files for papers.

DIR/NAME-single.pdf, .svg, .png, .txt    a figure as wide as a column, with its title and caption
DIR/NAME-double.pdf, .svg, .png, .txt    the same, as wide as the text
DIR/NAME.csv                             all its numbers
DIR/results.tex                          the headlines of the runs (package `booktabs`)

Letters that are not Latin need an engine of LaTeX that reads Unicode (LuaLaTeX, XeLaTeX).
"""

import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gest_dataset.display import one_line, printable
from gest_dataset.measures.formatting import format_number
from gest_dataset.report.figures import fit_figure
from gest_dataset.report.labels import LabelledRun, short_name, verdict_of
from gest_dataset.report.panel import Panel, file_bytes
from gest_dataset.report.panels import panels_of
from gest_dataset.report.stereotype_panels import panels_of_several
from gest_dataset.report.style import COLUMNS, LATEX, use_layout
from gest_dataset.storage import write_file

_DRAWN = ("pdf", "svg", "png")
FORMATS = (*_DRAWN, "csv", "tex")
DEFAULT_FORMATS = ("pdf", "svg", "csv", "tex")
# Special characters of LaTeX, and characters that an 8-bit font may lack
_ESCAPES = str.maketrans(
    {letter: rf"\{letter}" for letter in "&%$#_{}"}
    | {letter: rf"\{command}{{}}" for letter, command in LATEX.items()}
    | {"−": r"\ensuremath{-}", "∞": r"\ensuremath{\infty}"}
)
_LIGATURE = re.compile(r"([-,])(?=\1)")  # two of them become one character


def write_figures(runs: Sequence[LabelledRun], folder: Path, formats: Sequence[str]) -> None:
    """Write all figures of the runs into a folder; equal runs give equal bytes."""
    drawn = [kind for kind in _DRAWN if kind in formats]
    panels: list[Panel] = []
    for layout in COLUMNS if drawn else COLUMNS[:1]:
        with use_layout(layout):
            panels = [*panels_of(runs), *panels_of_several(runs)]
        for panel in panels if drawn else ():
            stem = f"{panel.name}-{layout.name}"
            fit_figure(panel.figure)
            write_file(folder / f"{stem}.txt", printable(f"{panel.title}\n\n{panel.caption}\n"))
            for kind in drawn:
                content = file_bytes(panel.figure, kind, layout, panel.title, panel.caption)
                write_file(folder / f"{stem}.{kind}", content)
    if "csv" in formats:
        for panel in panels:
            write_file(folder / f"{panel.name}.csv", panel.csv)
    if "tex" in formats:
        write_file(folder / "results.tex", results_table(runs))


def results_table(runs: Sequence[LabelledRun]) -> str:
    """A LaTeX table for each measure: the headline of each run with its interval and verdict."""
    names = {run.model: short_name(run.model) for run in runs}
    if len({*names.values()}) < len(names):
        names = {name: name for name in names}
    verdicts = [verdict_of(run) for run in runs]
    measures = dict.fromkeys(run.measure.name for run in runs)
    groups = [[one for one in verdicts if one.run.measure.name == name] for name in measures]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"tex": escape, "shown": format_number}
    return environment.get_template("results.tex.jinja").render(groups=groups, names=names)


def escape(text: str) -> str:
    r"""A text as LaTeX prints it literally.

    >>> print(escape(r"50 % of {a_b}\input--"))
    50 \% of \{a\_b\}\textbackslash{}input-{}-
    """
    return _LIGATURE.sub(r"\1{}", one_line(text).translate(_ESCAPES))
