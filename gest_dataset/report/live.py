"""Runs while they go on: which are finished, how far the others are, and the report of those that are.

A run that is half asked has no numbers here: long sentences are asked first, so that what has been answered
is no sample of the data.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.display import one_line
from gest_dataset.errors import ConfigError, GestError
from gest_dataset.measures.formatting import format_number
from gest_dataset.report.page import write
from gest_dataset.runs.folder import Run, read_run
from gest_dataset.runs.manifest import MANIFEST, Manifest, read_manifest
from gest_dataset.runs.progress import read_progress


@dataclass(frozen=True)
class Seen:
    """What lies in some folders now: finished runs, and lines on all others.

    `mark` is another one where the finished runs are others.
    """

    finished: tuple[Path, ...]
    going: tuple[str, ...]
    mark: str

    @property
    def told(self) -> dict[str, Any]:
        """What the page asks for again and again."""
        return {"mark": self.mark, "finished": len(self.finished), "lines": self.lines}

    @property
    def lines(self) -> list[str]:
        one = len(self.finished) == 1
        runs = f"{format_number(len(self.finished))} {'run is' if one else 'runs are'} finished"
        runs += "." if self.going else ", which is all that is here."
        if not self.finished and not self.going:
            runs = "There is no run here yet. This page shows the first one as soon as it begins."
        elif not self.finished:
            runs = "No run is finished yet."
        return [runs, *self.going]


def check(paths: Sequence[Path]) -> None:
    """Paths are folders that are there; what is in them may come later."""
    for path in paths:
        if not path.is_dir():
            raise ConfigError(
                f"There is no folder {path}. Give the folder of a run, or one with runs below it."
            )


def seen(paths: Sequence[Path]) -> Seen:
    """What lies there now."""
    finished, going = [], []
    digest = hashlib.sha256()
    for folder in _folders(paths):
        try:
            manifest = read_manifest(folder)
        except GestError as error:
            going.append(one_line(str(error).splitlines()[0]))
            continue
        if manifest.done:
            finished.append(folder)
            digest.update(json.dumps([str(folder), manifest.files, manifest.finished]).encode())
        else:
            going.append(_line(folder, manifest))
    return Seen(tuple(finished), tuple(going), digest.hexdigest()[:16])


def _folders(paths: Sequence[Path]) -> Iterator[Path]:
    """The folders of runs, each once."""
    known: dict[Path, Path] = {}
    for path in paths:
        places = [path] if (path / MANIFEST).exists() else sorted(f.parent for f in path.rglob(MANIFEST))
        for place in places:
            known.setdefault(place.resolve(), place)
    yield from known.values()


def _line(folder: Path, manifest: Manifest) -> str:
    """How far an unfinished run is."""
    name = one_line(f"{manifest.model} on {manifest.about}")
    progress = read_progress(folder)
    if progress is None:
        return f"{name}: begun {manifest.started}, no answer is kept yet."
    share = f" ({100 * progress.done / progress.total:.0f} %)" if progress.total else ""
    what = one_line(progress.unit)
    done, total = (format_number(count) for count in (progress.done, progress.total))
    return f"{name}: {done} of {total} {what}{share} are answered."


def report_of(seen_now: Seen) -> bytes | None:
    """The report of the finished runs as a page; None where there is none that can be read."""
    runs: list[Run] = []
    notes: list[str] = []
    for folder in seen_now.finished:
        try:
            runs.append(read_run(folder))
        except GestError as error:
            notes.append(str(error))
    if seen_now.going:
        notes.append(
            f"{format_number(len(seen_now.going))} more had not finished when this page was made; "
            f"what follows is of "
            f"the finished runs alone."
        )
    if not runs:
        return None
    with tempfile.TemporaryDirectory(prefix="gest-") as place:
        return write(runs, Path(place) / "report.html", notes=notes).read_bytes()
