"""Merge configs into the Croissant metadata of a repository; a file that is not ours stays as it is."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from gest_dataset.data.build import HOMEPAGE, Built
from gest_dataset.data.croissant import croissant
from gest_dataset.errors import HubError, convert_errors, describe_error
from gest_dataset.storage import json_text, parse_json

_JOINED = {"citeAs": "\n\n", "rai:dataCollection": "\n", "rai:annotationsPerItem": "\n"}  # with separators
_RULES = "rai:dataPreprocessingProtocol"  # "config: how many rows a rule left out"


def merge_croissant(theirs: bytes, builds: Sequence[Built], repo: str) -> bytes:
    if theirs and HOMEPAGE.encode() not in theirs:
        return theirs
    checksums = {built.config.name: hashlib.sha256(built.path.read_bytes()).hexdigest() for built in builds}
    merged = croissant(builds, checksums)
    if theirs:
        message = f"The croissant.json of {repo} is invalid; nothing was changed. Fix or remove it on the Hub"
        with convert_errors(lambda error: HubError(f"{message} ({describe_error(error)}).")):
            merged = _merge(parse_json(theirs), merged, tuple(f"{built.config.name}: " for built in builds))
    return f"{json_text(merged)}\n".encode()


def _merge(theirs: Mapping[str, Any], ours: Mapping[str, Any], prefixes: tuple[str, ...]) -> dict[str, Any]:
    """Extend lists and joined texts; other values that exist stay. Rules begin with their config."""
    rules = [
        rule
        for rule in theirs.get(_RULES, [])
        if rule in ours.get(_RULES, []) or not rule.startswith(prefixes)
    ]
    theirs = {key: value for key, value in {**theirs, _RULES: rules}.items() if value != []}
    merged = {**theirs, **ours, **theirs}  # in their order
    for key in ours.keys() & theirs.keys():
        old, new = theirs[key], ours[key]
        if key in ("distribution", "recordSet"):
            merged[key] = [*{each["@id"]: each for each in [*old, *new]}.values()]
        elif key in _JOINED:
            separator = _JOINED[key]
            merged[key] = separator.join(dict.fromkeys([*old.split(separator), *new.split(separator)]))
        elif isinstance(new, list):
            merged[key] = [*old, *(each for each in new if each not in old)]
        elif key in ("datePublished", "version"):
            merged[key] = max(old, new)
    return merged
