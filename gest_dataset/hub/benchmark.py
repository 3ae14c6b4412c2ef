"""`eval.yaml`: the tasks of the dataset on the Hub, which results on a model's page name.

`evaluation_framework` is left out, because the Hub has a fixed list of frameworks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from gest_dataset.builders import DEFAULT_CONFIG
from gest_dataset.builders.config import Config
from gest_dataset.data.build import HOMEPAGE
from gest_dataset.data.folder import BENCHMARK
from gest_dataset.errors import SettingError
from gest_dataset.gender import languages
from gest_dataset.measures import measure_of
from gest_dataset.storage import atomic_path

_DESCRIPTION = (
    "Gender stereotypes in language models and machine translation. Each config is a task; for translators, "
    "a config and a language. The value is the headline of the measure (g_s, ss, f_s, …); the notes of a "
    "result have its interval. A higher value is a stronger stereotype, not a better model."
)


def write_benchmark(folder: Path, configs: Iterable[Config]) -> None:
    """Write the tasks of some configs."""
    pairs = [(task, config.name) for config in configs for task in tasks_of(config)]
    tasks = [{"id": task, "config": name, "split": "test"} for task, name in pairs]
    content = {"name": "GEST and related datasets", "description": _DESCRIPTION, "tasks": tasks}
    with atomic_path(folder / BENCHMARK) as partial:
        partial.write_text(f"# written by `gest build` of {HOMEPAGE}\n{yaml_dump(content)}", encoding="utf-8")


def tasks_of(config: Config) -> list[str]:
    """Return the tasks of a config, for models and for translators; none if it is data only."""
    try:
        measure_of(list(config.features), config.name)
    except SettingError:
        return []
    translated = languages() if config.name == DEFAULT_CONFIG else []
    return [config.name, *(translation_task(config.name, code) for code in translated)]


def translation_task(config: str, language: str) -> str:
    """Return the task of a translator."""
    return f"{config}_to_{language}"
