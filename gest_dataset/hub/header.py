"""The YAML of a dataset card on the Hub: our configs go in, all else stays as somebody has written it.

A header is cut into pieces, one for each key. Only the pieces of keys that change are written anew, so that
comments, quotes and the order of all others are kept; the result is read again before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from gest_dataset.data.card import size_category
from gest_dataset.errors import HubError

Header = dict[str, Any]
# Lists of mappings, one for each config by its name
_BY_CONFIG = ("configs", "dataset_info")
_KEY = re.compile(r"""^(?P<quote>["']?)(?P<key>[\w-]+)(?P=quote)[ \t]*:(?=\s|$)""")
_NAME = "config_name"


def read_header(text: str, where: str) -> Header:
    """A header as a mapping, its lists of configs as lists; an error where it is none."""
    try:
        header = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise _broken(where, " ".join(str(error).split())) from error
    if not isinstance(header, dict):
        raise _broken(where, "it is no mapping of keys to values")
    for key in _BY_CONFIG:
        entries = header.get(key)
        # a single data set without configs may stand there without its list and without a name
        listed = [entries] if isinstance(entries, dict) else entries or []
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            raise _broken(where, f"`{key}` is no list of mappings")
        if listed:
            header[key] = [entry if _NAME in entry else {_NAME: "default", **entry} for entry in listed]
    return header


def by_config(header: Mapping[str, Any], key: str = "configs") -> dict[str, Header]:
    """The entries of a list, by the name of the config."""
    return {str(entry[_NAME]): entry for entry in header.get(key, [])}


def default_of(header: Mapping[str, Any]) -> str | None:
    """The config that is loaded where none is named: the one that says so, `default`, or the only one."""
    configs = by_config(header)
    marked = [name for name, entry in configs.items() if entry.get("default")]
    if marked:
        return marked[0]
    if "default" in configs or len(configs) == 1:
        return "default" if "default" in configs else next(iter(configs))
    return None


def merged(text: str, ours: Sequence[Header], where: str) -> str:
    """The header with our configs: `ours` has one header for each, as if it were alone."""
    theirs = read_header(text, where)
    as_text = yaml.load(text, Loader=yaml.BaseLoader) or {}  # where `no` is Norwegian, and not false
    changed: Header = {}
    for key in dict.fromkeys(key for header in ours for key in header):
        values = [header[key] for header in ours if key in header]
        if key in _BY_CONFIG:
            new = {name: entry for header in ours for name, entry in by_config(header, key).items()}
            value = list((by_config(theirs, key) | new).values())
        elif key not in theirs:
            value = _union([], values) if isinstance(values[0], list) else values[0]
        elif any(isinstance(each, list) for each in values):
            value = _union(_listed(as_text[key]), values)
            if value == _listed(as_text[key]):
                continue
        else:
            continue  # what somebody has written there
        if value != theirs.get(key):
            changed[key] = value
    whole = theirs | changed
    own: Header = {"configs": _with_default(default_of(theirs), whole["configs"])}
    if "size_categories" not in theirs or by_config(whole).keys() <= by_config(whole, "dataset_info").keys():
        own["size_categories"] = [size_category(_rows(whole))]
    changed = {key: value for key, value in (changed | own).items() if value != theirs.get(key)}
    return _rewritten(text, changed, theirs | changed, where) if changed else text


def _with_default(default: str | None, configs: Sequence[Header]) -> list[Header]:
    """The default stays the default; where there was none, one of ours may say that it is."""
    if default is None or len(configs) == 1:
        return list(configs)
    unmarked = [{key: value for key, value in entry.items() if key != "default"} for entry in configs]
    if default == "default":  # by its name; a second one that says so would be an error
        return unmarked
    return [
        {_NAME: default, "default": True, **entry} if entry[_NAME] == default else entry for entry in unmarked
    ]


def _rows(header: Mapping[str, Any]) -> int:
    """Of all configs that say how many they have."""
    infos = by_config(header, "dataset_info").values()
    return sum(int(split.get("num_examples", 0)) for info in infos for split in info.get("splits") or [])


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if value else []


def _union(first: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys([*first, *(item for other in others for item in _listed(other))]))


def _rewritten(text: str, changed: Header, expected: Header, where: str) -> str:
    pieces = _pieces(text)
    keys = [key for key, _ in pieces if key]
    if len(set(keys)) < len(keys):
        raise _broken(where, "it has the same key twice")
    written = "".join(_dumped(key, changed[key]) if key in changed else piece for key, piece in pieces)
    written += "".join(_dumped(key, value) for key, value in changed.items() if key not in keys)
    result = written.removesuffix("\n")
    if read_header(result, where) != expected:
        raise _broken(where, "its keys cannot be told apart (each has to begin a line)")
    return result


def _pieces(text: str) -> list[tuple[str, str]]:
    """The lines of each key, with those that follow it; what stands before the first has no key."""
    pieces: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n") if text else ():
        if found := _KEY.match(line):
            pieces.append((found["key"], []))
        pieces[-1][1].append(f"{line}\n")
    return [(key, "".join(lines)) for key, lines in pieces]


def _dumped(key: str, value: Any) -> str:
    text: str = yaml.dump({key: value}, sort_keys=False, allow_unicode=True, width=2**20)
    return text


def _broken(where: str, reason: str) -> HubError:
    return HubError(
        f"The card of {where} has a YAML header that nothing can be added to: {reason}. Nothing is "
        f"overwritten; mend its README.md on the Hub, and run the same command again."
    )
