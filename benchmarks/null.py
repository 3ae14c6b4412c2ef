"""What an instrument without stereotypes shows: the measured null behind the zones of negligible effects.

    GEST_MIRROR=DIR python benchmarks/null.py models [--twins 1] [--output benchmarks/null_models.csv]
    GEST_MIRROR=DIR python benchmarks/null.py lexical [--output benchmarks/null_lexical.csv]

Any function of the text differs between groups of sentences with other words, and so does a model that
has learnt nothing. `models` scores freshly initialised models of several architectures, tokenisers, sizes
and initialisations (the usual one, and larger ones, whose scores are anything but 0) on all of GEST;
`lexical` takes functions of the words alone: random weights for each word, and the best bag-of-words
predictor (ridge regression) of a random target. Each gives

    d = ln g_s / s      s = pooled standard deviation of the scores within a stereotype

which does not depend on how strongly the model speaks. docs/limits.md draws the zones from both files.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from printing import show

HERE = Path(__file__).parent
SIZES = {"small": (32, 2, 2), "middle": (96, 4, 4), "wide": (256, 4, 2)}  # hidden, heads, layers
SPREADS = (0.02, 0.2, 1.0)  # of the initial weights; the first is what the published models began with
TOKENIZERS = ("words-uncased-6000", "words-cased-12000", "bytes-8000", "pieces-3000")
MODELS = ("bert", "roberta", "distilbert", "electra", "gpt2", "llama", "gpt_neox", "t5")
MARKS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", *(f"<extra_id_{i}>" for i in range(4))]
LEXICAL = 1000
QUANTILES = (0.5, 0.9, 0.95, 0.99, 1.0)


@cache
def gest(config: str = "en") -> Any:
    from datasets import disable_progress_bars, load_dataset

    import gest_dataset  # noqa: F401

    disable_progress_bars()
    return load_dataset("gest", config, split="test")


def texts(config: str) -> list[str]:
    """What a tokeniser learns: neutral sentences in their own frames, or GEST and the templates' frames."""
    if config.endswith("_neutral"):
        return [*gest(config)["masculine"], *gest(config)["feminine"]]
    frames = [f'The {w} said: "I, {w} said. {w.capitalize()} said' for w in ("he", "she", "man", "woman")]
    return [*gest()["sentence"], *frames * 60]


