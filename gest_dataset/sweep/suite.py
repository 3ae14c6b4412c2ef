"""A suite: the models, what they are asked and what they need, from a YAML file; all that is wrong with it
is told at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from gest_dataset.errors import ConfigError
from gest_dataset.models.served.client import address_of
from gest_dataset.probes.probe import Options
from gest_dataset.probes.rules import named
from gest_dataset.runs.reading import default_folder
from gest_dataset.storage import json_value
from gest_dataset.sweep.keys import ASKING, OF_MODEL, OF_SUITE, listed, problems, size

PAPERS = Path(__file__).parent / "papers"
_CHECKPOINT = re.compile(r"checkpoint-\d+")
# What a model behind a server cannot have; where the whole suite says it, it is for the others
_OF_LOADED = (
    *("revisions", "checkpoints", "gpus", "memory"),
    *("dtype", "quantization", "trust_remote_code", "batch_tokens", "null"),
)
_STEP = re.compile(r"(\d+)(?!.*\d)")


@dataclass(frozen=True)
class Asking:
    """How a model is asked: `configs` as they are written, and the options of `gest_dataset.score`."""

    configs: tuple[str, ...]
    options: Options
    limit: int | None = None
    batch_tokens: int | None = None
    null: int = 0
    dtype: str = "auto"
    quantization: str | None = None
    trust_remote_code: bool = False

    def told(self) -> dict[str, Any]:
        """What the numbers depend on, without the configs."""
        options = {
            name: value for name, value in vars(self.options).items() if value not in (None, False, ())
        }
        own = {"limit": self.limit, "batch_tokens": self.batch_tokens, "null": self.null, "dtype": self.dtype}
        own |= {"quantization": self.quantization} if self.quantization else {}
        told: dict[str, Any] = json_value({**options, **own})
        return told


@dataclass(frozen=True)
class Needs:
    """What a worker has to have for a model: `gpus` None is one where there are any; `memory` in bytes."""

    gpus: int | None = None
    cpus: int = 1
    memory: int | None = None


@dataclass(frozen=True)
class Server:
    """Where a served model is, as `gest_dataset.score` takes it."""

    endpoint: str
    tokenizer: str | None = None
    connections: int | None = None


@dataclass(frozen=True)
class Subject:
    """One model in one revision, under the `name` of its folder; `step` is that of a training checkpoint.

    `family` are the checkpoints of one model.
    """

    name: str
    model: str
    revision: str | None
    asking: Asking
    needs: Needs
    server: Server | None = None
    family: str = ""
    step: int | None = None

    def told(self) -> dict[str, Any]:
        """What has to agree for its cells to be kept."""
        where = {} if self.server is None else {"endpoint": self.server.endpoint}
        return {"model": self.model, "revision": self.revision, **where, **self.asking.told()}


@dataclass(frozen=True)
class Suite:
    """The models of a suite; `price` is what an hour of one device costs."""

    name: str
    title: str
    subjects: tuple[Subject, ...]
    price: float | None = None
    problems: tuple[str, ...] = field(default=())

    def checked(self, more: tuple[str, ...] = ()) -> Suite:
        """The suite, if nothing is wrong with it; else one error that lists everything."""
        wrong = (*self.problems, *more)
        if wrong:
            lines = "\n".join(f"- {line}" for line in wrong)
            many = f"{len(wrong)} problems" if len(wrong) > 1 else "a problem"
            raise ConfigError(f"{self.name} has {many}; nothing was started.\n{lines}")
        return replace(self, problems=())


class _Loader(yaml.SafeLoader):
    """YAML without surprises: a key that stands twice is an error, not the last one."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key, _ in node.value:
        name = loader.construct_object(key)
        if not isinstance(name, str):
            raise yaml.YAMLError(f"line {key.start_mark.line + 1}: the key {name!r} is no text")
        if name in seen:
            raise yaml.YAMLError(f"line {key.start_mark.line + 1}: the key {name!r} stands twice")
        seen.add(name)
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def find_suite(name: str) -> Path:
    """The file of a suite: a path, or one of the package's (`papers/gest-english.yaml`, `gest-english`)."""
    path = Path(name)
    if path.is_file():
        return path
    if path.is_dir():
        raise ConfigError(f"{name} is a folder. Give the YAML file of a suite.")
    own = {file.stem: file for file in sorted(PAPERS.glob("*.yaml"))}
    if path.name == name or path.parent.name == PAPERS.name:
        stem = path.stem if path.suffix in (".yaml", "") else path.name
        if stem in own:
            return own[stem]
    offered = ", ".join(f"{PAPERS.name}/{file.name}" for file in own.values())
    raise ConfigError(f"There is no file {name}. Give a YAML file, or a suite of the papers: {offered}.")


def read_suite(path: Path) -> Suite:
    """The suite of a file, with its problems: those are raised by `Suite.checked`."""
    try:
        told = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Give the YAML file of a suite.") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        what = " ".join(str(error).split()) or "it is nested too deeply"
        raise ConfigError(f"{path} is no YAML: {what}. Mend that line.") from error
    if not isinstance(told, dict):
        raise ConfigError(f"{path} is no suite: it holds no table with `models` and `configs`.")
    return suite_of(told, path.stem)


