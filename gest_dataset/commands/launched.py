"""A command in several processes of a launcher: the first one speaks, the others are silent.

What the others would say waits: an error that the first process has as well ends it at once, and its launcher
ends the others with it. Where that does not happen the error is theirs alone, and is shown.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from gest_dataset.errors import ConfigError, LostError
from gest_dataset.models.team import launched, rank

ABLE = "score"  # the command that several processes can share
_GRACE = 30.0  # seconds; a busy machine lets the first process wait for its turn


def check(arguments: list[str]) -> None:
    """Commands that processes cannot share would do the same work several times, over one another."""
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if launched() > 1 and command is not None and command != ABLE:
        raise ConfigError(
            f"`gest {command}` runs in one process, and a launcher has started {launched()}: start it by "
            f"itself. `gest {ABLE}` runs in several."
        )


@contextmanager
def one_speaks() -> Iterator[None]:
    """In the block a process that does not lead says nothing, unless it is the only one to end."""
    if rank() == 0:
        yield
        return
    held = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(held):
            yield
    except SystemExit as ended:
        if ended.code in (None, 0, 130):
            raise
        if not isinstance(ended.__context__, LostError):
            time.sleep(_GRACE)
        sys.stderr.write(held.getvalue())
        raise
