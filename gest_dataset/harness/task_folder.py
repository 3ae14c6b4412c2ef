"""The folder that lm-evaluation-harness includes: a YAML file for each config, and for groups of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gest_dataset.builders import CONFIGS
from gest_dataset.data import folder as data_folder
from gest_dataset.errors import SettingError
from gest_dataset.harness import lm_eval
from gest_dataset.harness.contrasts import KIND, is_contrast
from gest_dataset.measures import measure_of
from gest_dataset.models import selection
from gest_dataset.storage import LOCK, atomic_path, check_folder, folder_lock
from gest_dataset.version import __version__

SIGNATURE = (
    "# Written by `gest lm-eval-tasks`: changes to this file are lost. It needs gest-dataset installed."
)
PREFIX = "gest"  # the tag of all tasks, too
_NEUTRAL = "_neutral"
# Measures whose tasks are of languages: their g_s has a mean, each language with the same weight
_OF_LANGUAGES = ("pairs", "neutral")


@dataclass(frozen=True)
class Task:
    """A config as a task."""

    name: str
    config: str
    measure: str


class _Function(str):
    """A function by its name, which `lm_eval` imports."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def task_name(config: str) -> str:
    """
    >>> task_name("en"), task_name("sk_pairs"), task_name("sk_neutral")
    ('gest_en', 'gest_sk_pairs', 'gest_neutral_sk')
    """
    if config.endswith(_NEUTRAL):
        return f"{PREFIX}{_NEUTRAL}_{config.removesuffix(_NEUTRAL)}"
    return f"{PREFIX}_{config}"


def choose(configs: Mapping[str, bool], data: Path | None) -> tuple[list[Task], dict[str, str]]:
    """The tasks of configs (`data.selection.names`), and those of a group that are left out, with why."""
    fitting, left_out = selection.split(configs, KIND, "lm_eval")
    tasks = []
    for name in fitting:
        measure, probe = measure_of(list(CONFIGS[name].features), name)
        reason = "" if is_contrast(probe) else f"compares more than two texts (the probe {probe.name})"
        if not reason and data is not None and not data_folder.config_path(data, name).exists():
            reason = f"is not in {data}: gest build --config {name} --output {data}"
        if reason and configs[name]:
            raise SettingError(f"{name} cannot be a task of lm_eval: it {reason}.")
        if reason:
            left_out[name] = reason
            continue
        if data is not None:
            data_folder.read_config(data, name)
        tasks.append(Task(task_name(name), name, measure.name))
    if not tasks:
        raise SettingError(f"No config is left: {'; '.join(dict.fromkeys(left_out.values()))}.")
    return tasks, left_out


def write(out: Path, tasks: list[Task], data: Path | None = None) -> dict[str, list[str]]:
    """Write the folder; what an earlier call has written and is not asked for now is removed.

    The rows are those of `load_dataset("gest", …)`, or of a folder of Parquet files. Answered is which groups
    there are, and their tasks.
    """
    check_folder(out, _is_ours, "what `gest lm-eval-tasks` writes")
    groups = {
        f"{PREFIX}_{measure}": [task.name for task in tasks if task.measure == measure]
        for measure in _OF_LANGUAGES
    }
    groups = {name: members for name, members in groups.items() if len(members) > 1}
    files = {task.name: _task(task, data) for task in tasks}
    files |= {name: _group(name, members) for name, members in groups.items()}
    with folder_lock(out):
        for name, content in files.items():
            with atomic_path(out / f"{name}.yaml") as partial:
                text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
                partial.write_text(f"{SIGNATURE}\n{text}", encoding="utf-8")
        for path in out.glob("*.yaml"):
            if path.stem not in files:
                path.unlink()
    return groups


def _task(task: Task, data: Path | None) -> dict[str, Any]:
    aggregations = {**{name: name for name in lm_eval.RATES}, lm_eval.LOG_RATIO: "mean_log_ratio"}
    return {
        "task": task.name,
        "tag": PREFIX,
        "dataset_path": PREFIX if data is None else str(data.resolve()),
        "dataset_name": task.config,
        "test_split": "test",
        "output_type": "multiple_choice",
        "num_fewshot": 0,
        "process_docs": _function("docs"),
        "doc_to_text": "context",
        "doc_to_choice": "choices",
        "doc_to_target": 0,
        "target_delimiter": "",
        "process_results": _function("process_results"),
        "metric_list": [
            {"metric": metric, "aggregation": _function(name), "higher_is_better": None}
            for metric, name in aggregations.items()
        ],
        "metadata": {"version": __version__},
    }


def _group(name: str, members: list[str]) -> dict[str, Any]:
    return {
        "group": name,
        "task": members,
        "aggregate_metric_list": [{"metric": "g_s", "aggregation": "mean", "weight_by_size": False}],
        "metadata": {"version": __version__},
    }


def _function(name: str) -> _Function:
    return _Function(f"{lm_eval.__name__}.{name}")


def _is_ours(path: Path) -> bool:
    if path.name == LOCK:
        return True
    return path.suffix == ".yaml" and path.is_file() and path.read_bytes().startswith(SIGNATURE.encode())
