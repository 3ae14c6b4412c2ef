"""Suites: the YAML file of a sweep, read as a list of models."""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

import yaml
from accelerate.utils import convert_file_size_to_int
from huggingface_hub.dataclasses import type_validator

from gest_dataset.builders import select_configs
from gest_dataset.errors import ConfigError, convert_errors
from gest_dataset.models.base import CONNECTIONS, Settings
from gest_dataset.models.device import resolve_placement
from gest_dataset.models.served.client import normalize_address
from gest_dataset.runs.folder import default_folder

PAPERS = Path(__file__).parent / "papers"
# Keys that do not apply to a served model
LOADED_ONLY = (
    *("revisions", "checkpoints", "gpus", "memory", "dtype", "quantization", "trust_remote_code"),
    *("batch_tokens", "null"),
)
_DERIVED = ("name", "family", "revision", "step")

Problems = defaultdict[str, list[str]]  # what is wrong, and where


@dataclass(frozen=True, kw_only=True)
class SuiteModel:
    """One model in one revision: the keys of a suite (docs/sweep.md), and what follows from them.

    `gpus` None means one if available. `name` is the name of the model's folder, `family` groups the
    checkpoints of one model, and `step` is the training step of a checkpoint.
    """

    model: str
    label: str | None = None
    revisions: list[str] = field(default_factory=list)
    checkpoints: bool = False
    gpus: int | None = None
    cpus: int = 1
    memory: int | str = 0
    endpoint: str | None = None
    tokenizer: str | None = None
    connections: int = CONNECTIONS
    configs: str | list[str] = ""
    templates: str | list[int] | None = None
    multi_token: bool = False
    cs: bool | None = None
    intersentence: str = "auto"
    rules: str | list[str] = ""
    null: int = 0
    limit: int | None = None
    batch_tokens: int | None = None
    dtype: str = "auto"
    quantization: str | None = None
    trust_remote_code: bool = False
    name: str
    family: str
    revision: str | None = None
    step: int | None = None

    @property
    def selected(self) -> list[str]:
        """The names of the configs."""
        return list(select_configs(self.configs if isinstance(self.configs, str) else ",".join(self.configs)))

    def settings(self, device: str) -> Settings:
        """The settings of the runs; a model with several GPUs is spread over them."""
        device_map = "auto" if (self.gpus or 0) > 1 else None
        names = {entry.name for entry in fields(Settings)} & vars(self).keys()
        given = {name: getattr(self, name) for name in names}
        return Settings(**given, device="auto" if device_map else device, device_map=device_map)


@dataclass(frozen=True)
class Suite:
    """The models of a suite; `price` is the price of one device-hour."""

    name: str
    title: str
    models: Sequence[SuiteModel]
    price: float | None = None


def check(name: str, problems: Problems) -> None:
    """Raise one error that lists all problems of a suite, if there are any."""
    if problems:
        lines = "\n".join(f"- {', '.join(places)}: {reason}" for reason, places in problems.items())
        raise ConfigError(f"Problems in {name} ({len(problems)}); nothing was started.\n{lines}")


def training_step(text: str) -> int | None:
    """Return the training step in the name of a revision or checkpoint: its last number.

    >>> training_step("step143000"), training_step("checkpoint-500"), training_step("main")
    (143000, 500, None)
    """
    numbers = re.findall(r"\d+", text)
    return int(numbers[-1]) if numbers else None


def find_suite(name: str) -> Path:
    """Find the file of a suite: a path, or the name of a built-in suite such as `gest-english`."""
    path = Path(name)
    built_in = PAPERS / f"{path.name.removesuffix('.yaml')}.yaml"
    if path.is_file():
        return path
    if built_in.is_file() and path.parent.name in ("", PAPERS.name):
        return built_in
    offered = ", ".join(f"{PAPERS.name}/{file.name}" for file in sorted(PAPERS.glob("*.yaml")))
    raise ConfigError(f"The suite {name} does not exist. Give a YAML file or a built-in suite: {offered}.")


def read_suite(path: Path) -> Suite:
    """Read a suite, or raise one error that lists all problems in it."""
    with convert_errors(lambda error: ConfigError(f"{path} is not valid YAML: {error}")):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is not a suite: it must be a mapping with `models` and `configs`.")
    return parse_suite(content, path.stem)


def parse_suite(content: Mapping[str, Any], name: str) -> Suite:
    """Parse the content of a suite file, or raise one error that lists all problems in it."""
    keys = {key: value for key, value in get_type_hints(SuiteModel).items() if key not in _DERIVED}
    problems: Problems = defaultdict(list)
    models: list[SuiteModel] = []
    try:
        _check_keys(content, {"title": str, "price": int | float, "models": list, **keys})
    except (ConfigError, TypeError) as error:
        problems[str(error)].append("the suite")
    defaults = {key: value for key, value in content.items() if key in keys}
    for number, entry in enumerate([] if problems else content.get("models", []), start=1):
        own = entry if isinstance(entry, dict) else {"model": entry}
        try:
            _check_keys({"model": None, **own}, keys)
            models += _expand(own, defaults)
        except (ConfigError, TypeError, ValueError) as error:
            problems[str(error)].append(f"models[{number}]")
    folders = Counter(model.name.lower() for model in models)
    for model in models:
        if folders[model.name.lower()] > 1:
            problems["several models have this name; give each a different `label`"].append(model.name)
    if not (models or problems):
        problems["the list is missing or empty"].append("models")
    check(name, problems)
    return Suite(name, content.get("title", name), models, content.get("price"))


def _check_keys(content: Mapping[Any, Any], types: Mapping[str, Any]) -> None:
    for key, value in content.items():
        if key not in types:
            close = difflib.get_close_matches(str(key), types, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(f"unknown key {key}{hint}")
        type_validator(key, value, types[key])


def _expand(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[SuiteModel]:
    """Return one model for each revision or checkpoint of an entry."""
    entry = {**defaults, **own}
    unused = LOADED_ONLY if "endpoint" in entry else ("tokenizer", "connections")
    if wrong := [key for key in unused if key in own]:
        kind = "a served model" if "endpoint" in entry else "a model without `endpoint`"
        raise ConfigError(f"{', '.join(wrong)} does not apply to {kind}")
    entry = {key: value for key, value in entry.items() if key not in unused}
    entry["memory"] = convert_file_size_to_int(entry.get("memory", 0))
    if "endpoint" in entry:
        entry["endpoint"] = normalize_address(entry["endpoint"])
    for key in ("model", "templates"):  # workers have other directories
        if isinstance(entry.get(key), str) and Path(entry[key]).expanduser().exists():
            entry[key] = str(Path(entry[key]).expanduser().resolve())
    family = default_folder(entry.get("label") or entry["model"]).name
    variants: list[dict[str, Any]] = []
    for revision in entry.get("revisions") or [None]:
        name = family if revision is None else default_folder(family, revision).name
        variants.append({"name": name, "revision": revision, "step": training_step(revision or "")})
    if entry.get("checkpoints"):
        steps = {training_step(path.name): path for path in Path(entry["model"]).glob("checkpoint-[0-9]*")}
        variants = [
            {"name": f"{family}--{steps[step].name}", "model": str(steps[step]), "step": step}
            for step in sorted(steps, key=lambda step: step or 0)
        ]
    models = [SuiteModel(**{**entry, "family": family, **variant}) for variant in variants]
    if not models:
        raise ConfigError(f"{entry['model']} has no folders checkpoint-NUMBER")
    _ = models[0].selected, resolve_placement(models[0].settings("cpu"))  # errors for unknown names
    return models
