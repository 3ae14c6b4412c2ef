"""What the Hub checks in files about a repository: cards, the tasks of a dataset, results of a model.

The allowed values in `words.json` are from huggingface.js (`packages/tasks`), from the docstring of
`DatasetCardData`, and from error messages of the Hub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import langcodes
import yaml

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
_FRONT = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n(.*?)\r?\n?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_ALLOWED = {
    "license": "licences",
    "size_categories": "sizes",
    "task_categories": "tasks",
    "sdk": "sdks",
    "colorFrom": "colours",
    "colorTo": "colours",
}


class _Loader(yaml.SafeLoader):
    """Duplicate keys are an error, as on the Hub; PyYAML takes the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        if len({*keys}) < len(keys):
            raise yaml.YAMLError(f"duplicated mapping key among {', '.join(keys)}")
        return super().construct_mapping(node, deep)


def wrong_card(content: str, type: str) -> list[str]:
    """What is wrong with a card of a model, dataset or space."""
    front = _FRONT.match(content)
    try:
        facts = yaml.load(front[1], _Loader) if front else None
    except yaml.YAMLError as error:
        return [str(error)]
    wrong = [message for key, value in (facts or {}).items() for message in _wrong_entry(key, value)]
    return wrong + (['"sdk" is required'] if type == "space" and "sdk" not in (facts or {}) else [])


def _wrong_entry(key: str, value: Any) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    if key in _ALLOWED and not all(each in _WORDS[_ALLOWED[key]] for each in values):
        yield f'"{key}" must be one of {_WORDS[_ALLOWED[key]]}'
    if key == "language" and not all(map(langcodes.tag_is_valid, values)):
        yield f'"{key}" must be an ISO 639-1, 639-2 or 639-3 code'
    if key == "short_description" and len(value) > 60:
        yield f'"{key}" must have at most 60 characters'
    if key == "configs":
        names = [each.get("config_name") for each in value]
        if len({*names}) < len(names) or sum(bool(each.get("default")) for each in value) > 1:
            yield f'"{key}" must have unique names and at most one default'


def wrong_tasks(content: str) -> list[str]:
    """What is wrong with an `eval.yaml`."""
    told = yaml.load(content, _Loader)
    wrong = [f"Invalid input at {name}" for name in ("name", "description", "tasks") if not told.get(name)]
    if told.get("evaluation_framework", "inspect-ai") not in _WORDS["frameworks"]:
        wrong.append("Invalid input at evaluation_framework")
    tasks = told.get("tasks") or []
    if not all(isinstance(task.get(key), str) for task in tasks for key in ("id", "config", "split")):
        wrong.append("Invalid input at tasks")
    ids = [task.get("id") for task in tasks]
    return [*wrong, *(f"duplicate task {id}" for id in {*ids} if ids.count(id) > 1)]


def wrong_results(content: str) -> list[str]:
    """What is wrong with a file of `.eval_results`: the entries that break a rule."""
    wrong = []
    for entry in yaml.load(content, _Loader):
        dataset, source = entry.get("dataset", {}), entry.get("source", {"url": "https://"})
        rules = {
            "dataset.id": re.fullmatch(r"[\w.-]+/[\w.-]+", str(dataset.get("id"))),
            "dataset.task_id": isinstance(dataset.get("task_id"), str),
            "dataset.revision": re.fullmatch(r"[0-9a-f]{40}", dataset.get("revision", "0" * 40)),
            "value": type(entry.get("value")) in (int, float),
            "source.url": re.match("https?://", str(source.get("url"))),
            "notes": isinstance(entry.get("notes", ""), str),
            "date": re.match(r"\d{4}-\d\d-\d\d", str(entry.get("date", "2026-01-01"))),
            "keys": entry.keys() <= {"dataset", "value", "verifyToken", "date", "source", "notes"},
        }
        wrong += [f"{name} of {entry}" for name, holds in rules.items() if not holds]
    return wrong
