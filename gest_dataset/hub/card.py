"""Merge configs into the dataset card of a repository; all other text of the card stays as it is.

Only the keys of the YAML header that change are rewritten, so comments, quotes and order of the others stay.
Our sections of the text stand between markers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import yaml

from gest_dataset.data.build import Built
from gest_dataset.data.card import Section, block, config_section, size_category
from gest_dataset.errors import HubError
from gest_dataset.languages import LANGUAGES
from gest_dataset.version import __version__

Header = dict[str, Any]
_HEADER = re.compile(r"^\s*---(?:\r\n|\r|\n)(?P<yaml>[\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")
_KEY = re.compile(r"""^(?P<quote>["']?)(?P<key>[\w-]+)(?P=quote)[ \t]*:(?=\s|$)""")
_BY_CONFIG = ("configs", "dataset_info")  # lists with one mapping per config
_NAME = "config_name"
_BEGIN = "<!-- gest push: begin {key} (each push rewrites this section) -->"
_END = "<!-- gest push: end {key} -->"


@dataclass(frozen=True)
class ConfigCard:
    """A built config with the part of the card about it: a header with this config alone, and a section."""

    built: Built
    header: Header
    section: Section

    @property
    def name(self) -> str:
        return self.built.config.name


def config_card(built: Built) -> ConfigCard:
    """Make the part of the card about one config."""
    text, section = config_section(built)
    return ConfigCard(built, parse_header(text, built.config.name), section)


def merge_card(card: bytes, parts: Sequence[ConfigCard], repo: str) -> bytes:
    """Add or replace configs in a card, which may be empty."""
    begin, header, end, body = _split(card, repo)
    newline = "\r\n" if card.partition(b"\n")[0].endswith(b"\r") else "\n"
    header = merge_header(header.replace(newline, "\n"), [part.header for part in parts], repo)
    sections = _sections(parts, parse_header(header, repo), repo)
    body = _merge_sections(body, sections, newline)
    return f"{begin}{header.replace(chr(10), newline)}{end}{body}".encode()


def read_header(card: bytes, repo: str) -> Header:
    """Parse the YAML header of a card."""
    return parse_header(_split(card, repo)[1], repo)


def _split(card: bytes, repo: str) -> tuple[str, str, str, str]:
    """Split a card into its first line, the YAML, the line that ends it, and the text."""
    try:
        text = card.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid_card(repo, "it is not UTF-8") from error
    if match := _HEADER.match(text):
        start, end = match.span("yaml")
        return text[:start], match["yaml"], text[end : match.end()], text[match.end() :]
    if text.lstrip("\ufeff \t\r\n").startswith("---"):
        raise _invalid_card(repo, "the header has no closing line of ---")
    return "---\n", "", "\n---\n", text


def _invalid_card(repo: str, reason: str) -> HubError:
    return HubError(
        f"The card of {repo} is invalid: {reason}. Nothing was changed; fix README.md on the Hub and rerun."
    )


# ---- the header --------------------------------------------------------------------------------------------


def parse_header(text: str, repo: str) -> Header:
    """Parse a header; its lists of configs are checked."""
    try:
        header = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise _invalid_card(repo, " ".join(str(error).split())) from error
    if not isinstance(header, dict):
        raise _invalid_card(repo, "the header is not a mapping")
    for key in _BY_CONFIG:
        entries = header.get(key) or []
        entries = [entries] if isinstance(entries, dict) else entries  # one dataset without configs
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise _invalid_card(repo, f"`{key}` is not a list of mappings")
        if entries:
            header[key] = [{_NAME: "default", **entry} for entry in entries]
    return header


def configs_of(header: Mapping[str, Any], key: str = "configs") -> dict[str, Header]:
    """Return the entries of a list by the name of the config."""
    return {str(entry[_NAME]): entry for entry in header.get(key, [])}


def default_config(header: Mapping[str, Any]) -> str | None:
    """Return the default config: the one marked as such, the one named `default`, or the only one."""
    configs = configs_of(header)
    marked = [name for name, entry in configs.items() if entry.get("default")]
    only = [*configs] if len(configs) == 1 else []
    return next(iter([*marked, *(["default"] if "default" in configs else []), *only]), None)


def merge_header(text: str, ours: Sequence[Header], repo: str) -> str:
    """Add configs to a header; `ours` has one header for each of them.

    Lists are extended, and other values that exist are never replaced. The default config stays the default.
    """
    theirs = parse_header(text, repo)
    as_text = yaml.load(text, Loader=yaml.BaseLoader) or {}  # in which `no` is Norwegian, not false
    merged: Header = dict(theirs)
    for key in dict.fromkeys(key for header in ours for key in header):
        values = [header[key] for header in ours if key in header]
        if key in _BY_CONFIG:
            new = {name: entry for header in ours for name, entry in configs_of(header, key).items()}
            merged[key] = list((configs_of(theirs, key) | new).values())
        elif key not in theirs:
            merged[key] = _union([], values) if isinstance(values[0], list) else values[0]
        elif any(isinstance(value, list) for value in values):
            union = _union(_as_list(as_text[key]), values)
            if union != _as_list(as_text[key]):
                merged[key] = union
    default = default_config(theirs)
    if default is not None and len(merged["configs"]) > 1:
        entries = [{key: entry[key] for key in entry if key != "default"} for entry in merged["configs"]]
        merged["configs"] = [
            {_NAME: default, "default": True, **entry} if entry[_NAME] == default else entry
            for entry in entries
        ]
    infos = configs_of(merged, "dataset_info")
    if "size_categories" not in theirs or configs_of(merged).keys() <= infos.keys():
        splits = [split for info in infos.values() for split in info.get("splits") or []]
        merged["size_categories"] = [
            size_category(sum(int(split.get("num_examples", 0)) for split in splits))
        ]
    changed = {key: value for key, value in merged.items() if value != theirs.get(key)}
    return _rewrite(text, changed, merged, repo) if changed else text


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _union(first: Sequence[Any], others: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys([*first, *(item for other in others for item in _as_list(other))]))


def _rewrite(text: str, changed: Header, expected: Header, repo: str) -> str:
    """Replace the lines of the changed keys, and check that the result is what was intended."""
    pieces: list[tuple[str, str]] = [("", "")]  # the lines of each key, with those that follow it
    for line in text.split("\n") if text else ():
        match = _KEY.match(line)
        if match:
            pieces.append((match["key"], ""))
        pieces[-1] = (pieces[-1][0], f"{pieces[-1][1]}{line}\n")
    keys = [key for key, _ in pieces]
    dumped = {
        key: yaml.dump({key: value}, sort_keys=False, allow_unicode=True, width=2**20)
        for key, value in changed.items()
    }
    parts = [dumped.get(key, piece) for key, piece in pieces]
    parts += [dumped[key] for key in dumped if key not in keys]
    result = "".join(parts).removesuffix("\n")
    if len(set(keys)) < len(keys) or parse_header(result, repo) != expected:
        raise _invalid_card(repo, "each key of the header must begin a line, and occur once")
    return result


# ---- the sections ------------------------------------------------------------------------------------------


def _sections(parts: Sequence[ConfigCard], header: Header, repo: str) -> Iterator[tuple[str, str, bool]]:
    """Yield our sections in their order: key, text, and whether only a new card gets it."""
    codes = _as_list(header["language"])
    names = [LANGUAGES[code].name if code in LANGUAGES else str(code) for code in codes]
    example = default_config(header) or next(iter(configs_of(header)))
    about = block("about", version=__version__, example=example, languages=names)
    yield "about", about.replace("path/or/repo", repo), True
    for family in dict.fromkeys(part.section.family.name for part in parts):
        members = [part for part in parts if part.section.family.name == family]
        shared = SimpleNamespace(family=members[0].section.family, licences="stated with each config")
        text = f"{block('family', section=shared)}\n\n{block('cite', section=shared)}"
        yield f"family {family}", text, False
        for part in members:
            config = part.built.config
            languages = ", ".join(config.languages)
            facts = f"{part.built.rows:,} rows; languages: {languages}; licence: {config.licence}."
            rows = block("rows", section=part.section)
            text = f"### `{config.name}`\n\n{config.description}. {facts}\n\n{rows}"
            yield f"config {part.name}", text, False
    yield "limits", block("limits"), True


def _merge_sections(text: str, sections: Iterable[tuple[str, str, bool]], newline: str) -> str:
    """Replace our sections where they stand; new ones follow the section before, or come last."""
    is_new_card = not text.strip()
    ending = ""
    position: int | None = None  # the end of the last section
    for key, content, only_new_card in sections:
        begin, end = _BEGIN.format(key=key), _END.format(key=key)
        section = f"{begin}\n{content}\n{end}".replace("\n", newline)
        start = re.escape(begin.partition(" (")[0])  # the hint in brackets may differ
        pattern = rf"^{start} [^\n]*-->\r?\n.*?^{re.escape(end)}(?=\r?$)"
        match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        if match:
            text = f"{text[: match.start()]}{section}{text[match.end() :]}"
            position = match.start() + len(section)
        elif is_new_card or not only_new_card:
            if position is None:
                gap = newline if not text or text.endswith("\n") else newline * 2
                text, ending = f"{text}{gap}{section}", newline
                position = len(text)
            else:
                section = f"{newline * 2}{section}"
                text = f"{text[:position]}{section}{text[position:]}"
                position += len(section)
    return text + ending
