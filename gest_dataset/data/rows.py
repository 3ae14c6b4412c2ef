"""Reading the rows of a config, and hashes of them."""

from functools import lru_cache
from pathlib import Path

import datasets
import pyarrow as pa
from datasets.fingerprint import Hasher

from gest_dataset.builders import fingerprint, get_config
from gest_dataset.builders.builder import config_table
from gest_dataset.data import sources
from gest_dataset.errors import ConfigError, HubError, convert_errors, describe_error
from gest_dataset.stereotypes import GENDERS, STEREOTYPES


def rows_of(config: str) -> datasets.Dataset:
    """The rows of a config, from its verified files (nothing verifies the cache of `datasets`) or the Hub."""
    repository = sources.hub_repository()
    if not repository:
        one = get_config(config)
        sources.verify_mirror(one.sources)
        rows = datasets.Dataset(_table(one.name, fingerprint(one), sources.mirror_directory()))
        rows.info.config_name = one.name
        return check_stereotypes(rows)

    def convert(error: BaseException) -> HubError:
        while error.__cause__ is not None:  # `datasets` wraps the error that occurred
            error = error.__cause__
        return HubError(
            f"{config} cannot be read from {repository} ({describe_error(error)}). Check that "
            f"{sources.REPO_VARIABLE} is correct and that you are logged in (hf auth login), or unset it."
        )

    with convert_errors(convert):
        return check_stereotypes(datasets.load_dataset("gest", config, split="test"))


def check_stereotypes(rows: datasets.Dataset) -> datasets.Dataset:
    """The rows, if their stereotypes are those of GEST or of `GEST_STEREOTYPES`."""
    if "stereotype_name" in rows.column_names:
        known = [(one.id, one.name, GENDERS.index(one.gender)) for one in STEREOTYPES.values()]
        found = rows.select_columns(["stereotype", "stereotype_name", "gender"]).to_pandas()
        if not {*found.drop_duplicates().itertuples(index=False, name=None)} <= {*known}:
            name = rows.info.config_name or "The data"
            raise ConfigError(f"{name} has other stereotypes: set or unset GEST_STEREOTYPES.")
    return rows


@lru_cache(maxsize=8)
def _table(config: str, fingerprint: str, mirror: Path | None) -> pa.Table:
    """The rows as a table; everything that they depend on is an argument."""
    return config_table(get_config(config))


def fingerprint_of(config: str, rows: datasets.Dataset | None = None) -> str:
    """A hash that tells whether two runs scored the same rows of a config."""
    one = get_config(config)
    if not sources.hub_repository():
        return fingerprint(one)
    return hash_of(rows_of(config) if rows is None else rows)


def hash_of(rows: datasets.Dataset) -> str:
    return str(Hasher.hash(rows.to_list()))
