"""Makes our names work in other libraries after `import gest_dataset`.

    datasets.load_dataset("gest", CONFIG)       evaluate.load("gest_stereotype_rate")

`datasets` has no loading scripts any more, but it resolves the names of its own packaged builders
(csv, parquet, …) first, through a table and a factory class. Our name joins that table, and a
subclass of the factory answers for it: with what this package builds, or with the data set on the Hub
that GEST_REPO names. `evaluate` resolves all names in one function, which would
ask the Hub; ours is put around it and answers for the metrics of this package. Every other name
goes on to the original. Where a library is not imported yet, this waits until it is: `import
gest_dataset` itself stays cheap. It loads nothing but the standard library.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from gest_dataset.errors import ConfigError
from gest_dataset.version import __version__

NAME = "gest"
BUILDER_MODULE = "gest_dataset.builders.builder"
METRICS = (
    "gest_choice_rate",
    "gest_control_bias",
    "gest_masculine_rate",
    "gest_stereotype_rate",
    "stereoset_icat",
    "winobias_rate",
)
_HOOKS = ("_PACKAGED_DATASETS_MODULES", "PackagedDatasetModuleFactory", "DatasetModule")
_METRIC_HOOKS = ("evaluation_module_factory", "ImportableModule")


def register() -> None:
    """Register our names now, or as soon as the library they belong to is imported."""
    _when_imported("datasets.load", register_dataset)
    _when_imported("evaluate.loading", register_metrics)


def _when_imported(name: str, hook: Callable[[ModuleType], None]) -> None:
    """Call `hook` with the module, now or after its import."""
    waiting = _Waiting(name, hook)
    if waiting not in sys.meta_path:
        sys.meta_path.insert(0, waiting)
    if name in sys.modules:
        hook(sys.modules[name])


@dataclass(frozen=True)
class _Waiting:
    """A finder among those of Python: the others find its module, and the hook is called once it has run."""

    name: str
    hook: Callable[[ModuleType], None]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            self.hook(module)

        setattr(spec.loader, "exec_module", executed)  # noqa: B010
        return spec


def _moved(module: ModuleType, hooks: Sequence[str], call: str, where: str, advice: str) -> bool:
    """Whether a library lacks what we hang on to; a warning says so, and what to do instead."""
    missing = [name for name in hooks if not hasattr(module, name)]
    if missing:
        library = where.partition(".")[0]
        warnings.warn(
            f"{call} is not available: this version of `{library}` has no {', '.join(missing)} in {where}. "
            f"{advice}, or install a version of `{library}` that gest-dataset is tested with.",
            stacklevel=3,
        )
    return bool(missing)


def register_dataset(load: ModuleType) -> None:
    """Put `gest` among the packaged names of `datasets.load`; a second call changes nothing."""
    advice = "Write the data with `gest build --output DIR` and use load_dataset('DIR', …)"
    if _moved(load, _HOOKS, f"load_dataset({NAME!r}, …)", "datasets.load", advice):
        return
    if NAME in load._PACKAGED_DATASETS_MODULES:
        return
    load._PACKAGED_DATASETS_MODULES[NAME] = (BUILDER_MODULE, "")
    # typing cannot see an attribute of a module that is handed over
    setattr(load, "PackagedDatasetModuleFactory", _factory(load))  # noqa: B010


def _factory(load: Any) -> type:
    """The factory that answers for `gest` and leaves all other names to the original."""

    class GestDatasetModuleFactory(load.PackagedDatasetModuleFactory):
        def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
            if name != NAME:
                super().__init__(name, *args, **kwargs)
                return
            # the original would count a download over the network
            self.name = name
            self.download_config = kwargs.get("download_config")
            self.download_mode = kwargs.get("download_mode")
            if kwargs.get("data_files") is not None:
                raise ConfigError(
                    f"load_dataset({NAME!r}, …) takes no data_files; pass data_dir=DIR to read "
                    f"upstream files from a mirror."
                )

        def get_module(self) -> Any:
            if self.name != NAME:
                return super().get_module()
            from gest_dataset.data.sources import published

            if repo := published():
                return _published(load, repo, self.download_config, self.download_mode)
            from datasets.data_files import DataFilesDict

            from gest_dataset.builders import fingerprint

            # not None, or `datasets` would ask for data files; the builder ignores it
            kwargs = {"data_files": DataFilesDict(), "dataset_name": NAME}
            return load.DatasetModule(BUILDER_MODULE, fingerprint(), kwargs)

    return GestDatasetModuleFactory


def _published(load: Any, repo: str, download_config: Any, download_mode: Any) -> Any:
    """The module of a data set on the Hub (or of a folder of `gest build`) that stands for ours."""
    if repo == NAME:
        raise ConfigError("GEST_REPO has to name a data set on the Hub: NAMESPACE/NAME.")
    return load.dataset_module_factory(repo, download_config=download_config, download_mode=download_mode)


def register_metrics(loading: ModuleType) -> None:
    """Let `evaluate.loading` find our metrics in this package; a second call changes nothing."""
    advice = "Use evaluate.load with the folder of a metric, or the functions of gest_dataset.statistics"
    if _moved(loading, _METRIC_HOOKS, f"evaluate.load({METRICS[0]!r})", "evaluate.loading", advice):
        return
    original = loading.evaluation_module_factory
    if getattr(original, "answers_for", None) == METRICS:
        return

    @functools.wraps(original)
    def evaluation_module_factory(path: str, *args: Any, **kwargs: Any) -> Any:
        if path not in METRICS:
            return original(path, *args, **kwargs)
        return loading.ImportableModule(f"gest_dataset.metrics.{path}.{path}", __version__)

    setattr(evaluation_module_factory, "answers_for", METRICS)  # noqa: B010
    setattr(loading, "evaluation_module_factory", evaluation_module_factory)  # noqa: B010
