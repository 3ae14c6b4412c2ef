"""A loaded model answers queries: in evaluation, by the scorer of its kind, with shards on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.models.batching import Pass, answer, run
from gest_dataset.models.scorers import LanguageModel, NextSentence
from gest_dataset.models.shards import Shards
from gest_dataset.models.stretches import State
from gest_dataset.models.subject import Answered
from gest_dataset.models.team import ALONE, Team
from gest_dataset.probes.queries import Query

NOT_FINITE = "the model's values are not finite"


@dataclass(frozen=True)
class Task:
    """What the other processes of a team are told to compute: work, how far it has come, where it is kept."""

    work: Sequence[Pass]
    state: State
    folder: Path | None
    mark: str


def answered(
    model: Any,
    scorer: LanguageModel | NextSentence,
    queries: Sequence[Query],
    budget: int,
    description: str,
    folder: Path | None,
    team: Team = ALONE,
    announce: Callable[[Task], object] = lambda task: None,
) -> Answered:
    """The values of all queries, `budget` padded tokens in a batch."""
    store = None if folder is None else Shards(folder)

    def begin(work: Sequence[Pass], state: State) -> None:
        place = None if folder is None else folder.resolve()
        announce(Task(work, state, place, store.mark if store else ""))

    with _evaluating(model):
        values, passes = answer(queries, scorer, budget, description, store, team, begin)
    earlier = store.earlier if store else 0.0
    return Answered(values, passes, "+".join(scorer.dtypes), tuple(scorer.notes), NOT_FINITE, earlier)


def take_part(task: Task, model: Any, make: Callable[[], LanguageModel | NextSentence], team: Team) -> None:
    """The part of a process that does not lead."""
    store = None if task.folder is None else Shards(task.folder, task.mark)
    with _evaluating(model):
        run(task.work, task.state, make, store=store, team=team)


def scorer_of(model: Any, tokenizer: Any, kind: str, owned: bool) -> LanguageModel | NextSentence:
    """The scorer of a kind of model."""
    pad_id = tokenizer.pad_token_id  # that of a token which was added later may have no embedding
    size = getattr(model.config.get_text_config(), "vocab_size", None)
    if None not in (pad_id, size) and pad_id >= size:
        pad_id = None
    if kind == "nsp":
        return NextSentence(model, pad_id, owned)
    return LanguageModel(model, kind, pad_id, owned)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Without dropout for a while; a model that the user handed over goes on as it was."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
