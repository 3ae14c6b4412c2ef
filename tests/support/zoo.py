"""The zoo: small random models of every architecture, with tokenizers trained on the test texts.

The classes are the real ones of `transformers`; only the sizes are small (`zoo.yaml`) and the weights random.
The words of the templates are single tokens in every tokenizer, most other words are split.
"""

from __future__ import annotations

import functools
import json
import math
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers as hf
import yaml
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, WordPiece

from gest_dataset.builders import CONFIGS
from tests.conftest import MIRROR

LONGEST = 128  # positions of every model that counts them
_SPECIAL = ("bos", "eos", "cls", "sep", "pad")

# What real vocabularies hold as single tokens, whatever the test texts are
_FREQUENT = ("he", "she", "man", "woman", "him", "her", "his", "himself", "herself")
_FRAMES = ('{0} said: "I', 'The {1} said: "I', '.", {1} said.', '.", the {1} said.', "and {1} was", "to {1}.")


@functools.cache
def texts() -> tuple[str, ...]:
    """Every text of the test mirror, and the frames of the templates often enough to be learnt."""
    found: list[str] = []
    for config in (one for one in CONFIGS.values() if one.sources):
        files = {key: MIRROR / key for key in config.sources}
        for row in config.read(files, Counter()):
            found += [value for value in row.values() if isinstance(value, str) and " " in value]
    frames = [frame.format(word.capitalize(), word) for frame in _FRAMES for word in _FREQUENT]
    return (*dict.fromkeys(found), *frames * 60)


# ---- tokenizers: the class's own pipeline, a vocabulary trained for it -----------------------------

Pieces = dict[str, Any]  # what the class takes: `vocab`, and `merges` where it has them


def _train(model: Any, trainer: Any, normalizer: Any, splitter: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def _model(tokenizer: Tokenizer) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return state


def _bpe(size: int, special: list[str], normalizer: Any, splitter: Any, alphabet: list[str]) -> Pieces:
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    state = _model(_train(BPE(), trainer, normalizer, splitter))
    return {"vocab": state["vocab"], "merges": [tuple(pair) for pair in state["merges"]]}


def _unigram(size: int, special: list[str], normalizer: Any, splitter: Any) -> Pieces:
    """Pieces with their log frequencies.

    The pieces are BPE's, because the library's own trainer for Unigram gives other ones each time.
    """
    trainer = trainers.BpeTrainer(vocab_size=size - len(special), show_progress=False)
    tokenizer = _train(BPE(), trainer, normalizer, splitter)
    counts = Counter(piece for text in texts() for piece in tokenizer.encode(text).tokens)
    counts += Counter(dict.fromkeys(tokenizer.get_vocab(), 1))
    scores = {piece: math.log(count / counts.total()) for piece, count in counts.items()}
    return {"vocab": [*((token, 0.0) for token in special), *sorted(scores.items())]}


def _without_punctuation(splitter: Any) -> Any:
    """As SentencePiece learns: no piece of a word takes punctuation along."""
    return pre_tokenizers.Sequence([splitter, pre_tokenizers.Punctuation()])


@functools.cache
def _byte_level(size: int, special: tuple[str, ...]) -> Pieces:
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _bpe(size, list(special), normalizers.NFC(), splitter, sorted(pre_tokenizers.ByteLevel.alphabet()))


@functools.cache
def _sentencepiece(size: int, special: tuple[str, ...], scheme: str) -> Pieces:
    """BPE with `▁` for the space, and bytes to fall back to; no merge crosses a space."""
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    splitter = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    return _bpe(size, [*special, *fallback], None, splitter, [])


@functools.cache
def _words(size: int, lowercase: bool) -> hf.PreTrainedTokenizerBase:
    """WordPiece, as BERT has it."""
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    letters = sorted(set("".join(normalizer.normalize_str(text) for text in texts())) - {" "})
    # the letters are named here because the trainer would number them differently each time
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    splitter = pre_tokenizers.BertPreTokenizer()
    state = _model(_train(WordPiece(unk_token="[UNK]"), trainer, normalizer, splitter))
    return hf.BertTokenizer(vocab=state["vocab"], do_lower_case=lowercase)


def _albert() -> hf.PreTrainedTokenizerBase:
    pipeline = hf.AlbertTokenizer().backend_tokenizer
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    pieces = _unigram(900, special, pipeline.normalizer, _without_punctuation(pipeline.pre_tokenizer))
    return hf.AlbertTokenizer(**pieces, mask_token=AddedToken("[MASK]", lstrip=True, special=True))


def _roberta() -> hf.PreTrainedTokenizerBase:
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    mask = AddedToken("<mask>", lstrip=True, special=True)
    return hf.RobertaTokenizer(**_byte_level(900, special), mask_token=mask)


@functools.cache
def _xlm_roberta() -> hf.PreTrainedTokenizerBase:
    pipeline = hf.XLMRobertaTokenizer().backend_tokenizer
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = _unigram(1500, special, normalizers.NFKC(), _without_punctuation(pipeline.pre_tokenizer))
    return hf.XLMRobertaTokenizer(**pieces, mask_token=AddedToken("<mask>", lstrip=True, special=True))


def _deberta() -> hf.PreTrainedTokenizerBase:
    """Its pieces may take punctuation along."""
    pipeline = hf.DebertaV2Tokenizer().backend_tokenizer
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    pieces = _unigram(1200, special, pipeline.normalizer, pipeline.pre_tokenizer)
    return hf.DebertaV2Tokenizer(**pieces, unk_id=3)


def _modernbert() -> hf.PreTrainedTokenizerBase:
    """As published: GPT-NeoX's byte-level BPE, BERT's special tokens."""
    special = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
    pieces = _byte_level(1100, special)
    tokenizer = Tokenizer(BPE(**pieces))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(token, pieces["vocab"][token]) for token in ("[CLS]", "[SEP]")],
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token=AddedToken("[MASK]", lstrip=True, special=True),
        model_input_names=["input_ids", "attention_mask"],
    )


