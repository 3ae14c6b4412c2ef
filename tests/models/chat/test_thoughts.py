"""Models that think aloud before they answer: what is read is the answer, and all of it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import gest_dataset
from gest_dataset.errors import ScoringError
from gest_dataset.probes.prompt import CUT, FILTERED, Answer, without_thoughts
from gest_dataset.runs.folder import read_run
from gest_dataset.translation.chat import translation
from tests.support.chats import MODEL, chatting

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]


@pytest.mark.parametrize(
    ("said", "text", "problem"),
    [
        ("<think>\n(a)? No.\n</think>\n\n(b)", "(b)", ""),
        ("(a)? No.\n</think>\n(b)", "(b)", ""),  # the first tag was the prompt's
        ("<THINK>(a)", "", CUT),
        ("<think>(a)</think> ", "", CUT),
        ("I think (b)", "I think (b)", ""),
    ],
)
def test_what_is_left(said: str, text: str, problem: str) -> None:
    left = without_thoughts(Answer(said, 1, 2))
    assert (left.text, left.problem, left.tokens_out) == (text, problem, 2)
    assert without_thoughts(Answer(said, 1, 2, FILTERED)).problem == FILTERED


def test_choices_are_read_behind_thoughts(tmp_path: Path) -> None:
    thought = "<think>Is it (a) or (b)? He would.</think> (c)"
    with chatting(lambda text, options: thought) as server:
        answers = gest_dataset.ask(MODEL, endpoint=server.url, limit=2, output=tmp_path)
    assert answers.metadata["scored"] == answers.table.num_rows
    assert set(answers.table["place"].to_pylist()) == {2}
    assert set(read_run(tmp_path).table["answer"].to_pylist()) == {thought}


def test_a_character_is_not_whom_a_model_thinks_of() -> None:
    with chatting(lambda text, options: "<think>He? He may, he.</think>She grew up by the sea.") as server:
        answers = gest_dataset.ask(MODEL, "story", endpoint=server.url, limit=2)
    assert set(answers.table["gender"].to_pylist()) == {"female"}


def test_a_model_that_never_ends_to_think_is_told_what_to_do() -> None:
    told = pytest.raises(ScoringError, match=rf"x {CUT}.*--max-tokens")
    with chatting(lambda text, options: "<think>The option (a) says") as server, told:
        gest_dataset.ask(MODEL, endpoint=server.url, limit=2)


def test_a_translation_is_what_stands_behind_thoughts() -> None:
    assert translation("I was tired.", Answer("<think>Bol?</think> Bola som unavená.", 1, 1)).translation == (
        "Bola som unavená."
    )
