"""Cards of what studies make: Markdown from a template, with a YAML header for the Hub."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gest_dataset.storage import atomic_path
from gest_dataset.version import __version__

CARD = "README.md"


def write_card(folder: Path, template: Path, command: Sequence[str], **values: Any) -> None:
    """Write the card of a folder; its template gets `values`, the command and the version."""
    loader = FileSystemLoader(template.parent)
    environment = Environment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    card = environment.get_template(template.name).render(
        **values, command=shlex.join(command), version=__version__
    )
    with atomic_path(folder / CARD) as partial:
        partial.write_text(card, encoding="utf-8")
