"""A model behind a server, as `score` takes one: it answers the queries of causal probes over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.errors import SettingError
from gest_dataset.models.batching import Passes
from gest_dataset.models.served import client as http
from gest_dataset.models.served import tokens
from gest_dataset.models.served.abilities import Abilities, find_out, served_model
from gest_dataset.models.served.asking import ask_all
from gest_dataset.models.served.client import Client
from gest_dataset.models.served.plan import Next, plan
from gest_dataset.models.subject import Answered
from gest_dataset.probes.probe import Probe
from gest_dataset.probes.queries import Query
from gest_dataset.probes.tokenization import ProbeTokenizer, start_token

CONNECTIONS = 8
PLACE = "server"


@dataclass(frozen=True)
class Served:
    """A causal model by its name at a server (a `Subject`)."""

    name: str
    client: Client
    tokenizer: tokens.ServedTokenizer
    abilities: Abilities
    notes: tuple[str, ...]
    kind: str = "causal"
    revision: None = None
    from_hub: bool = False
    asked_revision: None = None
    owned: bool = False
    device: None = None
    place: str = PLACE

    def settings(self, batch_tokens: int | None) -> dict[str, Any]:
        """Where it is, how it reads texts and how it is asked; its weights cannot be seen from here."""
        way = {"endpoint": self.client.address, "asked": self.abilities.way}
        return {**self.tokenizer.facts, **way, "device": self.place, "dtype": PLACE}

    def facts(self) -> dict[str, Any]:
        return {"parameters": None, "toy": False, "endpoint": self._told()}

    def _told(self) -> dict[str, Any]:
        return {"address": self.client.address, "asked": self.abilities.way, **self.abilities.facts()}

    def reader(self, probe: Probe, rules: frozenset[str]) -> ProbeTokenizer:
        start = start_token(self.tokenizer)
        if probe.scores_whole_texts and start is None:
            raise SettingError(
                f"{self.client.address} does not say what begins a text, which {probe.name} puts in "
                f"front: name the model's tokenizer with --tokenizer."
            )
        longest = self.abilities.longest
        return ProbeTokenizer(
            tokenise=self.tokenizer.encode,
            kind=self.kind,
            limit=None if longest is None else longest - 1 - self.abilities.in_front,  # it writes one token
            vocabulary=None,
            unknown=self.tokenizer.unknown,
            mask_id=None,
            start_id=start[1] if start else None,
            end_id=self.tokenizer.eos_token_id,
            reserved=None,
            sentinels=(),
            decoder_start_id=None,
            next_label=None,
            rules=rules,
        )

    def answered(
        self, queries: Sequence[Query], batch_tokens: int | None, description: str, folder: Path | None
    ) -> Answered:
        able = self.abilities
        planned = plan(queries, contexts=able.named or not able.texts, texts=able.texts)
        asked = ask_all(
            planned.items, self.client, self.name, able, self._spelling(planned.items), description, folder
        )
        size = sum(item.size for item in planned.items)
        passes = Passes(len(queries), len(planned.items), size, batches=asked.requests, computed=size)
        missing = "the server's value is not finite"
        if not able.named and not able.texts:
            missing = f"not among the likeliest tokens, up to {able.likeliest} of which this server gives"
        notes = (*self.notes, *self.client.notes())
        return Answered(planned.values(asked.answers), passes, PLACE, notes, missing, 0.0)

    def _spelling(self, items: Sequence[Any]) -> dict[int, str]:
        """The text of every token that is asked for, where a server may name tokens by their texts."""
        if self.abilities.named or not self.abilities.likeliest:
            return {}
        targets = {target for item in items if isinstance(item, Next) for target in item.targets}
        spelt = {target: self.tokenizer.spell(target) for target in targets}
        known = [text for text in spelt.values() if "\N{REPLACEMENT CHARACTER}" not in text]
        # a text that two tokens have, or a part of a character, says nothing of one
        return {target: text if known.count(text) == 1 else "" for target, text in spelt.items()}


def connect(
    url: str, model: str | None, tokenizer: str | None = None, connections: int = CONNECTIONS
) -> Served:
    """The model of a server: what it can be asked is found out now; errors say what it lacks.

    `tokenizer` is the Hub id or folder of the served model's; without it the server is asked for each text.
    """
    client = http.connect(url, connections)
    name, facts = served_model(client, model)
    own, notes = tokens.local(tokenizer, client, name) if tokenizer else (tokens.of_server(client, name), [])
    abilities = find_out(client, name, facts, tuple(own.encode(tokens.SENTENCES[0]).ids))
    if abilities.in_front:
        notes.append(f"the server puts {abilities.in_front} token(s) of its own before the ids it is sent")
    if not abilities.named and not abilities.texts:
        notes.append(
            f"the server gives the likeliest tokens only ({abilities.likeliest}): other words are skipped"
        )
    return Served(name, client, own, abilities, tuple(notes))
