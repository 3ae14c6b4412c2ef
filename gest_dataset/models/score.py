"""`gest_dataset.score`: the scores of a model on one or several configs; the model is loaded once."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from datasets import Dataset

from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.errors import DataError, GestError, ModelError, ScoringError, SettingError, SourceError
from gest_dataset.models import distributed
from gest_dataset.models.base import Model
from gest_dataset.models.device import DeviceMap
from gest_dataset.models.loading import MASKED, LoadedModel, load_model, name_and_kind
from gest_dataset.models.request import Request, make_request
from gest_dataset.models.scores import ScoredRun, Scores, record, score_request
from gest_dataset.models.selection import suitable_configs
from gest_dataset.models.served.model import CONNECTIONS, ServedModel, connect
from gest_dataset.probes.author_rules import parse_rules
from gest_dataset.probes.probe import Options
from gest_dataset.runs.folder import check_run_folder, check_runs_folder, python_command

logger = logging.getLogger(__name__)
_LOADING = ("device", "dtype", "revision", "trust_remote_code", "device_map", "quantization")
# Errors of one config, after which the next one is scored
_CONFIG_ERRORS = (DataError, ModelError, ScoringError, SourceError)


@overload
def score(model: Any, config: list[str] | tuple[str, ...], *args: Any, **kw: Any) -> dict[str, Scores]: ...
@overload
def score(model: Any, config: str | Dataset = "en", *args: Any, **kw: Any) -> Scores: ...
def score(
    model: Any,
    config: str | Dataset | Sequence[str] = "en",
    templates: Sequence[int] | str | Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    multi_token: bool = False,
    cs: bool | None = None,
    intersentence: str = "auto",
    rules: str | Sequence[str] = (),
    null: int = 0,
    output: str | Path | None = None,
    endpoint: str | None = None,
    tokenizer: str | None = None,
    connections: int = CONNECTIONS,
    device_map: DeviceMap | None = None,
    quantization: str | None = None,
) -> Scores | dict[str, Scores]:
    """Score a model on a config, or on several (docs/scoring.md defines every number).

    Args:
        model: A Hub id, a local path, a `.gguf` file or a pair (model, tokenizer). With `endpoint`, the
            model's name at the server (None if it serves only one).
        config: The name of a config, or a dataset with the same fields. Several configs are a list of names,
            or a text with commas or a group (`"en,slavic"`).
        templates: Numbers, "extended" or a JSON file.
        rules: Deviations of the authors' codes, by name, or "authors" (docs/reproduce.md).
        null: The number of random baselines: copies of the model with fresh weights.
        output: The folder of the run (docs/runs.md), or of several runs named after their configs. The same
            call resumes an interrupted run and reads a finished one.
        endpoint: The address of a server; `tokenizer` is then the Hub id or folder of the model's tokeniser
            (by default the server tokenises), `connections` the number of simultaneous requests.
        device_map: "auto" or a table, to spread a large model over all devices.
        quantization: "8bit" or "4bit" (docs/devices.md).

    Returns:
        The `Scores`, or for several configs a dictionary of them. Configs of a group that do not suit the
        model, and configs that failed, are missing from it, with a warning.

    Under a launcher (accelerate, torchrun) every process makes the same call and gets the same scores.
    """
    arguments = dict(locals())
    options = Options(templates, multi_token, cs, intersentence, parse_rules(rules))
    loading = {name: arguments[name] for name in _LOADING}
    if endpoint is not None and (device_map, quantization) != (None, None):
        raise SettingError("device_map and quantization apply to loaded models, not to served ones.")
    loading["device"] = distributed.join(device, device_map)
    subject = model if endpoint is None else connect(endpoint, model, tokenizer, connections)
    folder = None if output is None else Path(output)
    common = (folder, python_command(score, arguments), options, limit, batch_tokens, null)
    if isinstance(config, Dataset):
        scores = score_rows(subject, config, *common, **loading).scores
        single: str | None = next(iter(scores))
    else:
        parts = [config] if isinstance(config, str) else config
        if not isinstance(parts, (list, tuple)) or not all(isinstance(name, str) for name in parts):
            raise SettingError(
                f"A {type(config).__name__} cannot be scored: give the name of a config or group, a list of "
                f"names, or one split of a dataset (datasets.Dataset)."
            )
        configs = select_configs(",".join(parts))
        outcome = score_configs(subject, configs, *common, flat=True, **loading)
        single = config.strip() if isinstance(config, str) and config.strip() in configs else None
        if single is None:
            for name, reason in {**outcome.left_out, **outcome.failed}.items():
                logger.warning("%s is not scored: %s", name, reason)
            if not outcome.scores:
                raise next(iter(outcome.failed.values()))
        scores = {name: outcome.scores[name] for name in configs if name in outcome.scores}
    for name, some in scores.items():
        reasons = Counter(some.metadata["skipped"])
        if reasons and distributed.is_main():
            listed = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(3))
            counts = f"{reasons.total()} of {some.metadata['asked']}"
            logger.warning("%s samples of %s have no score: %s (see Scores.skipped)", counts, name, listed)
    return scores if single is None else scores[single]


@dataclass(frozen=True)
class Outcome:
    """The scores by config, their runs on disk, and the configs that were left out or failed."""

    scores: dict[str, Scores] = field(default_factory=dict)
    runs: list[ScoredRun] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, GestError] = field(default_factory=dict)

    def add(self, model: Model, request: Request, path: Path | None, command: Sequence[str]) -> None:
        """Score a request."""
        if path is None:
            self.scores[request.name] = score_request(model, request)
        else:
            run = record(model, request, path, command)
            self.scores[request.name] = run.scores
            self.runs.append(run)


def score_configs(
    model: Any,
    configs: Mapping[str, bool],
    folder: Path | None,
    command: Sequence[str],
    options: Options,
    limit: int | None = None,
    batch_tokens: int | None = None,
    null: int = 0,
    flat: bool = False,
    on_start: Callable[[str], None] = lambda name: None,
    on_run: Callable[[ScoredRun], None] = lambda run: None,
    **loading: Any,
) -> Outcome:
    """Score a model on configs (`builders.select_configs`); all requests are checked before it is loaded.

    Runs are written to subfolders of `folder` with the configs' names; with `flat`, a single run is written
    to `folder` itself. `on_start` is called before each config and `on_run` after each run. `loading` are
    arguments of `load_model`.
    """
    several = len(configs) > 1
    if several and folder is not None:
        distributed.on_main(lambda: check_runs_folder(folder, CONFIGS))
    name, kind = _name_and_kind(model, loading)
    selected, left_out = suitable_configs(configs, kind, name)
    outcome = Outcome(left_out=left_out)
    requests: dict[str, Request] = {}
    paths: dict[str, Path | None] = {}
    for config in selected:
        paths[config] = folder if folder is None or (flat and not several) else folder / config
        _check_folder(paths[config])
        try:
            request = make_request(config, limit, options, batch_tokens, null)
            request.check(name, kind)
            requests[config] = request
        except _CONFIG_ERRORS as error:
            if not several:
                raise
            outcome.failed[config] = error
    if not requests:
        return outcome
    # configs that may need a next-sentence head come last
    ordered = sorted(requests.items(), key=lambda item: item[1].probe.intersentence)
    first = _load(model, loading, next_sentence=all(request.probe.intersentence for _, request in ordered))
    second: Model | ModelError | None = None
    for config, request in ordered:
        current: Model | ModelError = first
        if request.probe.intersentence and first.kind == MASKED:
            if second is None:
                try:
                    second = _load(model, loading, next_sentence=True)
                except ModelError as error:
                    second = error
            current = second
            if not configs[config] and (isinstance(current, ModelError) or current.kind == MASKED):
                left_out[config] = "the checkpoint has no next-sentence head"
                continue
        on_start(config)
        try:
            if isinstance(current, ModelError):
                raise current
            if isinstance(current, LoadedModel) and several:
                # an overflow converts only a copy to float32
                current = replace(current, owned=False)
            outcome.add(current, request, paths[config], command)
        except _CONFIG_ERRORS as error:
            if not several:
                raise
            outcome.failed[config] = error
            continue
        if folder is not None:
            on_run(outcome.runs[-1])
    return outcome


def score_rows(
    model: Any,
    rows: Dataset,
    path: Path | None,
    command: Sequence[str],
    options: Options,
    limit: int | None = None,
    batch_tokens: int | None = None,
    null: int = 0,
    **loading: Any,
) -> Outcome:
    """Score a model on the user's own rows."""
    _check_folder(path)
    request = make_request(rows, limit, options, batch_tokens, null)
    request.check(*_name_and_kind(model, loading))
    outcome = Outcome()
    outcome.add(_load(model, loading, request.probe.intersentence), request, path, command)
    return outcome


def _check_folder(path: Path | None) -> None:
    if path is not None:
        distributed.on_main(lambda: check_run_folder(path))


def _name_and_kind(model: Any, loading: Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(model, ServedModel):
        return model.name, model.kind
    return name_and_kind(model, loading.get("revision"), loading.get("trust_remote_code", False))


def _load(model: Any, loading: Mapping[str, Any], next_sentence: bool) -> Model:
    """Load a model, or return a served one."""
    if not isinstance(model, ServedModel):
        loaded = load_model(model, **loading, next_sentence=next_sentence)
        if distributed.world_size() > 1:
            distributed.check_equal(loaded.settings(None))
        return loaded
    if distributed.world_size() > 1:
        raise SettingError(f"{model.name} is a served model: run one process, without the launcher.")
    return model
