"""The rows of a config, as everything in this package reads them."""

from __future__ import annotations

from json import JSONDecodeError

import datasets
import pyarrow as pa

from gest_dataset.data.foreign import told
from gest_dataset.errors import GestError, OutputError


def rows_of(config: str) -> datasets.Dataset:
    """`load_dataset("gest", config)`; an error says where the cache is that cannot be used."""
    try:
        return datasets.load_dataset("gest", config, split="test")
    except GestError:
        raise
    except Exception as error:
        cause: BaseException = error  # `datasets` wraps what has happened in errors of its own
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if not isinstance(cause, (OSError, pa.ArrowException, JSONDecodeError)):
            raise
        raise OutputError(
            f"The cache of `datasets` in {datasets.config.HF_DATASETS_CACHE} cannot be used: {told(cause)}.\n"
            f"Make room there, remove its folder `gest` if it is damaged, or name another folder with "
            f"HF_DATASETS_CACHE."
        ) from error
