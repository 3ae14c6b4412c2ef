"""Merge configs into the dataset card of a repository; all other text of the card stays as it is.

A header that changes is written anew, with its values in their order. Our sections of the text stand between
markers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from huggingface_hub.repocard import REGEX_YAML_BLOCK
from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from gest_dataset.builders import CONFIGS
from gest_dataset.data.build import Built
from gest_dataset.data.card import built_header, card_sections, size_category
from gest_dataset.errors import HubError, convert_errors, describe_error

Header = dict[str, Any]
_BY_CONFIG = ("configs", "dataset_info")  # lists with one mapping per config
_NAME = "config_name"
_BEGIN = "<!-- gest push: begin {key} -->"
_END = "<!-- gest push: end -->"
_ONLY_NEW = ("about", "uses")  # the sections that only a new card gets
# Of the other configs on the card, these parts of a section stay: rows of tables, an example, BibTeX entries
_ENTRIES = {
    "configs": re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE),
    "licences": re.compile(r"^\| (?!data \||---)(.*?) \|.*$", re.MULTILINE),
    "family": re.compile(r"^()Example \(.*\n```$", re.MULTILINE | re.DOTALL),
    "citation": re.compile(r"^@\w+\{([^,\s}]+).*?\}(?=\n\n|\n```)", re.MULTILINE | re.DOTALL),
}


class _Loader(yaml.SafeLoader):
    """YAML 1.2, as on the Hub: `no` is Norwegian, not false."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        letter: [each for each in resolvers if letter in "tTfF" or each[0] != "tag:yaml.org,2002:bool"]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def merge_card(card: bytes, builds: Sequence[Built], repo: str) -> bytes:
    """Add or replace built configs in a card, which may be empty."""
    header, theirs, body = _split(card, repo)
    builds = [built for name in CONFIGS for built in builds if built.config.name == name]
    merged = _merge_header(theirs, _parse_header(built_header(builds), repo))
    if merged != theirs:
        header = f"---\n{yaml_dump(merged, sort_keys=False)}---\n"
    return f"{header}{_merge_sections(body, builds, merged, repo)}".encode()


def read_header(card: bytes, repo: str) -> Header:
    """The YAML header of a card."""
    return _split(card, repo)[1]


def configs_of(header: Mapping[str, Any], key: str = "configs") -> dict[str, Header]:
    """The entries of a list by the name of the config."""
    return {str(entry[_NAME]): entry for entry in header.get(key, [])}


def default_config(header: Mapping[str, Any]) -> str | None:
    """The default config: the one marked as such, the one named `default`, or the only one."""
    configs = configs_of(header)
    marked = [name for name, entry in configs.items() if entry.get("default")]
    only = list(configs) if len(configs) == 1 else []
    return next(iter([*marked, *(name for name in configs if name == "default"), *only]), None)


def _split(card: bytes, repo: str) -> tuple[str, Header, str]:
    """A card's header as text and parsed, and the text after it, all with plain LF."""
    with convert_errors(lambda error: _invalid_card(repo, describe_error(error))):
        text = card.replace(b"\r\n", b"\n").decode("utf-8")
    if match := REGEX_YAML_BLOCK.match(text):
        return match[0], _parse_header(match[2], repo), text[match.end() :]
    if text.lstrip("\ufeff \t\r\n").startswith("---"):
        raise _invalid_card(repo, "the header has no closing line of ---")
    return "", {}, text


def _invalid_card(repo: str, problem: str) -> HubError:
    return HubError(
        f"The card of {repo} is invalid: {problem}. Nothing was changed; fix README.md on the Hub and rerun."
    )


def _parse_header(text: str, repo: str) -> Header:
    """Parse a header; a dataset without configs is one named `default`."""
    with convert_errors(lambda error: _invalid_card(repo, describe_error(error))):
        header: Header = yaml.load(text, _Loader) or {}
        for key in _BY_CONFIG:
            if entries := header.get(key):
                entries = [entries] if isinstance(entries, dict) else entries
                header[key] = [{_NAME: "default", **entry} for entry in entries]
    return header


def _merge_header(theirs: Header, ours: Header) -> Header:
    """Add the configs of our header to another one.

    Lists are extended, and other values that exist are never replaced. The default config stays the default.
    """
    merged: Header = dict(theirs)
    languages = {*_as_list(theirs.get("language")), *ours["language"]}
    ours["multilinguality"] = ["multilingual" if len(languages) > 1 else "monolingual"]
    for key, value in ours.items():
        existing = _as_list(theirs.get(key))
        if key in _BY_CONFIG:
            merged[key] = list((configs_of(theirs, key) | configs_of(ours, key)).values())
        elif not isinstance(value, list):
            merged.setdefault(key, value)
        elif not {*value} <= {*existing}:
            merged[key] = list(dict.fromkeys([*existing, *value]))
    default = default_config(theirs)
    if default is not None and len(merged["configs"]) > 1:
        unmarked = [{key: entry[key] for key in entry if key != "default"} for entry in merged["configs"]]
        merged["configs"] = [
            {_NAME: default, "default": True, **entry} if entry[_NAME] == default else entry
            for entry in unmarked
        ]
    infos = configs_of(merged, "dataset_info")
    if "size_categories" not in theirs or configs_of(merged).keys() <= infos.keys():
        splits = [split for info in infos.values() for split in info.get("splits") or []]
        rows = sum(int(split.get("num_examples", 0)) for split in splits)
        merged["size_categories"] = [size_category(rows)]
    return merged


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _merge_sections(text: str, builds: Sequence[Built], header: Header, repo: str) -> str:
    """Replace our sections where they stand; new ones follow the section before, or come last.

    Families whose configs are not pushed keep their example.
    """
    names = list(configs_of(header))
    configs = [config for config in CONFIGS.values() if config.name in names]
    others = sorted(set(names) - CONFIGS.keys())
    sections = card_sections(configs, builds, repo, default_config(header) or names[0], others)
    is_new_card = not text.strip()
    position: int | None = None  # the end of the last section
    for key, content in sections.items():
        begin = _BEGIN.format(key=key)
        pattern = rf"^{re.escape(begin)}\n(.*?)\n{re.escape(_END)}$"
        match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        section = f"{begin}\n{_keep_entries(key, match[1] if match else '', content, names)}\n{_END}"
        if match:
            first, last = match.span()
            section = section if content else match[0]
        elif not content or (key in _ONLY_NEW and not is_new_card):
            continue
        elif position is None:
            text += "\n\n" if not text or text.endswith("\n") else "\n\n\n"
            first = last = len(text) - 1
        else:
            first = last = position
            section = f"\n\n{section}"
        text = text[:first] + section + text[last:]
        position = first + len(section)
    return text


def _keep_entries(key: str, old: str, new: str, names: Sequence[str]) -> str:
    """Our new section with those entries of the old one that the pushed configs do not replace."""
    kind = key.partition(" ")[0]
    if kind not in _ENTRIES:
        return new
    ours = list(_ENTRIES[kind].finditer(new))
    entries = {match[1]: match[0] for match in (*ours, *_ENTRIES[kind].finditer(old), *ours)}
    if kind == "configs":
        order = [*CONFIGS, *sorted({*names} - CONFIGS.keys())]
        entries = {name: entries[name] for name in order if name in entries and name in names}
    new = new if ours else f"{new}\n\n"
    first, last = (ours[0].start(), ours[-1].end()) if ours else (len(new), len(new))
    separator = "\n\n" if kind == "citation" else "\n"
    return (new[:first] + separator.join(entries.values()) + new[last:]).rstrip("\n")
