"""Random baselines: copies of a model with freshly initialised weights."""

import pytest
import torch

import gest_dataset
from gest_dataset.errors import SettingError
from gest_dataset.models.base import Settings
from gest_dataset.models.loading import load_model, random_baseline
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_baseline_has_other_weights() -> None:
    loaded = load_model(str(zoo.directory("bert")), Settings(device="cpu", dtype="float32"))
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    state = torch.get_rng_state()
    first, again, other = (random_baseline(loaded, number).model for number in (1, 1, 2))
    assert type(first) is type(loaded.model)
    assert first.num_parameters() == loaded.model.num_parameters()
    words = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(first.state_dict()[words], again.state_dict()[words])
    assert not torch.equal(first.state_dict()[words], other.state_dict()[words])
    assert not torch.equal(first.state_dict()[words], before[words])
    assert all(torch.equal(value, before[name]) for name, value in loaded.model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)


def test_scores_have_the_headlines_of_their_baselines() -> None:
    model = zoo.load("bert")
    alone = gest_dataset.score(model, "demo_en", templates=[1])
    compared = gest_dataset.score(model, "demo_en", templates=[1], null=3)
    baselines = compared.result()["null"]
    assert len(set(baselines["values"])) == 3
    assert (baselines["low"], baselines["high"]) == (min(baselines["values"]), max(baselines["values"]))
    assert compared.table.equals(alone.table)
    assert "null" not in alone.result()
    with pytest.raises(SettingError, match="null=-1"):
        gest_dataset.score(model, "demo_en", null=-1)
