"""The dataset card: the sections of `card.md.jinja`, filled with the configs of a folder.

The Hub's card (`gest_dataset.hub.push`) and the page `dataset_card.md` have the same sections.
"""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from huggingface_hub import DatasetCardData
from jinja2 import StrictUndefined, Template

from gest_dataset.builders import CONFIGS, DEFAULT_CONFIG, fingerprint
from gest_dataset.builders.config import Config, Family
from gest_dataset.data.build import SIGNATURE, Built, find_built
from gest_dataset.data.folder import CARD, read_parquet
from gest_dataset.languages import LANGUAGES
from gest_dataset.storage import read_yaml, write_file
from gest_dataset.version import __version__

_FACTS: dict[str, Any] = read_yaml(Path(__file__).with_suffix(".yaml"))
_BIBTEX = re.compile(r"^  (\w+) = \{(.*?)\},?$", re.MULTILINE | re.DOTALL)  # a field of an entry
_JINJA: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
_SECTIONS = Template(Path(__file__).with_name("card.md.jinja").read_text(encoding="utf-8"), **_JINJA)


def _block(name: str, **values: Any) -> str:
    return "".join(_SECTIONS.blocks[name](_SECTIONS.new_context(values))).strip("\n")


def write_card(out: Path) -> Sequence[Built]:
    """Write the card for all configs in the folder that are up to date, and return them."""
    found = (find_built(config, out) for config in CONFIGS.values())
    builds = [built for built in found if built and built.fingerprint == fingerprint(built.config)]
    sections = card_sections([built.config for built in builds], builds, "path/or/repo")
    text = "\n\n".join([f"---\n{built_header(builds)}\n---\n{SIGNATURE}", *sections.values()])
    write_file(out / CARD, f"{text}\n")
    return builds


def fill_card(folder: Path, template: Path, command: Sequence[str], **values: Any) -> None:
    """Write the card of a folder from a template, which gets `values`, the command and the version."""
    card = Template(template.read_text(encoding="utf-8"), keep_trailing_newline=True, **_JINJA)
    write_file(folder / CARD, card.render(values, command=shlex.join(command), version=__version__))


def card_sections(
    configs: Sequence[Config],
    builds: Sequence[Built],
    repo: str,
    default: str | None = None,
    others: Sequence[str] = (),
) -> dict[str, str]:
    """The sections of a card in their order, by key.

    The card has `configs`, in the order of the registry, and `others` of which only the names are known. The
    table of configs has a row for each of `builds`, and a family has an example if its first config is among
    them. The name `gest` in place of a repository stands for the built-in configs before they are built.
    """
    families = list(dict.fromkeys(config.family for config in configs))
    return {
        "about": _block(
            "about",
            contents=[*(family.title for family in families), *(f"`{name}`" for name in others)],
            repo=repo,
            example=default or configs[0].name,
            version=__version__,
        ),
        "configs": _block("configs", repo=repo, builds=builds),
        "licences": _block("licences", table=_licence_table(families, configs)),
        **{f"family {family.name}": _family_section(family, configs, builds) for family in families},
        "uses": _block("uses"),
        "citation": _block("citation", citation="\n\n".join(papers(families))),
    }


def _licence_table(families: Sequence[Family], configs: Sequence[Config]) -> list[list[str]]:
    """The rows of the table of licences; a source or paper has its links where it first occurs."""
    table, linked = [], set[str]()
    for family in families:
        licences = dict.fromkeys(config.licence for config in configs if config.family == family)
        link = r"\1" if family.homepage in linked else r"[\1](\g<0>)"
        source = re.sub(r"^https?://[^/]+/(?:project/)?(.*?)/?$", link, family.homepage)
        entries = papers([family])
        names = [_paper(entry, with_links=entry not in linked) for entry in entries]
        licence = "; ".join(licences).replace("not stated; not stated (", "not stated (")
        table.append([family.title, licence, source, ", ".join(filter(None, names))])
        linked.update([family.homepage, *entries])
    return table


def _family_section(family: Family, configs: Sequence[Config], builds: Sequence[Built]) -> str:
    """What a family has in common; fields are described where they first occur, with an example row."""
    described: dict[tuple[str, ...], Family] = {}
    places: dict[tuple[str, str], tuple[Family, tuple[str, ...]]] = {}  # of each field's description
    for config in configs:
        fields = tuple(config.fields)
        described.setdefault(fields, config.family)
        for name, field in config.fields.items():
            places.setdefault((name, field.meaning), (config.family, fields))
    groups = []
    members = [config for config in configs if config.family == family]
    for fields, home in described.items():
        if alike := [config for config in members if tuple(config.fields) == fields]:
            new_fields, repeated = {}, defaultdict(list)
            for name, field in alike[0].fields.items():
                owner, first = places[name, field.meaning]
                if (owner, first) == (family, fields):
                    new_fields[name] = field
                else:
                    repeated["above" if owner == family else f"in *{owner.title}*"].append(name)
            # a name for all languages: stereoset_LANG_intrasentence
            names = [config.name.replace(f"_{config.languages[0]}_", "_LANG_") for config in alike]
            groups.append((home, list(dict.fromkeys(names)), new_fields, repeated))
    examples = [_example(built) for built in builds if built.config == members[0]]
    return _block("family", family=family, groups=groups, example="\n\n".join(examples))


