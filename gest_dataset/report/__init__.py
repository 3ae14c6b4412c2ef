"""Reports: from runs on disk to one page that a person can read (docs/report.md).

canvas    palette and style of all figures     panel    a figure with its caption and numbers
measured  what is read of a run
figures_*, verdict, samples, methods           the parts of the page
page      the parts in one HTML file           writing  the files on disk
"""

from gest_dataset.report.panel import Panel
from gest_dataset.report.writing import write

__all__ = ["Panel", "write"]
