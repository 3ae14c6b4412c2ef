"""`eval.yaml`: what the Hub takes a data set's tasks from, so that results on a model's page can name one.

A task is what a run can be of: a config, or a config and the language that it is translated to. The Hub has a
list of frameworks for `evaluation_framework`; we are not in it, so that entry is left out.
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

_ABOUT = (
    "Gender stereotypes in language models and translators, a task for each config (of a translator: config "
    "and language). The value is the measure's own (g_s, ss, f_s and so on); the notes of a result have its "
    "interval and its null. A higher value is a stronger stereotype, not a better model."
)


def write_benchmark(out: Path, configs: Iterable[Config]) -> None:
    """The tasks of a folder's configs."""
    told = {
        "name": "GEST and its kin",
        "description": _ABOUT,
        "tasks": [
            {"id": task, "config": config.name, "split": "test"}
            for config in configs
            for task in tasks_of(config)
        ],
    }
    with atomic_path(out / BENCHMARK) as partial:
        text = yaml_dump(told)
        partial.write_text(f"# written by `gest build` of {HOMEPAGE}\n{text}", encoding="utf-8")


def tasks_of(config: Config) -> list[str]:
    """The tasks that a config is for: a model is asked about it, or a translator is given its sentences."""
    try:
        measure_of(list(config.features), config.name)
    except SettingError:  # data only, such as translations
        return []
    translated = languages() if config.name == DEFAULT_CONFIG else []
    return [config.name, *(translation_task(config.name, code) for code in translated)]


def translation_task(config: str, language: str) -> str:
    """The task of a translator."""
    return f"{config}_to_{language}"
