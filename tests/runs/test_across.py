"""Languages beside each other: the same sources in all of them, and those that behave differently in one."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gest_dataset
from gest_dataset import statistics
from gest_dataset.commands import compare as command
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.runs import read_run
from gest_dataset.runs.folder import Run
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")

LANGUAGES = ("sk", "sl", "uk")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One model on the demo's pairs of three languages, which are of the same 80 sources."""
    home = tmp_path_factory.mktemp("across")
    found = {}
    for language in LANGUAGES:
        path = home / language
        gest_dataset.score(zoo.load("gpt2"), f"demo_{language}_pairs", device="cpu", output=path)
        found[language] = read_run(path)
    return found


def changed(run: Run, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Run:
    frame = change(run.table.to_pandas())
    return replace(run, table=pa.Table.from_pandas(frame, preserve_index=False))


def of_sources(run: Run) -> pd.DataFrame:
    rows = rows_of(run.manifest.config).to_pandas().set_index("id")
    frame = run.table.to_pandas()
    frame["source"] = rows.loc[frame["id"], "source"].to_numpy()
    return frame.set_index("source").sort_index()


def test_languages_are_joined_by_source(runs: dict[str, Run]) -> None:
    compared = gest_dataset.compare([runs["sk"].path, runs["uk"].path])
    (found,) = compared.differences
    b, a = (of_sources(runs[language]) for language in ("sk", "uk"))
    assert not (a["id"].to_numpy() == b["id"].to_numpy()).any(), "no sample has its id in two languages"
    direct = statistics.compare(
        "g_s", a["log_ratio"].to_list(), b["log_ratio"].to_list(), b["stereotype"].to_list()
    )
    assert (found.found.a, found.found.b) == pytest.approx((direct.a, direct.b))
    assert found.found.difference == pytest.approx(direct.difference)
    assert (found.n, found.missing, found.templates) == (80, 0, ())
    assert compared.languages == ("sk", "uk")
    assert len(found.by_stereotype) == 16


def test_sources_that_one_language_lacks_are_left_out(runs: dict[str, Run]) -> None:
    """All languages meet on the same sources, whichever two are shown beside each other."""
    names = sorted(of_sources(runs["sl"]).index)[:4]
    short = changed(runs["sl"], lambda frame: frame[~of_rows(runs["sl"], frame).isin(names)])
    compared = gest_dataset.compare([runs["sk"], short, runs["uk"]])
    assert [(found.n, found.missing) for found in compared.differences] == [(76, 4), (76, 4)]
    assert [found.config for found in compared.differences] == ["demo_sl_pairs", "demo_uk_pairs"]
    p_values = [found.found.p_value for found in compared.differences]
    assert [found.adjusted for found in compared.differences] == pytest.approx(statistics.holm(p_values))


def of_rows(run: Run, frame: pd.DataFrame) -> pd.Series:
    rows = rows_of(run.manifest.config).to_pandas().set_index("id")
    return pd.Series(rows.loc[frame["id"], "source"].to_numpy(), index=frame.index)


def test_several_pairs_of_a_source_are_averaged(runs: dict[str, Run]) -> None:
    """Each pair of one language stands twice, moved up and down: the source's mean is as before."""

    def doubled(frame: pd.DataFrame) -> pd.DataFrame:
        moved = [frame.assign(log_ratio=frame["log_ratio"] + shift) for shift in (0.7, -0.7)]
        return pd.concat(moved)

    (before,) = gest_dataset.compare([runs["sk"], runs["uk"]]).differences
    (after,) = gest_dataset.compare([runs["sk"], changed(runs["uk"], doubled)]).differences
    assert after.n == before.n == 80
    assert (after.found.low, after.found.high) == pytest.approx((before.found.low, before.found.high))


def level(run: Run, place: int) -> Run:
    """Scores that are the source's own, the same in all languages but for a language's level and noise."""
    sources = sorted(of_sources(run).index)
    own = dict(zip(sources, np.random.default_rng(0).normal(size=len(sources)), strict=True))
    noise = 0.3 * np.random.default_rng([1, place]).normal(size=len(run.table))

    def scores(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(log_ratio=of_rows(run, frame).map(own) + place + noise)

    return changed(run, scores)


def test_a_planted_item_is_named(runs: dict[str, Run], capsys: pytest.CaptureFixture[str]) -> None:
    sources = sorted(of_sources(runs["uk"]).index)
    even = [level(runs[language], place) for place, language in enumerate(LANGUAGES)]
    assert gest_dataset.compare(even).items == ()

    def move(frame: pd.DataFrame) -> pd.DataFrame:
        shift = 5.0 * (of_rows(runs["uk"], frame) == sources[33])
        return frame.assign(log_ratio=frame["log_ratio"] + shift)

    compared = gest_dataset.compare([*even[:2], changed(even[2], move)])
    assert (compared.items[0].source, compared.items[0].language) == (sources[33], "uk")
    command._show(compared)
    told = " ".join(capsys.readouterr().out.split())
    assert "3 languages were tried: sk, sl, uk. They are compared on the 80 sources that all" in told
    assert "2 comparisons were tried" in told
    assert f"(Holm, 5 %): {len(compared.items)} of 80." in told
    assert f"uk +{compared.items[0].apart:.2f} {sources[33]}" in told


def test_many_items_are_counted_and_twenty_listed(
    runs: dict[str, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    even = [level(runs[language], place) for place, language in enumerate(LANGUAGES)]
    sources = sorted(of_sources(runs["uk"]).index)[::7]

    def move(frame: pd.DataFrame) -> pd.DataFrame:
        signs = np.where(np.arange(len(frame)) % 2, 1, -1)
        return frame.assign(
            log_ratio=frame["log_ratio"] + 9.0 * signs * of_rows(runs["uk"], frame).isin(sources)
        )

    compared = gest_dataset.compare([*even[:2], changed(even[2], move)])
    assert len(compared.items) > command._LISTED
    command._show(compared)
    told = capsys.readouterr().out
    assert sum("(stereotype " in line for line in told.splitlines()) == command._LISTED
    assert f"and {len(compared.items) - command._LISTED} more, in --json" in told


def test_other_models_are_said(runs: dict[str, Run], caplog: pytest.LogCaptureFixture) -> None:
    other = replace(runs["uk"], manifest=replace(runs["uk"].manifest, subject="another"))
    with caplog.at_level(logging.WARNING):
        gest_dataset.compare([runs["sk"], other])
    assert "Models differ as well as languages" in caplog.text


def test_a_language_twice_is_no_comparison_of_languages(runs: dict[str, Run]) -> None:
    with pytest.raises(ConfigError, match="same config can be compared"):
        gest_dataset.compare([runs["sk"], runs["uk"], runs["sk"]])


def test_other_options_are_other_questions(runs: dict[str, Run]) -> None:
    settings: dict[str, Any] = runs["uk"].manifest.settings
    options = {**settings["options"], "multi_token": True}
    manifest = replace(runs["uk"].manifest, settings={**settings, "options": options})
    with pytest.raises(ConfigError, match="same options"):
        gest_dataset.compare([runs["sk"], replace(runs["uk"], manifest=manifest)])


def test_languages_without_a_common_source(runs: dict[str, Run]) -> None:
    with pytest.raises(DataError, match="no sample in common"):
        gest_dataset.compare(
            [
                changed(runs["sk"], lambda frame: frame.iloc[:40]),
                changed(runs["uk"], lambda frame: frame.iloc[40:]),
            ]
        )


def test_a_sample_of_other_data_is_named(runs: dict[str, Run]) -> None:
    foreign = changed(runs["uk"], lambda frame: frame.assign(id=["gone", *frame["id"][1:]]))
    with pytest.raises(DataError, match=r"The sample gone of .* is not in demo_uk_pairs of today"):
        gest_dataset.compare([runs["sk"], foreign])


def test_folders_with_one_language_each(runs: dict[str, Run], tmp_path: Path) -> None:
    for name, language in (("a", "sk"), ("b", "uk")):
        shutil.copytree(runs[language].path, tmp_path / name / "pairs")
    by_folder = gest_dataset.compare([tmp_path / "a", tmp_path / "b"])
    assert by_folder.languages == ("sk", "uk")
