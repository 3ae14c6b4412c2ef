"""Loading the rows of a config, and hashes of them."""

import datasets
from datasets.fingerprint import Hasher

from gest_dataset.builders import fingerprint, get_config
from gest_dataset.data import sources
from gest_dataset.errors import GestError, HubError, OutputError, convert_errors, describe_error


def rows_of(config: str) -> datasets.Dataset:
    """`load_dataset("gest", config)`, with clear errors for an unusable cache or `GEST_REPO`."""
    repository = sources.hub_repository()

    def convert(error: BaseException) -> GestError:
        while error.__cause__ is not None:  # `datasets` wraps the error that occurred
            error = error.__cause__
        if repository:
            return HubError(
                f"{config} cannot be read from {repository} ({describe_error(error)}). Check that "
                f"{sources.REPO_VARIABLE} is correct and that you are logged in (hf auth login), or unset it."
            )
        return OutputError(
            f"The cache {datasets.config.HF_DATASETS_CACHE} cannot be used: {describe_error(error)}. "
            f"Free some space or remove its folder `gest`, or set HF_DATASETS_CACHE to another folder."
        )

    with convert_errors(convert):
        return datasets.load_dataset("gest", config, split="test")


def fingerprint_of(config: str, rows: datasets.Dataset | None = None) -> str:
    """A hash that tells whether two runs scored the same rows of a config."""
    builtin = get_config(config)
    if not sources.hub_repository():
        return fingerprint(builtin)
    return hash_of(rows_of(config) if rows is None else rows)


def hash_of(rows: datasets.Dataset) -> str:
    """A hash of the content of the rows."""
    return str(Hasher.hash(rows.to_list()))
