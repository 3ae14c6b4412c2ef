"""Which published rows are of a user's model."""

from __future__ import annotations

from gest_dataset import published
from gest_dataset.published.models import hub_ids, language_models, rows_for_model

ROWS = [{"model": "roberta-base", "n": 1}, {"model": "gerulata/slovakbert", "n": 2}]
HUB = {"from_hub": True, "model": "FacebookAI/roberta-base", "requested_revision": None}


def test_addresses_of_today_are_those_of_the_table_of_models() -> None:
    known = {ids[0]: ids for ids in (model.hub_ids for model in language_models().values())}
    assert len(known) == len(language_models())
    assert {handle: hub_ids(handle) for handle in known} == known


def test_every_handle_of_the_two_papers_has_one_owner() -> None:
    handles = {row["handle"] for row in published.load("stereoset_overall")["rows"]}
    handles |= {row["model"] for row in published.load("word_filling_ss")["rows"]}
    assert {handle: hub_ids(handle)[-1].count("/") for handle in handles} == dict.fromkeys(handles, 1)


def test_a_model_from_the_hub_has_its_rows() -> None:
    assert rows_for_model(ROWS, HUB, "model") == ROWS[:1]
    assert (
        rows_for_model(ROWS, HUB | {"model": "roberta-base", "requested_revision": "main"}, "model")
        == ROWS[:1]
    )


def test_a_folder_an_owner_or_a_revision_of_that_name_is_another_model() -> None:
    for other in ({"from_hub": False}, {"model": "me/roberta-base"}, {"requested_revision": "step1"}):
        assert rows_for_model(ROWS, HUB | other, "model") == []
    assert rows_for_model(ROWS, {"model": "roberta-base"}, "model") == []
