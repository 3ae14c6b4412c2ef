"""The dataset card: `dataset_card.md` filled with the configs of a built folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import DatasetInfo, Features, SplitDict, SplitInfo
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCardData
from jinja2 import Environment, StrictUndefined, Template

from gest_dataset.builders import DEFAULT_CONFIG, fingerprint
from gest_dataset.builders.config import Family
from gest_dataset.data.build import SIGNATURE, Built, all_built
from gest_dataset.data.folder import CARD
from gest_dataset.data.licences import hub_ids
from gest_dataset.data.parquet import read_table
from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import atomic_path
from gest_dataset.version import __version__

_TEMPLATE = "dataset_card.md"
# The column to count rows by, the first that all configs of a section have
_TOPICS = ("bias_type", "direction", "occupation_gender", "stereotype")
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K"}


@dataclass(frozen=True)
class Section:
    """One family of configs on the card; `counts` is a Markdown table of rows."""

    family: Family
    built: Sequence[Built]
    counts: str

    @property
    def alike(self) -> list[list[Built]]:
        """The configs, grouped by their fields."""
        groups: dict[tuple[str, ...], list[Built]] = {}
        for built in self.built:
            groups.setdefault(tuple(built.config.fields), []).append(built)
        return list(groups.values())

    @property
    def licences(self) -> str:
        """The licences of the configs, without repetition."""
        return "; ".join(dict.fromkeys(built.config.licence for built in self.built))


def template() -> str:
    """The template of the card: in the package if installed, at the top of a checkout."""
    package = Path(__file__).parent.parent
    path = package / _TEMPLATE
    return (path if path.exists() else package.parent / _TEMPLATE).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _compiled_template() -> Template:
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(template())


def write_card(out: Path) -> Sequence[Built]:
    """Write the card for all configs in the folder that are up to date, and return them."""
    builds = [built for built in all_built(out) if built.fingerprint == fingerprint(built.config)]
    with atomic_path(out / CARD) as partial:
        partial.write_text(render_card(builds), encoding="utf-8")
    return builds


def render_card(builds: Sequence[Built]) -> str:
    """The whole card, YAML and text, for some built configs."""
    tables = {built.config.name: read_table(built.path) for built in builds}
    groups = (list(group) for _, group in groupby(builds, key=lambda built: built.config.family))
    return _compiled_template().render(
        yaml=_yaml(builds, tables),
        signature=SIGNATURE,
        version=__version__,
        sections=[Section(group[0].config.family, group, _counts(group, tables)) for group in groups],
        example=builds[0].config.name,
        languages=[language.name for language in _languages(builds)],
    )


def block(name: str, **values: Any) -> str:
    """Render one block of the template, for a card that also has text of others."""
    compiled = _compiled_template()
    return "".join(compiled.blocks[name](compiled.new_context(values))).strip("\n")


def config_section(built: Built) -> tuple[str, Section]:
    """The YAML header and the section of a card with this config only."""
    tables = {built.config.name: read_table(built.path)}
    return _yaml([built], tables), Section(built.config.family, [built], _counts([built], tables))


def _languages(builds: Iterable[Built]) -> list[Language]:
    codes = {code for built in builds for code in built.config.languages}
    return [language for code, language in LANGUAGES.items() if code in codes]


def _yaml(builds: Sequence[Built], tables: Mapping[str, pa.Table]) -> str:
    return card_header(
        "GEST and related datasets: gender stereotypes in language models and translators",
        [language.code for language in _languages(builds)],
        {
            built.config.name: dataset_info(built.config.features, tables[built.config.name], built.path)
            for built in builds
        },
        license=hub_ids(built.config.licence for built in builds),
        task_categories=["fill-mask", "text-generation", "translation"],
        size_categories=[size_category(sum(built.rows for built in builds))],
    )


def card_header(title: str, languages: list[str], infos: Mapping[str, DatasetInfo], **values: Any) -> str:
    """The YAML header of a card, which the Hub and `load_dataset` read; `infos` are by config."""
    configs = []
    for name in infos:
        files = [{"split": "test", "path": f"{name}/test-*.parquet"}]
        default = {"default": True} if name == DEFAULT_CONFIG else {}
        configs.append({"config_name": name, **default, "data_files": files})
    data = DatasetCardData(
        pretty_name=title,
        language=languages,
        tags=["gender", "stereotypes", "fairness", "bias", "evaluation", "not-for-all-audiences"],
        configs=configs,
        **values,
    )
    DatasetInfosDict(infos).to_dataset_card_data(data)
    return str(data)


def dataset_info(features: Features, table: pa.Table, path: Path) -> DatasetInfo:
    """The types, rows and sizes of a config for the header of a card."""
    return DatasetInfo(
        features=features,
        splits=SplitDict({"test": SplitInfo("test", table.nbytes, table.num_rows)}),
        download_size=path.stat().st_size,
        dataset_size=table.nbytes,
    )


def size_category(rows: int) -> str:
    """The Hub's size category for a number of rows."""
    return next((name for bound, name in _SIZES.items() if rows < bound), "100K<n<1M")


def _counts(group: Sequence[Built], tables: Mapping[str, pa.Table]) -> str:
    """A Markdown table of rows per topic and config; empty if the configs share no topic."""
    topic = next((t for t in _TOPICS if all(t in built.config.features for built in group)), None)
    if topic is None:
        return ""
    if topic == "stereotype":
        labels = {s.id: f"{s.id} {s.name} ({s.gender})" for s in STEREOTYPES.values()}
    else:
        labels = dict(enumerate(group[0].config.features[topic].names))
    columns = []
    for built in group:
        counted = tables[built.config.name][topic].value_counts().to_pylist()
        columns.append({pair["values"]: pair["counts"] for pair in counted})
    rows = [
        [topic.replace("_", " "), *(f"`{built.config.name}`" for built in group)],
        ["---", *("---:" for _ in group)],
        *([label, *(f"{column.get(value, 0):,}" for column in columns)] for value, label in labels.items()),
        ["**all**", *(f"**{built.rows:,}**" for built in group)],
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
