"""Trains a tiny Stanza pipeline for Slovak with its own trainers and lays it out as its downloads are.

    python train_stanza.py DIRECTORY

DIRECTORY is then what `stanza.Pipeline(dir=...)` takes: a resources.json and a model for each processor.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import torch
from tiny_treebank import conllu

NAME = "tiny"
_SMALL = ["--no_pretrain", "--no_char", "--word_emb_dim", "16", "--tag_emb_dim", "8", "--hidden_dim", "32"]
_SMALL += [
    "--transformed_dim",
    "8",
    "--num_layers",
    "1",
    "--deep_biaff_hidden_dim",
    "16",
    "--word_cutoff",
    "0",
]
_SMALL += ["--dropout", "0", "--word_dropout", "0", "--seed", "0"]


def tokenizer(texts: Path, trees: Path, home: Path) -> None:
    from stanza.models import tokenizer as trainer
    from stanza.utils.datasets import prepare_tokenizer_data

    labels, expansions = home / "labels.txt", home / "mwt.json"
    prepare_tokenizer_data.main([str(texts), str(trees), "-o", str(labels), "-m", str(expansions)])
    files = ["--txt_file", str(texts), "--label_file", str(labels), "--dev_txt_file", str(texts)]
    files += [
        "--dev_label_file",
        str(labels),
        "--dev_conll_gold",
        str(trees),
        "--mwt_json_file",
        str(expansions),
    ]
    sizes = ["--emb_dim", "16", "--hidden_dim", "16", "--steps", "300", "--eval_steps", "100", "--no_use_mwt"]
    trainer.main([*files, *sizes, *_where("tokenize", home), "--lr0", "0.01"])


def tagger(trees: Path, home: Path) -> None:
    from stanza.models import tagger as trainer

    files = ["--train_file", str(trees), "--eval_file", str(trees), "--max_steps", "200"]
    trainer.main([*files, *_SMALL, *_where("pos", home), "--eval_interval", "50", "--lr", "0.02"])


def lemmatizer(trees: Path, home: Path) -> None:
    from stanza.models import lemmatizer as trainer

    files = ["--train_file", str(trees), "--eval_file", str(trees), "--dict_only"]
    trainer.main([*files, *_where("lemma", home)])


def parser(trees: Path, home: Path) -> None:
    from stanza.models import parser as trainer

    files = ["--train_file", str(trees), "--eval_file", str(trees), "--max_steps", "300", "--no_checkpoint"]
    sizes = [*_SMALL, "--deep_biaff_output_dim", "16", "--optim", "adam", "--lr", "0.01", "--no_second_optim"]
    trainer.main([*files, *sizes, *_where("depparse", home), "--eval_interval", "100"])


def _where(processor: str, home: Path) -> list[str]:
    language = [] if processor == "lemma" else ["--lang", "sk"]
    folder = home / "sk" / processor
    return [*language, "--shorthand", f"sk_{NAME}", "--save_dir", str(folder), "--save_name", f"{NAME}.pt"]


def main(home: Path) -> None:
    torch.set_num_threads(1)
    text, content = conllu()
    texts, trees = home / "all.txt", home / "all.conllu"
    texts.write_text(text, encoding="utf-8")
    trees.write_text(content, encoding="utf-8")
    tokenizer(texts, trees, home)
    tagger(trees, home)
    lemmatizer(trees, home)
    parser(trees, home)
    processors = ("tokenize", "pos", "lemma", "depparse")
    models: dict[str, object] = {
        name: {NAME: {"md5": hashlib.md5((home / "sk" / name / f"{NAME}.pt").read_bytes()).hexdigest()}}
        for name in processors
    }
    packages = {"default": dict.fromkeys(processors, NAME)}
    (home / "resources.json").write_text(
        json.dumps({"sk": {**models, "packages": packages, "lang_name": "Slovak"}}), encoding="utf-8"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
