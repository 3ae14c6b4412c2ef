"""How every benchmark shows its figures: a table, and JSON to compare runs with."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def machine(device: str = "cpu") -> str:
    """What the figures were measured on."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {device}, Python {platform.python_version()}"


def show(title: str, figures: Mapping[str, Any]) -> None:
    """Print some figures, one a line."""
    table = Table(title=title)
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, _told(value))
    Console().print(table)


def _told(value: Any) -> str:
    """A figure, or one with its spread over rounds."""
    if isinstance(value, Mapping) and "median" in value:
        spread = f"{value['median']:.3g} [{value['low']:.3g} to {value['high']:.3g}]"
        return f"{spread}, clock {value['clock_median']:.3g}, share {value['machine_share']:.0%}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def save(path: Path, report: Any) -> None:
    """Write them as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
