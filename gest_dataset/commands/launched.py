"""A command in several processes of a launcher: only the main process prints."""

import io
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from gest_dataset.errors import ConfigError
from gest_dataset.models.distributed import is_main, world_size

DISTRIBUTED = "score"  # the command that several processes can share
_GRACE = 30.0  # seconds in which the launcher ends this process if the main one failed too


def check(arguments: list[str]) -> None:
    """Refuse commands that several processes would run at the same time."""
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if world_size() > 1 and command not in (None, DISTRIBUTED):
        raise ConfigError(
            f"`gest {command}` runs in one process, but the launcher has started {world_size()}: run it "
            f"without the launcher."
        )


@contextmanager
def only_main_prints() -> Iterator[None]:
    """Silence the other processes, except for an error that the main process does not have."""
    if is_main():
        yield
        return
    messages = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(messages):
            yield
    except SystemExit as end:
        if end.code not in (None, 0, 130):
            time.sleep(_GRACE)
            sys.stderr.write(messages.getvalue())
        raise
