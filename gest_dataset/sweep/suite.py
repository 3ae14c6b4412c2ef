"""Suites: the YAML file of a sweep, read and validated. All problems are reported at once."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
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
    problems = list(_problems(content, {**_KEYS["suite"], **_KEYS["settings"]}, ""))
    invalid = _keys_of(problems)
    valid = {key: value for key, value in content.items() if key not in invalid}
    defaults = {key: value for key, value in valid.items() if key in _KEYS["settings"]}
    entries = valid.get("models") or []
    if not entries and "models" not in invalid:
        problems.append("models: the list is missing or empty.")
    models: list[SuiteModel] = []
    for number, entry in enumerate(entries, start=1):
        prefix = f"models[{number}]"
        entry = {"model": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict):
            problems.append(f"{prefix}: {entry!r} is neither the name of a model nor a mapping.")
            continue
        wrong = list(_problems(entry, {**_KEYS["model"], **_KEYS["settings"]}, f"{prefix}."))
        wrong += _conflicts(entry, f"{prefix}.")
        if not entry.get("model"):
            wrong.append(f"{prefix}.model: it is missing.")
        if "configs" not in {**content, **entry}:
            wrong.append(f"{prefix}.configs: give configs for this model or for the whole suite.")
        problems += wrong
        entry = {key: value for key, value in entry.items() if f"{prefix}.{key}" not in _keys_of(wrong)}
        if entry.get("model") and f"{prefix}.endpoint" not in _keys_of(wrong):
            models += _expand(entry, defaults)
    folders = Counter(model.name.lower() for model in models)
    for model in models:
        if folders[model.name.lower()] > 1:
            problems.append(f"models: several models are named {model.name}. Give each a different `label`.")
    return Suite(name, valid.get("title", name), tuple(models), valid.get("price"), tuple(problems))


def _keys_of(problems: Iterable[str]) -> set[str]:
    return {problem.partition(":")[0] for problem in problems}


def _problems(content: Mapping[Any, Any], keys: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Unknown keys and invalid values of a mapping."""
    for name, value in content.items():
        if name not in keys:
            suggestions = difflib.get_close_matches(name, keys, n=1)
            hint = f" (did you mean {suggestions[0]}?)" if suggestions else ""
            yield f"{prefix}{name}: unknown key{hint}. Valid keys: {', '.join(keys)}."
            continue
        expected, description = _TYPES[keys[name]["type"]]
        minimum = keys[name].get("minimum", -math.inf)
        try:
            type_validator("", float(value) if expected is float and type(value) is int else value, expected)
            if isinstance(value, (int, float)) and not minimum <= value < math.inf:
                yield f"{prefix}{name}: {value} is less than {minimum} or not finite."
            elif "check" in keys[name]:
                _CHECKS[keys[name]["check"]](value)
        except TypeError:
            yield f"{prefix}{name}: {value!r} is not {description}."
        except ConfigError as error:
            yield f"{prefix}{name}: {str(error).rstrip('.')}."


def _conflicts(entry: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Keys of one model that exclude each other."""
    is_served = "endpoint" in entry
    for key in LOADED_ONLY if is_served else ("tokenizer", "connections"):
        if entry.get(key):
            kind = "a served model" if is_served else "a model without `endpoint`"
            yield f"{prefix}{key}: this key does not apply to {kind}."
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


def _check_one_of(offered: Iterable[str]) -> Callable[[str], None]:
    def check(value: str) -> None:
        if value not in offered:
            raise ConfigError(f"{value!r} is not one of {', '.join(offered)}")

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


_CHECKS: dict[str, Callable[[Any], object]] = {
    "configs": _check_configs,
    "templates": _check_templates,
    "rules": parse_rules,
    "size": parse_size,
    "address": _check_address,
    "dtype": _check_one_of(DTYPES),
    "quantization": _check_one_of(QUANTIZATIONS),
    "intersentence": _check_one_of(
        sorted({Options().intersentence, *(method for methods in METHODS.values() for method in methods)})
    ),
}
_TYPES: dict[str, tuple[Any, str]] = {
    "text": (str, "text"),
    "texts": (list[str], "a list of texts (put numbers in quotes)"),
    "names": (str | list[str], "a list of names, or names separated by commas"),
    "templates": (str | list[int], "a list of numbers, extended, or the name of a JSON file"),
    "integer": (int, "a whole number"),
    "number": (float, "a number"),
    "size": (str | int, "a size such as 24GB"),
    "switch": (bool, "true or false"),
    "list": (list[Any], "a list"),
}
_KEYS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("suite_keys.yaml").read_text(encoding="utf-8")
)
LOADED_ONLY: list[str] = _KEYS["loaded_only"]
