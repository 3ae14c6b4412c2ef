"""A real model in words, here and through a real vLLM: SmolLM2-135M-Instruct gives the same answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import gest_dataset
from gest_dataset.models.chat.kinds import KINDS
from tests.models.test_endpoint import vllm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::gest_dataset.statistics.checks.UndefinedWarning"),
]


@pytest.mark.parametrize(("probe", "sentences"), [("choice", 160), ("story", 40)])
def test_a_real_vllm_gives_the_answers_of_the_model(
    probe: str,
    sentences: int,
    vllm: tuple[str, str],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Greedy, on the sentences of the demo; the prompts that differ are in the message."""
    url, folder = vllm
    monkeypatch.setitem(KINDS, probe, replace(KINDS[probe], config=lambda language: "demo_en"))
    here = gest_dataset.ask(folder, probe, limit=sentences, device="cpu", dtype="float32").table.to_pylist()
    away = gest_dataset.ask(folder, probe, endpoint=url, limit=sentences).table.to_pylist()
    assert len(here) == len(away) == sentences * (12 if probe == "choice" else 1)
    different = [
        (one["prompt"], one["answer"], other["answer"])
        for one, other in zip(here, away, strict=True)
        if one["answer"] != other["answer"]
    ]
    assert len(different) <= 0.05 * len(here), different
    if probe == "choice":
        pairs = [(dict(one["shares"]), dict(other["shares"])) for one, other in zip(here, away, strict=True)]
        assert all(one == pytest.approx(other, abs=1e-3) for one, other in pairs)
