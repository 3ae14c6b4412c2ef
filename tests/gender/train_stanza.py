"""Trains a tiny Stanza pipeline for Slovak with its own trainers and lays it out as its downloads are.

    python train_stanza.py DIRECTORY

DIRECTORY is then what `stanza.Pipeline(dir=...)` takes: a resources.json and a model for each processor.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shlex
import sys
from pathlib import Path

import torch

NAME = "tiny"
_SMALL = shlex.split(
    "--no_pretrain --no_char --word_emb_dim 16 --tag_emb_dim 8 --hidden_dim 32 --transformed_dim 8 "
    "--num_layers 1 --deep_biaff_hidden_dim 16 --word_cutoff 0 --dropout 0 --word_dropout 0 --seed 0"
)


_WORDS = {  # form: UPOS, features
    "Bola": ("AUX", "Gender=Fem|Number=Sing|Tense=Past|VerbForm=Part"),
    "Bol": ("AUX", "Gender=Masc|Number=Sing|Tense=Past|VerbForm=Part"),
    "som": ("AUX", "Mood=Ind|Number=Sing|Person=1|Tense=Pres|VerbForm=Fin"),
    ".": ("PUNCT", "_"),
}
_ADJECTIVES = [("unavená", "unavený"), ("smutná", "smutný"), ("pekná", "pekný"), ("silná", "silný")]
_ADVERBS = ["veľmi", "vždy", "doma", "vtedy"]


def conllu() -> tuple[str, str]:
    """Sentences such as *Bola som veľmi unavená.*, as plain text and as CoNLL-U."""
    texts, trees = [], []
    for (female, male), adverb, is_female in itertools.product(_ADJECTIVES, _ADVERBS, (True, False)):
        cop, adjective = ("Bola", female) if is_female else ("Bol", male)
        gender = "Fem" if is_female else "Masc"
        rows = [
            (cop, *_WORDS[cop], 4, "cop"),
            ("som", *_WORDS["som"], 4, "aux"),
            (adverb, "ADV", "Degree=Pos", 4, "advmod"),
            (adjective, "ADJ", f"Case=Nom|Gender={gender}|Number=Sing", 0, "root"),
            (".", *_WORDS["."], 4, "punct"),
        ]
        text = f"{cop} som {adverb} {adjective}."
        lines = [f"# text = {text}"]
        for number, (form, upos, feats, head, relation) in enumerate(rows, start=1):
            space = "SpaceAfter=No" if number == 4 else "_"
            lines.append(
                f"{number}\t{form}\t{form.lower()}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t{space}"
            )
        texts.append(text)
        trees.append("\n".join(lines) + "\n\n")
    return "\n\n".join(texts) + "\n", "".join(trees)


def tokenizer(texts: Path, trees: Path, home: Path) -> None:
    from stanza.models import tokenizer as trainer
    from stanza.utils.datasets import prepare_tokenizer_data

    labels, expansions = home / "labels.txt", home / "mwt.json"
    prepare_tokenizer_data.main([str(texts), str(trees), "-o", str(labels), "-m", str(expansions)])
    files = (
        f"--txt_file {texts} --label_file {labels} --dev_txt_file {texts} --dev_label_file {labels}".split()
    )
    files += f"--dev_conll_gold {trees} --mwt_json_file {expansions}".split()
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