def _end_of_text(kind: Any, size: int, *special: str) -> hf.PreTrainedTokenizerBase:
    """Byte-level BPE with one token for the end (as Qwen's, which has no start token)."""
    return kind(**_byte_level(size, ("<|endoftext|>", *special)))


def _llama() -> hf.PreTrainedTokenizerBase:
    pieces = _sentencepiece(1100, ("<unk>", "<s>", "</s>"), "always")
    return hf.LlamaTokenizer(**pieces, add_bos_token=True)


def _mistral() -> hf.PreTrainedTokenizerBase:
    """As published: the normaliser makes the `▁`, nothing splits words."""
    pieces = _sentencepiece(900, ("<unk>", "<s>", "</s>"), "always")
    tokenizer = Tokenizer(BPE(**pieces, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1),
        ]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", pieces["vocab"]["<s>"])]
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )


def _gemma() -> hf.PreTrainedTokenizerBase:
    pieces = _sentencepiece(1000, ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"), "never")
    return hf.GemmaTokenizer(**pieces, add_bos_token=True)


def _byte_level_t5() -> hf.PreTrainedTokenizerBase:
    """RoBERTa's way with sentinels, as CodeT5: a start token, and the space in the word."""
    pieces = _byte_level(900, ("<pad>", "<s>", "</s>", "<unk>", "<mask>"))
    tokenizer = hf.RobertaTokenizer(**pieces)
    tokenizer.add_special_tokens({"extra_special_tokens": [f"<extra_id_{number}>" for number in range(10)]})
    return tokenizer


def _t5(size: int) -> hf.PreTrainedTokenizerBase:
    pipeline = hf.T5Tokenizer(extra_ids=10).backend_tokenizer
    special = ["<pad>", "</s>", "<unk>"]
    pieces = _unigram(size, special, normalizers.NFKC(), _without_punctuation(pipeline.pre_tokenizer))
    sentinels = [(f"<extra_id_{number}>", 0.0) for number in reversed(range(10))]
    return hf.T5Tokenizer(vocab=[*pieces["vocab"], *sentinels], extra_ids=10)


# ---- models ----------------------------------------------------------------------------------------


class BentBert(hf.BertForMaskedLM):
    """A head that bends each logit in its own way: no rows of a matrix give its logits."""

    def __init__(self, config: hf.BertConfig) -> None:
        super().__init__(config)
        self.bend = torch.nn.Parameter(torch.linspace(0.5, 2.0, config.vocab_size))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        output.logits = output.logits + self.bend * torch.sin(output.logits)
        return output


class GentleBert(hf.BertForMaskedLM):
    """A head that hardly does more than a linear map: each logit feels all others, by up to 0.004."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        output.logits = output.logits + 0.004 * output.logits.softmax(dim=-1)
        return output


class NeighbourBert(hf.BertForMaskedLM):
    """A head that also looks one token to the left: some positions alone do not give its logits."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        left = torch.nn.functional.pad(output.logits, (0, 0, 1, 0))[:, :-1]
        output.logits = output.logits + torch.tanh(left)
        return output


@dataclass(frozen=True)
class Animal:
    """One model of the zoo; `family` says which scorer it needs."""

    name: str
    family: str  # masked, causal, seq2seq or nsp
    tokenizer: Callable[[], hf.PreTrainedTokenizerBase]
    model: type[hf.PreTrainedModel]
    config: type[hf.PreTrainedConfig]
    settings: dict[str, Any]


TOKENIZERS: dict[str, Callable[[], hf.PreTrainedTokenizerBase]] = {
    "cased": partial(_words, 1200, lowercase=False),
    "uncased": partial(_words, 1000, lowercase=True),
    "albert": _albert,
    "roberta": _roberta,
    "xlm-roberta": _xlm_roberta,
    "deberta": _deberta,
    "modernbert": _modernbert,
    "gpt2": partial(_end_of_text, hf.GPT2Tokenizer, 700),
    # so small a vocabulary that the words of the templates are several tokens
    "letters": partial(_end_of_text, hf.GPT2Tokenizer, 262),
    "gpt-neox": partial(_end_of_text, hf.GPTNeoXTokenizer, 800, "<|padding|>"),
    "phi": partial(_end_of_text, hf.CodeGenTokenizer, 1000),
    "qwen2": partial(_end_of_text, hf.Qwen2Tokenizer, 1000),
    "llama": _llama,
    "mistral": _mistral,
    "gemma": _gemma,
    "t5": partial(_t5, 900),
    "t5-letters": partial(_t5, 200),
    "t5-bytes": _byte_level_t5,
    "mt5": partial(_t5, 1400),
}


def _read_zoo() -> tuple[dict[str, dict[str, Any]], tuple[Animal, ...]]:
    """The settings by name, and the models, of `zoo.yaml`."""
    told = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    animals = [
        Animal(
            name,
            family,
            TOKENIZERS[one["tokenizer"]],
            globals().get(one["model"]) or getattr(hf, one["model"]),
            getattr(hf, one["config"]),
            told["settings"][one["settings"]],
        )
        for family, models in told["models"].items()
        for name, one in models.items()
    ]
    return told["settings"], tuple(animals)


SETTINGS, ZOO = _read_zoo()
BY_NAME = {animal.name: animal for animal in ZOO}


def of_family(family: str) -> list[str]:
    """The names of the animals of one family."""
    return [animal.name for animal in ZOO if animal.family == family]


def _randomise(model: torch.nn.Module, seed: int) -> None:
    """Weights with clear preferences; the biases, norms and padding rows are random as well."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=random)
            if parameter.dim() > 1:
                parameter.copy_(0.35 * noise)
            else:
                parameter.add_(0.2 * noise)


@functools.cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gest-zoo-")


def untrained(animal: Animal, tokenizer: hf.PreTrainedTokenizerBase) -> hf.PreTrainedModel:
    """A random model for a tokenizer."""
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in _SPECIAL}
    config = animal.config(**{**special, "vocab_size": len(tokenizer), **animal.settings})
    model = animal.model(config)
    _randomise(model, zlib.crc32(animal.name.encode()))
    return model.eval()


@functools.cache
def directory(name: str) -> Path:
    """The folder of a model and its tokenizer, as `save_pretrained` writes them."""
    animal = BY_NAME[name]
    path = Path(_home().name) / name
    tokenizer = animal.tokenizer()
    model = untrained(animal, tokenizer)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def load(name: str) -> tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerBase]:
    """A model, ready to ask, and its tokenizer: both fresh from the folder."""
    path = directory(name)
    model = BY_NAME[name].model.from_pretrained(path, dtype=torch.float32)
    return model.eval(), hf.AutoTokenizer.from_pretrained(path)
