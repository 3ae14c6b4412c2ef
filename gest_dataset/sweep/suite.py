"""Suites: the YAML file of a sweep, read and validated. All problems are reported at once."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub.dataclasses import type_validator

from gest_dataset.builders import select_configs
from gest_dataset.errors import ConfigError
from gest_dataset.models.device import DTYPES, QUANTIZATIONS
from gest_dataset.models.served.client import normalize_address
from gest_dataset.models.served.model import CONNECTIONS
from gest_dataset.probes.author_rules import parse_rules
from gest_dataset.probes.probe import Options
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.probes.templates import EXTENDED_NAME, select_templates
from gest_dataset.runs.folder import default_folder

PAPERS = Path(__file__).parent / "papers"
_BYTES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class ScoreSettings:
    """The arguments of `gest_dataset.score` that a suite sets."""

    configs: tuple[str, ...]
    options: Options
    limit: int | None = None
    batch_tokens: int | None = None
    null: int = 0
    dtype: str = "auto"
    quantization: str | None = None
    trust_remote_code: bool = False


@dataclass(frozen=True)
class SuiteModel:
    """One model in one revision. `name` is the name of its folder.

    `gpus` None means one if available; `memory` is in bytes. A model with an `endpoint` is served.
    `family` groups the checkpoints of one model, and `step` is the training step of a checkpoint.
    """

    name: str
    model: str
    revision: str | None
    settings: ScoreSettings
    gpus: int | None = None
    cpus: int = 1
    memory: int | None = None
    endpoint: str | None = None
    tokenizer: str | None = None
    connections: int = CONNECTIONS
    family: str = ""
    step: int | None = None


@dataclass(frozen=True)
class Suite:
    """The models of a suite. `price` is the price of one device-hour, `problems` are validation errors."""

    name: str
    title: str
    models: tuple[SuiteModel, ...]
    price: float | None = None
    problems: tuple[str, ...] = ()

    def check(self, more_problems: Iterable[str] = ()) -> None:
        """Raise one error that lists all problems, if there are any."""
        problems = list(dict.fromkeys([*self.problems, *more_problems]))
        if problems:
            lines = "\n".join(f"- {problem}" for problem in problems)
            raise ConfigError(f"Problems in {self.name} ({len(problems)}); nothing was started.\n{lines}")


@dataclass(frozen=True)
class Key:
    """A key of a suite: its type, a description of the type, and a check that raises ConfigError."""

    type: Any
    description: str
    check: Callable[[Any], object] = lambda value: None


def parse_size(value: str | int) -> int:
    """Parse a number of bytes.

    >>> parse_size("24GB"), parse_size("1.5 T"), parse_size(512)
    (24000000000, 1500000000000, 512)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?\s*", str(value), re.IGNORECASE)
    if match is None:
        raise ConfigError(f"{value!r} is not a size such as 24GB")
    return int(float(match[1]) * _BYTES[match[2].upper()])


def training_step(text: str) -> int | None:
    """Return the training step in the name of a revision or checkpoint: its last number.

    >>> training_step("step143000"), training_step("checkpoint-500"), training_step("main")
    (143000, 500, None)
    """
    match = re.search(r"(\d+)(?!.*\d)", text)
    return None if match is None else int(match[1])


def find_suite(name: str) -> Path:
    """Find the file of a suite: a path, or the name of a built-in suite such as `gest-english`."""
    path = Path(name)
    if path.is_file():
        return path
    built_in = PAPERS / f"{path.name.removesuffix('.yaml')}.yaml"
    if built_in.is_file() and path.parent.name in ("", PAPERS.name):
        return built_in
    offered = ", ".join(f"{PAPERS.name}/{file.name}" for file in sorted(PAPERS.glob("*.yaml")))
    raise ConfigError(f"The suite {name} does not exist. Give a YAML file or a built-in suite: {offered}.")