def suite_of(told: Mapping[str, Any], name: str) -> Suite:
    """A suite from what its file holds."""
    wrong = list(problems(told, {**OF_SUITE, **ASKING}, ""))
    bad = _keys(wrong)
    common = {key: value for key, value in told.items() if key in ASKING and key not in bad}
    listed_there = told.get("models")
    entries: list[Any] = listed_there if isinstance(listed_there, list) else []
    if not entries and "models" not in bad:
        wrong.append("models: there is none. List one or more.")
    subjects: list[Subject] = []
    for number, entry in enumerate(entries, start=1):
        where = f"models[{number}]."
        entry = {"model": entry} if isinstance(entry, str) else entry
        if not isinstance(entry, dict):
            wrong.append(f"{where[:-1]}: {entry!r} is neither a model nor a table with one.")
            continue
        own = list(problems(entry, {**OF_MODEL, **ASKING}, where))
        sound = {key: value for key, value in entry.items() if f"{where}{key}" not in _keys(own)}
        if not entry.get("model"):
            own.append(f"{where}model: it is missing.")
        if "configs" not in entry and "configs" not in told:
            own.append(f"{where}configs: there are none, neither here nor for the whole suite.")
        wrong += [*own, *_misfits(entry, where)]
        # what else is wrong with it, such as its name, is to be told as well; where it is has to be known
        if sound.get("model") and ("endpoint" in sound) == ("endpoint" in entry):
            subjects += _subjects(sound, common)
    wrong += _doubles(subjects)
    title, price = told.get("title"), told.get("price")
    return Suite(
        name,
        title if isinstance(title, str) else name,
        tuple(subjects),
        None if price is None or "price" in bad else float(price),
        tuple(wrong),
    )


def _keys(problems: list[str]) -> set[str]:
    """The keys that problems are of."""
    return {line.partition(":")[0] for line in problems}


def _misfits(entry: Mapping[str, Any], where: str) -> Iterator[str]:
    """Keys of a model that do not go together, and checkpoints that are not there."""
    if "endpoint" in entry:
        for key in _OF_LOADED:
            if entry.get(key):
                yield f"{where}{key}: this is for a model that is loaded here, not for one behind a server."
    else:
        for key in ("tokenizer", "connections"):
            if key in entry:
                yield f"{where}{key}: this is for a model behind a server; name it with `endpoint`."
    if entry.get("checkpoints"):
        if entry.get("revisions"):
            yield f"{where}revisions: checkpoints of a folder have none; list either."
        if isinstance(entry.get("model"), str) and not _checkpoints(Path(entry["model"])):
            yield f"{where}checkpoints: {entry['model']} holds no folder checkpoint-NUMBER."
    if entry.get("revisions") == []:
        yield f"{where}revisions: the list is empty; leave it out for the newest one."


def _doubles(subjects: list[Subject]) -> Iterator[str]:
    """Models whose runs would lie in one folder."""
    seen: set[str] = set()
    for subject in subjects:
        if subject.name.lower() in seen:
            yield f"models: {subject.name} is there twice. Give one of the two a `label` of its own."
        seen.add(subject.name.lower())


def _checkpoints(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_dir() and _CHECKPOINT.fullmatch(path.name)]
    return sorted(found, key=lambda path: step_of(path.name) or 0)


def step_of(text: str) -> int | None:
    """The training step in the name of a revision or a checkpoint: its last number.

    >>> step_of("step143000"), step_of("checkpoint-500"), step_of("main")
    (143000, 500, None)
    """
    found = _STEP.search(text)
    return None if found is None else int(found[1])


def _subjects(entry: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[Subject]:
    """The models that an entry stands for: one for each revision or checkpoint."""
    of_all = common if "endpoint" not in entry else {k: v for k, v in common.items() if k not in _OF_LOADED}
    asking = _asking({**of_all, **entry})
    needs = Needs(
        entry.get("gpus"), entry.get("cpus", 1), size(entry["memory"]) if "memory" in entry else None
    )
    server = None
    if "endpoint" in entry:
        server = Server(address_of(entry["endpoint"]), entry.get("tokenizer"), entry.get("connections"))
    model = _absolute(entry["model"])
    family = _file_name(entry.get("label") or default_folder(model).name)
    if entry.get("checkpoints"):
        for path in _checkpoints(Path(model)):
            name = f"{family}--{path.name}"
            yield Subject(name, str(path), None, asking, needs, None, family, step_of(path.name))
        return
    revisions = entry.get("revisions") or [None]
    for revision in revisions:
        name = family if revision is None else f"{family}@{_file_name(revision)}"
        step = None if revision is None else step_of(revision)
        yield Subject(name, model, revision, asking, needs, server, family, step)


def _absolute(model: str) -> str:
    """A model on this disk by its whole path: a worker may stand in another folder."""
    path = Path(model).expanduser()
    return str(path.resolve()) if path.exists() else model


def _file_name(text: str) -> str:
    return default_folder(text).name if "/" in text or ":" in text else re.sub(r"[^\w.@-]", "_", text)


def _asking(told: Mapping[str, Any]) -> Asking:
    given = {key: told[key] for key in ("multi_token", "cs", "intersentence") if key in told}
    templates = told.get("templates")
    if isinstance(templates, str) and Path(templates).is_file():
        templates = str(Path(templates).resolve())
    options = Options(
        tuple(templates) if isinstance(templates, list) else templates,
        rules=named(listed(told.get("rules", ()))),
        **given,
    )
    own = {
        key: told[key]
        for key in ("limit", "batch_tokens", "null", "dtype", "quantization", "trust_remote_code")
        if key in told
    }
    return Asking(tuple(listed(told.get("configs", ()))), options, **own)
