"""What a run will cost is told before it is paid, and a limit holds from the first prompt on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gest_dataset.commands.ask import _show_plan
from gest_dataset.errors import ScoringError, SettingError
from gest_dataset.models.chat import ask as room
from gest_dataset.models.chat.cost import Estimate, Price
from gest_dataset.models.chat.endpoint import connect
from gest_dataset.models.chat.questions import questions
from tests.support.chats import MODEL, chatting, prompts

pytestmark = [
    pytest.mark.usefixtures("mirror", "one_thread"),
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]
PRICE = Price(10.0, 100.0)
EACH = (50 * 10 + 4 * 100) / 1e6  # of the answers of tests.support.chats


def recorded(url: str, path: Path | None, price: Price | None = PRICE, most: float = 1e9) -> list[Estimate]:
    told: list[Estimate] = []
    room.record(questions("choice", limit=10), connect(url, MODEL), path, (), price, most, told.append)
    return told


def test_a_limit_that_the_first_prompt_would_pass(tmp_path: Path) -> None:
    with chatting(lambda text, options: "(a)") as server:
        with pytest.raises(ScoringError, match=r"^0 of 20 answers are there, .* more than 1e-06\."):
            recorded(server.url, tmp_path, most=1e-6)
        assert not prompts(server)


@pytest.mark.parametrize("many", [7, 60])
def test_a_limit_is_held_with_all_that_is_on_its_way(many: int) -> None:
    """The first answers could cost three times what they do: others follow them when it is known."""
    with chatting(lambda text, options: "(a)") as server:
        with pytest.raises(ScoringError, match=f"^{many} of "):
            recorded(server.url, None, most=(many + 0.5) * EACH)
        assert len(prompts(server)) == many


def test_what_is_left_is_told(tmp_path: Path) -> None:
    with chatting(lambda text, options: "(a)") as server:
        with pytest.raises(ScoringError, match="max-cost"):
            recorded(server.url, tmp_path, most=50.5 * EACH)
        (left,) = recorded(server.url, tmp_path)
    assert left.prompts == 120 - 50
    assert left.money == pytest.approx(70 * EACH)
    assert (left.tokens_in, left.tokens_out) == (70 * 50, 70 * 4)
    assert left.seconds > 0


def test_a_server_that_counts_no_tokens_has_no_price(capsys: pytest.CaptureFixture[str]) -> None:
    with chatting(lambda text, options: "(a)") as server:
        answer = server.translate

        def uncounted(request: Any) -> Any:
            status, headers, told = answer(request)
            return status, headers, {name: own for name, own in told.items() if name != "usage"}

        server.translate = uncounted
        with pytest.raises(ScoringError, match="without a number of tokens"):
            recorded(server.url, None)
        (plan,) = recorded(server.url, None, price=None)
    _show_plan(plan)
    assert "tokens" not in capsys.readouterr().err


def test_a_limit_needs_prices() -> None:
    with pytest.raises(SettingError, match="--price-in"):
        room.price_of(None, None, 5.0)
    assert room.price_of(None, None, float("inf")) is None
    for wrong in (-1.0, float("nan")):
        with pytest.raises(SettingError, match="0 or more"):
            room.price_of(wrong, None, 5.0)


@pytest.mark.parametrize(
    ("seconds", "money", "told"),
    [
        (150.0, 12.345, "about 1,000 tokens in, 20 out, 2.5 minutes, at a cost of 12.35."),
        (12.0, 0.00123, "about 1,000 tokens in, 20 out, 12 s, at a cost of 0.0012."),
        (12.0, None, "about 1,000 tokens in, 20 out, 12 s."),
    ],
)
def test_the_plan_in_words(
    seconds: float, money: float | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _show_plan(Estimate(40, 1000.0, 20.0, seconds, money))
    assert capsys.readouterr().err.strip() == f"40 prompts to be asked: {told}"
