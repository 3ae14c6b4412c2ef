"""A push of configs: what it changes in a data set on the Hub, file by file.

Only the files and entries of the named configs change. The files that a replaced config had go with it,
where no other config reads them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsspec.utils import glob_translate
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, RepoFile

from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built, build_config
from gest_dataset.data.folder import CARD, CROISSANT, DATA_FILE, read_checksums, write_config
from gest_dataset.data.parquet import read_table
from gest_dataset.errors import HubError
from gest_dataset.hub.card import Told, header_of, merged_card, told
from gest_dataset.hub.commit import Operation
from gest_dataset.hub.croissant import merged_croissant
from gest_dataset.hub.header import Header, by_config, default_of, read_header
from gest_dataset.hub.plan import CHANGED, NEW, UNCHANGED, Part, Plan
from gest_dataset.hub.repo import Parent

_OWN_METADATA = b"gest"
# Nothing else is taken away with a config, however wide its patterns are
_DATA = (".arrow", ".csv", ".json", ".jsonl", ".parquet", ".tsv")
_ABOUT = frozenset({CROISSANT, "dataset_infos.json"})


@dataclass(frozen=True)
class Prepared:
    """A config that is ready to be pushed: its file, and what the card says of it."""

    built: Built
    told: Told
    sha256: str

    @property
    def name(self) -> str:
        return self.built.config.name

    @property
    def path(self) -> str:
        """Where its file is in the repository."""
        return f"{self.name}/{DATA_FILE}"


def prepare(config: Config, folder: Path) -> Prepared:
    """Build a config. Its file has no mark of this version: the same rows are the same bytes."""
    built, _ = build_config(config, folder)
    table = read_table(built.path)
    metadata = {key: value for key, value in table.schema.metadata.items() if key != _OWN_METADATA}
    write_config(folder, config.name, table.replace_schema_metadata(metadata))
    return Prepared(built, told(built), read_checksums(folder)[config.name])


def changes(parent: Parent, prepared: Sequence[Prepared]) -> tuple[Plan, list[Operation]]:
    """What a push changes on top of a commit, for people and for the Hub."""
    where = str(parent.repo)
    card = parent.read(CARD) if CARD in parent.files else b""
    header = read_header(header_of(card, where), where)
    there = by_config(header)
    _check_readable(parent, there, {each.name: each.path for each in prepared})
    new_card = merged_card(card, [each.told for each in prepared], parent.repo.id)
    operations: list[Operation] = []
    parts = []
    for each in prepared:
        same = is_same(parent.files.get(each.path), each.built.path)
        what = UNCHANGED if same else CHANGED if each.path in parent.files or each.name in there else NEW
        parts.append(Part(each.name, what, each.built.path.stat().st_size, each.built.rows))
        if not same:
            operations.append(CommitOperationAdd(each.path, each.built.path))
    removed = sorted(_left_over(parent, there, {each.name: each.path for each in prepared}))
    operations += [CommitOperationDelete(path) for path in removed]
    croissant = parent.read(CROISSANT) if CROISSANT in parent.files else b""
    sums = {each.name: each.sha256 for each in prepared}
    new_croissant = merged_croissant(croissant, [each.built for each in prepared], sums, where)
    for path, old, new in ((CARD, card, new_card), (CROISSANT, croissant, new_croissant)):
        what = UNCHANGED if new == old else CHANGED if old else NEW
        parts.append(Part(path, what, len(new)))
        if what != UNCHANGED:
            operations.append(CommitOperationAdd(path, new))
    kept = tuple(name for name in there if name not in {each.name for each in prepared})
    default = default_of(read_header(header_of(new_card, where), where))
    return Plan(parent.repo, tuple(parts), kept, tuple(removed), default, parent.missing), operations


def _check_readable(parent: Parent, there: Mapping[str, Header], paths: Mapping[str, str]) -> None:
    """Refuse what would make other data of the repository unreadable, or ours.

    `datasets` reads all configs of a repository with one reader, which it takes by the files of the first;
    and where a card names configs, data that is in none of them is not found any more.
    """
    kept = [pattern for name, entry in there.items() if name not in paths for pattern in _patterns(entry)]
    data = sorted(path for path in parent.files if path.endswith(_DATA) and path not in _ABOUT)
    if not there:
        lost = [path for path in data if path.partition("/")[0] not in paths]
        reason = "its card names no config for, so that it would not be loaded any more"
        advice = "Name it under `configs:` in the card, or push to another repository."
    else:
        lost = [path for path in data if not path.endswith(".parquet") and _matches(path, kept)]
        reason = "is not Parquet, and `datasets` reads all configs of a repository in the format of the first"
        advice = "Change it to Parquet, or push to another repository."
    if lost:
        raise HubError(f"{parent.repo} holds {lost[0]}, which {reason}. {advice} Nothing is changed.")


def is_same(theirs: RepoFile | None, path: Path) -> bool:
    """Whether the Hub has just these bytes: a large file is known by its SHA-256, another by git's name."""
    if theirs is None or theirs.size != path.stat().st_size:
        return False
    content = path.read_bytes()
    if theirs.lfs is not None:
        return theirs.lfs.sha256 == hashlib.sha256(content).hexdigest()
    return theirs.blob_id == hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _left_over(parent: Parent, there: Mapping[str, Header], paths: Mapping[str, str]) -> Iterator[str]:
    """Files that only replaced configs have read, or that would be read with the new ones."""
    replaced = [pattern for name in paths for pattern in _patterns(there.get(name, {}))]
    replaced += [f"{name}/test-*.parquet" for name in paths]
    others = [pattern for name, entry in there.items() if name not in paths for pattern in _patterns(entry)]
    for path in parent.files.keys() - set(paths.values()):
        if path.endswith(_DATA) and _matches(path, replaced) and not _matches(path, others):
            yield path


def _patterns(entry: Header) -> Iterator[str]:
    """The paths that a config reads: one, a list, or a list or mapping of such for each split."""
    inside = str(entry.get("data_dir") or "").strip("/")
    for pattern in _flat(entry.get("data_files")):
        yield f"{inside}/{pattern}" if inside else pattern


def _flat(files: Any) -> Iterator[str]:
    if isinstance(files, str):
        yield files
    elif isinstance(files, dict):
        for key, value in files.items():
            if "split" not in files or key == "path":
                yield from _flat(value)
    elif isinstance(files, list):
        for each in files:
            yield from _flat(each)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(glob_translate(pattern), path) for pattern in patterns)
