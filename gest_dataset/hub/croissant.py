"""Croissant metadata on the Hub: what a push says of its configs, merged with what is there of others.

Only a file of ours is merged with; somebody else's stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gest_dataset.data.build import HOMEPAGE, Built
from gest_dataset.data.croissant import croissant
from gest_dataset.errors import HubError, convert_errors, describe_error
from gest_dataset.storage import json_text, parse_json

Metadata = Mapping[str, Any]
_BY_ID = ("distribution", "recordSet")
# Texts that several families share, and what stands between theirs
_JOINED = {"citeAs": "\n\n", "rai:dataCollection": "\n", "rai:annotationsPerItem": "\n"}
_NEWEST = ("datePublished", "version")
_RULES = "rai:dataPreprocessingProtocol"  # "config: how many rows a rule has left out"


def merged_croissant(there: bytes, builds: Sequence[Built], sums: dict[str, str], repo: str) -> bytes:
    """The file with these configs; `sums` are the SHA-256 of their files."""
    ours = croissant(builds, sums)
    if there and HOMEPAGE.encode() not in there:
        return there
    if there:
        with convert_errors(lambda error: HubError(_broken(repo, error))):
            ours = _merged(parse_json(there), ours, [built.config.name for built in builds])
    return f"{json_text(ours)}\n".encode()


def _merged(there: Metadata, ours: Metadata, configs: Sequence[str]) -> dict[str, Any]:
    """Lists and shared texts have what is new behind what is there; a value of somebody else's stays."""
    before = tuple(f"{config}: " for config in configs)
    rules = [
        each for each in there.get(_RULES, []) if each in ours.get(_RULES, []) or not each.startswith(before)
    ]
    there = {key: value for key, value in {**there, _RULES: rules}.items() if value != []}
    whole = {**there, **{key: value for key, value in ours.items() if key not in there}}
    for key in ours.keys() & there.keys():
        old, new = there[key], ours[key]
        if key in _BY_ID:
            whole[key] = [*{each["@id"]: each for each in [*old, *new]}.values()]
        elif key in _JOINED:
            mark = _JOINED[key]
            whole[key] = mark.join(dict.fromkeys([*old.split(mark), *new.split(mark)]))
        elif isinstance(new, list):
            whole[key] = [*old, *(each for each in new if each not in old)]
        elif key in _NEWEST:
            whole[key] = max(old, new)
    return whole


def _broken(repo: str, error: BaseException) -> str:
    return (
        f"The croissant.json of {repo} is invalid ({describe_error(error)}). Nothing was changed; fix or "
        f"remove it on the Hub, then run the command again."
    )
