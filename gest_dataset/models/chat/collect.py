"""All answers to some prompts: each asked once, and kept as it comes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from gest_dataset.data import kept
from gest_dataset.errors import ScoringError
from gest_dataset.models.chat.cost import Price
from gest_dataset.models.chat.speaker import Sampling, Speaker, keys_of
from gest_dataset.probes.prompt import Answer, Prompt
from gest_dataset.runs.progress import Telling
from gest_dataset.storage import parse_json

_SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, said BLOB, checksum BLOB) WITHOUT ROWID"
_FILE = "answers.sqlite3"


@dataclass(frozen=True)
class Collected:
    """The answer to every prompt, how many were asked now, and the seconds that took."""

    answers: dict[Prompt, Answer]
    new: int
    seconds: float

    @property
    def tokens(self) -> tuple[int, int]:
        """In and out, of all answers."""
        said = self.answers.values()
        return sum(answer.tokens_in for answer in said), sum(answer.tokens_out for answer in said)


@dataclass
class Shelf:
    """Answers by their keys; without a connection nothing outlives the process.

    `spent` is what they have cost at a price, kept as they come: a sum over all of them for each prompt would
    take ever longer.
    """

    connection: Any
    known: dict[bytes, Answer] = field(default_factory=dict)
    price: Price | None = None
    folder: Path | None = None
    spent: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.spent = sum(self._cost(answer) for answer in self.known.values())

    def _cost(self, answer: Answer) -> float:
        return self.price.of(answer) if self.price else 0.0

    def next_cost(self, prompt: Prompt, sampling: Sampling) -> float:
        """What one more answer will cost: the mean of those so far; of the first the most that it can."""
        if self.price is None:
            return 0.0
        if self.known:
            return self.spent / len(self.known)
        return self.price.of(Answer("", len(prompt.text.encode()), sampling.max_tokens))

    def lacks(self, prompts: Sequence[Prompt], sampling: Sampling) -> dict[bytes, Prompt]:
        """The prompts that are to be asked, each wording once, by their keys."""
        keys = keys_of(prompts, sampling)
        return {key: prompt for prompt, key in keys.items() if key not in self.known}

    def add(self, answers: Sequence[tuple[bytes, Answer]]) -> None:
        """New answers, on the disk when this returns: all at once, since a disk takes its time for each."""
        self.known |= answers
        self.spent += sum(self._cost(answer) for _, answer in answers)
        if self.connection is None:
            return
        rows = [(key, _told(answer)) for key, answer in answers]
        with self.connection:
            self.connection.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
                [(*row, kept.checksum(*row)) for row in rows],
            )


def collect(
    prompts: Sequence[Prompt],
    speaker: Speaker,
    sampling: Sampling,
    shelf: Shelf,
    max_cost: float = math.inf,
) -> Collected:
    """The answer to every prompt; what stands on the shelf is not asked again.

    Nothing more is asked where all answers together would cost more than `max_cost`: an error says so, and
    the same call with a higher one goes on.
    """
    start = time.perf_counter()
    keys = keys_of(prompts, sampling)
    different = set(keys.values())
    missing = shelf.lacks(prompts, sampling)
    there = before = len(different) - len(missing)
    bar = tqdm(
        total=len(different), initial=there, desc=speaker.name, unit="prompts", disable=None, leave=False
    )
    telling = Telling(shelf.folder, len(different), "prompts")
    telling.at(there)
    with bar:
        while missing:
            affordable = _affordable(list(missing.values()), sampling, shelf, max_cost)
            with closing(speaker.say(affordable, sampling)) as saying:
                for answered in saying:
                    shelf.add([(keys[prompt], answer) for prompt, answer in answered])
                    bar.update(len(answered))
                    there += len(answered)
                    telling.at(there)
            left = shelf.lacks(prompts, sampling)
            if len(left) == len(missing):
                raise ScoringError(
                    f"{there:,} of {len(different):,} answers are there, and one more could cost more than "
                    f"{max_cost:g}. They are kept: the same command with a higher --max-cost goes on."
                )
            missing = left
    answers = {prompt: shelf.known[key] for prompt, key in keys.items()}
    return Collected(answers, there - before, time.perf_counter() - start)


def _affordable(
    prompts: Sequence[Prompt], sampling: Sampling, shelf: Shelf, max_cost: float
) -> Iterator[Prompt]:
    """Prompts one after the other, as long as those on their way cost no more than is left."""
    before = len(shelf.known)
    for sent, prompt in enumerate(prompts):
        on_their_way = sent - (len(shelf.known) - before)
        if shelf.spent + (on_their_way + 1) * shelf.next_cost(prompt, sampling) > max_cost:
            return
        yield prompt


@contextmanager
def opened(folder: Path | None, price: Price | None = None) -> Iterator[Shelf]:
    """The answers that are kept in a folder, for as long as they are asked for; new ones without a folder."""
    if folder is None:
        yield Shelf(None, price=price)
        return
    advice = "Remove that file, and run the same command again."
    with kept.opened(folder / _FILE, _SCHEMA, "The answers in", advice) as connection:
        rows = connection.execute("SELECT key, said, checksum FROM answers").fetchall()
        known = {row[0]: _answer(row[1]) for row in rows if kept.is_whole(row)}
        yield Shelf(connection, known, price, folder)


def _told(answer: Answer) -> bytes:
    own = {name: getattr(answer, name) for name in Answer.__slots__}
    return json.dumps(own, ensure_ascii=False).encode()


def _answer(said: bytes) -> Answer:
    told: Mapping[str, Any] = parse_json(said)
    return Answer(**{**told, "top": tuple((token, value) for token, value in told["top"])})
