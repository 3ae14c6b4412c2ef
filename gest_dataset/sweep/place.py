"""Where a sweep is kept: a folder that all workers see, or any URL that fsspec knows (`s3://bucket/sweep`).

    PLACE/sweep.json            the suite and the versions that it was begun with
    PLACE/models/NAME.json      what is known of a model and its cells (`sweep.state`)
    PLACE/runs/NAME/CONFIG/     the runs, as `gest score` writes them
    PLACE/leaderboard.*         all of it for people (`sweep.board`)

In a folder a run is written where it stays, and goes on from the batch that it has come to. To a URL it is
copied when it is finished, its manifest last, so that one which has a manifest is whole.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import fsspec

from gest_dataset.errors import ConfigError, GestError, OutputError
from gest_dataset.runs.manifest import MANIFEST
from gest_dataset.storage import atomic_path

RUNS, MODELS = "runs", "models"
_ROOM = "Make room there, or see that it can be written to; with --resume the same command goes on."


@dataclass(frozen=True)
class Place:
    """A folder or a URL; names in it have slashes."""

    url: str

    @cached_property
    def folder(self) -> Path | None:
        """The folder, of a place on this machine's file systems."""
        if "://" not in self.url:
            return Path(self.url)
        return Path(self.url.removeprefix("file://")) if self.url.startswith("file://") else None

    @cached_property
    def _elsewhere(self) -> tuple[Any, str]:
        try:
            system, root = fsspec.core.url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"{self.url} cannot be used: {error}. Give a folder, or another URL."
            ) from error
        return system, str(root).rstrip("/")

    def __str__(self) -> str:
        return self.url if self.folder is None else str(self.folder)

    def read(self, name: str) -> bytes | None:
        """A file; None where there is none."""
        try:
            if self.folder is not None:
                return (self.folder / name).read_bytes()
            system, root = self._elsewhere
            content: bytes = system.cat_file(f"{root}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except GestError:
            raise
        except Exception as error:
            raise OutputError(f"{self}/{name} cannot be read: {_told(error)}.") from error
        return content

    def write(self, name: str, content: bytes) -> None:
        """A whole file, or none."""
        if self.folder is not None:
            with atomic_path(self.folder / name) as partial:
                partial.write_bytes(content)
            return
        system, root = self._elsewhere
        path = f"{root}/{name}"
        try:
            try:
                system.pipe_file(path, content)
            except FileNotFoundError:  # here folders have to be made; buckets have none
                system.makedirs(path.rpartition("/")[0], exist_ok=True)
                system.pipe_file(path, content)
        except Exception as error:  # each file system has errors of its own
            raise OutputError(f"{self}/{name} cannot be written: {_told(error)}. {_ROOM}") from error

    def names(self, folder: str) -> list[str]:
        """The files right in a folder; none where it is not there."""
        try:
            if self.folder is not None:
                return sorted(path.name for path in (self.folder / folder).iterdir() if path.is_file())
            system, root = self._elsewhere
            found = system.ls(f"{root}/{folder}", detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except GestError:
            raise
        except Exception as error:
            raise OutputError(f"{self}/{folder} cannot be read: {_told(error)}.") from error
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in found)

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """A path to write a file to, whose content is then in the place."""
        if self.folder is not None:
            yield self.folder / name
            return
        with tempfile.TemporaryDirectory(prefix="gest-sweep-") as folder:
            yield Path(folder) / name
            self.write(name, (Path(folder) / name).read_bytes())

    @contextmanager
    def run(self, name: str) -> Iterator[Path]:
        """A folder with the finished run of a name, if there is one."""
        if self.folder is not None:
            yield self.folder / name
            return
        with tempfile.TemporaryDirectory(prefix="gest-sweep-") as folder:
            for file in self.names(name):
                content = self.read(f"{name}/{file}")
                if content is not None:
                    (Path(folder) / file).write_bytes(content)
            yield Path(folder)

    def keep(self, run: Path, name: str) -> None:
        """Copy a finished run to a URL, its manifest last."""
        files = sorted(run.iterdir(), key=lambda path: path.name == MANIFEST)
        for path in files:
            if path.is_file() and not path.name.startswith("."):
                self.write(f"{name}/{path.name}", path.read_bytes())


def run_name(subject: str, config: str) -> str:
    """The name of a cell's run in its place."""
    return f"{RUNS}/{subject}/{config}"


def _told(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
