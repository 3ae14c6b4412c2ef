"""Merge configs into the dataset card of a repository; all other text of the card stays as it is.

Only the keys of the YAML header that change are rewritten, so comments, quotes and order of the others stay.
Our sections of the text stand between markers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from gest_dataset.builders import CONFIGS
from gest_dataset.data.build import Built
from gest_dataset.data.card import built_header, card_sections, size_category
from gest_dataset.errors import HubError, convert_errors, describe_error

Header = dict[str, Any]
_HEADER = re.compile(r"^\s*---(?:\r\n|\r|\n)(?P<yaml>[\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")
_KEY = re.compile(r"""^(?P<quote>["']?)(?P<key>[\w-]+)(?P=quote)[ \t]*:(?=\s|$)""")
_BY_CONFIG = ("configs", "dataset_info")  # lists with one mapping per config
_NAME = "config_name"
_BEGIN = "<!-- gest push: begin {key} (rewritten by each push) -->"
_END = "<!-- gest push: end {key} -->"
_ONLY_NEW = ("about", "uses")  # the sections that only a new card gets
# Of the other configs on the card, these parts of a section stay: rows of tables, an example, BibTeX entries
_ENTRIES = {
    "configs": re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE),
    "licences": re.compile(r"^\| (?!data \||---)(.*?) \|.*$", re.MULTILINE),
    "family": re.compile(r"^()Example \(.*\n```$", re.MULTILINE | re.DOTALL),
    "citation": re.compile(r"^@\w+\{([^,\s}]+).*?\}(?=\n\n|\n```)", re.MULTILINE | re.DOTALL),
}


def merge_card(card: bytes, builds: Sequence[Built], repo: str) -> bytes:
    """Add or replace built configs in a card, which may be empty."""
    begin, header, end, body = _split(card, repo)
    newline = "\r\n" if card.partition(b"\n")[0].endswith(b"\r") else "\n"
    builds = [built for name in CONFIGS for built in builds if built.config.name == name]
    ours = _parse_header(built_header(builds), repo)
    header = _merge_header(header.replace(newline, "\n"), ours, repo)
    body = _merge_sections(body, builds, _parse_header(header, repo), repo, newline)
    return f"{begin}{header.replace(chr(10), newline)}{end}{body}".encode()


def read_header(card: bytes, repo: str) -> Header:
    """Parse the YAML header of a card."""
    return _parse_header(_split(card, repo)[1], repo)


def configs_of(header: Mapping[str, Any], key: str = "configs") -> dict[str, Header]:
    """The entries of a list by the name of the config."""
    return {str(entry[_NAME]): entry for entry in header.get(key, [])}


def default_config(header: Mapping[str, Any]) -> str | None:
    """The default config: the one marked as such, the one named `default`, or the only one."""
    configs = configs_of(header)
    marked = [name for name, entry in configs.items() if entry.get("default")]
    only = list(configs) if len(configs) == 1 else []
    return next(iter([*marked, *(name for name in configs if name == "default"), *only]), None)


def _split(card: bytes, repo: str) -> tuple[str, str, str, str]:
    """Split a card into its first line, the YAML, the line that ends it, and the text."""
    with convert_errors(lambda error: _invalid_card(repo, error)):
        text = card.decode("utf-8")
    if match := _HEADER.match(text):
        start, end = match.span("yaml")
        return text[:start], match["yaml"], text[end : match.end()], text[match.end() :]
    if text.lstrip("\ufeff \t\r\n").startswith("---"):
        raise _invalid_card(repo, "the header has no closing line of ---")
    return "---\n", "", "\n---\n", text


def _invalid_card(repo: str, reason: BaseException | str) -> HubError:
    problem = reason if isinstance(reason, str) else describe_error(reason)
    return HubError(
        f"The card of {repo} is invalid: {problem}. Nothing was changed; fix README.md on the Hub and rerun."
    )


# ---- the header --------------------------------------------------------------------------------------------


