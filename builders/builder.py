"""The Hugging Face builder behind `load_dataset("gest", CONFIG)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import datasets
import pyarrow as pa
from datasets.exceptions import DatasetGenerationError

from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, fingerprint, get_config
from gest_dataset.builders.config import Config, Files, Row
from gest_dataset.data import sources
from gest_dataset.errors import DataError

_ROWS_PER_TABLE = 1000
_VERSION = datasets.Version("1.1.0")  # of the data; the fingerprint tells finer differences
logger = datasets.logging.get_logger(__name__)


class BrokenDataError(DataError, DatasetGenerationError):
    """A DataError that `datasets` shows as it is instead of wrapping it."""


class _Live:
    """What a class attribute would be if it knew of the configs that were added since."""

    def __init__(self, collect: Callable[[Iterable[datasets.BuilderConfig]], Any]) -> None:
        self.collect = collect

    def __get__(self, instance: object, owner: type) -> Any:
        return self.collect(
            datasets.BuilderConfig(name=config.name, version=_VERSION, description=config.description)
            for config in CONFIGS.values()
        )


class GestBuilder(datasets.ArrowBasedBuilder):
    """Every config of `gest`, one split: test."""

    BUILDER_CONFIGS = _Live(list)
    # `datasets` makes this table once for a class
    builder_configs = _Live(lambda configs: {config.name: config for config in configs})
    DEFAULT_CONFIG_NAME = DEFAULT_CONFIG

    def __init__(
        self,
        cache_dir: str | None = None,
        dataset_name: str | None = None,
        config_name: str | None = None,
        hash: str | None = None,
        data_files: object = None,
        **kwargs: Any,
    ) -> None:
        """As `datasets` calls it; its hash (of all configs) gives way to the one of this config."""
        self.gest = get_config(config_name or DEFAULT_CONFIG)
        super().__init__(
            cache_dir=cache_dir,
            dataset_name=dataset_name or "gest",
            config_name=self.gest.name,
            hash=fingerprint(self.gest),
            **kwargs,
        )

    def _info(self) -> datasets.DatasetInfo:
        family = self.gest.family
        return datasets.DatasetInfo(
            description=f"{self.gest.description}.\n\n{family.description}\n\n{family.limits}",
            citation=family.citation,
            homepage=family.homepage,
            license=self.gest.licence,
            features=self.gest.features,
        )

    def download_and_prepare(self, *args: Any, **kwargs: Any) -> None:
        """As always, but a changed mirror is an error even where the cache has an answer."""
        sources.verify_mirror(self.gest.sources, self.config.data_dir)
        super().download_and_prepare(*args, **kwargs)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        files = {key: sources.fetch(key, self.config.data_dir) for key in self.gest.sources}
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"files": files})]

    def _generate_tables(self, files: Files) -> Iterator[tuple[int, pa.Table]]:
        dropped: Counter[str] = Counter()
        try:
            yield from enumerate(tables(self.gest, files, dropped))
        except DataError as error:
            raise BrokenDataError(str(error)) from error
        for reason, number in dropped.items():
            logger.info("%s: %d rows left out: %s", self.gest.name, number, reason)


def tables(config: Config, files: Files, dropped: Counter[str]) -> Iterator[pa.Table]:
    """The rows of a config as Arrow tables of its features."""
    rows = config.read(files, dropped)
    empty = True
    while chunk := list(islice(rows, _ROWS_PER_TABLE)):
        empty = False
        yield _table(config.features, chunk)
    if empty:
        raise DataError.at(files[config.sources[-1]], "end of file", "no rows")


def _table(features: datasets.Features, rows: Sequence[Row]) -> pa.Table:
    encoded = [features.encode_example(row) for row in rows]
    return pa.Table.from_pylist(encoded, schema=features.arrow_schema)
