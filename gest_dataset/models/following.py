"""What the processes of a team do that do not lead: they load and compute as the first one tells them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch

from gest_dataset.errors import GestError, LostError, ModelError, SettingError
from gest_dataset.models.answering import take_part
from gest_dataset.models.loading import Compute, Loaded, load_model
from gest_dataset.models.null import twin
from gest_dataset.models.silence import silence
from gest_dataset.models.team import Team
from gest_dataset.runs import writing
from gest_dataset.runs.manifest import differences

T = TypeVar("T")


@dataclass(frozen=True)
class Load:
    """An order: load the model, at the commit that the first process has found."""

    next_sentence: bool
    commit: str | None


@dataclass(frozen=True)
class End:
    """The last order: what the first process gives, or its error."""

    found: Any = None
    error: Exception | None = None


def led(
    team: Team,
    model: Any,
    loading: Mapping[str, Any],
    work: Callable[[Mapping[str, Any]], T],
    tell: bool = True,
) -> T:
    """What the first process makes of `work`; the others are its hands, and get the same if it is to `tell`.

    `loading` is how a model is loaded; work gets it with the device that this process has.
    """
    own = _placed(team, loading)
    if not team.several:
        return work(own)
    with team.ended_by_launcher():
        if not team.leads:
            return _follow(team, model, own)  # type: ignore[no-any-return]
        try:
            found = work(own)
        except LostError:
            raise
        except Exception as error:
            known = error if isinstance(error, GestError) else RuntimeError(repr(error))
            team.spread(lambda: End(error=known if tell else None))
            raise
        team.spread(lambda: End(found if tell else None))
    return found


def _placed(team: Team, loading: Mapping[str, Any]) -> dict[str, Any]:
    """How a process of a team loads the model: on the device that is its own."""
    device = loading["device"]
    if not team.several:
        return dict(loading)
    if ":" in device:
        raise SettingError(
            f"{team.size} processes cannot all compute on {device}: leave the device out, and each takes one "
            f"of its own."
        )
    if loading.get("device_map") is not None:
        raise SettingError(
            f"A device map gives one process all devices, and here are {team.size}: start it without the "
            f"launcher, or leave the device map out."
        )
    own = team.device if device in ("auto", "cuda") and team.device else device
    return {**loading, "device": own}


def load_everywhere(team: Team, loaded: Loaded, next_sentence: bool) -> Loaded:
    """Let the others load what the first process has loaded; they have to find the same."""
    if not team.several:
        return loaded
    team.spread(lambda: Load(next_sentence, loaded.revision))
    first, *others = team.each(lambda: _facts(loaded))
    for number, facts in enumerate(others, 1):
        lines = differences(first, facts)
        if lines:
            listed = "\n".join(line.replace(" there, ", ", ").removesuffix(" now") for line in lines)
            raise ModelError(
                f"Processes 0 and {number} of this run would not compute the same:\n{listed}\n"
                f"Give them the same model, packages and kind of machine."
            )
    return replace(loaded, team=team)


def _facts(loaded: Loaded) -> dict[str, Any]:
    """What has to agree for the same numbers."""
    machine = {**writing.machine(loaded.device), "threads": None}  # which the first process sets for all
    return {**loaded.settings(None), **writing.versions(), **machine}


def _follow(team: Team, model: Any, loading: Mapping[str, Any]) -> Any:
    models: dict[str, Loaded] = {}
    with silence("gest_dataset", logging.CRITICAL):  # the first process tells
        while not isinstance(order := team.hear(), End):
            try:
                _obey(order, team, model, loading, models)
            except LostError:
                raise
            except Exception:
                continue  # the first process has this error as well, and decides what comes next
    if order.error is not None:
        raise order.error
    return order.found


def _obey(
    order: Load | Compute, team: Team, model: Any, loading: Mapping[str, Any], models: dict[str, Loaded]
) -> None:
    if isinstance(order, Load):
        pinned = {**loading, "revision": order.commit or loading.get("revision")}

        def load() -> dict[str, Any]:
            loaded = load_model(model, **pinned, next_sentence=order.next_sentence)
            models[loaded.kind] = loaded
            return _facts(loaded)

        team.each(load)
        return
    torch.set_num_threads(order.threads)
    loaded = replace(models[order.kind], owned=order.owned)
    take_part(order.task, loaded.model, lambda: _same(loaded, order).scorer(), team)


def _same(loaded: Loaded, order: Compute) -> Loaded:
    return twin(loaded, order.twin) if order.twin else loaded
