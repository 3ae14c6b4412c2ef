"""The keys of a suite: what each may hold, and what is wrong with a value that it may not."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub.dataclasses import type_validator

from gest_dataset.data.selection import names
from gest_dataset.errors import ConfigError
from gest_dataset.models.device import DTYPES
from gest_dataset.models.served.client import address_of
from gest_dataset.probes.author_rules import parse_rules
from gest_dataset.probes.probe import Options
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.probes.templates import EXTENDED_NAME, select_templates

# Those of `scoring.placement`, which brings torch: the process that watches over a sweep does without
QUANTIZATIONS = ("8bit", "4bit")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Key:
    """What a key holds: its type, the type in words, and what else has to be so of a value.

    `check` raises a ConfigError that says what is wrong.
    """

    hint: Any
    words: str
    check: Callable[[Any], object] = lambda value: None


def _at_least(least: int) -> Callable[[Any], None]:
    def check(value: int) -> None:
        if value < least:
            raise ConfigError(f"{value} is less than {least}")

    return check


def _one_of(*offered: str) -> Callable[[Any], None]:
    def check(value: str) -> None:
        if value not in offered:
            raise ConfigError(f"there is no {value!r}, only {', '.join(offered)}{near(value, offered)}")

    return check


def _configs(value: str | list[str]) -> None:
    """Every name that is unknown is told, not the first one alone."""
    wrong = []
    for name in listed(value):
        try:
            names(name)
        except ConfigError as error:
            wrong.append(str(error).partition("\n")[0])
    if wrong or not listed(value):
        raise ConfigError("; ".join(wrong) or "it names no config")


def _templates(value: str | list[int]) -> None:
    if isinstance(value, str) and value != EXTENDED_NAME and not Path(value).is_file():
        raise ConfigError(f"{value!r} is neither a list of numbers, nor extended, nor a file that is there")
    # any kind of model will do here: whether a template suits the model's own shows when that is known
    select_templates(value, "masked")


def _address(value: str) -> None:
    if not re.match(r"https?://\S+", value):
        raise ConfigError(f"{value!r} is no address such as http://127.0.0.1:8000")
    address_of(value)


def _price(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(f"{value} is no price")


def size(value: str | int) -> int:
    """A number of bytes, such as 24GB.

    >>> size("24GB"), size("1.5 T"), size(512)
    (24000000000, 1500000000000, 512)
    """
    found = _SIZE.fullmatch(str(value))
    if found is None:
        raise ConfigError(f"{value!r} is no size such as 24GB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def listed(value: str | list[str] | tuple[str, ...]) -> list[str]:
    """Names from a list, or from a text with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return [name for name in (part.strip() for part in parts) if name]


_TEXT, _NUMBER, _SWITCH = "text", "a whole number", "true or false"
_METHODS = dict.fromkeys(method for methods in METHODS.values() for method in methods)

# How a model is asked: the options of `gest_dataset.score` by their names there. For all models, or for one.
ASKING: Mapping[str, Key] = {
    "configs": Key(str | list[str], "names with commas, or a list of names", _configs),
    "templates": Key(str | list[int], "a list of numbers, extended, or the name of a JSON file", _templates),
    "multi_token": Key(bool, _SWITCH),
    "cs": Key(bool, _SWITCH),
    "intersentence": Key(str, _TEXT, _one_of(Options().intersentence, *_METHODS)),
    "rules": Key(str | list[str], "names with commas, or a list of names", parse_rules),
    "null": Key(int, _NUMBER, _at_least(0)),
    "limit": Key(int, _NUMBER, _at_least(1)),
    "batch_tokens": Key(int, _NUMBER, _at_least(1)),
    "dtype": Key(str, _TEXT, _one_of(*DTYPES)),
    "quantization": Key(str, _TEXT, _one_of(*QUANTIZATIONS)),
    "trust_remote_code": Key(bool, _SWITCH),
}
# What is said of one model
OF_MODEL: Mapping[str, Key] = {
    "model": Key(str, _TEXT),
    "label": Key(str, _TEXT),
    "revisions": Key(list[str], "a list of texts (numbers stand in quotes)"),
    "checkpoints": Key(bool, _SWITCH),
    "gpus": Key(int, _NUMBER, _at_least(0)),
    "cpus": Key(int, _NUMBER, _at_least(1)),
    "memory": Key(str | int, "a size such as 24GB", size),
    "endpoint": Key(str, _TEXT, _address),
    "tokenizer": Key(str, _TEXT),
    "connections": Key(int, _NUMBER, _at_least(1)),
}
# What a suite says of itself
OF_SUITE: Mapping[str, Key] = {
    "title": Key(str, _TEXT),
    "price": Key(float, "a number: what an hour of one device costs", _price),
    "models": Key(list, "a list of models"),
}


def problems(told: Mapping[Any, Any], keys: Mapping[str, Key], where: str) -> Iterator[str]:
    """What is wrong with a table of a suite, a line each."""
    for name, value in told.items():
        place = f"{where}{name}"
        if name not in keys:
            yield f"{place}: there is no such key{near(str(name), keys)}. Keys here are {', '.join(keys)}."
        elif not fits(value, keys[name].hint):
            yield f"{place}: {value!r} is not {keys[name].words}."
        else:
            try:
                keys[name].check(value)
            except ConfigError as error:
                wrong = str(error)
                yield f"{place}: {wrong}{'' if wrong.endswith(('.', '?')) else '.'}"


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; true is no number."""
    if type(value) is int and hint is float:
        return True
    if hint is list:
        return isinstance(value, list)
    try:
        type_validator("", value, hint)
    except TypeError:
        return False
    return True


def near(name: str, offered: Any) -> str:
    """A question after the nearest of the names that there are."""
    found = difflib.get_close_matches(name, list(offered), n=1)
    return f" (did you mean {found[0]}?)" if found and found[0] != name else ""
