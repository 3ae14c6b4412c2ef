"""The page of a study: one self-contained HTML file in the style of the report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gest_dataset.report.page import dress, environment
from gest_dataset.version import __version__

if TYPE_CHECKING:
    from gest_dataset.studies.study import Study

_HERE = Path(__file__).parent


def rendered(study: Study, command: Sequence[str]) -> str:
    """The page, with all that it shows."""
    return (
        environment(_HERE)
        .get_template("study.html.jinja")
        .render(study=study, command=shlex.join(command), version=__version__, **dress())
    )
