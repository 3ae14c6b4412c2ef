"""Trains a tiny Trankit pipeline with its own TPipeline; run by Trankit's Python, not by ours.

    PYTHON train_trankit.py DIRECTORY

The XLM-R that it fine-tunes is made here too: one layer of random weights (768 wide, as Trankit takes
for granted) and a SentencePiece vocabulary of the few sentences. Everything lies in the directory in
the layout of the Hugging Face cache, so that Trankit loads it by its usual name, offline.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tiny_treebank import conllu

EMBEDDING = "xlm-roberta-base"
CATEGORY = "customized"
EPOCHS = 40


def tiny_model(folder: Path, text: Path) -> None:
    """A snapshot of a tiny XLM-R."""
    import sentencepiece
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizer

    folder.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "sentencepiece.bpe"),
        vocab_size=90,
        hard_vocab_limit=False,
        character_coverage=1.0,
    )
    tokenizer = XLMRobertaTokenizer(str(folder / "sentencepiece.bpe.model"))
    tokenizer.save_pretrained(str(folder))
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=768,
        num_hidden_layers=1,
        num_attention_heads=12,
        intermediate_size=128,
        max_position_embeddings=514,
    )
    XLMRobertaModel(config).save_pretrained(str(folder))


def into_cache(snapshot: Path, cache: Path) -> None:
    """Put a snapshot where huggingface_hub looks for `xlm-roberta-base`."""
    home = cache / f"models--{EMBEDDING}"
    revision = "0" * 40
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(revision)
    shutil.copytree(snapshot, home / "snapshots" / revision)


def main(directory: Path) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    data = directory / "data"
    data.mkdir(parents=True)
    text, trees = conllu()
    (data / "all.txt").write_text(text, encoding="utf-8")
    (data / "all.conllu").write_text(trees, encoding="utf-8")
    tiny_model(directory / "tiny", data / "all.txt")
    saved = directory / "saved"
    home = saved / EMBEDDING
    for cache in (home, home / CATEGORY, home / CATEGORY / EMBEDDING):
        into_cache(directory / "tiny", cache)

    import trankit

    files = {
        "train_txt_fpath": str(data / "all.txt"),
        "train_conllu_fpath": str(data / "all.conllu"),
        "dev_txt_fpath": str(data / "all.txt"),
        "dev_conllu_fpath": str(data / "all.conllu"),
    }
    for task in ("tokenize", "posdep", "lemmatize"):
        trankit.TPipeline(
            {
                "category": CATEGORY,
                "task": task,
                "save_dir": str(saved),
                "gpu": False,
                "max_epoch": EPOCHS,
                "batch_size": 4,
                "max_input_length": 200,
                **files,
            }
        ).train()
    trankit.verify_customized_pipeline(category=CATEGORY, save_dir=str(saved), embedding_name=EMBEDDING)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
