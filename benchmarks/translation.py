"""How fast sequence-to-sequence models translate: our batches beside naive loops, in one run.

    GEST_MIRROR=DIR python benchmarks/translation.py [--device cuda] [--sentences 200]

The model is Marian, half as wide and deep as OPUS-MT's, with random weights, so nothing is
downloaded; sentences are GEST's. A random model does not know when to stop: here it ends each output
at the length of its input, for all ways alike, so all of them make the same tokens. Beams, dtype and
model are the same as well. The naive loops are one sentence at a time, and batches of a fixed size in
the order of the file. Tokens per second are of the output, the best of three rounds through all ways;
ratios are what counts. One thread: two that share a busy core say more about the machine than about us.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from printing import machine, save, show

SIZES = (1, 16, 64)
ROUNDS = 3


def texts(number: int) -> list[str]:
    from datasets import disable_progress_bars, load_dataset

    import gest_dataset  # noqa: F401

    disable_progress_bars()
    sentences = load_dataset("gest", "en", split="test")["sentence"]
    return list(dict.fromkeys(sentences))[:: max(1, len(sentences) // number)][:number]


def make(folder: Path, sentences: Sequence[str]) -> None:
    """A model of 3 + 3 layers of width 256."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    marks = ["</s>", "<unk>", "<pad>"]
    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    raw.train_from_iterator(sentences, trainers.BpeTrainer(vocab_size=8000, special_tokens=marks))
    raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_input_names=["input_ids", "attention_mask"],
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(tokenizer),
        d_model=256,
        encoder_layers=3,
        decoder_layers=3,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=1024,
        decoder_ffn_dim=1024,
        max_position_embeddings=512,
        eos_token_id=0,
        pad_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=0,
    )
    MarianMTModel(config).save_pretrained(folder)


def end_where_the_input_ends() -> None:
    """From now on every output of a Marian model has as many tokens as its input."""
    import torch
    from transformers import MarianMTModel

    forward = MarianMTModel.forward

    def measured(self: Any, *args: Any, attention_mask: Any, past_key_values: Any, **settings: Any) -> Any:
        made = past_key_values.get_seq_length()
        found = forward(
            self, *args, attention_mask=attention_mask, past_key_values=past_key_values, **settings
        )
        ends = made + 1 >= attention_mask.sum(-1)
        found.logits[:, -1, 0] = torch.where(ends, 1e4, -1e4)
        found.logits[:, -1, 2] = -1e4
        return found

    MarianMTModel.forward = measured


def naive(folder: Path, sentences: Sequence[str], device: str, size: int) -> Callable[[], tuple[int, float]]:
    """Batches of one size in the given order."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    from gest_dataset.translation.models import BEAMS

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).to(device).eval()

    def translate() -> tuple[int, float]:
        tokens = 0
        begin = time.perf_counter()
        for start in range(0, len(sentences), size):
            batch = tokenizer(sentences[start : start + size], padding=True, return_tensors="pt").to(device)
            with torch.inference_mode():
                rows = model.generate(**batch, num_beams=BEAMS, do_sample=False, max_new_tokens=256)
            tokenizer.batch_decode(rows, skip_special_tokens=True)
            tokens += int((rows[:, 1:] != tokenizer.pad_token_id).sum())
        return tokens, time.perf_counter() - begin

    return translate


def ours(folder: Path, sentences: Sequence[str], device: str, batch_tokens: int | None) -> tuple[int, float]:
    """As `gest translate` does it, without the time that loading takes."""
    import torch

    from gest_dataset.translation import models

    loaded = models._load(str(folder), None, "sk", torch.device(device), torch.float32)
    budget = batch_tokens or models.BATCH_TOKENS[device]
    begin = time.perf_counter()
    batches = list(models._translate(sentences, lambda: loaded, budget))
    seconds = time.perf_counter() - begin
    translations = [one.translation for batch in batches for one in batch]
    return sum(map(len, loaded.tokenizer(text_target=translations)["input_ids"])), seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "translation.json")
    given = parser.parse_args()
    import torch
    import transformers

    torch.set_num_threads(given.threads)
    transformers.utils.logging.disable_progress_bar()
    sentences = texts(given.sentences)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, sentences)
        end_where_the_input_ends()
        naive(folder, sentences[:2], given.device, 1)()  # nobody's first pass is measured
        ways: dict[str, Callable[[], tuple[int, float]]] = {
            "ours": lambda: ours(folder, sentences, given.device, given.batch_tokens)
        }
        for size in SIZES:
            ways[f"batches of {size} in order"] = naive(folder, sentences, given.device, size)
        rounds = [{way: measure() for way, measure in ways.items()} for _ in range(ROUNDS)]
    counts = {tokens for found in rounds for tokens, _ in found.values()}
    assert len(counts) == 1, f"{counts} tokens: the ways are not comparable"
    best = {way: min(found[way][1] for found in rounds) for way in ways}
    figures: dict[str, Any] = {
        "machine": machine(given.device),
        "threads": given.threads,
        "sentences": len(sentences),
        "output tokens": counts.pop(),
    }
    for way, seconds in best.items():
        figures[f"{way}, tokens/s"] = figures["output tokens"] / seconds
    for way in list(best)[1:]:
        figures[f"{way} / ours, seconds"] = best[way] / best["ours"]
    show("Translation", figures)
    save(given.out, figures)


if __name__ == "__main__":
    main()