def papers(families: Iterable[Family]) -> list[str]:
    """The BibTeX entries of some families, each once, with a line for each field."""
    entries = dict.fromkeys(entry for family in families for entry in family.citation.split("\n\n"))
    return [re.sub(r"\n {3,}", " ", entry) for entry in entries]


def _paper(entry: str, *, with_links: bool) -> str:
    """A paper's authors and year, from its BibTeX entry, with links to it and to its preprint."""
    fields = dict(_BIBTEX.findall(entry))
    if not {"author", "url"} <= fields.keys():
        return ""
    authors = fields["author"].split(" and ")
    name = re.sub("[{}]", "", authors[0].partition(",")[0])
    label = f"{name}{' et al.' if len(authors) > 1 else ''} ({fields['year']})"
    if not with_links:
        return label
    preprint = f"https://arxiv.org/abs/{fields.get('eprint')}"
    other = f", [arXiv]({preprint})" if "eprint" in fields and preprint != fields["url"] else ""
    return f"[{label}]({fields['url']}){other}"


def _example(built: Built) -> str:
    row = read_parquet(built.path).slice(0, 1).to_pylist()[0]
    lines = ",\n".join(f' "{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in row.items())
    return f"Example (`{built.config.name}`):\n\n```json\n{{\n{lines}\n}}\n```"


def built_header(builds: Sequence[Built]) -> str:
    """The YAML header of a card with these configs."""
    codes = {code for built in builds for code in built.config.languages}
    languages = [code for code in LANGUAGES if code in codes]
    families = list(dict.fromkeys(built.config.family for built in builds))
    origins = {
        key: list(dict.fromkeys(filter(None, (getattr(family, key) for family in families))))
        for key in ("annotations_creators", "language_creators", "source_datasets")
    }
    return card_header(
        _FACTS["title"],
        languages,
        [built.config.name for built in builds],
        dataset_info=[{"config_name": one.config.name, "splits": [split_info(one.path)]} for one in builds],
        **{key: values for key, values in origins.items() if values},
        multilinguality=["multilingual" if len(languages) > 1 else "monolingual"],
        license=hub_ids(built.config.licence for built in builds),
        task_categories=_FACTS["task_categories"],
        size_categories=[size_category(sum(built.rows for built in builds))],
    )


def split_info(path: Path) -> dict[str, Any]:
    """The name and sizes of a config's split; `datasets` takes a header with all three only."""
    metadata = pq.read_metadata(path)
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return {"name": "test", "num_bytes": size, "num_examples": metadata.num_rows}


def card_header(title: str, languages: Sequence[str], names: Iterable[str], **values: Any) -> str:
    """The YAML header of a card with these configs, which the Hub and `load_dataset` read."""
    configs = []
    for name in names:
        files = [{"split": "test", "path": f"{name}/test-*"}]
        default = {"default": True} if name == DEFAULT_CONFIG else {}
        configs.append({"config_name": name, **default, "data_files": files})
    facts: dict[str, Any] = {"pretty_name": title, "language": [*languages], "tags": _FACTS["tags"]}
    return str(DatasetCardData(configs=configs, **facts, **values))


def size_category(rows: int) -> str:
    return str(next(name for bound, name in _FACTS["sizes"].items() if rows < bound))


def hub_ids(licences: Iterable[str]) -> list[str]:
    """The Hub's ids of licences; `unknown` if a repository states none, `other` for any other licence.

    >>> hub_ids(["Apache-2.0", "not stated (from CC-BY-SA-4.0)"])
    ['apache-2.0', 'cc-by-sa-4.0', 'unknown']
    """
    ids = set()
    for licence in {name for names in licences for name in names.split(", ")}:
        if licence.startswith(tuple(_FACTS["no_licence"])):
            ids.add("unknown")
        stated = re.sub(rf"^({'|'.join(_FACTS['no_licence'])})( \(from (.*)\))?$", r"\3", licence)
        if stated:
            ids.add(stated.lower() if stated in _FACTS["licences"] else "other")
    return sorted(ids)
