"""The pinned upstream files: downloads, mirrors and verification.

`sources.json` lists repository, commit, licence, path and git blob id. A file comes from a mirror
(`GEST_MIRROR` or `data_dir=`, a folder with `<owner>/<repo>/<path>`) or from GitHub through the Hugging Face
cache, and is verified against its git blob id on every read.
"""

import fnmatch
import hashlib
import json
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.utils import http_backoff  # type: ignore[attr-defined]

from gest_dataset.errors import SourceError, UnreachableError, convert_errors, describe_error
from gest_dataset.storage import write_file

UPSTREAM_URL = "https://raw.githubusercontent.com"
MIRROR_VARIABLE = "GEST_MIRROR"
TABLE_VARIABLE = "GEST_SOURCES"
REPO_VARIABLE = "GEST_REPO"  # a dataset on the Hub, or a built folder, to read instead
_TABLE = Path(__file__).with_name("sources.json")
_TIMEOUT = 30.0


def hub_repository() -> str:
    """The dataset on the Hub (or built folder) that `GEST_REPO` names; empty by default."""
    return os.environ.get(REPO_VARIABLE, "").strip()


@dataclass(frozen=True)
class Source:
    """One upstream file at one commit; `blob` is its git blob id."""

    repository: str
    path: str
    commit: str
    blob: str
    licence: str

    @property
    def key(self) -> str:
        """The name of the file in the table, and its path in a mirror."""
        return f"{self.repository}/{self.path}"

    @property
    def url(self) -> str:
        return f"{UPSTREAM_URL}/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Verified:
    """The verified bytes of a file. These are parsed, even if the file at `path` changes afterwards."""

    path: Path
    content: bytes = field(repr=False)

    def read_bytes(self) -> bytes:
        return self.content

    def __str__(self) -> str:
        return str(self.path)


def git_blob_id(content: bytes) -> str:
    """Git's id of a file: the SHA-1 of `blob <size>`, a NUL byte and the content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def table() -> dict[str, Source]:
    """All pinned files by key; `GEST_SOURCES` names another table in the same format."""
    return _read_table(Path(os.environ.get(TABLE_VARIABLE) or _TABLE))


@lru_cache(maxsize=8)
def _read_table(path: Path) -> dict[str, Source]:
    advice = f"Set {TABLE_VARIABLE} to a JSON file in the format of {_TABLE}, or unset it."
    with convert_errors(lambda error: SourceError(f"{path} cannot be read ({error!r}).\n{advice}")):
        sources = [
            Source(repository, file, entry["commit"], facts["git_blob"], entry["licence"])
            for repository, entry in json.loads(path.read_text(encoding="utf-8")).items()
            for file, facts in entry["files"].items()
        ]
    return {source.key: source for source in sources}


def find_source(key: str) -> Source:
    sources = table()
    if key not in sources:
        listed = os.environ.get(TABLE_VARIABLE) or _TABLE
        raise SourceError(f"{key} is not listed in {listed}. Add it, or check the name.")
    return sources[key]


def expand(pattern: str) -> list[str]:
    """The keys of the pinned files that match a pattern with *; a plain key is returned as it is."""
    return sorted(fnmatch.filter(_read_table(_TABLE), pattern)) if "*" in pattern else [pattern]


def mirror_directory(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The mirror to use: the argument, else `GEST_MIRROR`, else none."""
    name = data_dir or os.environ.get(MIRROR_VARIABLE)
    return Path(name).expanduser() if name else None


def cache_directory() -> Path:
    """The folder of the downloads; it has the layout of a mirror."""
    return Path(constants.HF_HOME) / "gest" / "upstream"


def fetch(key: str, data_dir: str | os.PathLike[str] | None = None) -> Verified:
    """Read and verify an upstream file, from the mirror if there is one, else from the cache or GitHub."""
    source, mirror = find_source(key), mirror_directory(data_dir)
    if mirror is not None:
        return _from_mirror(source, mirror)
    path = cache_directory() / key
    content = path.read_bytes() if path.exists() else b""
    if git_blob_id(content) != source.blob:
        advice = f"Connect to the network, or set {MIRROR_VARIABLE} to a directory with {key}."
        content = download(source.url, advice)
        if git_blob_id(content) != source.blob:
            raise SourceError(
                f"{source.url} returned different content than the pinned file. A proxy may have changed it: "
                f"try again, or set {MIRROR_VARIABLE} to a mirror."
            )
        write_file(path, content)
    return Verified(path, content)


def verify_mirror(keys: Iterable[str], data_dir: str | os.PathLike[str] | None = None) -> None:
    """Verify those of the files that the mirror has."""
    mirror = mirror_directory(data_dir)
    for key in keys:
        if mirror is not None and (mirror / key).exists():
            _from_mirror(find_source(key), mirror)


def _from_mirror(source: Source, mirror: Path) -> Verified:
    path = mirror / source.key
    advice = f"Get it with: curl --create-dirs -o {shlex.quote(str(path))} {source.url}"
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = f"lacks {source.key} ({error.strerror})"
        raise SourceError(f"The mirror {mirror} {reason}.\n{advice}") from error
    blob = git_blob_id(content)
    if blob != source.blob:
        reason = f"its git blob id is {blob}, expected {source.blob}"
        raise SourceError(f"{path} is not the pinned file: {reason}.\n{advice}")
    return Verified(path, content)


def download(url: str, advice: str) -> bytes:
    """Download a file; connection and server errors are retried. Errors end with `advice`."""
    problem = f"{url} cannot be reached"
    offline = os.environ.get("HF_DATASETS_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}
    with convert_errors(lambda e: UnreachableError(f"{problem} ({describe_error(e)}).\n{advice}")):
        if constants.HF_HUB_OFFLINE or offline:
            raise ConnectionError("offline mode is on")
        response = http_backoff("GET", url, max_retries=3, timeout=_TIMEOUT)
    if response.status_code != 200:
        raise SourceError(f"{url} returns HTTP status {response.status_code}.\n{advice}")
    return response.content
