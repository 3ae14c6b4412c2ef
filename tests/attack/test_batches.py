"""The same scores for any `batch_tokens`, on every architecture of the zoo."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

import gest_dataset
from tests.support import zoo

pytestmark = [pytest.mark.attack, pytest.mark.usefixtures("one_thread")]
TOLERANCE = 2e-5  # of the largest logit


@pytest.mark.parametrize(
    "animal", [name for family in ("masked", "causal", "seq2seq") for name in zoo.of_family(family)]
)
def test_batch_tokens_change_no_score(animal: str) -> None:
    model, tokenizer = zoo.load(animal)
    logits = [0.0]

    def record(module: object, inputs: object, output: torch.Tensor) -> None:
        logits.append(output.abs().max().item())

    hook = model.get_output_embeddings().register_forward_hook(record)
    tables = [
        gest_dataset.score(
            (model, tokenizer), "en", device="cpu", limit=8, batch_tokens=size
        ).table.to_pandas()
        for size in (1, 97, 700, 10_000)
    ]
    hook.remove()
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0], rtol=0, atol=TOLERANCE * max(logits))
    assert tables[0]["log_ratio"].nunique() > 8
    assert max(logits) > 0
