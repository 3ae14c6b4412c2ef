"""`gest_dataset.score`: the scores of a model on one or several configs; the model is loaded once."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, overload

from datasets import Dataset

from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.errors import DataError, GestError, ModelError, ScoringError, SettingError, SourceError
from gest_dataset.measures import measure_of
from gest_dataset.models import distributed
from gest_dataset.models.base import Model, Settings
from gest_dataset.models.device import resolve_placement
from gest_dataset.models.loading import CAUSAL, MASKED, load_model, name_and_kind
from gest_dataset.models.score_run import Request, ScoredRun, Scores, make_request, score_as_run
from gest_dataset.models.served.model import connect
from gest_dataset.probes.probe import Probe
from gest_dataset.runs.folder import check_run_folder, check_runs_folder, python_command

logger = logging.getLogger(__name__)


@overload
def score(model: Any, config: list[str] | tuple[str, ...], **kw: Any) -> dict[str, Scores]: ...
@overload
def score(model: Any, config: str | Dataset = "en", **kw: Any) -> Scores: ...
def score(
    model: Any,
    config: str | Dataset | Sequence[str] = "en",
    *,
    output: str | Path | None = None,
    **settings: Any,
) -> Scores | dict[str, Scores]:
    """Score a model on a config, or on several (docs/scoring.md defines every number).

    Args:
        model: A Hub id, a local path, a `.gguf` file or a pair (model, tokenizer). With `endpoint`, the
            model's name at the server (None if it serves only one).
        config: The name of a config, or a dataset with the same fields. Several configs are a list of names,
            or a text with commas or a group (`"en,slavic"`).
        output: The folder of the run (docs/runs.md), or of several runs named after their configs. The same
            call resumes an interrupted run and reads a finished one.
        settings: The fields of `Settings` and `Options`: `limit`, `templates`, `device`, `dtype`, `null`, …

    Returns:
        The `Scores`, or for several configs a dictionary of them, without those that do not suit the model
        or failed (with a warning). Every process of a launcher gets the same scores.
    """
    if not isinstance(config, (str, list, tuple, Dataset)):
        raise SettingError(
            f"config is a {type(config).__name__}. Give the name of a config, a list of names, or one split "
            f"as a datasets.Dataset (Dataset.from_pandas converts a data frame)."
        )
    command = python_command(score, {"model": model, "config": config, "output": output, **settings})
    configs: Dataset | dict[str, bool]
    if isinstance(config, Dataset):
        configs = config
    else:
        configs = select_configs(config if isinstance(config, str) else ",".join(config))
    folder = None if output is None else Path(output)
    outcome = score_configs(model, configs, folder, command, Settings(**settings))
    for name, reason in {**outcome.left_out, **outcome.failed}.items():
        logger.warning("%s is not scored: %s", name, reason)
    if not outcome.runs and outcome.failed:
        raise next(iter(outcome.failed.values()))
    scores = {run.scores.metadata["config"]: run.scores for run in outcome.runs}
    for name, some in scores.items():
        reasons = Counter(some.metadata["skipped"])
        if reasons and distributed.is_main():
            listed = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(3))
            counts = f"{reasons.total()} of {some.metadata['asked']}"
            logger.warning("%s samples of %s have no score: %s (see Scores.skipped)", counts, name, listed)
    if isinstance(configs, Dataset) or (isinstance(config, str) and config.strip() in configs):
        return outcome.runs[0].scores
    return {name: scores[name] for name in configs if name in scores}


@dataclass(frozen=True)
class Outcome:
    runs: list[ScoredRun] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, GestError] = field(default_factory=dict)


def score_configs(
    model: Any,
    configs: Mapping[str, bool] | Dataset,
    folder: Path | None,
    command: Sequence[str],
    settings: Settings,
    flat: bool = True,
    on_run: Callable[[ScoredRun], None] = lambda run: None,
) -> Outcome:
    """Score a model on configs (`builders.select_configs`) or on the user's own rows.

    All requests are checked before the model is loaded. Runs are written to subfolders of `folder` with the
    configs' names; with `flat`, a single run is written to `folder` itself.
    """
    several = not isinstance(configs, Dataset) and len(configs) > 1
    flat = isinstance(configs, Dataset) or (flat and not several)
    settings = replace(settings, device=distributed.join(settings.device, settings.device_map))
    if several and folder is not None:
        distributed.on_main(lambda: check_runs_folder(folder, CONFIGS))
    loaded: Model | None = None
    if settings.endpoint is not None:
        loaded = connect(settings.endpoint, model, settings.tokenizer, settings.connections)
        name, kind = loaded.name, loaded.kind
        if distributed.world_size() > 1:
            raise SettingError(f"{name} is a served model: run one process, without the launcher.")
    else:
        resolve_placement(settings)  # before the Hub is contacted
        name, kind = name_and_kind(model, settings)
    for option in ("chat_template", "per_token"):
        if getattr(settings, option) and kind != CAUSAL:
            raise SettingError(f"{option} applies to causal models, and {name} is {kind}: leave it out.")
    outcome = Outcome()

    @contextmanager
    def continue_after_errors(config: str) -> Iterator[None]:
        try:
            yield
        except (DataError, ModelError, ScoringError, SourceError) as error:
            if not several:
                raise
            outcome.failed[config] = error

    selected: list[Any] = [configs]
    if not isinstance(configs, Dataset):
        selected, left_out = suitable_configs(configs, kind, name)
        outcome.left_out.update(left_out)
    requests: list[tuple[Request, Path | None]] = []
    for config in selected:
        path = folder if folder is None or flat else folder / config
        if path is not None:
            distributed.on_main(partial(check_run_folder, path))
        with continue_after_errors(config):
            request = make_request(config, settings)
            if reason := _kind_problem(request.probe, kind):
                raise _unsuitable(request.name, reason, name)
            if not (request.probe.intersentence and kind == MASKED):  # which may get a next-sentence head
                request.probe.query_builders(kind, settings)  # refuses unsuitable options
            requests.append((request, path))
    # configs that may need a next-sentence head come last
    requests.sort(key=lambda item: item[0].probe.intersentence)
    for between, group in groupby(requests, lambda item: item[0].probe.intersentence):
        problem: ModelError | None = None
        if loaded is None or (between and loaded.kind == MASKED):
            try:
                loaded = load_model(model, settings, between)
            except ModelError as error:
                if loaded is None:
                    raise
                problem = error
        for request, path in group:
            has_no_head = between and (problem or loaded.kind == MASKED)
            if several and has_no_head and not configs[request.name]:
                outcome.left_out[request.name] = "the checkpoint has no next-sentence head"
                continue
            with continue_after_errors(request.name):
                if problem:
                    raise problem
                outcome.runs.append(score_as_run(loaded, request, path, command))
                on_run(outcome.runs[-1])
    return outcome


def suitable_configs(configs: Mapping[str, bool], kind: str, model: str) -> tuple[list[str], dict[str, str]]:
    """The configs that a kind of model can be scored on, and the reasons why others are left out.

    A config that was named itself (True in `configs`) and does not fit is an error.
    """
    left_out = {}
    for name, named in configs.items():
        reason = _mismatch(name, named, kind)
        if reason and named:
            raise _unsuitable(name, reason, model)
        if reason:
            left_out[name] = reason
    if len(left_out) == len(configs):
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        raise SettingError(f"None of the configs suits {model}, a {kind} model: {reasons}.")
    return [name for name in configs if name not in left_out], left_out


def _mismatch(name: str, named: bool, kind: str) -> str:
    if name == "annotations" and not named:
        return "contains rejected sentences too; name it to score it"
    try:
        probe = measure_of(list(CONFIGS[name].features), name)[1]
    except SettingError:
        if named:
            raise
        return "is not a test of language models"
    if CONFIGS[name].family.name == "crows_control" and kind not in (MASKED, CAUSAL):
        return f"has no keywords, so only `cs` is measured, which {kind} models do not have"
    return _kind_problem(probe, kind)


def _kind_problem(probe: Probe, kind: str) -> str:
    kinds = " or ".join(sorted(probe.kinds))
    return "" if kind in probe.kinds else f"needs a {kinds} model, and this one is {kind}"


def _unsuitable(config: str, reason: str, model: str) -> SettingError:
    return SettingError(f"{config} {reason}: {model}. Choose another config or another model.")
