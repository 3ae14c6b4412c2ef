"""Which commit of a model on the Hub a name stands for."""

from __future__ import annotations

from pathlib import Path

from transformers.utils.hub import cached_file, extract_commit_hash


def commit_of(name: str, revision: str | None) -> str | None:
    """The commit on the Hub (or in its cache) that a name and a revision stand for; None of a folder.

    It is the name of the cache's directory for it; the config of transformers 5.23 does not tell it, as
    that of older ones did. An OSError says why there is no such model.
    """
    if Path(name).exists():
        return None
    commit: str | None = extract_commit_hash(cached_file(name, "config.json", revision=revision), None)
    return commit
