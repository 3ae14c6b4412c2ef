"""A small real model, trained on a corpus of gaps.

The slot of each gap is learnt from the corpus' own numbers of texts, all of them at once: the loss is
the cross entropy between n(word) / n and what the model gives, which is what so many single texts come
to, without the noise of drawing them. Beside it the model learns the rest of the texts in the usual
way (masked tokens, or the next token), as a language model does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import transformers as hf
from tokenizers import AddedToken, Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel
from torch import Tensor
from torch.nn.functional import cross_entropy

from gest_dataset.calibration.corpus import Gap
from gest_dataset.errors import ScoringError

PAD, UNKNOWN, START, END, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
_IGNORED = -100  # by cross_entropy
_WARM_UP = 50  # steps
_HIDDEN_SHARE = 0.15  # of the other tokens, as in BERT


@dataclass(frozen=True)
class Recipe:
    """How a model is built and trained; `others` is the weight of the tokens beside the slots."""

    kind: str
    width: int = 96
    layers: int = 2
    heads: int = 4
    positions: int = 64
    epochs: int = 14
    batch: int = 64
    rate: float = 2e-3
    others: float = 0.3
    spread: float = 0.02  # of the first weights


class Examples(NamedTuple):
    """A corpus as tensors: token ids and slots, what is in the slots how often, and what is a text."""

    ids: Tensor
    slot: Tensor
    share: Tensor
    there: Tensor


def _bert(recipe: Recipe, vocabulary: int) -> hf.PreTrainedModel:
    return hf.BertForMaskedLM(
        hf.BertConfig(
            vocab_size=vocabulary,
            hidden_size=recipe.width,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            intermediate_size=4 * recipe.width,
            max_position_embeddings=recipe.positions,
            initializer_range=recipe.spread,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=0,
        )
    )


def _gpt2(recipe: Recipe, vocabulary: int) -> hf.PreTrainedModel:
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(
            vocab_size=vocabulary,
            n_embd=recipe.width,
            n_layer=recipe.layers,
            n_head=recipe.heads,
            n_positions=recipe.positions,
            initializer_range=recipe.spread,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            pad_token_id=0,
            bos_token_id=2,
            eos_token_id=2,
        )
    )


MODELS: dict[str, Callable[[Recipe, int], hf.PreTrainedModel]] = {"masked": _bert, "causal": _gpt2}


def make_tokenizer(gaps: Sequence[Gap], kind: str) -> hf.PreTrainedTokenizerFast:
    """Whole words and single punctuation marks; those of a corpus, and nothing else."""
    splitter = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    vocabulary = {token: i for i, token in enumerate((PAD, UNKNOWN, START, END, MASK))}
    for gap in gaps:
        for text in (gap.before, *gap.counts, gap.after):
            for word, _ in splitter.pre_tokenize_str(text):
                vocabulary.setdefault(word, len(vocabulary))
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = splitter
    frame = f"{START} $A {END}" if kind == "masked" else f"{START} $A"
    special = [(token, vocabulary[token]) for token in (START, END)]
    tokenizer.post_processor = processors.TemplateProcessing(single=frame, special_tokens=special)
    names = {"cls_token": START, "sep_token": END, "mask_token": AddedToken(MASK, special=True)}
    return hf.PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        pad_token=PAD,
        model_input_names=["input_ids", "attention_mask"],
        **(names if kind == "masked" else {"bos_token": START, "eos_token": START}),
    )


def encode(gaps: Sequence[Gap], tokenizer: Any) -> Examples:
    """The gaps as tensors; each of their words is one token."""
    texts = [gap.before + next(iter(gap.counts)) + gap.after for gap in gaps]
    encodings = tokenizer.backend_tokenizer.encode_batch(texts)
    length = max(len(encoding.ids) for encoding in encodings)
    ids = torch.full((len(gaps), length), tokenizer.pad_token_id)
    slot = torch.zeros(len(gaps), dtype=torch.long)
    share = torch.zeros(len(gaps), len(tokenizer))
    for i, (gap, encoding) in enumerate(zip(gaps, encodings, strict=True)):
        ids[i, : len(encoding.ids)] = torch.tensor(encoding.ids)
        slot[i] = encoding.char_to_token(len(gap.before))
        for word, count in gap.counts.items():
            share[i, tokenizer.get_vocab()[word]] = count / sum(gap.counts.values())
    there = torch.arange(length) < torch.tensor([len(encoding.ids) for encoding in encodings])[:, None]
    return Examples(ids, slot, share, there)


def train(
    gaps: Sequence[Gap],
    recipe: Recipe,
    seed: int,
    device: torch.device,
    advance: Callable[[], None] = lambda: None,
) -> tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]:
    """A model that has learnt a corpus, on the CPU, and its tokeniser; `advance` is called each step.

    A CPU trains with one thread: models this small gain nothing from more, and the sums of a training
    depend on their number.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _train(gaps, recipe, seed, device, advance)
    finally:
        torch.set_num_threads(threads)


