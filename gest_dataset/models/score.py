"""`gest_dataset.score`: a model and configs in, one score for each sample out; the model is loaded once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from datasets import Dataset

from gest_dataset.builders import CONFIGS, select_configs
from gest_dataset.errors import DataError, GestError, ModelError, ScoringError, SettingError, SourceError
from gest_dataset.models import selection
from gest_dataset.models.following import led, load_everywhere
from gest_dataset.models.loading import MASKED, Loaded, load_model, name_and_kind
from gest_dataset.models.placement import DeviceMap
from gest_dataset.models.request import Request, prepare
from gest_dataset.models.scores import Scores, record
from gest_dataset.models.served.served import CONNECTIONS, Served, connect
from gest_dataset.models.subject import Subject
from gest_dataset.models.team import ALONE, Team, team
from gest_dataset.probes.author_rules import parse_rules
from gest_dataset.probes.probe import Options
from gest_dataset.runs import writing
from gest_dataset.runs.reading import read_run

logger = logging.getLogger(__name__)
_LOADING = (
    "device",
    "dtype",
    "revision",
    "trust_remote_code",
    "device_map",
    "quantization",
)  # `load_model`'s
# What is wrong with one config and leaves the next one as it is
_OF_ONE_CONFIG = (DataError, ModelError, ScoringError, SourceError)


@overload
def score(model: Any, config: list[str] | tuple[str, ...], *more: Any, **named: Any) -> dict[str, Scores]: ...
@overload
def score(
    model: Any,
    config: str | Dataset = "en",
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
) -> Scores: ...
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

    `model` is a Hub id, a local path, a `.gguf` file or a pair (model, tokenizer); `config` the name
    of a config or a data set with the same fields. `templates` are numbers, "extended" or a JSON file;
    `rules` are those of the authors' codes, by name or "authors" (docs/reproduce.md). `null` asks so many
    twins of the model as well, with fresh weights: `Scores.result()["null"]` is what no stereotype shows.

    Several configs are a list of names, or a text with commas or a group (`"en,slavic"`): then the
    answer is a dictionary, config -> `Scores`, in the order asked. Those of a group that the model cannot
    do, and those that went wrong, are not in it; a warning says why. (Type checkers take a text for one
    config.)

    With `output` the run is kept in that directory (docs/runs.md), or each of several in a directory of it
    with the config's name: the same call goes on with a run that was killed, and reads one that is
    finished. `gest_dataset.report` makes its report.

    With `endpoint` the model is one behind a server, and `model` its name there (None where it has one
    only); `tokenizer` is its Hub id or folder, else the server is asked, and `connections` are open at one
    time (docs/endpoints.md).

    `device_map` ("auto", or a table) spreads a model that fits no GPU over all that there are, and
    `quantization` loads it in "8bit" or "4bit". Under a launcher (accelerate, torchrun) each process calls
    this, they share the work, and all get the same scores (docs/devices.md).

    A sample that cannot be asked is in `Scores.skipped` with the reason. An error says so where
    nothing at all can be asked.
    """
    asked = dict(locals())
    options = Options(templates, multi_token, cs, intersentence, parse_rules(rules))
    loading = {name: asked[name] for name in _LOADING}
    folder = None if output is None else Path(output)
    command = writing.python_call(score, asked)
    if endpoint is not None and (device_map, quantization) != (None, None):
        raise SettingError(
            "device_map and quantization are for a model that is loaded here, not at a server."
        )
    crew = team(device)
    common = (folder, command, options, limit, batch_tokens, null)

    def work(loading: Mapping[str, Any]) -> Scores | dict[str, Scores]:
        subject = model if endpoint is None else connect(endpoint, model, tokenizer, connections)
        if isinstance(config, Dataset):
            outcome = score_rows(subject, config, *common, team=crew, **loading)
            return next(iter(outcome.scores.values()))
        configs = _names(config)
        outcome = score_configs(subject, configs, *common, flat=True, team=crew, **loading)
        if isinstance(config, str) and config.strip() in configs:
            return outcome.scores[config.strip()]
        for name, reason in {**outcome.left_out, **outcome.failed}.items():
            logger.warning("%s is not scored: %s", name, reason)
        if not outcome.scores:
            raise next(iter(outcome.failed.values()))
        return {name: outcome.scores[name] for name in configs if name in outcome.scores}

    return led(crew, model, loading, work)


def _names(config: Any) -> dict[str, bool]:
    """The configs that are meant, as the command selects them."""
    if isinstance(config, str):
        return select_configs(config)
    if isinstance(config, (list, tuple)) and all(isinstance(name, str) for name in config):
        return select_configs(",".join(config))
    raise SettingError(
        f"A {type(config).__name__} cannot be scored: give the name of a config or of a group, a list of "
        f"names, or one split of a data set (datasets.Dataset)."
    )