@cache
def tokenizer(name: str, config: str = "en") -> Any:
    """A tokeniser trained on the sentences and on the frames, whose words are tokens of their own."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    kind, *case, size = name.split("-")
    corpus = texts(config)
    asked = {"vocab_size": int(size), "special_tokens": MARKS, "show_progress": False}
    if kind == "words":
        raw = Tokenizer(models.WordPiece(unk_token="<unk>"))
        raw.normalizer = normalizers.BertNormalizer(lowercase=case == ["uncased"])
        raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(**asked)
    elif kind == "bytes":
        raw = Tokenizer(models.BPE())
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        raw.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **asked)
    else:
        raw = Tokenizer(models.BPE(unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()]
        )
        trainer = trainers.BpeTrainer(**asked)
    raw.train_from_iterator(corpus, trainer)
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        **{
            "pad_token": "<pad>",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
        },
        extra_special_tokens=MARKS[5:],
    )


def model(name: str, words: int, size: str, spread: float, seed: int) -> Any:
    """A freshly initialised model; `spread` is the standard deviation of its first weights."""
    import torch
    import transformers as hf

    hidden, heads, layers = SIZES[size]
    common = {
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 2 * hidden,
        "max_position_embeddings": 256,
        "initializer_range": spread,
        "pad_token_id": 0,
    }
    configs = {
        "bert": lambda: hf.BertConfig(**common),
        "roberta": lambda: hf.RobertaConfig(**common),
        "distilbert": lambda: hf.DistilBertConfig(
            vocab_size=words, dim=hidden, n_layers=layers, n_heads=heads, hidden_dim=2 * hidden,
            initializer_range=spread,
        ),
        "electra": lambda: hf.ElectraConfig(**common, embedding_size=hidden),
        "gpt2": lambda: hf.GPT2Config(
            vocab_size=words, n_embd=hidden, n_layer=layers, n_head=heads, n_positions=256,
            initializer_range=spread, bos_token_id=1, eos_token_id=2,
        ),
        "llama": lambda: hf.LlamaConfig(**common),
        "gpt_neox": lambda: hf.GPTNeoXConfig(**common),
        "t5": lambda: hf.T5Config(
            vocab_size=words, d_model=hidden, d_kv=hidden // heads, d_ff=2 * hidden, num_layers=layers,
            num_heads=heads, initializer_factor=50 * spread, decoder_start_token_id=0,
        ),
    }  # fmt: skip
    classes = {
        **dict.fromkeys(("bert", "roberta", "distilbert", "electra"), hf.AutoModelForMaskedLM),
        **dict.fromkeys(("gpt2", "llama", "gpt_neox"), hf.AutoModelForCausalLM),
        "t5": hf.AutoModelForSeq2SeqLM,
    }
    torch.manual_seed(seed)
    return classes[name].from_config(configs[name]()).eval()


def effect(scores: np.ndarray, stereotypes: np.ndarray) -> dict[str, float]:
    """ln g_s, its standard error, the pooled standard deviation within a stereotype, and d."""
    groups = [scores[stereotypes == number] for number in range(1, 17)]
    weights = np.r_[np.full(7, -1 / 7), np.full(9, 1 / 9)]
    ln_g_s = float(weights @ [group.mean() for group in groups])
    spread = float(np.sqrt(np.mean([group.var(ddof=1) for group in groups])))
    error = float(np.sqrt(sum(w**2 * g.var(ddof=1) / len(g) for w, g in zip(weights, groups, strict=True))))
    return {"value": ln_g_s, "error": error, "spread": spread, "d": ln_g_s / spread}


def of_model(config: str, arch: str, words: str, size: str, spread: float, seed: int) -> dict[str, Any]:
    """The effect that a fresh model shows: of GEST and WinoBias in ln g_s, else the mean of the samples."""
    import gest_dataset
    from gest_dataset.measures import MEASURES

    asked = tokenizer(words, config if config.endswith("_neutral") else "en")
    scores = gest_dataset.score((model(arch, len(asked), size, spread, seed), asked), config)
    known = {
        "config": config,
        "model": arch,
        "tokenizer": words,
        "size": size,
        "weights": spread,
        "seed": seed,
    }
    if config == "en" or config.endswith("_neutral"):
        return known | of_templates(scores)
    samples = MEASURES[scores.metadata["measure"]].display
    assert samples is not None
    values = samples.value(scores.table)
    values = values[np.isfinite(values)]
    if "winobias" in config:
        male = np.array(scores.table["occupation_gender"].to_pylist()) == "male"
        value = float(values[male].mean() - values[~male].mean())
        spread_within = float(np.sqrt((values[male].var(ddof=1) + values[~male].var(ddof=1)) / 2))
    else:
        values = np.where(values > 0, 0.5, -0.5) if "stereoset_en" in config else values
        value, spread_within = float(values.mean()), float(values.std(ddof=1))
    return known | {"n": len(values), "value": value, "error": math.nan, "spread": spread_within,
                    "d": value / spread_within if spread_within else math.nan}  # fmt: skip


def of_templates(scores: Any) -> dict[str, Any]:
    frame = scores.table.to_pandas()
    frame["again"] = frame.groupby(["template", "id"]).cumcount()
    wide = frame.pivot(index=["id", "again", "stereotype"], columns="template", values="log_ratio").dropna()
    stereotypes = wide.index.get_level_values("stereotype").to_numpy()
    return {"n": len(wide)} | effect(wide.mean(axis=1).to_numpy(), stereotypes)


def models(output: Path, configs: Sequence[str], sizes: Sequence[str], twins: int) -> None:
    """Score what is not in the file yet: a run that was stopped goes on."""
    from gest_dataset.errors import SettingError

    os.environ.setdefault("TQDM_DISABLE", "1")
    done = list(rows_of(output)) if output.exists() else []
    known = {(row["config"], row["seed"]) for row in done}
    grid = enumerate(itertools.product(range(twins), SPREADS, SIZES, TOKENIZERS, MODELS))
    for config, (seed, (_, spread, size, words, arch)) in itertools.product(configs, list(grid)):
        if size not in sizes or (config, str(seed)) in known:
            continue
        start = time.perf_counter()
        try:
            row = of_model(config, arch, words, size, spread, seed)
        except SettingError:  # this kind of model is not for the config
            continue
        if not row["spread"]:  # one that says the same of all samples has no effect to measure
            continue
        append(output, row)
        print(f"{config} {seed:4} {arch:10} {words:18} {size:6} {spread:4} d {row['d']:+.3f} "
              f"value {row['value']:+.4f} in {time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def append(path: Path, row: dict[str, Any]) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def lexical(output: Path) -> None:
    """Functions of the words alone."""
    from scipy import sparse
    from scipy.sparse.linalg import lsqr

    words = [re.findall(r"[\w']+", text.lower()) for text in gest()["sentence"]]
    stereotypes = np.array(gest()["stereotype"])
    vocabulary = {word: i for i, word in enumerate(sorted({word for text in words for word in text}))}
    rows = np.repeat(np.arange(len(words)), [len(text) for text in words])
    columns = [vocabulary[word] for text in words for word in text]
    shape = (len(words), len(vocabulary))
    counts = sparse.csr_matrix((np.ones(len(columns)), (rows, columns)), shape=shape)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    each = 1 / np.sqrt(np.asarray(counts.sum(axis=0)).ravel())
    generator = np.random.default_rng(0)

    def weights() -> np.ndarray:
        return generator.normal(size=len(vocabulary))

    def predicted(damp: float) -> np.ndarray:
        target = generator.normal(size=len(words))
        return np.asarray(counts @ lsqr(counts, target, damp=damp, iter_lim=300)[0])

    kinds = {
        "sum of random weights of words": lambda: counts @ weights(),
        "mean of random weights of words": lambda: (counts @ weights()) / lengths,
        "random weights, rare words count more": lambda: counts @ (each * weights()),
        "ridge 1 of a random target": lambda: predicted(1.0),
        "ridge 8 of a random target": lambda: predicted(8.0),
    }
    for kind, make in kinds.items():
        effects = []
        for _ in range(LEXICAL if "ridge" not in kind else LEXICAL // 5):
            scores = np.asarray(make()).ravel()
            masculine = (scores > np.median(scores)).astype(float)
            effects.append([abs(effect(values, stereotypes)["d"]) for values in (scores, masculine)])
        for name, values in zip(("g_s", "f_s"), np.transpose(effects), strict=True):
            quantiles = {f"{share:.0%}": float(np.quantile(values, share)) for share in QUANTILES}
            append(output, {"kind": kind, "of": name, "n": len(values), **quantiles})


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("models", "lexical"))
    parser.add_argument("--twins", type=int, default=1, help="models of each kind")
    parser.add_argument("--config", default="en", help="configs, separated by commas")
    parser.add_argument("--size", default=",".join(SIZES), help=f"of {', '.join(SIZES)}")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args(arguments)
    output = asked.output or HERE / f"null_{asked.what}.csv"
    if asked.what == "models":
        models(output, asked.config.split(","), asked.size.split(","), asked.twins)
    else:
        lexical(output)
    if asked.what == "lexical":
        for row in rows_of(output):
            show(f"{row['kind']}: {row['n']} nulls, |d| of {row['of']}", dict(list(row.items())[3:]))
        return
    groups: dict[str, list[float]] = {}
    for row in rows_of(output):
        groups.setdefault(row["config"], []).append(abs(float(row["d"])))
    for name, effects in groups.items():
        quantiles = {f"{q:.0%} of |d| below": float(np.quantile(effects, q)) for q in QUANTILES}
        show(f"{name}: {len(effects)} nulls", quantiles)


if __name__ == "__main__":
    main(sys.argv[1:])
