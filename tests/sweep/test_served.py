"""A model behind a server in a sweep: the numbers of the same model here, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gest_dataset.models.score import score
from gest_dataset.models.served import asking
from gest_dataset.runs.folder import read_run
from gest_dataset.sweep.board import table_of
from gest_dataset.sweep.grid import DONE, FAILED, Row
from gest_dataset.sweep.place import Place
from gest_dataset.sweep.suite import suite_of
from gest_dataset.sweep.whole import sweep
from tests.conftest import in_one_thread
from tests.support import zoo
from tests.support.completions import MODEL, served
from tests.support.faults import fast_retries
from tests.support.services import Request, Server
from tests.sweep.conftest import Here

CONFIGS = ("demo_sk_pairs", "demo_en")
TOKENIZER = str(zoo.directory("gpt2"))
AT_ONCE = 8


@pytest.fixture(scope="module", autouse=True)
def world(looked_here: None) -> Iterator[None]:
    with in_one_thread():
        yield


def swept(server: Server, folder: Path, resume: bool = False, **told: Any) -> Row:
    """The row of the model at a server."""
    entry = {"model": MODEL, "endpoint": f"{server.url}/v1/", "tokenizer": TOKENIZER, "connections": 1}
    suite = suite_of({"configs": [*CONFIGS, "slovak_gender"], "models": [entry], **told}, "served")
    return sweep(suite, Place(str(folder)), Here(), resume)[MODEL]


def texts(server: Server) -> list[tuple[int, ...]]:
    """The texts that a server was given, `AT_ONCE` in a request; fewer are to find out what it can do."""
    prompts = [request.body.get("prompt", []) for request in server.requests]
    return [tuple(ids) for prompt in prompts if len(prompt) == AT_ONCE for ids in prompt]


def test_its_cells_are_those_of_the_model_here(tmp_path: Path) -> None:
    """What the suite says of all models is for those that are loaded."""
    with served("gpt2") as server:
        row = swept(server, tmp_path / "out", dtype="bfloat16", null=2, batch_tokens=64)
    assert {config: cell.state for config, cell in row.cells.items()} == dict.fromkeys(CONFIGS, DONE)
    assert "needs a masked" in row.left_out["slovak_gender"]
    for config in CONFIGS:
        own = read_run(tmp_path / "out" / "runs" / MODEL / config).table.to_pydict()
        here = score(TOKENIZER, config, device="cpu").table.to_pydict()
        assert own["id"] == here["id"]
        assert own["log_ratio"] == pytest.approx(here["log_ratio"], abs=1e-4)
    line = table_of([row])[0]
    assert (line["device"], line["parameters"], line["scored"]) == ("server", None, line["asked"])


def test_what_it_has_answered_is_kept_when_it_falls_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast_retries(monkeypatch)
    monkeypatch.setattr(asking, "_PROMPTS", AT_ONCE)
    with served("gpt2") as server:
        answer = server.translate

        def failing(request: Request) -> Any:
            enough = len(texts(server)) > 3 * AT_ONCE
            return (500, {}, {"error": "out of memory"}) if enough else answer(request)

        monkeypatch.setattr(server, "translate", failing)
        row = swept(server, tmp_path / "out")
        assert {cell.state for cell in row.cells.values()} == {FAILED}
        assert "status 500: out of memory" in row.cells[CONFIGS[0]].reason
        answered = set(texts(server)[: 3 * AT_ONCE])
        server.requests.clear()
        monkeypatch.setattr(server, "translate", answer)
        row = swept(server, tmp_path / "out", resume=True)
        assert {cell.state for cell in row.cells.values()} == {DONE}
        assert texts(server)
        assert not answered & set(texts(server))
