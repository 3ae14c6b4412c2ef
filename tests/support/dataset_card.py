"""`dataset_card.md` at the top of the repository: the card of all built-in configs, as GitHub shows it.

`make card` (python -m tests.support.dataset_card) writes it. The numbers of rows are those of the upstream
files; the example rows are from the small files in `tests/mirror`, so no text of others is on the page.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gest_dataset.builders import BUILT_IN
from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built, build_config
from gest_dataset.data.card import card_sections
from tests.conftest import MIRROR, ROOT, use

PAGE = ROOT / "dataset_card.md"
_SIGNATURE = "<!-- written by `make card`: changes to this file are lost -->"


@contextmanager
def published(configs: Iterable[Config]) -> Iterator[list[Built]]:
    """The configs built from the small files, with the upstream number of rows."""
    with tempfile.TemporaryDirectory() as folder:
        with pytest.MonkeyPatch.context() as patch:
            use(MIRROR, patch)
            builds = [build_config(config, Path(folder))[0] for config in configs]
        yield [replace(built, rows=built.config.published_rows, dropped={}) for built in builds]


def page() -> str:
    """The whole page."""
    configs = list(BUILT_IN.values())
    with published(configs) as builds:
        sections = card_sections(configs, builds, "gest")
    return "\n\n".join([_SIGNATURE, *sections.values()]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
