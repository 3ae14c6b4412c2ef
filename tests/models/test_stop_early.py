"""`stop_early` and `short`: which samples are scored, and that a stopped run continues to the full one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset

import gest_dataset
from gest_dataset.errors import SettingError
from gest_dataset.measures.result import is_decided
from gest_dataset.models import loading, score_run
from gest_dataset.runs.folder import CACHE, read_run
from gest_dataset.statistics.sequential import FIRST_LOOK, looks, stretch
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

SIZE = 640


@pytest.fixture
def rows() -> Dataset:
    """640 sentences, 40 of each stereotype, whose first word is about men or women."""
    stereotypes = [number % 16 + 1 for number in range(SIZE)]
    sentences = [
        f"I am {'strong' if s > 7 else 'weak'} and tired on day {n}." for n, s in enumerate(stereotypes)
    ]
    return Dataset.from_dict(
        {"id": [f"s{n}" for n in range(SIZE)], "sentence": sentences, "stereotype": stereotypes}
    )


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets a test replace the scores of the model by noise around an effect, by sample."""

    def plant(effect: float, spread: float = 1.0) -> None:
        original = score_run._table

        def table(scored: Any, probe: Any, features: Any) -> Any:
            noise = np.random.default_rng(0).normal(scale=spread, size=SIZE)
            changed = [
                (row, template, (effect * (row["stereotype"] > 7) + noise[int(row["id"][1:])],))
                for row, template, _ in scored
            ]
            return original(changed, probe, features)

        monkeypatch.setattr(score_run, "_table", table)

    return plant


def score(rows: Dataset, **settings: Any) -> Any:
    return gest_dataset.score(zoo.load("bert"), rows, templates=[3], device="cpu", **settings)


def test_a_clear_effect_stops_the_run_at_the_first_look(rows: Dataset, planted: Any) -> None:
    planted(2.0)
    stopped = score(rows, stop_early=True)
    result = stopped.result()
    assert result["stopped"] == {"samples": FIRST_LOOK, "of": SIZE, "stretch": stretch(FIRST_LOOK)}
    assert set(Counter(stopped.table["stereotype"].to_pylist()).values()) == {FIRST_LOOK // 16}
    plain = gest_dataset.measures.result.compute_result(
        score_run.MEASURES["templates"], stopped.table, stopped.rows
    )
    for end in ("low", "high"):
        ratio = np.log(result[f"g_s_{end}"] / result["g_s"]) / np.log(plain[f"g_s_{end}"] / plain["g_s"])
        assert ratio == pytest.approx(stretch(FIRST_LOOK))
        width = (result[f"d_{end}"] - result["d"]) / (plain[f"d_{end}"] - plain["d"])
        assert width == pytest.approx(stretch(FIRST_LOOK))
    assert result["verdict"] == "shown"


def test_an_unclear_effect_is_scored_to_the_end(rows: Dataset, planted: Any) -> None:
    planted(0.3)
    result = score(rows, stop_early=True).result()
    assert result["stopped"]["samples"] == SIZE
    assert result["verdict"] == "not shown"


def test_a_gate_is_decided_instead_of_the_verdict(rows: Dataset, planted: Any) -> None:
    planted(0.3)
    assert score(rows, stop_early=True, gates=(("g_s", 4.0),)).result()["stopped"]["samples"] < SIZE
    assert score(rows, stop_early=True, gates=(("g_s", 1.35),)).result()["stopped"]["samples"] == SIZE


@pytest.mark.parametrize(
    ("band", "decided"),
    [((0.6, 1.6), False), ((0.9, 1.1), True), ((0.4, 2.5), True), ((0.6, 1.25), False)],
    ids=["around the upper end", "below the interval", "around the interval", "around the lower end"],
)
def test_an_interval_beyond_the_zone_also_has_to_be_clear_of_the_placebo_band(
    band: tuple[float, float], decided: bool
) -> None:
    """Of 1.2 to 1.8, and of an interval in the zone, whose verdict does not depend on the band."""
    result = {"g_s_low": 1.2, "g_s_high": 1.8, "zone_low": 0.9, "zone_high": 1.1, "verdict": "shown"}
    assert is_decided(result, ())
    placebo = {"placebo": dict(zip(("low", "high"), band, strict=True))}
    assert is_decided(result | placebo, ()) is decided
    negligible = {"g_s_low": 0.95, "g_s_high": 1.05, "verdict": "negligible"}
    assert is_decided(result | negligible | placebo, ())
    unclear = {"g_s_low": 1.05, "verdict": "not shown"}
    assert not is_decided(result | unclear | placebo, ())


def test_a_stopped_run_continues_to_the_full_one(
    rows: Dataset, planted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(2.0)
    full = score(rows, output=tmp_path / "full")
    passes: list[int] = []
    original = loading.LanguageModelScorer.log_probs

    def counted(self: Any, inputs: Any, lookups: Any) -> Any:
        passes.append(len(inputs))
        return original(self, inputs, lookups)

    folder = tmp_path / "run"
    stopped = score(rows, output=folder, stop_early=True)
    assert len(stopped.table) == FIRST_LOOK
    assert (folder / CACHE).exists()
    again = score(rows, output=folder, stop_early=True)
    assert again.table.equals(stopped.table)
    monkeypatch.setattr(loading.LanguageModelScorer, "log_probs", counted)
    continued = score(rows, output=folder)
    assert sum(passes) < 0.6 * SIZE, "what was scored before the stop comes from the cache"
    assert continued.table.equals(full.table)
    assert continued.result() == full.result()
    assert "stopped" not in read_run(folder).result["result"]
    assert not (folder / CACHE).exists()


def test_every_look_sees_more_samples_in_the_same_order(rows: Dataset, planted: Any) -> None:
    planted(0.3)
    result = score(rows, stop_early=True)
    assert result.table["id"].to_pylist() == rows["id"][:]
    assert looks(SIZE)[-1] == SIZE


def test_the_short_form_has_40_samples_of_each_stereotype(tmp_path: Path) -> None:
    stereotypes = [number % 16 + 1 for number in range(2 * SIZE)]
    rows = Dataset.from_dict(
        {
            "id": [f"s{n}" for n in range(2 * SIZE)],
            "sentence": [f"I am tired on day {n}." for n in range(2 * SIZE)],
            "stereotype": stereotypes,
        }
    )
    short = score(rows, short=True)
    assert Counter(short.table["stereotype"].to_pylist()) == dict.fromkeys(range(1, 17), 40)
    assert short.metadata["short"] is True
    assert "|short:" in short.signature


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ("stereoset_control_gender", {"short": True}),
        ("winobias_type1_dev", {"stop_early": True}),
        ("en", {"short": True, "limit": 3}),
    ],
)
def test_what_cannot_be_is_refused(config: str, settings: dict[str, Any], mirror: Path) -> None:
    with pytest.raises(SettingError):
        gest_dataset.score(zoo.load("bert"), config, device="cpu", **settings)
