"""Cards of what studies make: Markdown from a template, with a YAML header for the Hub."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from gest_dataset.storage import write_file
from gest_dataset.version import __version__

CARD = "README.md"


def write_card(folder: Path, template: Path, command: Sequence[str], **values: Any) -> None:
    """Write the card of a folder; its template gets `values`, the command and the version."""
    options: Any = {"undefined": StrictUndefined, "trim_blocks": True, "keep_trailing_newline": True}
    card = Template(template.read_text(encoding="utf-8"), **options)
    text = card.render(values, command=shlex.join(command), version=__version__)
    write_file(folder / CARD, text)
