"""The board: the numbers of runs and of the papers, and a page that filters them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gest_dataset import published
from gest_dataset.errors import OutputError
from gest_dataset.runs import read_run
from gest_dataset.sweep.board import COLUMNS, OWN, PUBLISHED, write_board
from gest_dataset.sweep.suite import Suite, find_suite, parse_suite, read_suite
from tests.conftest import ROOT, in_one_thread
from tests.support.browser import chromium
from tests.support.herd import bred
from tests.sweep.conftest import run_suite


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The runs of two models, one with a family, and the site."""
    base = tmp_path_factory.mktemp("board")
    entries: list[dict[str, Any]] = [
        {"model": str(bred(base / name, seed=seed)), "label": name}
        for seed, name in enumerate(("calm", "other"))
    ]
    entries[0] |= {"family": "Herd", "size": 12.5, "kind": "masked"}
    suite = parse_suite({"configs": "demo_en,demo_sk_pairs", "templates": [1, 3], "models": entries}, "two")
    with in_one_thread():
        run_suite(suite, base / "out")
        write_board(suite, base / "out", base / "site")
        yield base / "out" / "runs", base / "site"


def rows_of(site: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((site / "board.csv").read_text("utf-8"))))


def test_runs_are_on_the_board(board: tuple[Path, Path]) -> None:
    runs, site = board
    own = [row for row in rows_of(site) if row["origin"] == OWN]
    assert list(own[0]) == list(COLUMNS)
    found = {(row["reference"], row["metric"], row["template"], row["stereotype"]): row for row in own}
    run = read_run(runs / "calm" / "demo_en")
    result = run.result["result"]
    head = found["runs/calm/demo_en", "g_s", "", ""]
    for column, value in (
        ("value", result["g_s"]),
        ("low", result["g_s_low"]),
        ("zone_high", result["zone_high"]),
    ):
        assert float(head[column]) == value
    assert head["verdict"].startswith(result["verdict"])
    assert (head["family"], head["kind"]) == ("Herd", "masked")
    assert float(found["runs/calm/demo_en", "d", "3", ""]["value"]) == result["by_template"]["3"]["d"]
    assert (
        float(found["runs/calm/demo_en", "q", "1", "16"]["high"]) == result["by_template"]["1"]["q_high"][15]
    )
    frame = pd.read_parquet(site / "board.parquet")
    assert len(frame) == len(rows_of(site))
    items = pd.read_parquet(site / "items.parquet")
    ours = items[(items["model"] == run.manifest.model) & (items["config"] == "demo_en")]
    assert ours["log_ratio"].tolist() == run.table["log_ratio"].to_pylist()


def test_every_published_number_is_on_the_board(board: tuple[Path, Path]) -> None:
    rows = [row for row in rows_of(board[1]) if row["origin"] == PUBLISHED]
    found = {(row["model"], row["metric"], row["stereotype"], row["value"]) for row in rows}
    number = 0
    for name in set(published.names()) - {"models", "winobias"}:
        for row in published.load(name)["rows"]:
            model = row.get("handle", row.get("model", row.get("system")))
            for metric, value in row.items() if model else ():
                bound = metric.endswith(("_low", "_high", "_pm"))
                if (
                    bound
                    or isinstance(value, str)
                    or metric in ("template", "table", "tables", "n_predicted")
                ):
                    continue
                if isinstance(value, dict):
                    assert {(model, f"{metric}_{key}", "", str(one)) for key, one in value.items()} <= found
                    continue
                for place, one in enumerate(value if isinstance(value, list) else [value], start=1):
                    text = "" if one is None else str(one)
                    assert (model, metric, str(place) if isinstance(value, list) else "", text) in found
                    number += 1
    assert number > 4000
    pm = next(row for row in published.load("word_filling_ss")["rows"] if row["ss_mu_original_pm"])
    low = pm["ss_mu_original"] - pm["ss_mu_original_pm"]
    assert any(row["low"] and math.isclose(float(row["low"]), low) for row in rows)
    kinds = {row["model"]: row["kind"] for row in rows}
    assert (kinds["electra-base-generator"], kinds["pythia-12b"], kinds["deepl"]) == (
        "masked",
        "causal",
        "translator",
    )


def test_the_suite_of_the_board() -> None:
    """The papers' 34 models among 70, each with size, family (its own name if it stands alone) and kind."""
    suite: Suite = read_suite(find_suite("published"))
    papers = read_suite(find_suite("papers/gest-english.yaml"))
    assert [model.model for model in papers.models] == [model.model for model in suite.models[:34]]
    assert all(
        model.size and model.family != model.name and model.kind in ("masked", "causal")
        for model in suite.models
    )
    slavic = {model.model for model in read_suite(find_suite("gest-slavic")).models}
    assert slavic <= {model.model for model in suite.models if "sk_pairs" in model.selected}
    pinned = {model.model: model.revision for model in suite.models if model.revision}
    evidence = list(csv.DictReader(io.StringIO((ROOT / "docs/revisions.csv").read_text("utf-8"))))
    assert {row["model"]: row["revision"] for row in evidence} == pinned
    for row in evidence:
        assert re.fullmatch("[0-9a-f]{40}", row["revision"]), row
        assert (
            len({row["first_repository"].split("/")[0], row["second_repository"].split("/")[0], ""}) == 3
        ), row
        assert all(row.values()), row
    for file in ("gest_dataset/sweep/published.yaml", "docs/sweep.md"):
        assert f"{len(evidence)} models" in " ".join((ROOT / file).read_text("utf-8").split()), file


def test_a_folder_of_others_is_left_alone(board: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "CNAME").write_text("mine")
    suite = parse_suite({"configs": "demo_en", "models": ["a"]}, "one")
    with pytest.raises(OutputError, match="CNAME"):
        write_board(suite, tmp_path / "none", tmp_path)


@pytest.mark.slow
def test_filters_and_links(board: tuple[Path, Path]) -> None:
    page = (board[1] / "index.html").as_uri()
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        problems: list[str] = []
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))

        def visible(column: int) -> set[str]:
            cells = tab.eval_on_selector_all(
                "#board tbody tr:not([hidden])", f"rows => rows.map(row => row.cells[{column}].textContent)"
            )
            return set(cells)

        tab.goto(page)
        assert visible(2) == {"g_s"}
        tab.evaluate("document.querySelector('a.skip').click()")
        assert (tab.evaluate("location.hash"), visible(2)) == ("#main", {"g_s"})
        tab.goto(f"{page}#metric=g_s&language=sk&origin=published")
        tab.wait_for_function("document.querySelector('#filters select[name=language]').value === 'sk'")
        assert visible(6) == {"sk"}
        assert visible(1) == {PUBLISHED}
        tab.select_option("select[name=language]", "")
        tab.select_option("select[name=family]", "Pythia")
        tab.select_option("select[name=size]", "500-3000")
        assert visible(0) == {"pythia-1b", "pythia-1.4b", "pythia-2.8b"}
        assert "family=Pythia" in tab.evaluate("location.hash")
        tab.fill("input[name=model]", "2.8")
        assert visible(0) == {"pythia-2.8b"}
        assert tab.inner_text("#found").startswith("2 of ")
        assert problems == []
