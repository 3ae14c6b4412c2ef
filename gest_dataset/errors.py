"""The errors that a user of the package meets; every message says what happened and what to do.

`exit_code` is what a command ends with: 2 for a wrong use, which another command line mends, 1 for what
the data, the model, the network or the disk did not allow.
"""

from typing import ClassVar


class GestError(Exception):
    """Base of all errors of this package."""

    exit_code: ClassVar[int] = 1


class ConfigError(GestError, ValueError):
    """A wrong use: a config, a name or a combination of options that does not exist."""

    exit_code = 2


class SourceError(GestError):
    """An upstream file that is missing, unreachable or not the pinned one."""


class UnreachableError(SourceError):
    """The network, or the server behind it, does not answer: the next file would fail as well."""


class DataError(GestError):
    """An upstream file whose content breaks its format: file, place and reason."""

    @classmethod
    def at(cls, file: object, place: object, reason: str) -> "DataError":
        """The error for one row: `place` is a line number or a phrase such as 'row 7'."""
        where = f"line {place}" if isinstance(place, int) else str(place)
        return cls(f"{file}, {where}: {reason}")


class OutputError(GestError):
    """An output directory that cannot be used, or a write that failed."""


class ModelError(GestError):
    """A model that cannot be loaded, or is of another kind than the probe needs."""


class ScoringError(GestError):
    """Something that a run cannot go on with: memory, a model without an answer, or a `SettingError`."""


class LostError(GestError):
    """Another process of the same run that has ended or does not answer, so that this one cannot go on.

    `speaks` says whether this process is the one of those left that tells the user.
    """

    def __init__(self, message: str, speaks: bool = True) -> None:
        super().__init__(message)
        self.speaks = speaks


class SettingError(ConfigError, ScoringError):
    """A wrong use of scoring: a template, limit or device that does not exist, a config that does not fit."""


class HubError(GestError):
    """What the Hub refuses, what is wrong with a repository there, or a Hub that does not answer."""
