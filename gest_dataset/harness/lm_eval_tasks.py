"""`gest build --format lm-eval`: a folder with one task of lm-evaluation-harness per config, and groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from gest_dataset.builders import CONFIGS
from gest_dataset.data.folder import read_config
from gest_dataset.errors import SettingError
from gest_dataset.harness import lm_eval
from gest_dataset.measures import measure_of
from gest_dataset.models.score import suitable_configs
from gest_dataset.storage import LOCK, check_folder, folder_lock, write_file
from gest_dataset.version import __version__

_TEMPLATE = Path(__file__).with_name("task.yaml.jinja")
_GROUPS = ("pairs", "neutral")  # measures with one task per language; a group averages their g_s


@dataclass(frozen=True)
class Task:
    """A config as a task; `group` is empty if there is none."""

    name: str
    config: str
    group: str = ""


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
    suitable, left_out = suitable_configs(configs, lm_eval.KIND, "lm_eval")
    by_measure: dict[str, list[str]] = {}
    for name in suitable:
        measure, probe = measure_of(list(CONFIGS[name].features), name)
        if lm_eval.has_two_continuations(probe):
            by_measure.setdefault(measure.name, []).append(name)
        elif configs[name]:
            raise SettingError(f"{name} cannot be a task of lm_eval: it compares more than two texts.")
        else:
            left_out[name] = "compares more than two texts"
    if not by_measure:
        raise SettingError(f"No config is left: {'; '.join(dict.fromkeys(left_out.values()))}.")
    tasks = [
        Task(task_name(config), config, f"gest_{measure}" if measure in _GROUPS and names[1:] else "")
        for measure, names in by_measure.items()
        for config in names
    ]
    source = "gest" if data is None else str(data.resolve())
    files: dict[str, dict[str, Any]] = {task.name: {"config": task.config, "data": source} for task in tasks}
    for task in tasks:
        if data is not None:
            read_config(data, task.config)  # verify it
        if task.group:
            files.setdefault(task.group, {"members": []})["members"].append(task.name)
    template = Template(_TEMPLATE.read_text("utf-8"), undefined=StrictUndefined, trim_blocks=True)
    check_folder(folder, _is_ours, "`gest build --format lm-eval`")
    with folder_lock(folder):
        for name, values in files.items():
            text = template.render(name=name, version=__version__, **values)
            write_file(folder / f"{name}.yaml", text)
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
    return f"gest_{config}" if language == config else f"gest_neutral_{language}"


def _is_ours(path: Path) -> bool:
    """Whether a file was written by this module, by any version of it."""
    if path.name == LOCK:
        return True
    return path.suffix == ".yaml" and path.is_file() and path.read_bytes().startswith(b"# Written by `gest ")
