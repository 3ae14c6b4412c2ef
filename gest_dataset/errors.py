"""The errors that users meet. Every message says what happened and what to do.

`exit_code` is the exit code of a command: 2 for wrong usage, 1 for a failure of the data, the model, the
network or the disk.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar


class GestError(Exception):
    """Base of all errors of this package."""

    exit_code: ClassVar[int] = 1


class ConfigError(GestError, ValueError):
    """Wrong usage: an unknown config, name or combination of options."""

    exit_code = 2


class UnsupportedLanguageError(ConfigError):
    """A translation system does not offer a language; commands continue with the other languages."""


class SourceError(GestError):
    """An upstream file is missing, unreachable or not the pinned one."""


class UnreachableError(SourceError):
    """The network or the server does not answer, so the next file would fail as well."""


class DataError(GestError):
    """A file has content that breaks its format."""

    @classmethod
    def at(cls, file: object, place: object, reason: str) -> "DataError":
        """The error for one row; `place` is a line number or a phrase such as "row 7"."""
        return cls(f"{file}, {f'line {place}' if isinstance(place, int) else place}: {reason}")


class OutputError(GestError):
    """An output folder cannot be used, or a write failed."""


class ModelError(GestError):
    """A model cannot be loaded, or is not of the kind that the probe needs."""


class ScoringError(GestError):
    """A run cannot continue: out of memory, or nothing can be scored."""


class SettingError(ConfigError, ScoringError):
    """Wrong usage of scoring: an unknown template, limit or device, or a config that does not fit."""


class HubError(GestError):
    """The Hub refused a request or does not answer, or a repository on it is invalid."""


@contextmanager
def convert_errors(convert: Callable[[BaseException], GestError]) -> Iterator[None]:
    """Raise `convert(error)` for any error in the block that is not one of ours.

    Libraries written in Rust raise a PanicException, which is not an Exception.
    """
    try:
        yield
    except (GestError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise convert(error) from error


def import_extra(module: str, extra: str) -> Any:
    """Import a module that comes with an extra of this package."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f'This needs {module}: pip install "gest-dataset[{extra}]" ({describe_error(error)})'
        ) from error


def describe_error(error: BaseException) -> str:
    """The first line of an error's message, or its class name if it has none."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
