"""How fast the scoring engine is, beside a naive loop, minicons and the floor, in one run.

    GEST_MIRROR=DIR python benchmarks/scoring.py [--device cuda] [--sentences 120]

Models have random weights in real sizes, so nothing is downloaded; sentences are GEST's. The floor
is the bare encoder's forward pass over the same deduplicated tokens in its best batches: no head,
no tokenisation, no result. Every figure is time per sample and template; ratios are what counts.
Each model runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from printing import machine, save, show

MODELS = ("xlm-roberta-base", "bert-base", "gpt2")
TARGETS = {
    "xlm-roberta-base": {"naive": 12.0, "minicons": 3.0, "floor": 1.2},
    "bert-base": {"naive": 5.0, "minicons": 3.0, "floor": 1.2},
    "gpt2": {"naive": 5.5, "minicons": 3.0, "floor": 1.2},
}


def texts() -> list[str]:
    from datasets import disable_progress_bars, load_dataset

    import gest_dataset  # noqa: F401

    disable_progress_bars()
    return list(load_dataset("gest", "en", split="test")["sentence"])


def make_tokenizer(name: str, sentences: Sequence[str]) -> Any:
    """A tokeniser of the model's kind, trained on GEST: lengths are near the real ones."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    corpus = [f'He said: "{s}" She said. The man said "{s}", he said, she said, woman' for s in sentences]
    if name == "gpt2":
        raw = Tokenizer(models.BPE())
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        raw.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        raw.train_from_iterator(
            corpus,
            trainers.BpeTrainer(vocab_size=8000, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet),
        )
        return PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<|endoftext|>")
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    if name == "bert-base":
        raw = Tokenizer(models.WordPiece(unk_token="<unk>"))
        raw.normalizer = normalizers.BertNormalizer(lowercase=False)
        raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=marks)
    else:
        raw = Tokenizer(models.BPE(unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=marks)
    raw.train_from_iterator(corpus, trainer)
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token="<s>",
        cls_token="<s>",
        sep_token="</s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],
    )


def make_model(name: str) -> Any:
    import torch
    import transformers as t

    torch.manual_seed(0)
    made: dict[str, Callable[[], Any]] = {
        "xlm-roberta-base": lambda: t.XLMRobertaForMaskedLM(
            t.XLMRobertaConfig(vocab_size=250002, max_position_embeddings=514, type_vocab_size=1)
        ),
        "bert-base": lambda: t.BertForMaskedLM(t.BertConfig()),
        "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config()),
    }
    return made[name]().eval()


