"""What can be asked: a model that is loaded here, or one behind a server. Both answer queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gest_dataset.models.batching import Passes
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.queries import Query, Values
from gest_dataset.probes.tokenization import ProbeTokenizer

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Answered:
    """The values of every query, in the order asked, and what has to be said of them.

    `missing` is why a value is not finite, `earlier` are the seconds that other processes have spent.
    """

    values: list[Values]
    passes: Passes
    dtype: str
    notes: tuple[str, ...]
    missing: str
    earlier: float


class Subject(Protocol):
    """A model under its name.

    `from_hub` says that it was loaded here, under this name, from the Hub (or the Hub's cache), and
    `asked_revision` which revision was asked for, where one was.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def tokenizer(self) -> Any: ...

    @property
    def revision(self) -> str | None: ...

    @property
    def from_hub(self) -> bool: ...

    @property
    def asked_revision(self) -> str | None: ...

    @property
    def device(self) -> torch.device | None:
        """Where it computes, if that is here."""

    @property
    def place(self) -> str:
        """The same in a word."""

    def settings(self, batch_tokens: int | None) -> dict[str, Any]:
        """What its numbers depend on: hashes of what it is, and how it is asked."""
        ...

    def facts(self) -> dict[str, Any]:
        """What a run says of it beside its numbers."""
        ...

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        """Texts as it reads them for a probe."""
        ...

    def answered(
        self, queries: Sequence[Query], batch_tokens: int | None, description: str, folder: Path | None
    ) -> Answered:
        """The values of all queries; what is found on the way is kept in `folder`."""
        ...
