"""The study of annotators, and the choice of sentences by their votes: planted effects, naive counts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import gest_dataset
from gest_dataset import studies
from gest_dataset.cli import app
from gest_dataset.data.rows import rows_of
from gest_dataset.data.votes import is_selected
from gest_dataset.errors import SettingError
from gest_dataset.published.released import PINNED, Released
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import collect_runs
from tests.statistics.test_agreement import naive
from tests.studies.planting import cells, gest, value
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("mirror", "few_draws")


def naive_votes() -> list[dict[str, Any]]:
    """The annotations, with the agreement as docs/studies.md defines it."""
    votes = rows_of("annotations")
    names = {field: votes.features[field].names for field in ("gender_vote", "match_vote", "verdict")}
    found = []
    for row in votes.to_list():
        named = row | {field: labels[row[field]] for field, labels in names.items()}
        own = STEREOTYPES[row["stereotype"]].gender
        gender = named["gender_vote"].removeprefix("strong_")
        level = "second"
        if gender == own and named["match_vote"] in ("agree", "strong_agree"):
            strongest = (f"strong_{own}", "strong_agree")
            level = "strong" if (named["gender_vote"], named["match_vote"]) == strongest else "weak"
        found.append(named | {"own": own, "blind": gender, "agreement": level})
    return found


def sentences_with(**where: str) -> set[str]:
    """The ids of the sentences of GEST whose annotation has these values."""
    votes = {row["sentence"].strip(): row for row in naive_votes()}
    votes |= {row["fix"].strip(): row for row in votes.values() if row["fix"]}
    rows = [(row["id"], votes.get(row["sentence"].strip(), {})) for row in rows_of("en_1_0").to_list()]
    return {name for name, vote in rows if all(vote.get(key) == wanted for key, wanted in where.items())}


def test_agreement_of_the_annotators() -> None:
    study = studies.annotators()
    collected = naive_votes()
    genders = ("female", "neutral", "male")
    units = [[genders.index(row["own"]), genders.index(row["blind"])] for row in collected]
    (row,) = cells(study, "alpha", sentences="all")
    assert row["number"] == len(collected) == len(rows_of("annotations"))
    assert value(row["Krippendorff's alpha"]) == pytest.approx(naive(units))
    assert row["same gender (%)"] == pytest.approx(100 * sum(a == b for a, b in units) / len(units))
    by_writer = [one for one in cells(study, "alpha") if str(one["sentences"]).startswith("creator ")]
    assert sum(one["number"] for one in by_writer) == len(collected)
    counts: dict[tuple[str, str], int] = {}
    for one in collected:
        key = one["match_vote"], one["verdict"]
        counts[key] = counts.get(key, 0) + 1
    for line in cells(study, "match-verdicts"):
        vote = line.pop("vote")
        assert line == {name: counts.get((vote, name), 0) for name in line}
    assert {table.name for table in study.tables} == {"alpha", "votes", "gender-verdicts", "match-verdicts"}


def test_g_s_by_agreement_and_writer(tmp_path: Path) -> None:
    """g_s of e for sentences with strong agreement or by K, of 1 for the others."""
    strong = sentences_with(agreement="strong")
    path = gest(tmp_path / "a", "a", lambda row, t: row["sign"] * (0.5 if row["id"] in strong else 0.0))
    rows = {row["sentences"]: row for row in cells(studies.annotators([path]), "levels")}
    assert rows["agreement=strong"]["number"] == len(strong)
    assert value(rows["agreement=strong"]["g_s"]) == pytest.approx(math.e)
    weak = sentences_with(agreement="weak")
    assert rows["agreement=weak"]["number"] == len(weak)
    whole = cells(studies.items([path]), "items")[0]
    chosen = cells(studies.items([path], where=["agreement=strong"]), "items")[0]
    assert value(chosen["g_s"]) == pytest.approx(math.e)
    assert value(whole["g_s"]) < 2.5
    study = studies.templates([path], where=["agreement=strong,weak", "creator=K"])
    assert "Only sentences with agreement=strong,weak and creator=K." in study.notes
    assert study.signature != studies.templates([path]).signature
    study = studies.topical([path], where=["agreement=strong"])
    assert study.notes == ("Only sentences with agreement=strong.",)
    _, part, number, g_s = study.table("parts").rows[0]
    assert (part[:3], number, value(g_s)) == ("all", len(strong), pytest.approx(math.e))


def test_where_in_runs_on_pairs_and_in_released_scores(tmp_path: Path) -> None:
    """Pairs are chosen by their source sentence."""
    chosen = sentences_with(creator="K")
    used = [row["id"] for row in rows_of("sk_pairs").to_list() if row["sentence_id"] in chosen]
    path = gest(tmp_path / "sk", "a", lambda row, t: 0.1 * row["sign"], config="sk_pairs")
    where = ["creator=K"]
    files = Released(PINNED, where)
    (run,) = collect_runs([path], "topical", lambda run: True, files)
    assert run.table["id"].to_pylist() == used
    assert 0 < len(used) < len(rows_of("sk_pairs"))
    assert {*files.gest["gpt2"].index.get_level_values("id")} == chosen
    study = studies.topical([path], released=PINNED, where=where)
    assert len({row["model"] for row in cells(study, "parts")}) == 35


def test_score_of_chosen_sentences(tmp_path: Path) -> None:
    """The run has exactly the sentences of the conditions, and is another one than that of all."""
    model = zoo.directory("bert")
    wanted = sentences_with(agreement="strong", creator="K")
    run = gest_dataset.score(
        str(model), "en", templates=[1], where=("agreement=strong", "creator=K"), output=tmp_path / "run"
    )
    assert {*run.table["id"].to_pylist()} == wanted
    assert 0 < len(wanted) < 34
    assert run.metadata["where"] == ["agreement=strong", "creator=K"]
    arguments = ["score", str(model), "--templates", "1", "--where", "creator=L", "--output"]
    found = CliRunner().invoke(app, [*arguments, str(tmp_path / "run")])
    assert "different settings" in str(found.exception)
    found = CliRunner().invoke(app, [*arguments, str(tmp_path / "other"), "--power"])
    assert f" {len(sentences_with(creator='L'))} " in found.output


@pytest.mark.parametrize("condition", ["agreement", "agreement=high", "creator=K,Z", "writer=K"])
def test_unknown_conditions(condition: str) -> None:
    with pytest.raises(SettingError, match=r"is not one or several of .*agreement=second,strong,weak"):
        is_selected(rows_of("en")["id"], [condition])


def test_other_configs_have_no_votes() -> None:
    with pytest.raises(SettingError, match="where applies to en and en_1_0, not to sk_pairs"):
        gest_dataset.score(str(zoo.directory("bert")), "sk_pairs", where=("creator=K",))
