"""What the Hub checks in files about a repository: cards, the tasks of a dataset, results of a model.

The allowed values in `words.json` are from huggingface.js (`packages/tasks`), from the docstring of
`DatasetCardData`, and from error messages of the Hub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import langcodes
import yaml

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
_FRONT = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n(.*?)\r?\n?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


def wrong_card(content: str, type: str) -> tuple[list[str], list[str]]:
    """What is wrong with a card of a model, dataset or space; errors, and warnings."""
    front = _FRONT.match(content)
    try:
        facts = _load(front[1]) if front else None
    except yaml.YAMLError as error:
        return [str(error)], []
    if facts is None:
        return [], ["empty or missing yaml metadata in repo card"]
    if not isinstance(facts, dict):
        return ["The metadata must be a mapping"], []
    wrong = [message for key, value in facts.items() for message in _wrong_entry(key, value)]
    if type == "space" and "sdk" not in facts:
        wrong.append('"sdk" is required')
    return wrong, []


def wrong_tasks(content: str) -> list[str]:
    """What is wrong with an `eval.yaml`."""
    told = _load(content)
    if not isinstance(told, dict):
        return ["Invalid input: expected object"]
    wrong = [f"Invalid input at {name}" for name in ("name", "description", "tasks") if not told.get(name)]
    if told.get("evaluation_framework", "inspect-ai") not in _WORDS["frameworks"]:
        wrong.append("Invalid input at evaluation_framework")
    tasks = told.get("tasks") or []
    for place, task in enumerate(tasks):
        if not isinstance(task, dict) or not all(
            isinstance(task.get(k), str) for k in ("id", "config", "split")
        ):
            wrong.append(f"Invalid input at tasks[{place}]")
    ids = [task.get("id") for task in tasks]
    return [*wrong, *(f"duplicate task {id}" for id in {*ids} if ids.count(id) > 1)]


def wrong_results(content: str) -> list[str]:
    """What is wrong with a file of `.eval_results`."""
    told = _load(content)
    if not isinstance(told, list) or not told:
        return ["not a list of results"]
    return [f"[{place}] {message}" for place, entry in enumerate(told) for message in _wrong_result(entry)]


def _wrong_result(entry: Any) -> Iterator[str]:
    dataset, source = entry.get("dataset", {}), entry.get("source", {"url": "https://"})
    if not _REPOSITORY.fullmatch(str(dataset.get("id"))):
        yield f"dataset.id is {dataset.get('id')!r}"
    if not isinstance(dataset.get("task_id"), str):
        yield "dataset.task_id is required"
    if not re.fullmatch(r"[0-9a-f]{40}", dataset.get("revision", "0" * 40)):
        yield f"dataset.revision is {dataset['revision']!r}"
    if isinstance(entry.get("value"), bool) or not isinstance(entry.get("value"), (int, float)):
        yield f"value is {entry.get('value')!r}"
    if not str(source.get("url")).startswith(("https://", "http://")):
        yield "source.url is required"
    if unknown := entry.keys() - {"dataset", "value", "verifyToken", "date", "source", "notes"}:
        yield f"unknown: {', '.join(sorted(unknown))}"
    if not isinstance(entry.get("notes", ""), str):
        yield "notes is no text"
    try:
        datetime.fromisoformat(entry.get("date", "2026-01-01"))
    except (TypeError, ValueError):
        yield f"date is {entry['date']!r}"


class _Loader(yaml.SafeLoader):
    """Duplicate keys are an error, as on the Hub; PyYAML takes the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"duplicated mapping key: {key}")
        return super().construct_mapping(node, deep)


def _load(text: str) -> Any:
    return yaml.load(text, _Loader)


def _wrong_entry(key: str, value: Any) -> Iterator[str]:
    """What is wrong with one key of a card."""
    values = value if isinstance(value, list) else [value]
    if key in _ALLOWED and not all(each in _WORDS[_ALLOWED[key]] for each in values):
        yield f'"{key}" must be one of {_WORDS[_ALLOWED[key]]}'
    if key == "language" and not all(
        re.fullmatch("[a-z]{2,3}", str(code)) and langcodes.tag_is_valid(code) for code in values
    ):
        yield f'"{key}" must be an ISO 639-1, 639-2 or 639-3 code'
    if key in ("title", "pretty_name", "app_file") and not isinstance(value, str):
        yield f'"{key}" must be a string'
    if key == "short_description" and len(value) > 60:
        yield f'"{key}" must have at most 60 characters'
    if key == "configs":
        names = [each.get("config_name") for each in value]
        if len({*names}) < len(names) or sum(bool(each.get("default")) for each in value) > 1:
            yield f'"{key}" must have unique names and at most one default'


_ALLOWED = {
    "license": "licences",
    "size_categories": "sizes",
    "task_categories": "tasks",
    "sdk": "sdks",
    "colorFrom": "colours",
    "colorTo": "colours",
}
