"""What a config is: a name, its facts, the upstream files it reads and how they become rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from datasets import ClassLabel, Features, Value

from gest_dataset.data import sources
from gest_dataset.stereotypes import GENDERS

Row = dict[str, Any]
Files = Mapping[str, sources.Verified]
Dropped = Counter[str]
_OWN_LICENCE = "Apache-2.0"
STRING = Value("string")


@dataclass(frozen=True)
class Family:
    """What the configs of one data set have in common: a section of the dataset card.

    From `collection` on: how the data came about, for its Responsible-AI fields; empty where nobody knows.
    """

    name: str
    title: str
    description: str
    homepage: str
    citation: str
    limits: str
    collection: str = ""
    collection_type: str = ""  # words of that vocabulary, with semicolons
    annotation: str = ""
    annotations_per_item: str = ""
    annotators: str = ""
    biases: str = ""
    personal: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a row: what it holds in a few words of Markdown, and its type."""

    meaning: str
    feature: Any = field(default_factory=lambda: STRING)


Fields = Mapping[str, Field]


def features_of(fields: Fields) -> Features:
    """The types alone, as `datasets` takes them."""
    return Features({name: field.feature for name, field in fields.items()})


@dataclass(frozen=True)
class Added:
    """Where a config that a user has added is kept: its file, what tells its content, and its licence."""

    path: Path
    mark: str
    licence: str


@dataclass(frozen=True)
class Config:
    """One config of `gest`.

    `read` turns the verified files into rows and counts the rows that a rule leaves out, by
    reason. `published_rows` is the size on the pinned files (`exact`) or at most so many. A config
    that is `embedded` reads that file of this package and no upstream ones; it is no published
    test set, so `gest build` writes it only where it is named. One that is `added` reads what a user has
    kept, and no upstream files either.
    """

    name: str
    family: Family
    description: str
    sources: tuple[str, ...]
    fields: Fields
    read: Callable[[Files, Dropped], Iterator[Row]]
    published_rows: int
    languages: tuple[str, ...] = ("en",)
    exact: bool = True
    embedded: Path | None = None
    added: Added | None = None

    @property
    def features(self) -> Features:
        """The types of the fields."""
        return features_of(self.fields)

    @property
    def licence(self) -> str:
        """The licence of the upstream files, as the table of sources states it, the package's or a user's."""
        if self.added is not None:
            return self.added.licence
        return _OWN_LICENCE if self.embedded else sources.licences(self.sources)


GENDER = ClassLabel(names=list(GENDERS))
BIAS_TYPE = ClassLabel(names=["gender", "profession", "race", "religion"])
# Fields of several data sets
STEREOTYPE = Field("number of the stereotype: 1 to 7 are about women, 8 to 16 about men", Value("int32"))
STEREOTYPE_GENDER = Field("the gender that the stereotype is about", GENDER)
