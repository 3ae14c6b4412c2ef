"""What all commands print with: results to the standard output, the rest to the standard error."""

from __future__ import annotations

import json

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

out = Console()
err = Console(stderr=True)


def show_error(message: object) -> None:
    """An error of ours: a message, not a traceback."""
    err.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)


def show_json(value: object) -> None:
    """A value as JSON, in escapes where the output's encoding does not have all letters."""
    out.print_json(json.dumps(value), ensure_ascii=not out.encoding.startswith("utf"))


def progress_bar() -> Progress:
    """A bar on the standard error that leaves nothing behind."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
