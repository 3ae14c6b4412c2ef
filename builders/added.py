"""Configs that a user has added: kept in the home (`gest_dataset/home.py`), read like those of this package.

    GEST_HOME/configs/NAME/facts.json      what the config is, the SHA-256 of its rows, and its own
    GEST_HOME/configs/NAME/SHA-256.parquet the rows

The rows are written first and named by their content: whatever happens meanwhile, the facts name rows that
are whole. `gest_dataset.builders.keeping` writes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa
from datasets import Features

from gest_dataset.builders.config import Added, Config, Dropped, Family, Field, Fields, Files, Row
from gest_dataset.data import parquet
from gest_dataset.errors import DataError, convert_errors, describe_error
from gest_dataset.home import FACTS, Facts, added
from gest_dataset.languages import LANGUAGES

FOLDER = "configs"
GROUP = "added"
# What a folder of this package and a name of `datasets` can be; no path, and nothing that a shell reads
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_ROWS_AT_ONCE = 1000
_CHECKSUM = "checksum"  # of the facts themselves


@dataclass(frozen=True)
class NewConfig:
    """What somebody who adds a config says of it; `languages` are codes, that of its texts first.

    `dropped` counts what was left out on the way to its rows, by reason.
    """

    name: str
    family: Family
    description: str
    languages: tuple[str, ...]
    licence: str
    fields: Fields
    dropped: dict[str, int] = field(default_factory=dict)


def facts_of(new: NewConfig, rows: int, digest: str) -> dict[str, object]:
    """What the file of facts holds."""
    described = {
        name: {"meaning": one.meaning, "feature": Features({name: one.feature}).to_dict()[name]}
        for name, one in new.fields.items()
    }
    facts = {
        "family": asdict(new.family),
        "description": new.description,
        "languages": list(new.languages),
        "licence": new.licence,
        "fields": described,
        "dropped": new.dropped,
        "rows": rows,
        "sha256": digest,
    }
    return {**facts, _CHECKSUM: _mark(facts)}


def rows_file(folder: Path, digest: str) -> Path:
    """The file of rows with that content."""
    return folder / f"{digest}.parquet"


def read_added(taken: Container[str]) -> tuple[dict[str, Config], dict[str, str]]:
    """All added configs, those of a family together, and why others that are there cannot be used.

    None has a name that is taken.
    """
    found, damaged = added(FOLDER, partial(config_of, taken))
    return dict(sorted(found.items(), key=lambda one: (one[1].family.name, one[0]))), damaged


def config_of(taken: Container[str], name: str, facts: Facts) -> Config:
    """The config that facts tell of."""
    if not NAME.fullmatch(name) or name in taken:
        raise facts.broken(f"{name!r} is no name that a config can be added under")
    mark = _mark({key: value for key, value in facts.values.items() if key != _CHECKSUM})
    if facts.text(_CHECKSUM) != mark:
        raise facts.broken("it was damaged, or changed by hand")
    told_of = facts.inner("family")
    family = Family(name=told_of.text("name"), **{key: told_of.text(key) for key in _TEXTS})
    languages = facts.texts("languages")
    unknown = [code for code in languages if code not in LANGUAGES]
    if unknown or not languages:
        raise facts.broken(f"its language {', '.join(unknown) or ''} is not there")
    digest = facts.text("sha256")
    path = rows_file(facts.path.parent, digest)
    fields = _fields(facts)
    left_out = facts.inner("dropped")
    return Config(
        name=name,
        family=family,
        description=facts.text("description"),
        sources=(),
        fields=fields,
        read=partial(_rows, path, digest, fields, {key: left_out.number(key) for key in left_out.values}),
        published_rows=facts.number("rows"),
        languages=languages,
        added=Added(path, mark, facts.text("licence")),
    )


def _mark(facts: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


_TEXTS = ("title", "description", "homepage", "citation", "limits")


def _fields(facts: Facts) -> Fields:
    described = facts.inner("fields")
    fields = {}
    for name in described.values:
        one = described.inner(name)
        with convert_errors(lambda error: facts.broken(f"no type of a field ({describe_error(error)})")):
            feature = Features.from_dict({name: one.values["feature"]})[name]
            Features({name: feature}).arrow_schema  # noqa: B018 (a type that Arrow does not know is none)
        fields[name] = Field(one.text("meaning"), feature)
    if not fields:
        raise facts.broken("it has no fields")
    return fields


def _rows(
    path: Path, digest: str, fields: Fields, left_out: dict[str, int], files: Files, dropped: Dropped
) -> Iterator[Row]:
    """The rows as they were kept, from the very bytes that were compared."""
    again = f"Add {path.parent.name} again, or remove {path.parent}."
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. {again}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise DataError(f"{path} is not as it was written. {again}")
    with convert_errors(lambda error: DataError(f"{path} is not Parquet ({describe_error(error)}). {again}")):
        table = parquet.read_table(pa.BufferReader(content))
    if table.column_names != list(fields):
        raise DataError(f"{path} has other columns than {FACTS} says. {again}")
    dropped.update(left_out)
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from batch.to_pylist()