def read_suite(path: Path) -> Suite:
    """Read a suite. Validation errors are in `problems` and raised by `Suite.check`."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is not a suite: it must be a mapping with `models` and `configs`.")
    return parse_suite(content, path.stem)


def parse_suite(content: Mapping[str, Any], name: str) -> Suite:
    """Validate the content of a suite file."""
    problems = _Problems(_problems(content, {**SUITE_KEYS, **SETTINGS}, ""))
    defaults = {key: value for key, value in content.items() if key in SETTINGS and key not in problems.keys}
    entries = content.get("models")
    if not isinstance(entries, list) or not entries:
        entries = []
        if "models" not in problems.keys:
            problems.append("models: the list is missing or empty.")
    models: list[SuiteModel] = []
    for number, entry in enumerate(entries, start=1):
        prefix = f"models[{number}]"
        entry = {"model": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict):
            problems.append(f"{prefix}: {entry!r} is neither the name of a model nor a mapping.")
            continue
        problems.extend(_problems(entry, {**MODEL_KEYS, **SETTINGS}, f"{prefix}."))
        problems.extend(_conflicts(entry, f"{prefix}."))
        if not entry.get("model"):
            problems.append(f"{prefix}.model: it is missing.")
        if "configs" not in {**content, **entry}:
            problems.append(f"{prefix}.configs: give configs for this model or for the whole suite.")
        valid = {key: value for key, value in entry.items() if f"{prefix}.{key}" not in problems.keys}
        if valid.get("model") and ("endpoint" in valid) == ("endpoint" in entry):
            models.extend(_expand(valid, defaults))
    folders = [model.name.lower() for model in models]
    for model in models:
        if folders.count(model.name.lower()) > 1:
            problems.append(f"models: several models are named {model.name}. Give each a different `label`.")
    price, title = (None if key in problems.keys else content.get(key) for key in ("price", "title"))
    return Suite(name, title or name, tuple(models), price, tuple(dict.fromkeys(problems)))


class _Problems(list[str]):
    """Lines that begin with the key they are about."""

    @property
    def keys(self) -> set[str]:
        return {line.partition(":")[0] for line in self}


def _problems(content: Mapping[Any, Any], keys: Mapping[str, Key], prefix: str) -> Iterator[str]:
    """Unknown keys and invalid values of a mapping."""
    for name, value in content.items():
        if name not in keys:
            yield f"{prefix}{name}: unknown key{_suggestion(name, keys)}. Valid keys: {', '.join(keys)}."
        elif not _has_type(value, keys[name].type):
            yield f"{prefix}{name}: {value!r} is not {keys[name].description}."
        else:
            try:
                keys[name].check(value)
            except ConfigError as error:
                yield f"{prefix}{name}: {str(error).rstrip('.')}."


def _has_type(value: Any, expected: Any) -> bool:
    """Check a type strictly: true is not a number, but an integer is a float."""
    try:
        type_validator("", float(value) if expected is float and type(value) is int else value, expected)
    except TypeError:
        return False
    return True


def _suggestion(name: str, offered: Iterable[str]) -> str:
    matches = difflib.get_close_matches(name, list(offered), n=1)
    return f" (did you mean {matches[0]}?)" if matches else ""


def _conflicts(entry: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Keys of one model that exclude each other."""
    if "endpoint" in entry:
        for key in LOADED_ONLY:
            if entry.get(key):
                yield f"{prefix}{key}: this key does not apply to a served model."
    else:
        for key in ("tokenizer", "connections"):
            if key in entry:
                yield f"{prefix}{key}: this key applies only to a served model (`endpoint`)."
    if entry.get("revisions") == []:
        yield f"{prefix}revisions: the list is empty; leave it out for the newest revision."
    if entry.get("checkpoints"):
        if entry.get("revisions"):
            yield f"{prefix}revisions: use either `revisions` or `checkpoints`."
        if isinstance(entry.get("model"), str) and not _checkpoints(entry["model"]):
            yield f"{prefix}checkpoints: {entry['model']} has no folders checkpoint-NUMBER."


def _checkpoints(folder: str) -> list[Path]:
    paths = [path for path in Path(folder).expanduser().glob("checkpoint-*") if path.is_dir()]
    numbered = [path for path in paths if re.fullmatch(r"checkpoint-\d+", path.name)]
    return sorted(numbered, key=lambda path: training_step(path.name) or 0)


