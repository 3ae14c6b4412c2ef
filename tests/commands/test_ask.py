"""`gest ask` against a chat server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from datasets import load_dataset

from gest_dataset.stereotypes import STEREOTYPES
from tests.commands.conftest import Gest
from tests.support.chats import MODEL, chatting, planted


def test_run_and_reread(gest: Gest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_dataset("gest", "en", split="test").to_list()
    genders = {row["sentence"]: STEREOTYPES[row["stereotype"]].gender for row in rows}
    with chatting(planted(genders, 0, 1, 0.1)) as server:
        given = ("ask", "--endpoint", server.url, "--model", MODEL)
        done = gest(*given, "--price-in", "1", "--price-out", "1")
        assert done.returncode == 0, done.stderr
        assert "19,800 tokens in, 1,584 out, cost 0.0214." in done.stdout
        assert " x refused" in done.stdout
        folder = tmp_path / "gest-runs" / MODEL / "choice"
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert "I&#39;m sorry, but I cannot answer that." in page
        again = gest("ask", "--reread", str(folder), "--json")
        assert json.loads(again.stdout)["result"]["stereotype_rate"] == 1
        for wrong in ((*given, "x"), ("ask", "x", "--model", "y"), ("ask",)):
            assert gest(*wrong).returncode == 2


def test_too_few_readable_answers(gest: Gest) -> None:
    with chatting(lambda text, options: "(a)") as server:
        done = gest("ask", "--endpoint", server.url, "--model", MODEL, "--limit", "2")
    assert "there is no readable answer about stereotype 1, 2" in " ".join(done.stdout.split())
    assert "– %" not in done.stdout
