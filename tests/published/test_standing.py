"""Where a model stands among the papers': on the true ratio scale, like beside like."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers as hf

import gest_dataset
from gest_dataset import published
from gest_dataset.published.models import Ranking, language_models, rank_among_published
from tests.conftest import COMMIT, Cached
from tests.support import zoo

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
        if place.below:
            assert place.models[place.below] == max(v for v in place.models.values() if v <= place.g_s)
        if place.above:
            assert place.models[place.above] == min(v for v in place.models.values() if v > place.g_s)


def test_the_text_is_on_the_ratio_scale() -> None:
    models = of(GLM, 1.0).models
    weakest, strongest = (pick(models, key=models.__getitem__) for pick in (min, max))
    assert of(GLM, 0.9).text() == (
        f"g_s 0.90: below {weakest} ({models[weakest]:.2f}) and above nothing; rank 24 of 24 among the "
        f"paper's causal models in templates 3, 4. Published values were brought to the ratio scale."
    )
    assert of(GLM, 90.0).text().startswith(f"g_s 90.00: below nothing and above {strongest} (")
    assert of(GLM, 90.0).rank == 1
    limited = of({**GLM, "limit": 33}, 0.9).text()
    assert limited.endswith("The paper's are of all samples, this one of the first ones only.")


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
        {"config": "mine"},
        {"kind": "seq2seq"},
        {"kind": "causal"},  # of which the paper has none in template 1
        {"config": "sk_pairs", "templates": [], "kind": "causal"},
        {"config": "sk_pairs", "templates": [], "options": {"multi_token": True}},
        {"config": "demo_sk_pairs", "templates": []},
        {"config": "winobias_type1_test", "templates": []},
    ],
)
def test_nothing_is_compared_with_what_is_different(other: dict[str, Any]) -> None:
    assert rank_among_published(FACTS, {"g_s": 1.2}) is not None
    assert rank_among_published({**FACTS, **other}, {"g_s": 1.2}) is None


@pytest.mark.parametrize("g_s", [math.nan, None])
def test_no_value_stands_nowhere(g_s: float | None) -> None:
    assert rank_among_published(FACTS, {"g_s": g_s}) is None


# ---- which model it is -----------------------------------------------------------------------------


@pytest.mark.parametrize("hub_id", ["gpt2", "openai-community/gpt2"])
@pytest.mark.parametrize("revision", [None, "main"])
def test_a_hub_id_is_the_papers_model(hub_id: str, revision: str | None) -> None:
    models = of(GLM, 1.2).models
    place = of({**GLM, "model": hub_id, "from_hub": True, "requested_revision": revision}, 1.2)
    assert place.own == models["gpt2"]
    assert place.models == {name: g_s for name, g_s in models.items() if name != "gpt2"}
    assert place.text().endswith(f"The paper has {models['gpt2']:.2f} for this model.")


@pytest.mark.parametrize(
    "other",
    [
        {"model": "gpt2", "from_hub": False},
        {"model": "gpt2"},  # of an older run, which does not say where it was from
        {"model": "./gpt2/", "from_hub": False},
        {"model": "C:\\models\\gpt2", "from_hub": False},
        {"model": "somebody/gpt2", "from_hub": True},
        {"model": "gpt2", "from_hub": True, "requested_revision": "step1000"},
    ],
)
def test_a_name_alone_is_no_model(other: dict[str, Any]) -> None:
    models = of(GLM, 1.2).models
    place = of({**GLM, **other}, 1.2)
    assert (place.own, place.namesake, place.models) == (None, "gpt2", models)
    assert place.text().endswith(f"If this is a copy of gpt2: the paper has {models['gpt2']:.2f} for it.")


def test_every_papers_model_has_an_id_on_the_hub() -> None:
    for model in language_models().values():
        assert all(hub_id.rpartition("/")[2] == model.name for hub_id in model.hub_ids)
        assert sum("/" in hub_id for hub_id in model.hub_ids) == 1
    slavic = {row["model"] for row in published.load("gest_slavic_mlm")["rows"]}
    assert slavic <= {model.hub_ids[0] for model in language_models().values()}


@pytest.mark.usefixtures("one_thread")
def test_a_run_says_whether_its_model_is_from_the_hub(
    cached: Cached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(model: Any, **options: Any) -> dict[str, Any]:
        metadata = gest_dataset.score(model, "en", limit=3, device="cpu", **options).metadata
        return {name: metadata[name] for name in ("model", "revision", "from_hub", "requested_revision")}

    told = {
        "model": "openai-community/gpt2",
        "revision": COMMIT,
        "from_hub": True,
        "requested_revision": None,
    }
    cached(zoo.directory("gpt2"), told["model"])
    assert asked(told["model"]) == told
    assert asked(told["model"], revision=COMMIT) == {**told, "requested_revision": COMMIT}
    pair = (
        hf.AutoModelForCausalLM.from_pretrained(told["model"]),
        hf.AutoTokenizer.from_pretrained(told["model"]),
    )
    assert not asked(pair)["from_hub"], "whoever hands it over may have changed it"
    monkeypatch.chdir(tmp_path)
    shutil.copytree(zoo.directory("gpt2"), told["model"])
    assert asked(told["model"]) == {**told, "revision": None, "from_hub": False}