def _expand(entry: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[SuiteModel]:
    """Yield one model for each revision or checkpoint of an entry."""
    is_served = "endpoint" in entry
    defaults = {key: value for key, value in defaults.items() if not (is_served and key in LOADED_ONLY)}
    path = Path(entry["model"]).expanduser()
    model = str(path.resolve()) if path.exists() else entry["model"]  # workers have other directories
    family = _folder_name(entry.get("label") or default_folder(model).name)
    common: dict[str, Any] = {
        key: entry[key] for key in ("gpus", "cpus", "tokenizer", "connections") if key in entry
    }
    common |= {"settings": _settings({**defaults, **entry}), "family": family}
    if "memory" in entry:
        common["memory"] = parse_size(entry["memory"])
    if is_served:
        common["endpoint"] = normalize_address(entry["endpoint"])
    if entry.get("checkpoints"):
        for folder in _checkpoints(model):
            step = training_step(folder.name)
            yield SuiteModel(f"{family}--{folder.name}", str(folder), None, step=step, **common)
        return
    for revision in entry.get("revisions") or [None]:
        name = family if revision is None else f"{family}@{_folder_name(revision)}"
        step = None if revision is None else training_step(revision)
        yield SuiteModel(name, model, revision, step=step, **common)


def _folder_name(text: str) -> str:
    return default_folder(text).name if "/" in text or ":" in text else re.sub(r"[^\w.@-]", "_", text)


def _settings(content: Mapping[str, Any]) -> ScoreSettings:
    templates = content.get("templates")
    if isinstance(templates, str) and Path(templates).is_file():
        templates = str(Path(templates).resolve())
    options = Options(
        tuple(templates) if isinstance(templates, list) else templates,
        rules=parse_rules(_split(content.get("rules", ()))),
        **{key: content[key] for key in ("multi_token", "cs", "intersentence") if key in content},
    )
    others = ("limit", "batch_tokens", "null", "dtype", "quantization", "trust_remote_code")
    given = {key: content[key] for key in others if key in content}
    return ScoreSettings(tuple(_split(content.get("configs", ()))), options, **given)


def _split(value: str | Iterable[str]) -> list[str]:
    """Return the names in a list, or in a text with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return [name for name in (part.strip() for part in parts) if name]


class _Loader(yaml.SafeLoader):
    """A YAML loader that rejects duplicate keys and keys that are not strings."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        for key in keys:
            if not isinstance(key, str) or keys.count(key) > 1:
                what = "is duplicated" if isinstance(key, str) else "is not a string"
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: the key {key!r} {what}")
        return dict(super().construct_mapping(node, deep=True))


def _at_least(least: int) -> Callable[[Any], None]:
    def check(value: int) -> None:
        if value < least:
            raise ConfigError(f"{value} is less than {least}")

    return check


def _one_of(*offered: str) -> Callable[[Any], None]:
    def check(value: str) -> None:
        if value not in offered:
            raise ConfigError(f"{value!r} is not one of {', '.join(offered)}{_suggestion(value, offered)}")

    return check


def _check_configs(value: str | list[str]) -> None:
    """Report every unknown name, not only the first."""
    wrong = []
    for name in _split(value):
        try:
            select_configs(name)
        except ConfigError as error:
            wrong.append(str(error).partition("\n")[0])
    if wrong or not _split(value):
        raise ConfigError("; ".join(wrong) or "no config is named")


def _check_templates(value: str | list[int]) -> None:
    if isinstance(value, str) and value != EXTENDED_NAME and not Path(value).is_file():
        raise ConfigError(f"{value!r} is neither a list of numbers, nor extended, nor an existing file")
    select_templates(value, "masked")  # whether a template suits the model is checked when its kind is known


def _check_address(value: str) -> None:
    if not re.match(r"https?://\S+", value):
        raise ConfigError(f"{value!r} is not an address such as http://127.0.0.1:8000")
    normalize_address(value)


def _check_price(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(f"{value} is not a price")


_TEXT, _NUMBER, _SWITCH = (str, "text"), (int, "a whole number"), (bool, "true or false")
_NAMES = (str | list[str], "a list of names, or names separated by commas")
_METHODS = {method for methods in METHODS.values() for method in methods}
# Arguments of `gest_dataset.score`, for the whole suite or for one model
SETTINGS = {
    "configs": Key(*_NAMES, _check_configs),
    "templates": Key(
        str | list[int], "a list of numbers, extended, or the name of a JSON file", _check_templates
    ),
    "multi_token": Key(*_SWITCH),
    "cs": Key(*_SWITCH),
    "intersentence": Key(*_TEXT, _one_of(Options().intersentence, *sorted(_METHODS))),
    "rules": Key(*_NAMES, parse_rules),
    "null": Key(*_NUMBER, _at_least(0)),
    "limit": Key(*_NUMBER, _at_least(1)),
    "batch_tokens": Key(*_NUMBER, _at_least(1)),
    "dtype": Key(*_TEXT, _one_of(*DTYPES)),
    "quantization": Key(*_TEXT, _one_of(*QUANTIZATIONS)),
    "trust_remote_code": Key(*_SWITCH),
}
MODEL_KEYS = {
    "model": Key(*_TEXT),
    "label": Key(*_TEXT),
    "revisions": Key(list[str], "a list of texts (put numbers in quotes)"),
    "checkpoints": Key(*_SWITCH),
    "gpus": Key(*_NUMBER, _at_least(0)),
    "cpus": Key(*_NUMBER, _at_least(1)),
    "memory": Key(str | int, "a size such as 24GB", parse_size),
    "endpoint": Key(*_TEXT, _check_address),
    "tokenizer": Key(*_TEXT),
    "connections": Key(*_NUMBER, _at_least(1)),
}
SUITE_KEYS = {
    "title": Key(*_TEXT),
    "price": Key(float, "a number: the price of one device-hour", _check_price),
    "models": Key(list[Any], "a list of models"),
}
# Keys that do not apply to a served model; values for the whole suite are ignored for it
LOADED_ONLY = (
    *("revisions", "checkpoints", "gpus", "memory", "dtype", "quantization"),
    *("trust_remote_code", "batch_tokens", "null"),
)