def _train(
    gaps: Sequence[Gap], recipe: Recipe, seed: int, device: torch.device, advance: Callable[[], None]
) -> tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]:
    tokenizer = make_tokenizer(gaps, recipe.kind)
    examples = encode(gaps, tokenizer)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MODELS[recipe.kind](recipe, len(tokenizer))
    model.config.gest_toy = True  # runs and reports say so wherever it is scored
    draw = torch.Generator().manual_seed(seed)
    model.to(device).train()  # type: ignore[arg-type]
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate)
    schedule = hf.get_cosine_schedule_with_warmup(optimizer, _WARM_UP, steps(len(gaps), recipe))
    for _ in range(recipe.epochs):
        for chosen in torch.randperm(len(gaps), generator=draw).split(recipe.batch):  # type: ignore[no-untyped-call]
            batch = Examples(*(tensor[chosen] for tensor in examples))
            loss = _LOSSES[recipe.kind](model, batch, recipe.others, tokenizer, draw)
            if not math.isfinite(float(loss.detach())):
                raise ScoringError(f"The training of a calibration model diverged (loss {float(loss)}).")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            advance()
    return model.to("cpu").eval(), tokenizer  # type: ignore[arg-type]


def steps(gaps: int, recipe: Recipe) -> int:
    """How many steps a training takes."""
    return recipe.epochs * math.ceil(gaps / recipe.batch)


def _masked_loss(model: Any, batch: Examples, others: float, tokenizer: Any, draw: torch.Generator) -> Tensor:
    """The slots masked; and half of the texts with a word in the slot, and some of all tokens masked."""
    number = torch.arange(len(batch.ids))
    asked, filled = batch.ids.clone(), batch.ids.clone()
    asked[number, batch.slot] = tokenizer.mask_token_id
    filled[number, batch.slot] = torch.multinomial(batch.share, 1, generator=draw)[:, 0]
    half = slice((len(number) + 1) // 2)
    filled, there = filled[half], batch.there[half]
    special = (filled == tokenizer.cls_token_id) | (filled == tokenizer.sep_token_id)
    hidden = (torch.rand(filled.shape, generator=draw) < _HIDDEN_SHARE) & there & ~special
    hidden[0, 1] = True  # one at least
    labels = filled.masked_fill(~hidden, _IGNORED)
    inputs = torch.cat([asked, filled.masked_fill(hidden, tokenizer.mask_token_id)])
    logits = _logits(model, inputs, torch.cat([batch.there, there]))
    at_slot = logits[number, batch.slot.to(logits.device)]
    return _loss(at_slot, batch.share, logits[len(number) :], labels, others)


def _causal_loss(model: Any, batch: Examples, others: float, tokenizer: Any, draw: torch.Generator) -> Tensor:
    """The slots from what stands before them; the other tokens with a word in each slot."""
    number = torch.arange(len(batch.ids))
    filled = batch.ids.clone()
    filled[number, batch.slot] = torch.multinomial(batch.share, 1, generator=draw)[:, 0]
    labels = filled.masked_fill(~batch.there, _IGNORED)
    labels[number, batch.slot] = _IGNORED
    logits = _logits(model, filled, batch.there)[:, :-1]
    at_slot = logits[number, batch.slot.to(logits.device) - 1]
    return _loss(at_slot, batch.share, logits, labels[:, 1:], others)


_LOSSES = {"masked": _masked_loss, "causal": _causal_loss}


def _logits(model: Any, ids: Tensor, there: Tensor) -> Tensor:
    logits: Tensor = model(
        input_ids=ids.to(model.device), attention_mask=there.long().to(model.device)
    ).logits
    return logits


def _loss(at_slot: Tensor, share: Tensor, logits: Tensor, labels: Tensor, others: float) -> Tensor:
    """The cross entropy at the slots, and `others` times that of the other tokens."""
    slots = cross_entropy(at_slot, share.to(at_slot.device))
    rest = cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        labels.reshape(-1).to(logits.device),
        ignore_index=_IGNORED,
    )
    return slots + others * rest