@dataclass(frozen=True)
class Entry:
    """One finished run on disk; `new` says whether it was computed now."""

    path: Path
    scores: Scores
    result: dict[str, Any]
    new: bool


@dataclass(frozen=True)
class Outcome:
    """What became of every config; `entries` are the runs of the `scores` that are kept."""

    scores: dict[str, Scores] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, GestError] = field(default_factory=dict)

    def add(self, loaded: Subject, request: Request, path: Path | None, command: Sequence[str]) -> None:
        """Ask the model, and take what it gave."""
        scores, new = record(loaded, request, path, command)
        self.scores[request.name] = scores
        if path is not None:
            self.entries.append(Entry(path, scores, read_run(path).result["result"], new))


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
    begun: Callable[[str], None] = lambda name: None,
    done: Callable[[Entry], None] = lambda entry: None,
    team: Team = ALONE,
    **loading: Any,
) -> Outcome:
    """Score a model on configs (`data.selection.names`); `begun` hears of each when its turn has come, `done`
    of each run as soon as it is there.

    The model is loaded when all that can be wrong without it has been looked at.

    Runs are in folders of `folder` (if there is one) with the configs' names; a single one is in `folder`
    itself where it is `flat`. `loading` goes to `scoring.loading.load_model`. The other processes of a
    `team` follow this one (`following.led`).
    """
    several = len(configs) > 1
    if several and folder is not None:
        writing.claim_several(folder, CONFIGS)
    subject, kind = _name_and_kind(model, loading)
    chosen, left_out = selection.split(configs, kind, subject)
    outcome = Outcome(left_out=left_out)
    requests: dict[str, Request] = {}
    paths: dict[str, Path | None] = {}
    for name in chosen:
        path = paths[name] = folder if folder is None or (flat and not several) else folder / name
        if path is not None:
            writing.claim_run(path)
        try:
            requests[name] = prepare(name, limit, options, batch_tokens, null)
            requests[name].check(subject, kind)
        except _OF_ONE_CONFIG as error:
            if not several:
                raise
            requests.pop(name, None)
            outcome.failed[name] = error
    if not requests:
        return outcome
    # those that can need a second head come last
    ordered = sorted(requests.items(), key=lambda item: item[1].probe.intersentence)
    first = _subject(model, loading, team, all(request.probe.intersentence for _, request in ordered))
    second: Subject | ModelError | None = None
    for name, request in ordered:
        own: Subject | ModelError = first
        if request.probe.intersentence and first.kind == MASKED:
            own = second = second or _with_another_head(model, loading, team)
            if not configs[name] and (isinstance(own, ModelError) or own.kind == MASKED):
                left_out[name] = "the checkpoint has no next-sentence head"
                continue
        begun(name)
        try:
            if isinstance(own, ModelError):
                raise own
            if isinstance(own, Loaded):
                # a run that overflows goes over to float32, and the next one begins as this one did
                own = replace(own, owned=own.owned and not several)
            outcome.add(own, request, paths[name], command)
        except _OF_ONE_CONFIG as error:
            if not several:
                raise
            outcome.failed[name] = error
            continue
        if folder is not None:
            done(outcome.entries[-1])
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
    team: Team = ALONE,
    **loading: Any,
) -> Outcome:
    """Score a model on data of a user's own, as `score_configs` does on one config."""
    if path is not None:
        writing.claim_run(path)
    request = prepare(rows, limit, options, batch_tokens, null)
    request.check(*_name_and_kind(model, loading))
    outcome = Outcome()
    outcome.add(_subject(model, loading, team, request.probe.intersentence), request, path, command)
    return outcome


def _name_and_kind(model: Any, loading: Mapping[str, Any]) -> tuple[str, str]:
    """What `load_model` would load, or what a server has."""
    if isinstance(model, Served):
        return model.name, model.kind
    return name_and_kind(model, loading.get("revision"), loading.get("trust_remote_code", False))


def _subject(model: Any, loading: Mapping[str, Any], team: Team, next_sentence: bool) -> Subject:
    """A model that is ready to be asked; one behind a server is."""
    if not isinstance(model, Served):
        loaded = load_model(model, **loading, next_sentence=next_sentence)
        return load_everywhere(team, loaded, next_sentence)
    if team.several:
        raise SettingError(
            f"{model.name} is behind a server, which one process asks: start it without the launcher of "
            f"{team.size} (connections says how many requests are open at one time)."
        )
    return model


def _with_another_head(model: Any, loading: Mapping[str, Any], team: Team) -> Subject | ModelError:
    try:
        return _subject(model, loading, team, next_sentence=True)
    except ModelError as error:
        return error
