"""The hashes that identify a model: every weight and every behaviour of the tokeniser counts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import gest_dataset
from gest_dataset.errors import OutputError
from gest_dataset.models.identity import fingerprint, tokenizer_behaviour, weights_hash
from tests.support import zoo

pytestmark = pytest.mark.usefixtures("one_thread")


def score(folder: Path, output: Path | None, **options: Any) -> gest_dataset.Scores:
    return gest_dataset.score(str(folder), "sk_pairs", None, 20, device="cpu", output=output, **options)


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    return Path(shutil.copytree(zoo.directory("gpt2"), tmp_path / "gpt2"))


def set_tokenizer(folder: Path, **changed: object) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_another_start_token_is_another_run(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(zoo.directory("gpt-neox"), tmp_path / "gpt-neox"))
    before = score(folder, tmp_path / "run")
    set_tokenizer(folder, bos_token="<|padding|>")
    with pytest.raises(OutputError, match=r"was made with other settings:\n  tokenizer_behav"):
        score(folder, tmp_path / "run")
    assert score(folder, None).table != before.table, "the scores show the change"


CHANGES: dict[str, Callable[[Any], object]] = {
    "limit": lambda tokenizer: setattr(tokenizer, "model_max_length", 7),
    "start": lambda tokenizer: setattr(tokenizer, "bos_token", "he"),
    "padding": lambda tokenizer: setattr(tokenizer, "pad_token", "he"),
    "side": lambda tokenizer: setattr(tokenizer, "truncation_side", "left"),
    "more special": lambda tokenizer: tokenizer.add_special_tokens({"additional_special_tokens": ["he"]}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_settings_are_part_of_the_behaviour(what: str) -> None:
    _, tokenizer = zoo.load("gpt2")
    before = tokenizer_behaviour(tokenizer)
    tokenizer("He said.", truncation=True, max_length=2)
    assert tokenizer_behaviour(tokenizer) == before
    CHANGES[what](tokenizer)
    assert tokenizer_behaviour(tokenizer) != before


def test_pairs_are_part_of_the_behaviour() -> None:
    from tokenizers.processors import TemplateProcessing

    _, tokenizer = zoo.load("bert")
    before = tokenizer_behaviour(tokenizer)
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A $B:1 [SEP]:1", special_tokens=special
    )
    assert tokenizer_behaviour(tokenizer) != before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.bool])
def test_swapped_weights_have_another_hash(dtype: torch.dtype) -> None:
    row = torch.arange(12).reshape(3, 4).remainder(5).to(dtype)
    swapped = row.clone()
    swapped[1, [0, 2]] = row[1, [2, 0]]
    scale = torch.tensor(2.0)
    if dtype == torch.bool:
        swapped[0, 0] = ~row[0, 0]
    assert not torch.equal(row, swapped)
    own, *others = (
        weights_hash([("w", weight), ("scale", scale)])
        for weight in (row, swapped, row.reshape(4, 3), row.t().contiguous().t())
    )
    assert own not in others[:2]
    assert own == others[2]


def test_swapped_biases_have_another_hash(tmp_path: Path) -> None:
    model, tokenizer = zoo.load("bert")
    before = fingerprint(model, tokenizer)
    with torch.no_grad():
        model.cls.predictions.bias[[5, 9]] = torch.tensor([1.0, 2.0])
        other = fingerprint(model, tokenizer)
        model.cls.predictions.bias[[5, 9]] = torch.tensor([2.0, 1.0])
    marks = {mark["weights"] for mark in (before, other, fingerprint(model, tokenizer))}
    assert len(marks) == 3
