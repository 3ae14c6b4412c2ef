"""`croissant.json`: the metadata of a built folder in MLCommons Croissant 1.1 with Responsible-AI fields.

`croissant.json` beside this module has the constant part and, for some fields, the attribute of a family that
they take as one text or as a list; the texts are in `builders/families.ini`.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import ClassLabel, List

from gest_dataset.builders.config import Config
from gest_dataset.data.build import Built
from gest_dataset.data.card import papers
from gest_dataset.data.folder import CROISSANT, read_checksums
from gest_dataset.data.licences import licence_urls
from gest_dataset.storage import write_json
from gest_dataset.version import __version__

_TEMPLATE = Path(__file__).with_name(CROISSANT)
_TYPES = {"string": "sc:Text", "int32": "cr:Int32", "int64": "cr:Int64"}
_YEAR = re.compile(r"\byear = \{(\d{4})\}")  # in a BibTeX entry


def write_croissant(out: Path, builds: Sequence[Built]) -> None:
    """Write the metadata of these configs of a folder."""
    write_json(out / CROISSANT, croissant(builds, read_checksums(out)))


def croissant(builds: Sequence[Built], checksums: dict[str, str]) -> dict[str, Any]:
    """The JSON-LD of some built configs; `checksums` are the SHA-256 of their files."""
    template = json.loads(_TEMPLATE.read_text(encoding="utf-8"))
    families = list(dict.fromkeys(built.config.family for built in builds))
    citation = "\n\n".join(papers(families))

    def texts(attribute: str) -> list[str]:
        return [f"{family.title}: {text}" for family in families if (text := getattr(family, attribute))]

    metadata: dict[str, Any] = {
        **template["constant"],
        "version": __version__,
        "datePublished": max(_YEAR.findall(citation), default=None),
        "citeAs": citation,
        "license": licence_urls(built.config.licence for built in builds),
        "inLanguage": sorted({code for built in builds for code in built.config.languages}),
        **{name: "\n".join(texts(attribute)) for name, attribute in template["texts"].items()},
        "rai:dataCollectionType": sorted(
            {kind for family in families for kind in family.collection_type.split("; ") if kind}
        ),
        **{name: texts(attribute) for name, attribute in template["lists"].items()},
        "rai:dataPreprocessingProtocol": [
            f"{built.config.name}: {number:,} upstream rows left out: {rule}"
            for built in builds
            for rule, number in built.dropped.items()
        ],
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"{built.config.name}.parquet",
                "name": f"{built.config.name}.parquet",
                "description": f"The rows of {built.config.name}. Licence: {built.config.licence}.",
                "contentUrl": f"{built.config.name}/{built.path.name}",
                "contentSize": f"{built.path.stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": checksums[built.config.name],
            }
            for built in builds
        ],
        "recordSet": [_record_set(built.config) for built in builds],
    }
    return {name: value for name, value in metadata.items() if value not in (None, "", [])}


def _record_set(config: Config) -> dict[str, Any]:
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
                "description": field.meaning + _labels(field.feature),
                **_type(field.feature),
                "source": {"fileObject": {"@id": f"{config.name}.parquet"}, "extract": {"column": name}},
            }
            for name, field in config.fields.items()
        ],
    }


def _type(feature: Any, depth: int = 0) -> dict[str, Any]:
    """The type of a field, or of the elements of a nested list."""
    if isinstance(feature, List):
        return _type(feature.feature, depth + 1)
    shape = {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}
    return {"dataType": _TYPES[feature.dtype], **shape}


def _labels(feature: Any) -> str:
    """The labels that the numbers of a field stand for, as text."""
    labels = feature.feature if isinstance(feature, List) else feature
    if not isinstance(labels, ClassLabel):
        return ""
    return f" ({', '.join(f'{number} {name}' for number, name in enumerate(labels.names))})"
