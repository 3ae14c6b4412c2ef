"""The Hugging Face builder behind `load_dataset("gest", CONFIG)`."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import datasets
import pyarrow as pa
from datasets.exceptions import DatasetGenerationError

from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, fingerprint, get_config
from gest_dataset.builders.config import Config, File
from gest_dataset.data import sources
from gest_dataset.errors import DataError, convert_errors
from gest_dataset.version import NAME

_ROWS_PER_TABLE = 1000
_VERSION = datasets.Version("1.1.0")
logger = datasets.logging.get_logger(__name__)


class BrokenDataError(DataError, DatasetGenerationError):
    """A DataError that `datasets` raises as it is instead of wrapping it."""


class _ConfigsAttribute:
    """A class attribute that is computed at each access, so that it has the configs added since."""

    def __init__(self, compute: Callable[[list[datasets.BuilderConfig]], Any]) -> None:
        self.compute = compute

    def __get__(self, instance: object, owner: type) -> Any:
        make = partial(datasets.BuilderConfig, version=_VERSION)
        return self.compute([make(name=one.name, description=one.description) for one in CONFIGS.values()])


class GestBuilder(datasets.ArrowBasedBuilder):
    """Builds every config of `gest`, with one split: test."""

    BUILDER_CONFIGS = _ConfigsAttribute(lambda configs: configs)
    builder_configs = _ConfigsAttribute(lambda configs: {config.name: config for config in configs})
    DEFAULT_CONFIG_NAME = DEFAULT_CONFIG

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        """Replace the hash of all configs, which `datasets` passes, by the one of this config."""
        self.gest = get_config(config_name or DEFAULT_CONFIG)
        options |= {"hash": fingerprint(self.gest), "dataset_name": NAME, "data_files": None}
        super().__init__(config_name=self.gest.name, **options)

    def _info(self) -> datasets.DatasetInfo:
        family = self.gest.family
        # the number of rows of other files than the package's is not known before they are read
        pinned = not (self.gest.sources and os.environ.get(sources.TABLE_VARIABLE))
        rows = self.gest.published_rows if self.gest.exact and pinned else None
        return datasets.DatasetInfo(
            description=f"{self.gest.description}.\n\n{family.description}\n\n{family.limits}",
            citation=family.citation,
            homepage=family.homepage,
            license=self.gest.licence,
            features=self.gest.features,
            splits=datasets.SplitDict({"test": datasets.SplitInfo("test", num_examples=rows)}),
        )

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """Verify the files of a mirror even if the rows are cached, then prepare the rows."""
        sources.verify_mirror(self.gest.sources, self.config.data_dir)
        self.info.splits = None  # those of the rows that are made now
        super().download_and_prepare(*args, **kwargs)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        files = {key: sources.fetch(key, self.config.data_dir) for key in self.gest.sources}
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"files": files})]

    def _generate_tables(self, files: Mapping[str, File]) -> Iterator[tuple[int, pa.Table]]:
        dropped: Counter[str] = Counter()
        try:
            yield from enumerate(config_tables(self.gest, files, dropped))
        except DataError as error:
            raise BrokenDataError(str(error)) from error
        for reason, number in dropped.items():
            logger.info("%s: %d rows left out: %s", self.gest.name, number, reason)


def config_table(config: Config, dropped: Counter[str] | None = None) -> pa.Table:
    """All rows of a config, from its verified files."""
    files = {key: sources.fetch(key) for key in config.sources}
    tables = list(config_tables(config, files, Counter() if dropped is None else dropped))
    if not tables:
        raise DataError(f"{config.name} has no rows.")
    return pa.concat_tables(tables)


def config_tables(config: Config, files: Mapping[str, File], dropped: Counter[str]) -> Iterator[pa.Table]:
    """Yield the rows of a config as Arrow tables with its features."""
    rows = config.read(files, dropped)
    while True:
        with convert_errors(lambda error: DataError(f"The files of {config.name} are invalid: {error!r}.")):
            encoded = [config.features.encode_example(row) for row in islice(rows, _ROWS_PER_TABLE)]
        if not encoded:
            return
        yield pa.Table.from_pylist(encoded, schema=config.features.arrow_schema)
