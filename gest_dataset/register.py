"""Registers the names of this package with other libraries on `import gest_dataset`.

    datasets.load_dataset("gest", CONFIG)       evaluate.load("gest_stereotype_rate")

Each library resolves all names in one function, which is wrapped (neither has entry points for plug-ins):
`gest` is the configs of this package, or the dataset on the Hub that GEST_REPO names. A library is patched
when it is imported, so that `import gest_dataset` loads only the standard library.
"""

import functools
import sys
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from gest_dataset.errors import ConfigError
from gest_dataset.version import NAME, __version__

BUILDER_MODULE = "gest_dataset.builders.builder"
METRICS = (
    "gender_accuracy",
    "gest_choice_rate",
    "gest_control_bias",
    "gest_masculine_rate",
    "gest_stereotype_rate",
    "stereoset_icat",
    "winobias_rate",
)


def register() -> None:
    """Register the names now, or as soon as the library is imported."""
    for name in _HOOKS.keys() & sys.modules.keys():
        patch(name, sys.modules[name])
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    """An import finder that calls the hook of a module after its execution."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in _HOOKS else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_with_hook(module: ModuleType) -> None:
            execute(module)
            patch(name, module)

        setattr(spec.loader, "exec_module", execute_with_hook)  # noqa: B010
        return spec


def patch(name: str, module: ModuleType) -> None:
    """Call the hook of a library, or warn if it no longer has what the hook patches."""
    try:
        _HOOKS[name](module)
    except AttributeError as error:
        warnings.warn(
            f"The names of gest-dataset are not available in {name.partition('.')[0]}: {error}. Install a "
            f"version that gest-dataset is tested with, or write the data with `gest build --output DIR` and "
            f"use load_dataset('DIR', ...).",
            stacklevel=3,
        )


def register_dataset(load: Any) -> None:
    """Let `datasets.load` find the configs of this package, or the dataset that GEST_REPO names."""
    original, module_type = load.dataset_module_factory, load.DatasetModule

    def dataset_module_factory(path: str, revision: Any = None, *args: Any, **kwargs: Any) -> Any:
        if path != NAME:
            return original(path, revision, *args, **kwargs)
        # only now, because `import gest_dataset` must be fast
        from gest_dataset.builders import fingerprint
        from gest_dataset.data.sources import hub_repository

        repository = hub_repository()
        if kwargs.get("data_files") is not None:
            raise ConfigError(
                f"load_dataset({NAME!r}, ...) takes no data_files; pass data_dir=DIR to read upstream "
                f"files from a mirror."
            )
        if repository == NAME:
            raise ConfigError("GEST_REPO must name a dataset on the Hub: NAMESPACE/NAME.")
        if revision is not None and (not repository or Path(repository).is_dir()):
            raise ConfigError(
                f"load_dataset({NAME!r}, ...) has no revision {str(revision)!r}: gest-dataset {__version__} "
                f"pins its files. Set GEST_REPO to a dataset on the Hub to load a revision of it."
            )
        if repository:
            options = {key: kwargs.get(key) for key in ("download_config", "download_mode")}
            return original(repository, revision, **options)
        return module_type(BUILDER_MODULE, fingerprint(), {"dataset_name": NAME})

    _replace(load, dataset_module_factory)
    inspect = sys.modules.get("datasets.inspect")
    if hasattr(inspect, "dataset_module_factory"):  # it has imported the original
        _replace(inspect, load.dataset_module_factory)


def register_metrics(loading: Any) -> None:
    """Let `evaluate.loading` find the metrics in this package."""
    original, importable = loading.evaluation_module_factory, loading.ImportableModule

    def evaluation_module_factory(
        path: str, module_type: Any = None, revision: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        if path not in METRICS:
            return original(path, module_type, revision, *args, **kwargs)
        if revision is not None:
            raise ConfigError(
                f"{path} is part of gest-dataset {__version__} and has no revision {str(revision)!r}. "
                f"Install another version of the package instead."
            )
        return importable(f"gest_dataset.metrics.{path}.{path}", __version__)

    _replace(loading, evaluation_module_factory)


def register_optional_inputs(module: Any) -> None:
    """Let `evaluate.combine` leave out the optional inputs of our metrics."""
    combined = module.CombinedEvaluations
    original_add, original_add_batch = combined.add, combined.add_batch

    def optional(self: Any) -> dict[str, None]:
        names = {name for metric in self.evaluation_modules for name in getattr(metric, "optional", ())}
        return dict.fromkeys(names - {"predictions"})

    def add(self: Any, *args: Any, **kwargs: Any) -> None:
        original_add(self, *args, **optional(self) | kwargs)

    def add_batch(self: Any, *args: Any, **kwargs: Any) -> None:
        original_add_batch(self, *args, **optional(self) | kwargs)

    _replace(combined, add)
    _replace(combined, add_batch)


def _replace(owner: Any, function: Any) -> None:
    """Put a function of ours in the place of one of a library with the same name, once."""
    name = function.__name__
    original = getattr(owner, name)
    if not hasattr(original, "of_gest_dataset"):
        function.of_gest_dataset = True
        setattr(owner, name, functools.update_wrapper(function, original))


_HOOKS: dict[str, Callable[[Any], None]] = {
    "datasets.load": register_dataset,
    "evaluate.loading": register_metrics,
    "evaluate.module": register_optional_inputs,
}
