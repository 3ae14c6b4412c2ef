"""Registers the names of this package with other libraries on `import gest_dataset`.

    datasets.load_dataset("gest", CONFIG)       evaluate.load("gest_stereotype_rate")

`datasets` has no loading scripts any more, but it resolves the names of its packaged builders (csv,
parquet, ...) first, through a table and a factory class. `gest` joins that table, and a subclass of the
factory answers for it: with the configs of this package, or with the data set on the Hub that GEST_REPO
names. `evaluate` resolves all names in one function, which is wrapped to find the metrics of this package.
All other names go on to the original. A library that is not imported yet is patched when it is imported, so
`import gest_dataset` loads only the standard library.
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
_DATASETS_HOOKS = ("_PACKAGED_DATASETS_MODULES", "PackagedDatasetModuleFactory", "DatasetModule")
_EVALUATE_HOOKS = ("evaluation_module_factory", "ImportableModule")


def register() -> None:
    """Register the names now, or as soon as the library is imported."""
    for name, hook in (("datasets.load", register_dataset), ("evaluate.loading", register_metrics)):
        finder = _HookFinder(name, hook)
        if finder not in sys.meta_path:
            sys.meta_path.insert(0, finder)
        if name in sys.modules:
            hook(sys.modules[name])


@dataclass(frozen=True)
class _HookFinder:
    """An import finder that lets the others find a module and calls a hook after its execution."""

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

        def execute_with_hook(module: ModuleType) -> None:
            execute(module)
            self.hook(module)

        setattr(spec.loader, "exec_module", execute_with_hook)  # noqa: B010
        return spec


def _has_hooks(module: ModuleType, hooks: Sequence[str], call: str, advice: str) -> bool:
    """Whether a library has what this module patches; if not, a warning says what to do instead."""
    missing = [name for name in hooks if not hasattr(module, name)]
    if missing:
        library = module.__name__.partition(".")[0]
        warnings.warn(
            f"{call} is not available: this version of {library} has no {', '.join(missing)}. "
            f"{advice}, or install a version of {library} that gest-dataset is tested with.",
            stacklevel=3,
        )
    return not missing


def register_dataset(load: ModuleType) -> None:
    """Add `gest` to the packaged names of `datasets.load`."""
    advice = "Write the data with `gest build --output DIR` and use load_dataset('DIR', ...)"
    if not _has_hooks(load, _DATASETS_HOOKS, f"load_dataset({NAME!r}, ...)", advice):
        return
    if NAME not in load._PACKAGED_DATASETS_MODULES:
        load._PACKAGED_DATASETS_MODULES[NAME] = (BUILDER_MODULE, "")
        setattr(load, "PackagedDatasetModuleFactory", _make_factory(load))  # noqa: B010


def _make_factory(load: Any) -> type:
    """A module factory that handles `gest` and leaves all other names to the original."""

    class GestDatasetModuleFactory(load.PackagedDatasetModuleFactory):
        def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
            if name != NAME:
                super().__init__(name, *args, **kwargs)
                return
            # without super().__init__, which would count a download over the network
            self.name = name
            self.download_config = kwargs.get("download_config")
            self.download_mode = kwargs.get("download_mode")
            if kwargs.get("data_files") is not None:
                raise ConfigError(
                    f"load_dataset({NAME!r}, ...) takes no data_files; pass data_dir=DIR to read upstream "
                    f"files from a mirror."
                )

        def get_module(self) -> Any:
            if self.name != NAME:
                return super().get_module()
            # only now, because `import gest_dataset` must be fast
            from datasets.data_files import DataFilesDict

            from gest_dataset.builders import fingerprint
            from gest_dataset.data.sources import hub_repository

            repository = hub_repository()
            if repository == NAME:
                raise ConfigError("GEST_REPO must name a data set on the Hub: NAMESPACE/NAME.")
            if repository:
                return load.dataset_module_factory(
                    repository, download_config=self.download_config, download_mode=self.download_mode
                )
            # not None, or `datasets` would look for data files; the builder ignores it
            kwargs = {"data_files": DataFilesDict(), "dataset_name": NAME}
            return load.DatasetModule(BUILDER_MODULE, fingerprint(), kwargs)

    return GestDatasetModuleFactory


def register_metrics(loading: ModuleType) -> None:
    """Let `evaluate.loading` find the metrics in this package."""
    advice = "Use evaluate.load with the folder of a metric, or the functions of gest_dataset.statistics"
    if not _has_hooks(loading, _EVALUATE_HOOKS, f"evaluate.load({METRICS[0]!r})", advice):
        return
    original = loading.evaluation_module_factory
    if getattr(original, "gest_metrics", None) == METRICS:
        return

    @functools.wraps(original)
    def evaluation_module_factory(path: str, *args: Any, **kwargs: Any) -> Any:
        if path not in METRICS:
            return original(path, *args, **kwargs)
        return loading.ImportableModule(f"gest_dataset.metrics.{path}.{path}", __version__)

    setattr(evaluation_module_factory, "gest_metrics", METRICS)  # noqa: B010
    setattr(loading, "evaluation_module_factory", evaluation_module_factory)  # noqa: B010
