"""Suites: the YAML file of a sweep, read as a list of models."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from accelerate.utils import convert_file_size_to_int
from huggingface_hub.dataclasses import type_validator

from gest_dataset.builders import select_configs
from gest_dataset.errors import ConfigError, GestError, convert_errors
from gest_dataset.models.base import Settings
from gest_dataset.models.device import resolve_placement
from gest_dataset.models.served.client import normalize_address
from gest_dataset.runs.folder import default_folder
from gest_dataset.storage import parse_yaml, read_bytes, read_yaml

PAPERS = Path(__file__).parent / "papers"
_BOARD = PAPERS.with_name("published.yaml")
_CONSENT = "trust_remote_code"  # comes from the command line only
_KEYS: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
_TYPES = {"templates": str | list[int] | None, "rules": str | list[str]}  # in YAML, if Python's differ


class Problems(defaultdict[str, list[str]]):
    """What is wrong with a suite, and where; all problems are reported at once."""

    @contextmanager
    def collect(self, place: str) -> Iterator[None]:
        try:
            yield
        except (GestError, TypeError, ValueError) as error:
            self[" ".join(str(error).split())].append(place)

    def check(self, suite: str) -> None:
        """Raise one error that lists all problems, if there are any."""
        if self:
            lines = "\n".join(f"- {', '.join(places)}: {reason}" for reason, places in self.items())
            raise ConfigError(f"Problems in {suite} ({len(self)}); nothing was started.\n{lines}")


@dataclass(frozen=True, kw_only=True)
class SuiteModel(Settings):
    """One model in one revision: the keys of a suite (docs/sweep.md), and what follows from them."""

    model: str
    label: str | None = None
    revisions: list[str] = field(default_factory=list)
    checkpoints: bool = False
    adapters: list[str] = field(default_factory=list)
    gpus: int | None = None  # None: one if available
    cpus: int = 1
    memory: int | str = 0
    configs: str | list[str] = ""
    size: int | float | None = None  # in millions of parameters, for the board
    kind: str = ""  # stated kinds are not read from the Hub
    name: str  # of the model's folder
    family: str  # groups the checkpoints of one model, or the models of a family
    step: int | None = None  # the training step of a checkpoint

    @property
    def selected(self) -> list[str]:
        return list(select_configs(self.configs if isinstance(self.configs, str) else ",".join(self.configs)))

    def placed(self, device: str) -> Settings:
        """The settings on a device; a model with several GPUs is spread over them."""
        spread = (self.gpus or 0) > 1
        return replace(self, device_map="auto") if spread else replace(self, device=device)


@dataclass(frozen=True)
class Suite:
    """The models of a suite; `price` is the price of one device-hour, `slurm` has options of `sbatch`."""

    name: str
    title: str
    models: Sequence[SuiteModel]
    price: float | None = None
    slurm: Mapping[str, Any] = field(default_factory=dict)


def training_step(text: str) -> int | None:
    """Return the training step in the name of a revision or checkpoint: its last number; a commit has none.

    >>> training_step("step143000"), training_step("checkpoint-500"), training_step("50f5173d" * 5)
    (143000, 500, None)
    """
    numbers = [] if re.fullmatch("[0-9a-f]{40}", text) else re.findall(r"\d+", text)
    return int(numbers[-1]) if numbers else None


def find_suite(name: str) -> Path:
    """Find the file of a suite: a path, or the name of a built-in suite such as `gest-english`."""
    path = Path(name)
    if path.is_file():
        return path
    built_in = {f"{PAPERS.name}/{file.name}": file for file in sorted(PAPERS.glob("*.yaml"))}
    built_in[_BOARD.stem] = _BOARD
    for short, file in built_in.items():
        if name in (short, file.name, file.stem):
            return file
    offered = ", ".join(built_in)
    raise ConfigError(f"The suite {name} does not exist. Give a YAML file or a built-in suite: {offered}.")


def read_suite(path: Path, trust_remote_code: bool = False) -> Suite:
    """Read a suite, or raise one error that lists all problems in it."""
    with convert_errors(lambda error: ConfigError(f"{path} is not valid YAML: {error}")):
        content = parse_yaml(read_bytes(path))
    if not isinstance(content, dict):
        raise ConfigError(f"{path} is not a suite: it must be a mapping with `models` and `configs`.")
    return parse_suite(content, path.stem, trust_remote_code)


def parse_suite(content: Mapping[str, Any], name: str, trust_remote_code: bool = False) -> Suite:
    """Parse the content of a suite file, or raise one error that lists all problems in it."""
    hints = get_type_hints(SuiteModel) | _TYPES
    keys = {key: value for key, value in hints.items() if key not in _KEYS["derived"]}
    problems = Problems(list)
    models: list[SuiteModel] = []
    with problems.collect("the suite"):
        _check_keys(content, {"title": str, "price": int | float, "models": list, "slurm": dict, **keys})
    problems.check(name)
    defaults = {key: content[key] for key in content if key in keys} | {_CONSENT: trust_remote_code}
    for number, entry in enumerate(content.get("models", []), start=1):
        own = entry if isinstance(entry, dict) else {"model": entry}
        with problems.collect(f"models[{number}]"):
            _check_keys({"model": None, **own}, keys)
            models += _expand(own, defaults)
    folders = Counter(model.name.lower() for model in models)
    for model in models:
        if folders[model.name.lower()] > 1:
            problems["several models have this name; give each a different `label`"].append(model.name)
    if not (models or problems):
        problems["the list is missing or empty"].append("models")
    problems.check(name)
    return Suite(name, content.get("title", name), models, content.get("price"), content.get("slurm", {}))


def _check_keys(content: Mapping[Any, Any], types: Mapping[str, Any]) -> None:
    for key, value in content.items():
        if key == _CONSENT:
            raise ConfigError(f"{key} cannot be set in a suite; read the code, then use --trust-remote-code")
        if key not in types:
            close = difflib.get_close_matches(str(key), types, n=1)
            raise ConfigError(f"unknown key {key}" + "".join(f"; did you mean {other}?" for other in close))
        type_validator(key, value, types[key])


def _expand(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[SuiteModel]:
    """Return one model for each revision, checkpoint or adapter of an entry."""
    entry = {**defaults, **own}
    unused = _KEYS["loaded_only" if "endpoint" in entry else "served_only"]
    if wrong := [key for key in unused if key in own]:
        kind = "a served model" if "endpoint" in entry else "a model without `endpoint`"
        raise ConfigError(f"{kind} does not take {', '.join(wrong)}")
    entry = {key: value for key, value in entry.items() if key not in unused}
    entry["memory"] = convert_file_size_to_int(entry.get("memory", 0))
    if "endpoint" in entry:
        entry["endpoint"] = normalize_address(entry["endpoint"])
    for key in ("model", "templates"):  # workers have other directories
        if isinstance(entry.get(key), str) and Path(entry[key]).expanduser().exists():
            entry[key] = str(Path(entry[key]).expanduser().resolve())
    family = default_folder(entry.get("label") or entry["model"]).name
    variants: list[dict[str, Any]] = [
        {"name": default_folder(family, revision).name, "revision": revision, "step": training_step(revision)}
        for revision in entry.get("revisions", [])
    ]
    if entry.get("checkpoints"):
        variants = [
            {"name": f"{family}--{path.name}", "model": str(path), "step": training_step(path.name)}
            for path in Path(entry["model"]).glob("checkpoint-[0-9]*")
        ]
        variants.sort(key=lambda variant: variant["step"])
        if not variants:
            raise ConfigError(f"{entry['model']} has no folders checkpoint-NUMBER")
    for adapter in entry.get("adapters", []):
        path = Path(adapter).expanduser()
        own = {"name": f"{family}--{default_folder(adapter).name}"}
        variants.append({**own, "adapter": str(path.resolve()) if path.exists() else adapter})
    models = [SuiteModel(**{"family": family, **entry, **each}) for each in variants or [{"name": family}]]
    _ = models[0].selected, resolve_placement(models[0].placed("cpu"))  # errors for unknown names
    return models
