"""Several requests at one time: all answers come, an error ends it, and nothing that hangs holds it up."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Lock

import pytest

from gest_dataset.models.served import at_once as room
from gest_dataset.models.served.at_once import at_once


def test_every_question_has_its_answer_and_so_many_are_under_way() -> None:
    lock, now, most = Lock(), 0, 0
    gate = Event()

    def send(question: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == 4:
                gate.set()
        gate.wait(5)
        with lock:
            now -= 1
        return question * 2

    stopped = Event()
    answered = [pair for group in at_once(send, iter(range(100)), 4, stopped) for pair in group]
    assert sorted(answered) == [(n, 2 * n) for n in range(100)]
    assert most == 4
    assert stopped.is_set()


def test_what_is_on_its_way_is_taken_before_an_error_is_raised() -> None:
    failed = Event()

    def send(question: int) -> int:
        if question == 1:
            failed.set()
            raise ValueError("no")
        failed.wait(5)
        return question

    answered: list[tuple[int, int]] = []
    asking = at_once(send, iter(range(100)), 2, Event())
    with pytest.raises(ValueError, match="no"):
        list(map(answered.extend, asking))
    assert answered == [(0, 0)]


def test_after_an_error_nothing_that_hangs_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_LAST", 0.05)
    for_ever, ended = Event(), Event()

    def send(question: int) -> int:
        if question == 1:
            raise ValueError("no")
        for_ever.wait(10)
        ended.set()
        return question

    try:
        with pytest.raises(ValueError, match="no"):
            list(at_once(send, iter(range(10)), 2, Event()))
        assert not ended.is_set()
    finally:
        for_ever.set()


def test_who_turns_away_stops_it() -> None:
    stopped, sent = Event(), []

    def send(question: int) -> int:
        sent.append(question)
        return question

    def endless() -> Iterator[int]:
        number = 0
        while True:
            yield number
            number += 1

    asking = at_once(send, endless(), 2, stopped)
    assert next(asking)
    asking.close()
    assert stopped.is_set()
    assert len(sent) <= 2 * room._AHEAD
