"""`croissant.json`: the metadata of a built folder in Croissant 1.1, with the fields of its Responsible-AI
vocabulary (MLCommons).

What is true of every folder stands in the file of that name in this room; what a family says of itself in
`builders/families.ini`. A config is a record set on its Parquet file, whose SHA-256 is the one of
`SHA256SUMS`; each list of labels is an enumeration that fields refer to.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from datasets import ClassLabel, Features, List

from gest_dataset.builders.config import Config, Family
from gest_dataset.data import licences
from gest_dataset.data.build import Built
from gest_dataset.data.folder import CROISSANT, noted
from gest_dataset.storage import write_json
from gest_dataset.version import __version__

_ALWAYS = Path(__file__).with_name(CROISSANT)
_TYPES = {"string": "sc:Text", "int32": "cr:Int32", "int64": "cr:Int64"}
_YEAR = re.compile(r"\byear = \{(\d{4})\}")  # of a BibTeX entry
# Fields of the vocabulary that are lists of texts, and what a family says for each
_LISTS = {
    "rai:dataAnnotationProtocol": "annotation",
    "rai:annotatorDemographics": "annotators",
    "rai:dataBiases": "biases",
    "rai:dataLimitations": "limits",
    "rai:personalSensitiveInformation": "personal",
}
# and those that are one text
_TEXTS = {"rai:dataCollection": "collection", "rai:annotationsPerItem": "annotations_per_item"}


def write_croissant(out: Path, builds: Sequence[Built]) -> None:
    """Describe these configs of a folder."""
    write_json(out / CROISSANT, croissant(builds, noted(out)))


def croissant(builds: Sequence[Built], sums: dict[str, str]) -> dict[str, Any]:
    """The JSON-LD of some built configs; `sums` are the SHA-256 of their files."""
    families = list(dict.fromkeys(built.config.family for built in builds))
    labels = _label_sets(built.config.features for built in builds)
    told: dict[str, Any] = {
        **json.loads(_ALWAYS.read_text(encoding="utf-8")),
        "version": __version__,
        "datePublished": max(_YEAR.findall(_citation(families)), default=None),
        "citeAs": _citation(families),
        "license": licences.references(built.config.licence for built in builds),
        "inLanguage": sorted({code for built in builds for code in built.config.languages}),
        **_responsible(families),
        "rai:dataPreprocessingProtocol": [
            f"{built.config.name}: {number:,} upstream rows left out: {rule}"
            for built in builds
            for rule, number in built.dropped.items()
        ],
        "distribution": [_file(built, sums[built.config.name]) for built in builds],
        "recordSet": [
            *(_enumeration(name, names) for names, name in labels.items()),
            *(_record_set(built.config, labels) for built in builds),
        ],
    }
    return {name: value for name, value in told.items() if value not in (None, "", [])}


def _citation(families: Iterable[Family]) -> str:
    entries = (entry for family in families for entry in family.citation.split("\n\n"))
    return "\n\n".join(dict.fromkeys(entries))


def _responsible(families: Sequence[Family]) -> dict[str, Any]:
    """What the families say for each field, under their titles; nothing where none of them knows."""

    def each(entry: str) -> list[str]:
        return [f"{family.title}: {text}" for family in families if (text := getattr(family, entry))]

    types = (kind for family in families for kind in family.collection_type.split("; ") if kind)
    return {
        **{name: "\n".join(each(entry)) for name, entry in _TEXTS.items()},
        "rai:dataCollectionType": sorted(set(types)),
        **{name: each(entry) for name, entry in _LISTS.items()},
    }


def _file(built: Built, sha256: str) -> dict[str, Any]:
    config = built.config.name
    return {
        "@type": "cr:FileObject",
        "@id": _file_id(config),
        "name": _file_id(config),
        "description": f"The rows of {config}. Licence: {built.config.licence}.",
        "contentUrl": f"{config}/{built.path.name}",
        "contentSize": f"{built.path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": sha256,
    }


def _file_id(config: str) -> str:
    return f"{config}.parquet"


def _record_set(config: Config, labels: dict[tuple[str, ...], str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": f"{config.description}. Licence: {config.licence}.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{config.name}/{name}",
                "name": name,
                "description": field.meaning + _listed(field.feature),
                **_type(field.feature),
                **_references(field.feature, labels),
                "source": {"fileObject": {"@id": _file_id(config.name)}, "extract": {"column": name}},
            }
            for name, field in config.fields.items()
        ],
    }


def _type(feature: Any, depth: int = 0) -> dict[str, Any]:
    """The type of a field; of a list, at any depth, that of what is in it."""
    if isinstance(feature, List):
        return _type(feature.feature, depth + 1)
    shape = {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}
    return {"dataType": _TYPES[feature.dtype], **shape}


def _references(feature: Any, labels: dict[tuple[str, ...], str]) -> dict[str, Any]:
    """The enumeration that has the labels of a field's numbers."""
    if not isinstance(feature, ClassLabel):
        return {}
    return {"references": {"field": {"@id": f"{labels[tuple(feature.names)]}/number"}}}


def _listed(feature: Any) -> str:
    """The labels of a list's numbers, in words: to readers a reference is a join, and lists have none."""
    if not isinstance(feature, List) or not isinstance(feature.feature, ClassLabel):
        return ""
    return f" ({', '.join(f'{number} {name}' for number, name in enumerate(feature.feature.names))})"


def _label_sets(features: Iterable[Features]) -> dict[tuple[str, ...], str]:
    """The lists of labels that fields refer to, and what each is called."""
    lists = (feature for fields in features for feature in fields.values() if isinstance(feature, ClassLabel))
    return {names: _label_id(names) for names in dict.fromkeys(tuple(feature.names) for feature in lists)}


def _label_id(names: Sequence[str]) -> str:
    """The same for the same labels in every folder: what is said of two can be put together."""
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:6]
    return f"labels_{re.sub(r'[^0-9A-Za-z]+', '-', '_'.join(names[:2]))}_{digest}"


def _enumeration(name: str, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": "What the numbers of these labels mean.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{name}/number"},
        "field": [
            {"@type": "cr:Field", "@id": f"{name}/{own}", "name": own, "dataType": kind}
            for own, kind in (("number", "cr:Int64"), ("name", "sc:Text"))
        ],
        "data": [{f"{name}/number": number, f"{name}/name": label} for number, label in enumerate(labels)],
    }
