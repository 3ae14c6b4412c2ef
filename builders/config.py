"""What a config is: its name and description, its upstream files, and the function that reads its rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from datasets import ClassLabel, Features, List, Value

from gest_dataset.data import sources
from gest_dataset.storage import read_yaml

Row = dict[str, Any]
File = sources.Verified | Path
Files = Sequence[File]  # of a config, in the order of its sources
Dropped = Counter[str]  # number of rows left out, by reason
STRING = Value("string")
PACKAGE = Path(str(resources.files("gest_dataset")))
_PACKAGE_LICENCE = "Apache-2.0"


@dataclass(frozen=True)
class Family:
    """A dataset with one or more configs; its texts (`families.yaml`) are a section of the dataset card.

    The last three go to the header of the card, in the Hub's terms, and may be empty.
    """

    name: str
    title: str
    description: str
    homepage: str
    citation: str
    limits: str
    annotations_creators: str = ""
    language_creators: str = ""
    source_datasets: str = ""


def _read_families() -> dict[str, Family]:
    folder = Path(__file__).parent
    entries = (folder / "papers.bib").read_text(encoding="utf-8").strip().split("\n\n")
    papers = {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
    families = {}
    for name, texts in read_yaml(folder / "families.yaml").items():
        citation = "\n\n".join(papers[key] for key in texts.pop("papers"))
        families[name] = Family(name, citation=citation, **texts)
    return families


FAMILIES = _read_families()


@dataclass(frozen=True)
class Field:
    """A column: its description in Markdown and its type."""

    meaning: str
    feature: Any


Fields = Mapping[str, Field]


def features_of(fields: Fields) -> Features:
    return Features({name: field.feature for name, field in fields.items()})


@dataclass(frozen=True)
class CustomData:
    """The file of a config that a user added, the hash of its metadata, and its licence."""

    path: Path
    digest: str
    licence: str


@dataclass(frozen=True)
class Config:
    """One config of `gest`.

    Attributes:
        reader: Yields the rows from the verified files, and counts the rows that a rule leaves out.
        published_rows: The number of rows on the pinned files, or an upper bound if not `exact`.
        version: Part of the cache fingerprint. Raise it whenever the rows change.
        embedded: The file of this package that is read instead of upstream files.
        custom: Set for a config that a user added.
    """

    name: str
    family: Family = field(repr=False)
    description: str
    sources: tuple[str, ...]
    fields: Fields = field(repr=False)
    reader: Callable[[Files, Dropped], Iterator[Row]] = field(repr=False)
    published_rows: int
    languages: tuple[str, ...] = ("en",)
    exact: bool = True
    version: int = 1
    embedded: Path | None = None
    custom: CustomData | None = None

    def read(self, files: Mapping[str, File], dropped: Dropped) -> Iterator[Row]:
        return self.reader([self.embedded] if self.embedded else list(files.values()), dropped)

    @property
    def features(self) -> Features:
        return features_of(self.fields)

    @property
    def licence(self) -> str:
        """The licence of the upstream files, of the package's own file, or of the user's file."""
        if self.custom is not None:
            return self.custom.licence
        if self.embedded:
            return _PACKAGE_LICENCE if self.embedded.is_relative_to(PACKAGE) else "unknown"
        return ", ".join(dict.fromkeys(sources.find_source(key).licence for key in self.sources))


def _feature(kind: Any) -> Any:
    if isinstance(kind, list):
        return ClassLabel(names=kind)
    if isinstance(kind, dict):
        return List(_feature(kind["list"]), length=kind.get("length", -1))
    return Value(kind)


KIND_FIELDS = {  # by kind of config
    kind: {
        name: Field(entry["meaning"], _feature(entry.get("type", "string"))) for name, entry in fields.items()
    }
    for kind, fields in read_yaml(Path(__file__).with_name("fields.yaml")).items()
    if kind != "shared"  # the anchors
}
BIAS_TYPE: ClassLabel = KIND_FIELDS["quadruplets"]["bias_type"].feature