def contrasts(name: str, sentences: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Both filled texts, and the two words, of every sentence and template."""
    from gest_dataset.probes.templates import choose

    kind = "causal" if name == "gpt2" else "masked"
    for sentence in sentences:
        for template in choose(None, kind):
            yield (
                template.around(sentence, template.masculine)[0],
                template.around(sentence, template.feminine)[0],
                template.masculine,
                template.feminine,
            )


def naive(name: str, model: Any, tokenizer: Any, sentences: Sequence[str], device: str) -> list[float]:
    """One sample at a time, all positions, the whole softmax, a pass for each of the two words."""
    import torch

    found = []
    for masculine, feminine, *words in contrasts(name, sentences):
        values = []
        for text, word in zip((masculine, feminine), words, strict=True):
            start = text.rindex(word) if text.startswith('"') else text.index(word)
            encoding = tokenizer(text, return_offsets_mapping=True)
            ids, offsets = list(encoding["input_ids"]), encoding["offset_mapping"]
            slot = next(i for i, (a, b) in enumerate(offsets) if a < start + len(word) and b > start)
            target = ids[slot]
            if name == "gpt2":
                ids, slot = ids[:slot], slot - 1
            else:
                ids[slot] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids], device=device)).logits
            values.append(float(torch.log_softmax(logits.float(), dim=-1)[0, slot, target]))
        found.append(values[0] - values[1])
    return found


def minicons(
    name: str, model: Any, tokenizer: Any, sentences: Sequence[str], device: str, size: int
) -> list[float]:
    from minicons import scorer

    texts = list(contrasts(name, sentences))
    if name == "gpt2":
        own = scorer.IncrementalLMScorer(model, device, tokenizer=tokenizer)
        pairs = [(t[i].rsplit(f" {t[2 + i]}", 1)[0], t[2 + i]) for t in texts for i in (0, 1)]
        ask = lambda part: own.conditional_score(*map(list, zip(*part, strict=True)))  # noqa: E731
    else:
        own = scorer.MaskedLMScorer(model, device, tokenizer=tokenizer)
        pairs = [(t[i], t[2 + i]) for t in texts for i in (0, 1)]
        ask = own.cloze
    values = [float(v) for start in range(0, len(pairs), size) for v in ask(pairs[start : start + size])]
    return [a - b for a, b in zip(values[::2], values[1::2], strict=True)]


def floor(name: str, model: Any, tokenizer: Any, sentences: Sequence[str], device: str) -> float:
    """The best time of the bare encoder over the inputs that the engine passes through it."""
    import torch

    from gest_dataset.probes.templates import ask, choose
    from gest_dataset.probes.text import make_reader
    from gest_dataset.scoring.scorers import pad

    kind = "causal" if name == "gpt2" else "masked"
    reader = make_reader(tokenizer, model, kind)
    templates = choose(None, kind)[-1:] if kind == "causal" else choose(None, kind)
    samples = [ask({"sentence": s}, t, reader) for s in sentences for t in templates]
    inputs = sorted({query.input_ids for sample in samples for query in sample.queries}, key=len)
    best = float("inf")
    for budget in (256, 512, 1024, 2048) if device == "cpu" else (8192, 32768, 131072):
        batches, start = [], 0
        while start < len(inputs):
            end = start + 1
            while end < len(inputs) and len(inputs[end]) * (end + 1 - start) <= budget:
                end += 1
            batches.append(pad(inputs[start:end], 0, torch.device(device)))
            start = end
        began = time.perf_counter()
        with torch.inference_mode():
            for ids, mask in batches:
                model.base_model(input_ids=ids, attention_mask=mask)
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - began)
    return best


class PeakMemory:
    """The most memory that the process (or the GPU) used inside the block, above the start."""

    def __init__(self, device: str) -> None:
        self.device, self.stop, self.peak = device, threading.Event(), 0.0

    def __enter__(self) -> PeakMemory:
        import psutil
        import torch

        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self.start = torch.cuda.memory_allocated() / 2**20
            return self
        process = psutil.Process()
        self.start = process.memory_info().rss / 2**20

        def watch() -> None:
            while not self.stop.wait(0.01):
                self.peak = max(self.peak, process.memory_info().rss / 2**20)

        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        import torch

        if self.device == "cuda":
            self.peak = torch.cuda.max_memory_allocated() / 2**20
            return
        self.stop.set()
        self.thread.join()

    @property
    def above(self) -> float:
        return max(0.0, self.peak - self.start)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def measure(name: str, number: int, device: str) -> dict[str, Any]:
    """All contestants on one model."""
    import datasets
    import numpy as np

    import gest_dataset

    everything = texts()
    rng = np.random.default_rng(0)
    sentences = [everything[i] for i in rng.choice(len(everything), number, replace=False)]
    tokenizer, model = make_tokenizer(name, everything), make_model(name).to(device)
    rows = datasets.Dataset.from_dict(
        {"id": [str(i) for i in range(number)], "sentence": sentences, "stereotype": [1] * number}
    )
    run = lambda data, **kwargs: gest_dataset.score((model, tokenizer), data, device=device, **kwargs)  # noqa: E731
    few, some = sentences[: max(8, number // 12)], sentences[: max(16, number // 4)]
    with PeakMemory(device) as memory:
        run(rows.select(range(8)))
        scores, ours = timed(lambda: run(rows))
    bare = floor(name, model, tokenizer, sentences, device)
    scores, again = timed(lambda: run(rows))
    ours = min(ours, again)
    templates = len(scores.metadata["templates"])
    expected, naive_seconds = timed(lambda: naive(name, model, tokenizer, few, device))
    found = scores.table["log_ratio"].to_pylist()[: len(expected)]
    peers = {
        size: timed(lambda size=size: minicons(name, model, tokenizer, some, device, size))[1]
        for size in (8, 32)
    }
    each = ours / (number * templates)
    figures = {
        "model": name,
        "inputs": scores.metadata["passes"]["inputs"],
        "milliseconds": each * 1e3,
        "naive_over_ours": naive_seconds / (len(few) * templates) / each,
        "minicons_over_ours": min(peers.values()) / (len(some) * templates) / each,
        "ours_over_floor": ours / bare,
        "megabytes_above_model": memory.above,
        "largest_difference_to_naive": float(np.abs(np.array(found) - expected).max()),
    }
    for dtype in ("bfloat16",) if device == "cpu" else ("bfloat16", "float16"):
        other = run(rows.select(range(len(few))), dtype=dtype).table["log_ratio"].to_pylist()
        figures[f"{dtype}_error"] = float(np.abs(np.array(other) - expected).max())
        model.float()
    return figures


def quadruplets(device: str) -> dict[str, Any]:
    """`stereoset_control_race`: passes against unique masked inputs, counted on their own."""
    import transformers as t
    from datasets import load_dataset

    import gest_dataset
    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.controls import FIELDS

    everything = texts()
    rows = load_dataset("gest", "stereoset_control_race", split="test")
    tokenizer = make_tokenizer("bert-base", [*everything, *rows["original_stereotype"]])
    config = t.BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    scores = gest_dataset.score((t.BertForMaskedLM(config).eval(), tokenizer), rows, device=device)
    kept, unique = set(scores.table["id"].to_pylist()), set()
    for row in rows:
        if row["id"] in kept:
            for field, (start, end) in zip(FIELDS, row["keywords"], strict=True):
                encoding = tokenizer(row[field], return_offsets_mapping=True)
                slot = [a < end and b > start for a, b in encoding["offset_mapping"]]
                ids = zip(encoding["input_ids"], slot, strict=True)
                unique.add(tuple(tokenizer.mask_token_id if inside else i for i, inside in ids))
    return {
        "config": CONFIGS["stereoset_control_race"].name,
        "quadruplets": len(rows),
        "scored": len(kept),
        "queries": scores.metadata["passes"]["queries"],
        "passes": scores.metadata["passes"]["inputs"],
        "unique_masked_inputs": len(unique),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--sentences", type=int, default=120)
    parser.add_argument("--only", choices=[*MODELS, "quadruplets"])
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/scoring.json"))
    arguments = parser.parse_args()
    if arguments.only:
        few = arguments.only == "quadruplets"
        found = (
            quadruplets(arguments.device)
            if few
            else measure(arguments.only, arguments.sentences, arguments.device)
        )
        print(json.dumps(found))
        return
    results = []
    for name in (*MODELS, "quadruplets"):
        command = [sys.executable, __file__, "--only", name, "--device", arguments.device]
        command += ["--sentences", str(arguments.sentences)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
    for result in results:
        show(result.get("model") or result["config"], result)
    report = {"machine": machine(arguments.device), "targets": TARGETS, "results": results}
    save(arguments.json, report)


if __name__ == "__main__":
    main()
