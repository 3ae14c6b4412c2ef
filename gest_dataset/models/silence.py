"""What a part of the package would warn of, unsaid for a block: somebody else says it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silence(name: str, below: int = logging.ERROR) -> Iterator[None]:
    """The logger of this name says only what is at least so grave."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(below)
    try:
        yield
    finally:
        logger.setLevel(before)
