"""All that a server is asked: several requests at a time, each answer kept as it comes, none asked twice."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from gest_dataset.data import kept
from gest_dataset.errors import OutputError, ScoringError
from gest_dataset.models.served import dialects
from gest_dataset.models.served.abilities import Abilities
from gest_dataset.models.served.at_once import at_once
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.plan import Item, Next, Text
from gest_dataset.probes.queries import Values
from gest_dataset.runs.progress import Telling

# In one request: prompts, tokens of them all, and next tokens that are asked of each (vLLM takes 128)
_PROMPTS, _TOKENS, _NAMED = 64, 8192, 100
_SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, vals BLOB, checksum BLOB) WITHOUT ROWID"
_CHECK = b"check"
# Nats: answers of one model differ by rounding, those of another by more
_DRIFT = 0.05


@dataclass(frozen=True)
class Asked:
    """The values of all items, and how many requests they took now."""

    answers: dict[Item, Values]
    requests: int


def ask_all(
    items: Sequence[Item],
    client: Client,
    model: str,
    abilities: Abilities,
    spelling: Mapping[int, str],
    description: str,
    folder: Path | None,
) -> Asked:
    """The values of every item; what an earlier process has kept in `folder` is not asked again."""
    with _store(folder, abilities) as store:
        answers = {item: there for item in items if (there := store.get(_key(item))) is not None}
        missing = [item for item in items if item not in answers]
        bar = tqdm(
            total=len(items),
            initial=len(answers),
            desc=description,
            unit="prompts",
            disable=None,
            leave=False,
        )
        asking = replace(client)  # what is stopped is this one
        send = partial(_send, client=asking, model=model, abilities=abilities, spelling=spelling)
        requests = 0
        telling = Telling(folder, len(items), "prompts")
        telling.at(len(answers))
        with (
            bar,
            closing(
                at_once(send, _batches(missing, abilities), asking.connections, asking.stopped)
            ) as finished,
        ):
            for answered in finished:
                new = {
                    item: own for batch, values in answered for item, own in zip(batch, values, strict=True)
                }
                store.add({_key(item): own for item, own in new.items()})
                answers |= new
                requests += len(answered)
                bar.update(len(new))
                telling.at(len(answers))
    return Asked(answers, requests)


def _batches(items: Sequence[Item], abilities: Abilities) -> Iterator[list[Item]]:
    """Items that go together in a request: of one kind, contexts with the same targets side by side."""
    nexts = sorted((i for i in items if isinstance(i, Next)), key=lambda i: (i.targets, i.size, i.context))
    texts = sorted((i for i in items if isinstance(i, Text)), key=lambda i: (i.size, i.ids))
    most = _PROMPTS if abilities.several else 1
    for alike in (nexts, texts):
        batch: list[Item] = []
        named: set[int] = set()
        size = 0
        for item in alike:
            targets = set(item.targets) if isinstance(item, Next) else set()
            full = len(batch) == most or size + item.size > _TOKENS
            if batch and (full or (abilities.named and len(named | targets) > _NAMED)):
                yield batch
                batch, named, size = [], set(), 0
            batch.append(item)
            named |= targets
            size += item.size
        if batch:
            yield batch


def _send(
    batch: Sequence[Item], client: Client, model: str, abilities: Abilities, spelling: Mapping[int, str]
) -> list[Values]:
    nexts = [item for item in batch if isinstance(item, Next)]
    texts = [item for item in batch if isinstance(item, Text)]
    if texts:
        body = dialects.echoed(texts, abilities.added)
    elif abilities.named:
        body = dialects.named(nexts)
    else:
        body = dialects.likeliest(nexts, abilities.likeliest)
    told = dialects.ask(client, model, body, len(batch))
    if texts:
        front = abilities.in_front
        return [
            dialects.text_values(item, own, front, client.address)
            for item, own in zip(texts, told, strict=True)
        ]
    values = [dialects.next_values(item, own, spelling) for item, own in zip(nexts, told, strict=True)]
    if abilities.named and any(math.isnan(value) for own in values for value in own):
        raise ScoringError(
            f"{client.address} did not give the log-probability of every token that was named."
        )
    return values


# ---- what is kept ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Store:
    """Answers by the key of what was asked; without a connection nothing is kept."""

    connection: Any
    known: dict[bytes, Values]

    def get(self, key: bytes) -> Values | None:
        return self.known.get(key)

    def add(self, answers: Mapping[bytes, Values]) -> None:
        if self.connection is None:
            return
        rows = [(key, values.tobytes()) for key, values in answers.items()]
        with self.connection:
            self.connection.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
                [(*row, kept.checksum(*row)) for row in rows],
            )


@contextmanager
def _store(folder: Path | None, abilities: Abilities) -> Iterator[_Store]:
    if folder is None:
        yield _Store(None, {})
        return
    advice = "Remove that file, and run the same command again."
    with kept.opened(folder / "answers.sqlite3", _SCHEMA, "The answers in", advice) as connection:
        rows = connection.execute("SELECT key, vals, checksum FROM answers").fetchall()
        # a row that the disk has changed counts as not there
        known = {row[0]: np.frombuffer(row[1]) for row in rows if kept.is_whole(row)}
        store = _Store(connection, known)
        now = np.array(abilities.check)
        before = store.get(_CHECK)
        if before is None:
            store.add({_CHECK: now})
        elif before.shape != now.shape or not np.allclose(before, now, rtol=0, atol=_DRIFT):
            raise OutputError(
                f"{folder.parent} was begun with another model behind this name: the server's values of one "
                f"text have changed. Choose another directory with --output."
            )
        yield store


def _key(item: Item) -> bytes:
    """A digest of what is asked."""
    own, targets = (item.context, item.targets) if isinstance(item, Next) else (item.ids, ())
    parts = (len(own), *own, isinstance(item, Text), *targets)
    return hashlib.sha256(array("q", parts).tobytes()).digest()
