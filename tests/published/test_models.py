"""The rank of a run among the paper's models, and the published rows of a model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gest_dataset import published
from gest_dataset.published.models import (
    Ranking,
    english_models,
    rank_among_published,
    rows_for_model,
)

FACTS = {
    "config": "en",
    "kind": "masked",
    "templates": [1],
    "options": {},
    "model": "somebody/else",
    "limit": None,
}
GLM = {**FACTS, "kind": "causal", "templates": [3, 4]}


def of(facts: dict[str, Any], g_s: float) -> Ranking:
    place = rank_among_published(facts, {"g_s": g_s})
    assert place is not None
    return place


@pytest.mark.parametrize("table", ["gest_english_mlm", "gest_english_glm"])
def test_papers_models_stand_where_they_are(table: str) -> None:
    """The paper's own scores, as our results would have them, are among the others in their order."""
    rows = published.load(table)["rows"]
    kind = "masked" if "mlm" in table else "causal"
    models = list(dict.fromkeys(row["model"] for row in rows))
    # a printed g_s is e to a difference of log10
    means = {
        m: np.mean([r["g_s_published"] ** math.log(10) for r in rows if r["model"] == m]) for m in models
    }
    for model in models:
        templates = [row["template"] for row in rows if row["model"] == model]
        facts = {**FACTS, "kind": kind, "templates": templates}
        place = of(facts, means[model])
        assert place.models == pytest.approx(means, rel=1e-3)
        stronger = [sum(value > means[model] * by for value in means.values()) for by in (1.001, 0.999)]
        assert stronger[0] <= place.rank - 1 <= stronger[1]  # its own is equal, but for the print's digits


def test_the_text_is_on_the_ratio_scale() -> None:
    models = of(GLM, 1.0).models
    weakest, strongest = (pick(models, key=models.__getitem__) for pick in (min, max))
    assert of(GLM, 0.9).text() == (
        f"g_s 0.90: below {weakest} ({models[weakest]:.2f}); rank 24 of 24 among the "
        f"paper's causal models in templates 3, 4. Published values were converted to the ratio scale."
    )
    assert of(GLM, 90.0).text().startswith(f"g_s 90.00: above {strongest} (")
    assert of(GLM, 90.0).rank == 1


def test_pairs_stand_among_masked_models_of_their_language() -> None:
    facts = {**FACTS, "config": "sk_pairs", "templates": []}
    rows = [row for row in published.load("gest_slavic_mlm")["rows"] if row["language"] == "sk"]
    log10 = np.log(rows[0]["q"])  # the paper's q is e to the mean log10 ratio
    g_s = 10 ** (log10[7:].mean() - log10[:7].mean())
    place = of(facts, g_s)
    assert place.models[rows[0]["model"].rpartition("/")[2]] == pytest.approx(g_s)
    assert len(place.models) == len(rows)
    assert place.among == "masked models in Slovak"


@pytest.mark.parametrize(
    "other",
    [
        {"templates": [7]},
        {"options": {"templates": "mine.json#1"}},
        {"config": "demo_en"},
        {"kind": "seq2seq"},
        {"kind": "causal"},  # of which the paper has none in template 1
        {"config": "sk_pairs", "templates": [], "options": {"multi_token": True}},
        {"config": "demo_sk_pairs", "templates": []},
    ],
)
def test_nothing_is_compared_with_what_is_different(other: dict[str, Any]) -> None:
    assert rank_among_published(FACTS, {"g_s": 1.2}) is not None
    assert rank_among_published({**FACTS, **other}, {"g_s": 1.2}) is None


def test_a_run_without_an_interval_has_no_rank() -> None:
    for low in (None, math.nan):
        assert rank_among_published(FACTS, {"g_s": 1.2, "g_s_low": low}) is None
    assert rank_among_published(FACTS, {"g_s": 1.2, "g_s_low": 1.1}) is not None


