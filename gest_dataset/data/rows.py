"""The rows of a config, as everything in this package reads them."""

from __future__ import annotations

from json import JSONDecodeError

import datasets
import pyarrow as pa
from datasets.fingerprint import Hasher

from gest_dataset.builders import fingerprint, get_config
from gest_dataset.data import sources
from gest_dataset.errors import GestError, HubError, OutputError, describe_error


def rows_of(config: str) -> datasets.Dataset:
    """`load_dataset("gest", config)`; an error says what cannot be read: the data set that GEST_REPO names,
    or the cache.
    """
    try:
        return datasets.load_dataset("gest", config, split="test")
    except GestError:
        raise
    except Exception as error:
        cause: BaseException = error  # `datasets` wraps what has happened in errors of its own
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if repo := sources.published():
            raise HubError(
                f"{config} cannot be read from {repo} ({sources.REPO_VARIABLE}): {describe_error(error)}.\n"
                f"Look whether it is there and has that config, and whether you are logged in (hf auth "
                f"login); without {sources.REPO_VARIABLE} the data are read from where they come from."
            ) from error
        if not isinstance(cause, (OSError, pa.ArrowException, JSONDecodeError)):
            raise
        raise OutputError(
            f"The datasets cache {datasets.config.HF_DATASETS_CACHE} is unusable: {describe_error(cause)}.\n"
            f"Make room there, remove its folder `gest` if it is damaged, or name another folder with "
            f"HF_DATASETS_CACHE."
        ) from error


def fingerprint_of(config: str, rows: datasets.Dataset | None = None) -> str:
    """What tells the rows of a config from others: two runs with the same have asked the same rows.

    Of this package's own data it is what they are made of. Where GEST_REPO names a data set it is their hash,
    for nobody knows how those were made; `rows` are they, where somebody has read them.
    """
    known = get_config(config)
    if not sources.published():
        return fingerprint(known)
    return hash_of(rows_of(config) if rows is None else rows)


def hash_of(rows: datasets.Dataset) -> str:
    """The same for equal rows, wherever they come from."""
    return str(Hasher.hash(rows.to_list()))
