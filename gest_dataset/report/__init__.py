"""Reports: from runs on disk to one page that a person can read (docs/report.md).

style     palette, widths, settings of all figures
canvas    what figures are drawn on            fitting  what makes them fit a narrow column
panel     a figure with its caption and numbers
measured  what is read of a run
figures_*, bands, verdict, sure, texts         the parts of the page
explorer  what its script shows: all samples, runs side by side, profiles, the board
page      all of it in one HTML file, and the files of the figures
paper     figures and LaTeX tables for papers  notebook what a result shows of itself
live      the page while runs go on            serving  what answers the browser, and nobody else

`gest_dataset.report(paths_or_runs, output)` is `page.report`: the name is that of this room as well,
so the module itself can be called.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from gest_dataset.report.page import report, write
from gest_dataset.report.panel import Panel
from gest_dataset.report.sure import sureness
from gest_dataset.runs.folder import Run

__all__ = ["Panel", "report", "sureness", "write"]


class _Callable(ModuleType):
    """This module, which an import of the room would otherwise put in the function's place.

    A module gets methods by a class of its own: Python's data model, "Customizing module attribute access".
    """

    def __call__(
        self, paths_or_runs: Sequence[str | Path | Run], output: str | Path, figures: str | Path | None = None
    ) -> Path:
        return report(paths_or_runs, output, figures)


sys.modules[__name__].__class__ = _Callable