@pytest.mark.parametrize("hub_id", ["gpt2", "openai-community/gpt2"])
def test_a_hub_id_is_the_papers_model(hub_id: str) -> None:
    models = of(GLM, 1.2).models
    place = of({**GLM, "model": hub_id, "from_hub": True, "requested_revision": None}, 1.2)
    assert place.own == models["gpt2"]
    assert place.models == {name: g_s for name, g_s in models.items() if name != "gpt2"}
    assert place.text().endswith(f"The paper reports {models['gpt2']:.2f} for this model.")


@pytest.mark.parametrize(
    "other",
    [
        {"model": "gpt2", "from_hub": False},
        {"model": "C:\\models\\gpt2", "from_hub": False},
        {"model": "somebody/gpt2", "from_hub": True},
        {"model": "gpt2", "from_hub": True, "requested_revision": "step1000"},
    ],
)
def test_a_name_alone_is_no_model(other: dict[str, Any]) -> None:
    models = of(GLM, 1.2).models
    place = of({**GLM, **other}, 1.2)
    assert (place.own, place.models) == (None, models)


ROWS = [{"model": "roberta-base", "n": 1}, {"model": "gerulata/slovakbert", "n": 2}]
HUB = {"from_hub": True, "model": "FacebookAI/roberta-base", "requested_revision": None}


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


def test_the_rank_in_d_is_among_the_models_whose_spread_is_known() -> None:
    """A loud model is first in g_s and nearly last in d; the d of gpt2 is that of its released scores."""
    place = rank_among_published(GLM, {"g_s": 1.26, "d": 0.671})
    assert place is not None
    assert len(place.d_models) == 12
    spreads = [
        row["spread"] for row in published.load("gest_english_spreads")["rows"] if row["model"] == "gpt2"
    ]
    d = math.log(place.models["gpt2"]) / math.sqrt(np.mean(np.square(spreads)))
    assert place.d_models["gpt2"] == pytest.approx(d) == pytest.approx(0.671, abs=0.002)
    assert place.d_rank == 1 + sum(value > 0.671 for value in place.d_models.values())
    loud = rank_among_published(GLM, {"g_s": 3.0, "d": 0.3})
    assert loud is not None
    assert (loud.rank, loud.d_rank) == (1, 12)
    assert "d 0.30: rank 12 of 13 among those whose d is known, with rank 1 in g_s." in loud.text()
    few = rank_among_published(FACTS, {"g_s": 1.2, "d": 0.5})  # of masked models only BERT's is known
    assert few is not None
    assert (few.d_rank, "d 0.50" in few.text()) == (None, False)


def test_the_band_over_reasonable_choices() -> None:
    """g_s and d, of each template and of the mean, by hand."""
    parts = {3: {"g_s": 1.3, "d": 0.1}, 4: {"g_s": 1.1, "d": 0.9}}
    result = {"g_s": 1.2, "g_s_low": 1.1, "d": 0.5, "by_template": parts}
    place = rank_among_published(GLM, result)
    assert place is not None
    causal = [model for model in english_models() if model.kind == "causal"]
    expected = [
        np.mean([value > 1.2 for value in place.models.values()]),
        np.mean([value > 0.5 for value in place.d_models.values()]),
    ]
    for number, part in parts.items():
        models = [model for model in causal if model.where == number]
        expected.append(np.mean([model.g_s > part["g_s"] for model in models]))
        sizes = [math.log(model.g_s) / model.spread for model in models if model.spread]
        expected.append(np.mean([size > part["d"] for size in sizes]))
    assert place.stronger == pytest.approx(expected)
    number = len(place.models) + 1
    low, high = (1 + round(23 * end(expected)) for end in (min, max))
    assert f"(g_s or d, one template or the mean), its rank is {low} to {high} of 24." in place.text()
    texts = [replace(place, stronger=shares).text() for shares in ((1.0, 1.0, 1.0), (0.0, 0.5, 1.0))]
    assert f"or the mean), its rank is {number} of {number}." in texts[0]
    assert f"or the mean), its rank is 1 to {number} of {number}." in texts[1]
    assert "d −0.50: rank" in replace(place, d=-0.5).text()
    assert "choices" not in rank_among_published(FACTS, {"g_s": 1.2, "d": 0.5}).text()
