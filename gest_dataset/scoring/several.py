"""One model on several configs: loaded once, a run each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from datasets import Dataset

from gest_dataset.builders import CONFIGS
from gest_dataset.errors import DataError, GestError, ModelError, ScoringError, SourceError
from gest_dataset.probes.probe import Options
from gest_dataset.runs import writing
from gest_dataset.runs.reading import read_run
from gest_dataset.scoring import selection
from gest_dataset.scoring.loading import MASKED, Loaded, kind_of, load_model
from gest_dataset.scoring.request import Request, prepare
from gest_dataset.scoring.score import Scores, record

# What is wrong with one config and leaves the next one as it is
_OF_ONE_CONFIG = (DataError, ModelError, ScoringError, SourceError)


@dataclass(frozen=True)
class Entry:
    """One finished run; `new` says whether it was computed now."""

    path: Path
    scores: Scores
    result: dict[str, Any]
    new: bool


@dataclass(frozen=True)
class Outcome:
    """What became of every config."""

    entries: list[Entry] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed: dict[str, GestError] = field(default_factory=dict)


def score_configs(
    model: str,
    configs: dict[str, bool],
    folder: Path,
    command: Sequence[str],
    options: Options,
    limit: int | None = None,
    batch_tokens: int | None = None,
    flat: bool = False,
    done: Callable[[Entry], None] = lambda entry: None,
    **loading: Any,
) -> Outcome:
    """Score a model on configs (`data.selection.names`); `done` hears of each run as soon as it is there.

    The model is loaded when all that can be wrong without it has been looked at.

    Runs are in folders of `folder` with the configs' names; a single one is in `folder` itself where
    it is `flat`. `loading` goes to `scoring.loading.load_model`.
    """
    several = len(configs) > 1
    if several:
        writing.claim_several(folder, CONFIGS)
    kind = kind_of(model, loading.get("revision"), loading.get("trust_remote_code", False))
    chosen, left_out = selection.split(configs, kind, model)
    outcome = Outcome(left_out=left_out)
    paths = {name: folder if flat and not several else folder / name for name in chosen}
    requests: dict[str, Request] = {}
    for name in sorted(chosen, key=_is_between):
        writing.claim_run(paths[name])
        try:
            requests[name] = prepare(name, limit, options, batch_tokens)
            requests[name].check(kind, model)
        except _OF_ONE_CONFIG as error:
            if not several:
                raise
            requests.pop(name, None)
            outcome.failed[name] = error
    if not requests:
        return outcome
    first = load_model(model, **loading, next_sentence=all(map(_is_between, configs)))
    second: Loaded | ModelError | None = None
    for name, request in requests.items():
        path = paths[name]
        own: Loaded | ModelError = first
        if _is_between(name) and first.kind == MASKED:
            own = second = second or _with_another_head(model, loading)
            if not configs[name] and (isinstance(own, ModelError) or own.kind == MASKED):
                left_out[name] = "the checkpoint has no next-sentence head"
                continue
        try:
            if isinstance(own, ModelError):
                raise own
            # a run that overflows goes over to float32, and the next one begins as this one did
            scores, new = record(replace(own, owned=not several), request, path, command)
        except _OF_ONE_CONFIG as error:
            if not several:
                raise
            outcome.failed[name] = error
            continue
        entry = Entry(path, scores, read_run(path).result["result"], new)
        outcome.entries.append(entry)
        done(entry)
    return outcome


def score_rows(
    model: str,
    rows: Dataset,
    path: Path,
    command: Sequence[str],
    options: Options,
    limit: int | None = None,
    batch_tokens: int | None = None,
    **loading: Any,
) -> Outcome:
    """Score a model on data of a user's own, as `score_configs` does on one config."""
    writing.claim_run(path)
    request = prepare(rows, limit, options, batch_tokens)
    kind = kind_of(model, loading.get("revision"), loading.get("trust_remote_code", False))
    request.check(kind, model)
    loaded = load_model(model, **loading, next_sentence=request.probe.between)
    scores, new = record(loaded, request, path, command)
    return Outcome([Entry(path, scores, read_run(path).result["result"], new)])


def _is_between(name: str) -> bool:
    """The configs that can need a second head come last."""
    return name.endswith("_intersentence")


def _with_another_head(model: str, loading: dict[str, Any]) -> Loaded | ModelError:
    try:
        return load_model(model, **loading, next_sentence=True)
    except ModelError as error:
        return error
