"""Comparing languages on the sources that all of them have, and the sources that differ most."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gest_dataset
from gest_dataset import statistics
from gest_dataset.commands import compare as command
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.runs import comparison, read_run
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.comparison import language_deviations
from gest_dataset.storage import json_value
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


def sources_of(run: Run, frame: pd.DataFrame) -> pd.Series:
    rows = rows_of(run.manifest.config).to_pandas().set_index("id")
    return pd.Series(rows.loc[frame["id"], "source"].to_numpy(), index=frame.index)


def by_source(run: Run) -> pd.DataFrame:
    frame = run.table.to_pandas()
    return frame.assign(source=sources_of(run, frame)).set_index("source").sort_index()


def test_languages_are_joined_by_source(runs: dict[str, Run], capsys: pytest.CaptureFixture[str]) -> None:
    compared = gest_dataset.compare([runs["sk"].path, runs["uk"].path])
    (found,) = compared.differences
    b, a = (by_source(runs[language]) for language in ("sk", "uk"))
    assert not (a["id"].to_numpy() == b["id"].to_numpy()).any(), "no sample has its id in two languages"
    direct = statistics.compare(
        "g_s", a["log_ratio"].to_list(), b["log_ratio"].to_list(), b["stereotype"].to_list()
    )
    assert (found.comparison.a, found.comparison.b) == pytest.approx((direct.a, direct.b))
    assert found.comparison.difference == pytest.approx(direct.difference)
    assert (found.n, found.missing, found.templates) == (80, 0, ())
    assert compared.languages == ("sk", "uk")
    assert len(found.by_stereotype) == 16
    command._show(compared)
    text = "2 languages: sk, uk, compared on the 80 source sentences that they share."
    assert text in capsys.readouterr().out


def test_sources_that_one_language_lacks_are_left_out(runs: dict[str, Run]) -> None:
    """All languages meet on the same sources, whichever two are shown beside each other."""
    names = sorted(by_source(runs["sl"]).index)[:4]
    short = changed(runs["sl"], lambda frame: frame[~sources_of(runs["sl"], frame).isin(names)])
    compared = gest_dataset.compare([runs["sk"], short, runs["uk"]])
    assert [(found.n, found.missing) for found in compared.differences] == [(76, 4), (76, 4)]
    assert [found.config for found in compared.differences] == ["demo_sl_pairs", "demo_uk_pairs"]
    p_values = [found.comparison.p_value for found in compared.differences]
    assert [found.p_holm for found in compared.differences] == pytest.approx(statistics.holm(p_values))


def test_several_pairs_of_a_source_are_averaged(runs: dict[str, Run]) -> None:
    """Each pair of one language occurs twice, moved up and down: the source's mean is as before."""

    def doubled(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([frame.assign(log_ratio=frame["log_ratio"] + shift) for shift in (0.7, -0.7)])

    (before,) = gest_dataset.compare([runs["sk"], runs["uk"]]).differences
    (after,) = gest_dataset.compare([runs["sk"], changed(runs["uk"], doubled)]).differences
    assert after.n == before.n == 80
    expected = (before.comparison.low, before.comparison.high)
    assert (after.comparison.low, after.comparison.high) == pytest.approx(expected)


def level(run: Run, place: int) -> Run:
    """Scores that are the source's own, the same in all languages but for loudness, level and noise."""
    sources = sorted(by_source(run).index)
    own = dict(zip(sources, np.random.default_rng(0).normal(size=len(sources)), strict=True))
    noise = 0.3 * np.random.default_rng([1, place]).normal(size=len(run.table))

    def scores(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(log_ratio=5**place * (sources_of(run, frame).map(own) + place + noise))

    return changed(run, scores)


@pytest.mark.parametrize("languages", [LANGUAGES, LANGUAGES[:2]])
def test_planted_sources_are_listed(
    languages: tuple[str, ...],
    runs: dict[str, Run],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sources = sorted(by_source(runs["sl"]).index)
    sides = [level(runs[language], place) for place, language in enumerate(languages)]

    def move(frame: pd.DataFrame) -> pd.DataFrame:
        shift = 5 * 8.0 * (sources_of(runs["sl"], frame) == sources[33])
        return frame.assign(log_ratio=frame["log_ratio"] - shift)

    sides[1] = changed(sides[1], move)
    few = gest_dataset.compare(sides)
    assert (few.deviations[0]["source"], few.deviations[0]["language"]) == (sources[33], "sl")
    assert few.deviations[0]["deviation"] < -2
    sizes = [abs(row["deviation"]) for row in few.deviations]
    assert sizes == sorted(sizes, reverse=True)
    assert len({row["source"] for row in few.deviations}) == 10
    command._show(few)
    assert "None of them stands out from all other sentences." in capsys.readouterr().out  # of so few
    monkeypatch.setattr(
        comparison, "language_deviations", lambda *given: (language_deviations(*given)[0], np.mean(sizes[:2]))
    )
    many = gest_dataset.compare(sides)
    assert [row["stands_out"] for row in many.deviations] == [True] + 9 * [False]
    command._show(many)
    text = " ".join(capsys.readouterr().out.split())
    assert "1 of them stands out from all other sentences." in text
    assert f"sl {few.deviations[0]['deviation']:+.1f}" in text
    assert json.loads(json.dumps(json_value(command._to_json(many))))["deviations"] == list(many.deviations)


def test_what_cannot_be_compared(runs: dict[str, Run]) -> None:
    sk, uk = runs["sk"], runs["uk"]
    foreign = changed(uk, lambda frame: frame.assign(id=["gone", *frame["id"][1:]]))
    first, last = (
        changed(sk, lambda frame: frame.iloc[:40]),
        changed(uk, lambda frame: frame.iloc[40:]),
    )
    for sides, error, message in (
        ([sk, uk, sk], ConfigError, "same config"),
        ([first, last], DataError, "no sample in common"),
        ([sk, foreign], DataError, r"demo_uk_pairs no longer has the sample gone of "),
    ):
        with pytest.raises(error, match=message):
            gest_dataset.compare(sides)
