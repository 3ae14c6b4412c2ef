"""The dataset card: `dataset_card.md` filled with what a built folder really holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import ClassLabel, DatasetInfo, Features, SplitDict, SplitInfo
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData
from jinja2 import Environment, StrictUndefined, Template

from gest_dataset.builders import DEFAULT_CONFIG, fingerprint
from gest_dataset.builders.config import Config, Family
from gest_dataset.data.build import CARD, SIGNATURE, Built, all_built
from gest_dataset.data.licences import hub_ids
from gest_dataset.data.parquet import read_table
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import atomic_path
from gest_dataset.version import __version__

_TEMPLATE = "dataset_card.md"
# The column that says what a row is about, whichever of them a config has
_TOPICS = ("bias_type", "direction", "occupation_gender", "stereotype")


@dataclass(frozen=True)
class Section:
    """One family of configs on the card."""

    family: Family
    built: Sequence[Built]
    counts: str

    @property
    def alike(self) -> list[list[Built]]:
        """The configs that have the same fields, together."""
        by_fields: dict[tuple[str, ...], list[Built]] = {}
        for built in self.built:
            by_fields.setdefault(tuple(built.config.fields), []).append(built)
        return list(by_fields.values())

    @property
    def licences(self) -> str:
        return "; ".join(dict.fromkeys(built.config.licence for built in self.built))


def template() -> str:
    """The card's source: in the package when installed, at the top of a checkout."""
    package = Path(__file__).parent.parent
    path = package / _TEMPLATE
    return (path if path.exists() else package.parent / _TEMPLATE).read_text(encoding="utf-8")


def write_card(out: Path) -> Sequence[Built]:
    """Write the card for all configs that the folder holds as this version builds them."""
    builds = [built for built in all_built(out) if built.fingerprint == fingerprint(built.config)]
    text = render_card(builds)
    with atomic_path(out / CARD) as partial:
        partial.write_text(text, encoding="utf-8")
    return builds


def render_card(builds: Sequence[Built]) -> str:
    """The whole card, YAML and text, for some built configs."""
    tables = {built.config.name: read_table(built.path) for built in builds}
    sections = [
        Section(family, group, _counts(group, tables))
        for family, members in groupby(builds, key=lambda built: built.config.family)
        if (group := list(members))
    ]
    return _source().render(
        yaml=_yaml(builds, tables),
        signature=SIGNATURE,
        version=__version__,
        sections=sections,
        example=builds[0].config.name,
        languages=[language.name for language in _languages(builds)],
    )


@lru_cache(maxsize=1)
def _source() -> Template:
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(template())


def block(name: str, **facts: Any) -> str:
    """One block of the card's source alone, for a card that has others' text as well."""
    source = _source()
    return "".join(source.blocks[name](source.new_context(facts))).strip("\n")


def of_one(built: Built) -> tuple[str, Section]:
    """What the card says of one config: a YAML that has it alone, and a section."""
    tables = {built.config.name: read_table(built.path)}
    return _yaml([built], tables), Section(built.config.family, [built], _counts([built], tables))


def _languages(builds: Iterable[Built]) -> list[Language]:
    codes = {code for built in builds for code in built.config.languages}
    return [language for code, language in LANGUAGES.items() if code in codes]


def _yaml(builds: Sequence[Built], tables: dict[str, pa.Table]) -> str:
    return header(
        "GEST and its kin: gender stereotypes in language models and translators",
        [language.code for language in _languages(builds)],
        {
            built.config.name: info_of(built.config.features, tables[built.config.name], built.path)
            for built in builds
        },
        license=hub_ids(built.config.licence for built in builds),
        task_categories=["fill-mask", "text-generation", "translation"],
        size_categories=[size_category(sum(built.rows for built in builds))],
    )


def header(title: str, languages: list[str], infos: Mapping[str, DatasetInfo], **facts: Any) -> str:
    """The YAML of a card that the Hub and `load_dataset` read, with the `info_of` each config."""
    data = DatasetCardData(
        pretty_name=title,
        language=languages,
        tags=["gender", "stereotypes", "fairness", "bias", "evaluation", "not-for-all-audiences"],
        configs=[
            {
                "config_name": name,
                **({"default": True} if name == DEFAULT_CONFIG else {}),
                "data_files": [{"split": "test", "path": f"{name}/test-*.parquet"}],
            }
            for name in infos
        ],
        **facts,
    )
    DatasetInfosDict(infos).to_dataset_card_data(data)
    return str(data)


def info_of(features: Features, table: pa.Table, path: Path) -> DatasetInfo:
    """What a card says of a config: the types of its fields, its rows and its size."""
    return DatasetInfo(
        features=features,
        splits=SplitDict({"test": SplitInfo("test", table.nbytes, table.num_rows)}),
        download_size=path.stat().st_size,
        dataset_size=table.nbytes,
    )


def size_category(rows: int) -> str:
    """The Hub's class of sizes."""
    bounds = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K"}
    return next((name for bound, name in bounds.items() if rows < bound), "100K<n<1M")


def _counts(group: Sequence[Built], tables: dict[str, pa.Table]) -> str:
    """A Markdown table: rows per stereotype (or bias type, …) and config; nothing where they have none."""
    topic = next((t for t in _TOPICS if all(t in built.config.features for built in group)), None)
    if topic is None:
        return ""
    columns = [
        {pair["values"]: pair["counts"] for pair in counts.to_pylist()}
        for counts in (tables[built.config.name][topic].value_counts() for built in group)
    ]
    header = [topic.replace("_", " "), *(f"`{built.config.name}`" for built in group)]
    lines = [header, ["---", *("---:" for _ in group)]]
    for value, label in _labels(group[0].config, topic).items():
        lines.append([label, *(f"{column.get(value, 0):,}" for column in columns)])
    lines.append(["**all**", *(f"**{built.rows:,}**" for built in group)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _labels(config: Config, topic: str) -> dict[int, str]:
    if topic == "stereotype":
        return {s.id: f"{s.id} {s.name} ({s.gender})" for s in STEREOTYPES.values()}
    feature: ClassLabel = config.features[topic]
    return dict(enumerate(feature.names))
