"""Run docs/notebook.ipynb in a fresh kernel and store its outputs: `python docs/notebook.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def execute_notebook(path: Path = NOTEBOOK) -> Any:
    """The notebook with its outputs; an error in a cell is raised."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(book, timeout=600, kernel_name="python3").execute(cwd=str(path.parent))
    for cell in book.cells:  # leave out times and progress bars
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                one for one in cell.outputs if one.output_type != "stream" or one.name != "stderr"
            ]
    return book


if __name__ == "__main__":
    nbformat.write(execute_notebook(), NOTEBOOK)