def _parse_header(text: str, repo: str) -> Header:
    """Parse a header; a dataset without configs is one named `default`."""
    with convert_errors(lambda error: _invalid_card(repo, error)):
        header: Header = yaml.safe_load(text) or {}
        for key in _BY_CONFIG:
            if entries := header.get(key):
                entries = [entries] if isinstance(entries, dict) else entries
                header[key] = [{_NAME: "default", **entry} for entry in entries]
    return header


def _merge_header(text: str, ours: Header, repo: str) -> str:
    """Add the configs of our header to another one.

    Lists are extended, and other values that exist are never replaced. The default config stays the default.
    """
    theirs = _parse_header(text, repo)
    as_text = yaml.load(text, Loader=yaml.BaseLoader) or {}  # in which `no` is Norwegian, not false
    merged: Header = dict(theirs)
    languages = {*_as_list(as_text.get("language")), *ours["language"]}
    ours["multilinguality"] = ["multilingual" if len(languages) > 1 else "monolingual"]
    for key, value in ours.items():
        if key in _BY_CONFIG:
            merged[key] = list((configs_of(theirs, key) | configs_of(ours, key)).values())
        elif not isinstance(value, list):
            merged.setdefault(key, value)
        else:
            union = list(dict.fromkeys([*_as_list(as_text.get(key)), *value]))
            if key not in theirs or union != _as_list(as_text[key]):
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
        rows = sum(int(split.get("num_examples", 0)) for split in splits)
        merged["size_categories"] = [size_category(rows)]
    changed = {key: value for key, value in merged.items() if value != theirs.get(key)}
    return _rewrite(text, changed, merged, repo) if changed else text


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


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
    if len(set(keys)) < len(keys) or _parse_header(result, repo) != expected:
        raise _invalid_card(repo, "each key of the header must begin a line, and occur once")
    return result


# ---- the sections ------------------------------------------------------------------------------------------


def _merge_sections(text: str, builds: Sequence[Built], header: Header, repo: str, newline: str) -> str:
    """Replace our sections where they stand; new ones follow the section before, or come last.

    Families whose configs are not pushed keep their section.
    """
    names = list(configs_of(header))
    configs = [config for config in CONFIGS.values() if config.name in names]
    others = sorted(set(names) - CONFIGS.keys())
    sections = card_sections(configs, builds, repo, default_config(header) or names[0], others)
    is_new_card = not text.strip()
    position: int | None = None  # the end of the last section
    ending = ""
    for key, content in sections.items():
        begin, end = _BEGIN.format(key=key), _END.format(key=key)
        start = re.escape(begin.partition(" (")[0])  # the hint in brackets may differ
        pattern = rf"^{start} [^\n]*-->\r?\n(.*?)\r?\n{re.escape(end)}(?=\r?$)"
        match = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        old = match[1].replace(newline, "\n") if match else ""
        section = f"{begin}\n{_keep_entries(key, old, content, names)}\n{end}".replace("\n", newline)
        if match:
            first, last = match.span()
            section = section if content else match[0]
        elif not content or (key in _ONLY_NEW and not is_new_card):
            continue
        elif position is None:
            first = last = len(text)
            section = (newline if not text or text.endswith("\n") else newline * 2) + section
            ending = newline
        else:
            first = last = position
            section = newline * 2 + section
        text = text[:first] + section + text[last:]
        position = first + len(section)
    return text + ending


def _keep_entries(key: str, old: str, new: str, names: Sequence[str]) -> str:
    """Our new section with those entries of the old one that the pushed configs do not replace."""
    kind = key.partition(" ")[0]
    if kind not in _ENTRIES:
        return new
    ours = list(_ENTRIES[kind].finditer(new))
    entries = {match[1]: match[0] for match in (*ours, *_ENTRIES[kind].finditer(old))}
    entries |= {match[1]: match[0] for match in ours}
    if kind == "configs":
        order = [*(name for name in CONFIGS if name in names), *sorted(set(names) - CONFIGS.keys())]
        entries = {name: entries[name] for name in order if name in entries}
    new = new if ours else f"{new}\n\n"
    first, last = (ours[0].start(), ours[-1].end()) if ours else (len(new), len(new))
    separator = "\n\n" if kind == "citation" else "\n"
    return (new[:first] + separator.join(entries.values()) + new[last:]).rstrip("\n")
