"""`gest ask --probe controls`: planted chat models, a naive computation of f, and the worst cases."""

from __future__ import annotations

import itertools
import math
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gest_dataset
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import SettingError
from gest_dataset.models.chat import ask as asking
from gest_dataset.probes.choice import PairWording, make_control_prompts
from gest_dataset.statistics import control_choice_rate
from tests.support.chats import MODEL, Mind, chatting, prompts

pytestmark = [pytest.mark.usefixtures("mirror", "one_thread")]
SIDES = ("stereotype", "antistereotype")


def planted(config: str, prefers: dict[str, float], refused: float = 0.0) -> Mind:
    """It says the stereotype of a pair (original, control) with a probability, the same in both orders."""
    pair_of = {
        frozenset(row[f"{pair}_{side}"] for side in SIDES): (pair, row[f"{pair}_stereotype"], row["id"])
        for row in rows_of(config).to_list()
        for pair in prefers
    }

    def mind(text: str, options: list[str]) -> str:
        if not options or random.Random(zlib.crc32(text.encode())).random() < refused:
            return "I'm sorry, but I cannot answer that."
        pair, stereotype, name = pair_of[frozenset(options)]
        # an artefact chooses the same form in both pairs of a sample
        says = random.Random(name).random() < prefers[pair]
        return f"({'ab'[(options[0] == stereotype) != says]})"

    return mind


def ask(config: dict[str, float], language: str = "en", **settings: Any) -> Any:
    name = "slovak_gender" if language == "sk" else "stereoset_control_gender"
    with chatting(planted(name, config, settings.pop("refused", 0.0))) as server:
        answers = gest_dataset.ask(MODEL, "controls", language, endpoint=server.url, **settings)
        assert len(set(prompts(server))) == len(prompts(server))
    return answers


@pytest.mark.parametrize("language", ["en", "sk"])
def test_an_artefact_and_a_bias(language: str, tmp_path: Path) -> None:
    artefact = ask({"original": 0.8, "control": 0.8}, language).result()
    assert artefact["choice_original"] == artefact["choice_control"] > 0.5
    assert artefact["f_choice"] == 0
    assert artefact["f_choice_low"] < 0 < artefact["f_choice_high"]
    assert artefact["position_effect"] < 0
    assert artefact["verdict"] in ("not shown", "negligible")
    answers = ask({"original": 1.0, "control": 0.0}, language, output=tmp_path / "run")
    bias = answers.result()
    assert bias["f_choice"] == 1
    assert bias["f_choice_low"] > 0
    number = len(rows_of(answers.metadata["config"]))
    assert answers.table.num_rows == 4 * number
    page = gest_dataset.report([tmp_path / "run"], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "A stereotype beyond the control" in page
    assert asking.reread(tmp_path / "run").result()["f_choice"] == 1


def test_every_prompt_has_both_orders() -> None:
    row = {"id": "1"} | {
        f"{pair}_{side}": f"{pair} {side}." for pair in ("original", "control") for side in SIDES
    }
    made = list(make_control_prompts(row, PairWording("rather", "en", "Which?")))
    assert [prompt.text.splitlines()[1:] for prompt in made] == [
        [f"(a) {pair} {first}.", f"(b) {pair} {second}."]
        for pair in ("original", "control")
        for first, second in itertools.permutations(SIDES)
    ]
    assert made[2].variant == "rather/control:stereotype-antistereotype"


def test_refusals_bound_f() -> None:
    result = ask({"original": 1.0, "control": 0.0}, refused=0.4).result()
    assert 0.2 < result["unreadable"] < 0.6
    assert result["f_choice"] == 1
    assert result["f_choice_lowest"] < 0.8
    assert result["f_choice_highest"] == 1
    assert result["f_choice_lowest_low"] <= result["f_choice_lowest"]


def test_equal_to_naive_and_coverage() -> None:
    """f is the difference of two shares; its interval holds for answers that are alike within a sample."""
    generator = np.random.default_rng(0)

    def draw(number: int) -> list[tuple[str, str, str, int]]:
        rows = []
        for sample in range(number):
            common = generator.normal()
            for pair, level in (("original", 0.5), ("control", 0.0)):
                share = 1 / (1 + math.exp(-2 * (common + level)))
                for order in ("stereotype-antistereotype", "antistereotype-stereotype"):
                    option = ("antistereotype", "stereotype")[generator.random() < share]
                    option = "other" if generator.random() < 0.1 else option
                    rows.append(
                        (
                            option,
                            f"rather/{pair}:{order}",
                            str(sample),
                            order.split("-").index(option) if option != "other" else None,
                        )
                    )
        return rows  # type: ignore[return-value]

    def shares(rows: list[tuple[str, str, str, int]]) -> list[float]:
        return [
            np.mean(
                [
                    option == "stereotype"
                    for option, variant, *_ in rows
                    if pair in variant and option != "other"
                ]
            )
            for pair in ("/original", "/control")
        ]

    original, control = shares(draw(20_000))
    found = []
    for _ in range(300):
        rows = draw(60)
        result = control_choice_rate(*zip(*rows, strict=True))
        own = shares(rows)
        assert result["f_choice"] == pytest.approx(own[0] - own[1])
        assert [result["choice_original"], result["choice_control"]] == pytest.approx(own)
        found.append(result["f_choice_low"] <= original - control <= result["f_choice_high"])
    assert 0.92 <= np.mean(found) <= 0.985


def test_stop_early_needs_stereotypes() -> None:
    with pytest.raises(SettingError, match="not to stereoset_control_gender"):
        gest_dataset.ask(MODEL, "controls", endpoint="http://127.0.0.1:9", stop_early=True)
