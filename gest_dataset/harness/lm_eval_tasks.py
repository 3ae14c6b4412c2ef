"""`gest build --format lm-eval`: a folder with one task of lm-evaluation-harness per config, and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gest_dataset.builders import CONFIGS
from gest_dataset.data.folder import config_path, read_config
from gest_dataset.errors import SettingError
from gest_dataset.harness import lm_eval
from gest_dataset.measures import measure_of
from gest_dataset.models import selection
from gest_dataset.storage import LOCK, atomic_path, check_folder, folder_lock
from gest_dataset.version import __version__

_SIGNATURE = "# Written by `gest build --format lm-eval`; changes are lost. It needs gest-dataset installed."
_TAG = "gest"
_GROUPS = ("pairs", "neutral")  # measures with one task per language; a group averages their g_s


@dataclass(frozen=True)
class Task:
    """A config as a task; `group` is empty if there is none."""

    name: str
    config: str
    group: str = ""


class _Function(str):
    """The name of a function that lm-eval imports."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def write_tasks(
    folder: Path, configs: Mapping[str, bool], data: Path | None = None
) -> tuple[list[Task], dict[str, str]]:
    """Write the tasks of configs, and remove tasks that an earlier call has written.

    Args:
        folder: The folder to write to.
        configs: The configs, and whether each was named itself: such a config must have a task.
        data: A folder of `gest build` to read the rows from, instead of `load_dataset("gest", ...)`.

    Returns:
        The tasks, and the reasons why other configs were left out.
    """
    suitable, left_out = selection.suitable_configs(configs, lm_eval.KIND, "lm_eval")
    by_measure: dict[str, list[str]] = {}
    for name in suitable:
        measure, probe = measure_of(list(CONFIGS[name].features), name)
        reason = ""
        if not lm_eval.has_two_continuations(probe):
            reason = f"compares more than two texts (the probe {probe.name})"
        elif data is not None and not config_path(data, name).exists():
            reason = f"is not in {data}; run gest build --config {name} --output {data}"
        if reason and configs[name]:
            raise SettingError(f"{name} cannot be a task of lm_eval: it {reason}.")
        if reason:
            left_out[name] = reason
            continue
        if data is not None:
            read_config(data, name)  # verify it
        by_measure.setdefault(measure.name, []).append(name)
    if not by_measure:
        raise SettingError(f"No config is left: {'; '.join(dict.fromkeys(left_out.values()))}.")
    groups = {name for name in _GROUPS if len(by_measure.get(name, [])) > 1}
    tasks = [
        Task(task_name(config), config, f"{_TAG}_{measure}" if measure in groups else "")
        for measure, names in by_measure.items()
        for config in names
    ]
    files = {task.name: _task(task, data) for task in tasks}
    for group in sorted({task.group for task in tasks if task.group}):
        files[group] = {
            "group": group,
            "task": [task.name for task in tasks if task.group == group],
            "aggregate_metric_list": [{"metric": "g_s", "aggregation": "mean", "weight_by_size": False}],
            "metadata": {"version": __version__},
        }
    check_folder(folder, _is_ours, "`gest build --format lm-eval`")
    with folder_lock(folder):
        for name, content in files.items():
            with atomic_path(folder / f"{name}.yaml") as partial:
                text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
                partial.write_text(f"{_SIGNATURE}\n{text}", encoding="utf-8")
        for path in folder.glob("*.yaml"):
            if path.stem not in files:
                path.unlink()
    return tasks, left_out


def task_name(config: str) -> str:
    """
    >>> task_name("en"), task_name("sk_pairs"), task_name("sk_neutral")
    ('gest_en', 'gest_sk_pairs', 'gest_neutral_sk')
    """
    language = config.removesuffix("_neutral")
    return f"{_TAG}_{config}" if language == config else f"{_TAG}_neutral_{language}"


def _task(task: Task, data: Path | None) -> dict[str, Any]:
    aggregations = {**{name: name for name in lm_eval.RATES}, lm_eval.LOG_RATIO: "mean_log_ratio"}
    return {
        "task": task.name,
        "tag": _TAG,
        "dataset_path": "gest" if data is None else str(data.resolve()),
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


def _function(name: str) -> _Function:
    return _Function(f"{lm_eval.__name__}.{name}")


def _is_ours(path: Path) -> bool:
    """Whether a file was written by this module, by any version of it."""
    if path.name == LOCK:
        return True
    return path.suffix == ".yaml" and path.is_file() and path.read_bytes().startswith(b"# Written by `gest ")
