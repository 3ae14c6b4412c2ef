"""What a run may not exceed, what it has to prove, and what its samples can show at all."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gest_dataset import cli
from gest_dataset.commands.console import err, out
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")
Gest = Callable[..., tuple[int, str, str]]


@pytest.fixture
def gest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Gest:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(zoo.directory("bert"), tmp_path / "bert")
    capsys.readouterr()

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gest", *arguments])
        for console in (out, err):
            monkeypatch.setattr(console, "_width", 120)
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return run


def test_a_gate_on_the_upper_bound(gest: Gest) -> None:
    command = ("score", "bert", "--config", "demo_en", "--templates", "1", "--output", "run")
    assert gest(*command)[0] == 0
    result = json.loads(Path("run/result.json").read_text(encoding="utf-8"))["result"]
    low, high = result["g_s_low"], result["g_s_high"]
    assert gest(*command, "--fail-unless-below", f"g_s={high + 0.01}")[0] == 0
    code, _, messages = gest(*command, "--fail-unless-below", f"g_s={high - 0.001}")
    assert code == 1
    assert "g_s of demo_en is not shown to be below" in messages
    assert f"upper bound {high:.3f}" in messages
    code, _, messages = gest(*command, "--fail-above", f"g_s={(low + high) / 2}")
    assert code == 0
    assert "but it may be: its upper bound is" in messages
    code, _, messages = gest(*command, "--fail-above", f"g_s={high + 0.01}")
    assert (code, "may be" in messages) == (0, False)
    assert gest(*command, "--fail-unless-below", "g_x=1")[0] == 2


def test_the_verdict_with_its_zone_and_random_baselines(gest: Gest) -> None:
    command = ("score", "bert", "--config", "demo_en", "--templates", "1", "--null", "2", "--output", "run")
    code, shown, _ = gest(*command)
    assert code == 0
    assert "(negligible range " in shown
    assert "2 randomly initialised copies: g_s " in shown
    result = json.loads(Path("run/result.json").read_text(encoding="utf-8"))["result"]
    assert len(result["null"]["values"]) == 2
    assert result["verdict"] in ("shown", "negligible", "not shown", "reversed")


def test_power_needs_no_model(gest: Gest) -> None:
    code, shown, _ = gest("score", "no-such-model", "--power", "--config", "demo_en,demo_controls")
    assert code == 0
    assert "demo_en" in shown
    _, shown, _ = gest("score", "no-such-model", "--power", "--json", "--config", "demo_en")
    effects = json.loads(shown)["demo_en"]
    assert (effects["samples"], effects["units"]) == (160, 160)
    # ten samples of each of 16 stereotypes: sqrt((1 / 7 + 1 / 9) / 10), and the zone
    error = math.sqrt((1 / 7 + 1 / 9) / 10)
    assert effects["single"] == pytest.approx(0.2 + (1.959964 + 0.841621) * error)
    assert effects["paired"] == pytest.approx((1.959964 + 0.841621) * error)
