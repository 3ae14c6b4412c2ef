"""A loaded model answers queries: in evaluation, by the scorer of its kind, with shards on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gest_dataset.probes.query import Query
from gest_dataset.scoring.batching import answer
from gest_dataset.scoring.scorers import LanguageModel, NextSentence
from gest_dataset.scoring.shards import Shards
from gest_dataset.scoring.subject import Answered

NOT_FINITE = "the model's values are not finite"


def answered(
    model: Any,
    scorer: LanguageModel | NextSentence,
    queries: Sequence[Query],
    budget: int,
    description: str,
    folder: Path | None,
) -> Answered:
    """The values of all queries, `budget` padded tokens in a batch."""
    store = None if folder is None else Shards(folder)
    with _evaluating(model):
        values, passes = answer(queries, scorer, budget, description, store)
    earlier = store.earlier if store else 0.0
    return Answered(values, passes, "+".join(scorer.dtypes), tuple(scorer.notes), NOT_FINITE, earlier)


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
