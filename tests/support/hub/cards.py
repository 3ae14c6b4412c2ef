"""What the Hub says no to in files about a repository: cards, the tasks of a data set, results of a model.

The words that are allowed are in `words.json`. Where each rule is from:

- licences: the Hub's own refusal as huggingface_hub's issue 4218 prints it (May 2026);
- task categories, frameworks: `packages/tasks/src/pipelines.ts` and `eval.ts` of huggingface.js, which the
  Hub validates with (its pull request 2096 has the refusal of a framework that is not listed);
- languages, sizes: the docstring of huggingface_hub's `DatasetCardData`, and its issue 3862 on languages;
- Spaces: the reference of their configuration in hub-docs; the 60 characters are the Hub's refusal;
- `eval.yaml` and `.eval_results`: the page "Evaluation Results" of hub-docs, and `EvalResultEntry`.

The Hub answers some of these with a warning; here each is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import langcodes
import yaml

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
_LANGUAGES_TOO = ("code", "multilingual")
_SHORT = 60
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
    rules = {**_ALWAYS, **_OF_TYPE.get(type, {})}
    wrong = [
        message for name, rule in rules.items() if name in facts for message in rule(f'"{name}"', facts[name])
    ]
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
    """Keys that occur twice are an error, as in the Hub's YAML; PyYAML would take the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"duplicated mapping key: {key}")
        return super().construct_mapping(node, deep)


def _load(text: str) -> Any:
    return yaml.load(text, _Loader)


_Rule = Callable[[str, Any], Iterator[str]]


def _among(words: str, several: bool = True) -> _Rule:
    allowed = _WORDS[words]

    def check(name: str, value: Any) -> Iterator[str]:
        values = value if isinstance(value, list) and several else [value]
        if not values or not all(isinstance(each, str) and each in allowed for each in values):
            yield f"{name} must be one of [{', '.join(allowed)}{', array' if several else ''}]"

    return check


def _language(name: str, value: Any) -> Iterator[str]:
    for code in value if isinstance(value, list) else [value]:
        known = isinstance(code, str) and re.fullmatch("[a-z]{2,3}", code) and langcodes.tag_is_valid(code)
        if not known and code not in _LANGUAGES_TOO:
            yield (
                f"{name} with value {code!r} is not valid. It must be an ISO 639-1, 639-2 or 639-3 code "
                f"(two/three letters), or a special value like {', '.join(_LANGUAGES_TOO)}."
            )


def _text(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{name} must be a string"


def _texts(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        yield f"{name} must be an array of strings"


def _short(name: str, value: Any) -> Iterator[str]:
    if len(str(value)) > _SHORT:
        yield f"{name} length must be less than or equal to {_SHORT} characters long"


def _configs(name: str, value: Any) -> Iterator[str]:
    names = [each.get("config_name") for each in value]
    if not all(isinstance(each, str) for each in names) or len({*names}) < len(names):
        yield f"{name} must have a config_name each, and none twice"
    if sum(bool(each.get("default")) for each in value) > 1:
        yield f"{name} has more than one default"


_ALWAYS: Mapping[str, _Rule] = {"license": _among("licences"), "tags": _texts}
_OF_TYPE: Mapping[str, Mapping[str, _Rule]] = {
    "model": {"language": _language, "pipeline_tag": _among("tasks", several=False)},
    "dataset": {
        "language": _language,
        "size_categories": _among("sizes"),
        "task_categories": _among("tasks"),
        "pretty_name": _text,
        "configs": _configs,
    },
    "space": {
        "title": _text,
        "app_file": _text,
        "sdk": _among("sdks", several=False),
        "colorFrom": _among("colours", several=False),
        "colorTo": _among("colours", several=False),
        "short_description": _short,
    },
}
