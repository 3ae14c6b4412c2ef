"""Small random translation models of the real classes, with tokenizers trained on the test texts."""

from __future__ import annotations

import functools
import json
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import normalizers, pre_tokenizers
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

from tests.support import zoo

_WIDTHS = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 128}
_HEADS = {
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}
_SIZES: dict[str, Any] = {**_WIDTHS, **_HEADS}
_FORCED = ["slk_Latn", "ces_Latn", "__sk__", "__cs__"]


@functools.cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gest-translators-")


@functools.cache
def directory(name: str) -> Path:
    """The folder of a model and its tokenizer, as `save_pretrained` writes them."""
    path = Path(_home().name) / name
    path.mkdir()
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(zlib.crc32(name.encode()))
        model, tokenizer = _MAKERS[name](path)
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    # random as it is, it says words: of the special tokens only the end, and those that may be forced
    silent = {*tokenizer.all_special_ids, *getattr(tokenizer, "lang_code_to_id", {}).values()}
    forced = tokenizer.convert_tokens_to_ids(_FORCED)
    silent -= {tokenizer.eos_token_id, *forced}
    model.generation_config.suppress_tokens = sorted(silent)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def _ids(tokenizer: Any, start: int) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": start,
    }


def _nllb(_: Path) -> tuple[Any, Any]:
    pieces = zoo._sentencepiece(900, ("<s>", "<pad>", "</s>", "<unk>"), "always")
    tokenizer = hf.NllbTokenizer(**pieces, src_lang="fra_Latn", extra_special_tokens=FAIRSEQ_LANGUAGE_CODES)
    config = hf.M2M100Config(**_SIZES, **_ids(tokenizer, tokenizer.eos_token_id))
    return hf.M2M100ForConditionalGeneration(config), tokenizer


def _madlad(_: Path) -> tuple[Any, Any]:
    special = ["<unk>", "<s>", "</s>", "<2en>", "<2sk>", "<2cs>"]
    splitter = zoo._without_punctuation(pre_tokenizers.Metaspace())
    pieces = zoo._unigram(700, special, normalizers.NFKC(), splitter)
    tokenizer = hf.T5Tokenizer(**pieces, extra_ids=0, pad_token="<s>")
    tokenizer.add_tokens(["<2en>", "<2sk>", "<2cs>"])
    config = hf.T5Config(**{**zoo.SETTINGS["t5"], **_ids(tokenizer, tokenizer.pad_token_id)})
    return hf.T5ForConditionalGeneration(config), tokenizer


def _pieces(path: Path, name: str, size: int, texts: tuple[str, ...]) -> tuple[str, list[str]]:
    """A SentencePiece model and its pieces."""
    import sentencepiece

    with (path / f"{name}.spm").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=file, vocab_size=size, minloglevel=2
        )
    model = sentencepiece.SentencePieceProcessor(model_file=str(path / f"{name}.spm"))
    return str(path / f"{name}.spm"), [model.id_to_piece(number) for number in range(model.get_piece_size())]


def _marian(path: Path, *marks: str, target: str = "sk") -> tuple[Any, Any]:
    translations = tuple(text for text in zoo.texts() if any(letter in text for letter in "áčďéíľňóšťúýž"))
    source, english = _pieces(path, "source", 400, zoo.texts())
    target_file, slovak = _pieces(path, "target", 200, translations)
    words = dict.fromkeys(["</s>", "<unk>", *marks, *english, *slovak, "<pad>"])
    (path / "made.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    tokenizer = hf.MarianTokenizer(
        source_spm=source,
        target_spm=target_file,
        vocab=str(path / "made.json"),
        source_lang="en",
        target_lang=target,
    )
    config = hf.MarianConfig(
        **_SIZES, **_ids(tokenizer, tokenizer.pad_token_id), static_position_embeddings=True
    )
    model = hf.MarianMTModel(config)
    # as the published ones: settings of their own
    model.generation_config.update(num_beams=6, max_length=512, bad_words_ids=[[tokenizer.pad_token_id]])
    return model, tokenizer


def _marian_many(path: Path) -> tuple[Any, Any]:
    return _marian(path, ">>ces<<", ">>slk<<", ">>srp_Latn<<", ">>srp_Cyrl<<", target="sla")


def _m2m100(path: Path) -> tuple[Any, Any]:
    model, pieces = _pieces(path, "sentencepiece.bpe", 400, zoo.texts())
    words = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *pieces])
    (path / "made.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    tokenizer = hf.M2M100Tokenizer(vocab_file=str(path / "made.json"), spm_file=model)
    config = hf.M2M100Config(**_SIZES, **_ids(tokenizer, tokenizer.eos_token_id))
    config.vocab_size = max(tokenizer.lang_code_to_id.values()) + 1
    return hf.M2M100ForConditionalGeneration(config), tokenizer


def _plain_t5(_: Path) -> tuple[Any, Any]:
    tokenizer = zoo._t5(600)
    config = hf.T5Config(**{**zoo.SETTINGS["t5"], **_ids(tokenizer, tokenizer.pad_token_id)})
    return hf.T5ForConditionalGeneration(config), tokenizer


_MAKERS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "nllb": _nllb,
    "m2m100": _m2m100,
    "madlad": _madlad,
    "marian-sk": _marian,
    "marian-sla": _marian_many,
    "t5": _plain_t5,
}
FAST = ("nllb", "madlad")  # those whose tokenizers need no SentencePiece
SLOW = ("m2m100", "marian-sk", "marian-sla")
