"""Which published row is of a user's model: handles as printed, and where the Hub keeps them today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# The Hub has given owners to the models that had none; the longest beginning of a name that fits says which
_OWNERS = {
    "albert-": "albert",
    "bert-": "google-bert",
    "distilbert-": "distilbert",
    "gpt2": "openai-community",
    "roberta-": "FacebookAI",
    "t5-": "google-t5",
    "xlm-roberta-": "FacebookAI",
}


def hub_ids(handle: str) -> tuple[str, ...]:
    """The ids that a model has on the Hub: the handle itself, and its address of today.

    >>> hub_ids("bert-base-cased"), hub_ids("google/mt5-base")
    (('bert-base-cased', 'google-bert/bert-base-cased'), ('google/mt5-base',))
    """
    owner = next((owner for begin, owner in _OWNERS.items() if handle.startswith(begin)), None)
    return (handle,) if owner is None or "/" in handle else (handle, f"{owner}/{handle}")


def rows_of_model(
    rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], column: str
) -> list[Mapping[str, Any]]:
    """The rows of a published table that are of the model of a run, by the `column` with its handle.

    As with `published.standing` only a model that was loaded from the Hub under such an id is the papers'.
    """
    if not metadata.get("from_hub") or metadata.get("requested_revision") not in (None, "main"):
        return []
    return [row for row in rows if metadata["model"] in hub_ids(row[column])]
