"""Scoring pairs of new languages: the tokens of the word cover all its characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers as hf
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE

import gest_dataset
from gest_dataset.builders.pairs import pair_row
from gest_dataset.builders.words import core_span
from gest_dataset.probes.tokenization import Tokens, make_probe_tokenizer
from tests.support import zoo
from tests.support.new_language import LANGUAGES, variants_file, variants_of

pytestmark = pytest.mark.usefixtures("one_thread", "home")


def byte_level(texts: list[str]) -> hf.PreTrainedTokenizerFast:
    """As RoBERTa's and GPT-2's: pieces are of bytes, and most letters of these scripts are three."""
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return trained(texts, splitter, decoders.ByteLevel(), None, alphabet)


def sentencepiece(texts: list[str]) -> hf.PreTrainedTokenizerFast:
    """As XLM-R's: pieces are of letters, after NFKC, with a mark for the space before."""
    splitter = pre_tokenizers.Metaspace()
    return trained(texts, splitter, decoders.Metaspace(), normalizers.NFKC(), [])


def trained(
    texts: list[str], splitter: Any, decoder: Any, normalizer: Any, alphabet: list[str]
) -> hf.PreTrainedTokenizerFast:
    tokenizer = Tokenizer(BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = splitter, decoder
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    special = ["<unk>", "<mask>", "<s>", "</s>", "<pad>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )


@pytest.mark.parametrize("make", [byte_level, sentencepiece])
@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != "th"])
def test_the_tokens_of_the_word(code: str, make: Any) -> None:
    """Decoded they are the word, with the space before it and no sign of a neighbour."""
    pairs = [(m, f) for _, m, f in variants_of(code)]
    tokenizer = make([text for pair in pairs for text in pair])
    reader = make_probe_tokenizer(tokenizer, zoo.load("roberta")[0], "masked")
    for masculine, feminine in pairs:
        row = pair_row(code, [], 1, "source", masculine, feminine, first_letter=False)
        assert not isinstance(row, str)
        for variant in ("masculine", "feminine"):
            tokens: Tokens = reader(row[variant])
            slot = tokens.slot(*core_span(row[variant], row["word_index"]))
            assert tokenizer.decode(tokens.slice(slot)).strip() == row[f"{variant}_word"]


@pytest.mark.parametrize(
    ("code", "animal"), [("hi", "roberta"), ("ar", "gpt2"), ("bn", "llama"), ("vi", "t5-bytes")]
)
def test_a_new_language_is_scored(code: str, animal: str, tmp_path: Path) -> None:
    """Every pair has a score with real architectures whose vocabularies know the bytes at least."""
    added = gest_dataset.add_language(code, variants=variants_file(tmp_path / "v.csv", code))
    model, tokenizer = zoo.load(animal)
    scores = gest_dataset.score((model, tokenizer), f"{code}_pairs", multi_token=True, device="cpu")
    assert len(scores.table) == added.configs[0].published_rows, scores.skipped
    assert np.isfinite(scores.table["log_ratio"].to_numpy()).all()
