"""Small transformers (BERT, GPT-2, T5) trained on a corpus of gaps.

The loss at a gap is the cross entropy between n(word) / n in the corpus and the model's probabilities, which
equals training on so many single texts but without the noise of sampling them. The other tokens are learnt
as usual.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers as hf
from tokenizers import AddedToken, Tokenizer, pre_tokenizers, processors
from tokenizers.models import WordLevel, WordPiece
from torch import Tensor
from torch.nn.functional import cross_entropy

from tests.validation.corpus import Gap

PAD, UNKNOWN, START, END, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
SENTINELS = ("<extra_id_0>", "<extra_id_1>")
_SYLLABLES = re.compile(r"((?:[^aeiou]+[aeiou]){2})(?=.*[aeiou])(.*)")
# What the tokenizer adds to a text; a causal one without a start token adds nothing
_TEXT_FORMAT = {"masked": f"{START} $A {END}", "causal": f"{START} $A", "seq2seq": f"$A {END}"}
_IGNORED = -100  # by cross_entropy
_WARM_UP = 50  # steps
_MASKED_SHARE = 0.15  # of the tokens outside gaps, as in BERT
Trained = tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]
Loss = Callable[[Any, Tensor, int], Tensor]  # of a model on some gaps in an epoch


@dataclass(frozen=True)
class Recipe:
    """How a model is built and trained.

    `others` is the loss weight of the tokens outside gaps, `spread` the standard deviation of the initial
    weights. Made-up words are whole tokens or split into `pieces`; a causal model may have no `start` token.
    """

    kind: str
    width: int = 96
    layers: int = 2
    heads: int = 4
    positions: int = 64
    epochs: int = 14
    batch: int = 64
    rate: float = 2e-3
    others: float = 0.3
    spread: float = 0.02
    pieces: bool = False
    start: bool = True


class Texts(NamedTuple):
    """Token ids, which of them are text, which are in the gap, the share of each text, and encoder ids."""

    ids: Tensor
    is_text: Tensor
    in_gap: Tensor
    share: Tensor
    encoder: Tensor


def split_word(word: str) -> list[str]:
    """A made-up word in pieces: two syllables, then the rest, in which each `l` is a piece.

    So a masculine word, ending in -l, is the beginning of the feminine one, ending in -la.

    >>> split_word("nabrofed"), split_word("banidol"), split_word("banidola"), split_word("woman")
    (['nabro', 'fed'], ['bani', 'do', 'l'], ['bani', 'do', 'l', 'a'], ['woman'])
    """
    parts = _SYLLABLES.fullmatch(word)
    return [word] if parts is None else [parts[1], *re.findall(r"l|[^l]+", parts[2])]


def make_tokenizer(
    gaps: Sequence[Gap], kind: str, pieces: bool = False, start: bool = True
) -> hf.PreTrainedTokenizerFast:
    """A tokenizer of the corpus' words, or their pieces, and punctuation marks."""
    splitter = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    special = (PAD, UNKNOWN, START, END, MASK, *(SENTINELS if kind == "seq2seq" else ()))
    vocabulary = {token: i for i, token in enumerate(special)}
    for gap in gaps:
        for text in (gap.before, *gap.counts, gap.after):
            for word, _ in splitter.pre_tokenize_str(text):
                first, *others = split_word(word) if pieces else [word]
                for token in (first, *(f"##{piece}" for piece in others)):
                    vocabulary.setdefault(token, len(vocabulary))
    model = WordPiece if pieces else WordLevel
    tokenizer = Tokenizer(model(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = splitter
    if start:
        ends = [(token, vocabulary[token]) for token in (START, END)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=_TEXT_FORMAT[kind], special_tokens=ends
        )
    names: dict[str, dict[str, Any]] = {
        "masked": {"cls_token": START, "sep_token": END, "mask_token": AddedToken(MASK, special=True)},
        "causal": {"bos_token": START, "eos_token": START} if start else {"eos_token": END},
        "seq2seq": {"eos_token": END, "additional_special_tokens": list(SENTINELS)},
    }
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=UNKNOWN,
        pad_token=PAD,
        model_input_names=["input_ids", "attention_mask"],
        **names[kind],
    )


def build(recipe: Recipe, vocabulary: int) -> hf.PreTrainedModel:
    """A model with random weights: BERT, GPT-2 or T5."""
    if recipe.kind == "seq2seq":
        return hf.T5ForConditionalGeneration(
            hf.T5Config(
                vocab_size=vocabulary,
                d_model=recipe.width,
                d_kv=recipe.width // recipe.heads,
                d_ff=4 * recipe.width,
                num_layers=recipe.layers,
                num_heads=recipe.heads,
                initializer_factor=recipe.spread,
                dropout_rate=0.0,
                pad_token_id=0,
                eos_token_id=3,
                decoder_start_token_id=0,
            )
        )
    shared: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": recipe.width,
        "num_hidden_layers": recipe.layers,
        "num_attention_heads": recipe.heads,
        "max_position_embeddings": recipe.positions,
        "initializer_range": recipe.spread,
        "pad_token_id": 0,
    }
    if recipe.kind == "masked":
        shared |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        return hf.BertForMaskedLM(hf.BertConfig(**shared, intermediate_size=4 * recipe.width))
    shared |= {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    ends = (
        {"bos_token_id": 2, "eos_token_id": 2} if recipe.start else {"bos_token_id": None, "eos_token_id": 3}
    )
    return hf.GPT2LMHeadModel(hf.GPT2Config(**shared, **ends))


def train(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> Trained:
    """A model trained on a corpus, and its tokenizer.

    One thread is used: small models gain nothing from more, and results depend on their number.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        tokenizer = make_tokenizer(gaps, recipe.kind, recipe.pieces, recipe.start)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = build(recipe, len(tokenizer))
        model.config.gest_toy = True  # marks its runs and reports as those of a toy
        draw = torch.Generator().manual_seed(seed)
        loss_of = _LOSSES[recipe.kind](gaps, recipe, tokenizer, draw)
        model.train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate)
        steps = recipe.epochs * math.ceil(len(gaps) / recipe.batch)
        schedule = hf.get_cosine_schedule_with_warmup(optimizer, _WARM_UP, steps)
        for epoch in range(recipe.epochs):
            for chosen in torch.randperm(len(gaps), generator=draw).split(recipe.batch):
                loss = loss_of(model, chosen, epoch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        return model.eval(), tokenizer
    finally:
        torch.set_num_threads(threads)


def _masked_loss(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Loss:
    """The gaps masked; and half of the texts with a word in the gap and some random tokens masked."""
    ids, slot, share, is_text = encode(gaps, tokenizer)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        rows = torch.arange(len(chosen))
        masked, filled = ids[chosen].clone(), ids[chosen].clone()
        masked[rows, slot[chosen]] = tokenizer.mask_token_id
        filled[rows, slot[chosen]] = torch.multinomial(share[chosen], 1, generator=draw)[:, 0]
        half = slice((len(rows) + 1) // 2)
        filled, text = filled[half], is_text[chosen][half]
        special = (filled == tokenizer.cls_token_id) | (filled == tokenizer.sep_token_id)
        hidden = (torch.rand(filled.shape, generator=draw) < _MASKED_SHARE) & text & ~special
        hidden[0, 1] = True  # at least one
        labels = filled.masked_fill(~hidden, _IGNORED)
        inputs = torch.cat([masked, filled.masked_fill(hidden, tokenizer.mask_token_id)])
        attention = torch.cat([is_text[chosen], text]).long()
        logits = model(input_ids=inputs, attention_mask=attention).logits
        at_gaps = cross_entropy(logits[rows, slot[chosen]], share[chosen])
        others = logits[len(rows) :].reshape(-1, logits.shape[-1])
        return at_gaps + recipe.others * cross_entropy(others, labels.reshape(-1), ignore_index=_IGNORED)

    return loss


def encode(gaps: Sequence[Gap], tokenizer: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The texts of a masked model: ids, the position of the gap, the share of each word, and what is text."""
    texts = [gap.before + next(iter(gap.counts)) + gap.after for gap in gaps]
    encodings = tokenizer.backend_tokenizer.encode_batch(texts)
    ids = _rectangle([encoding.ids for encoding in encodings], tokenizer.pad_token_id)
    slot = torch.zeros(len(gaps), dtype=torch.long)
    share = torch.zeros(len(gaps), len(tokenizer))
    for i, (gap, encoding) in enumerate(zip(gaps, encodings, strict=True)):
        slot[i] = encoding.char_to_token(len(gap.before))
        for word, count in gap.counts.items():
            share[i, tokenizer.get_vocab()[word]] = count / sum(gap.counts.values())
    lengths = torch.tensor([len(encoding.ids) for encoding in encodings])
    return ids, slot, share, torch.arange(ids.shape[1]) < lengths[:, None]


def _causal_loss(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Loss:
    """The word and the token after it, and `others` times the other tokens.

    A model without a start token learns the texts after the end token, and every other epoch alone.
    """
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    rows: list[tuple[list[int], range, float, list[int]]] = []
    for gap in gaps:
        before, after = (_ids(tokenizer, text) for text in (gap.before, gap.after))
        for word, count in gap.counts.items():
            word_ids = _ids(tokenizer, word)
            in_gap = range(1 + len(before), 2 + len(before) + len(word_ids))
            share = count / sum(gap.counts.values())
            rows.append(([start, *before, *word_ids, *after], in_gap, share, []))
    texts, by_gap = _texts(rows, tokenizer.pad_token_id), _rows_by_gap(gaps)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        some = torch.cat([by_gap[gap] for gap in chosen.tolist()])
        first = 0 if recipe.start else epoch % 2
        ids, is_text, in_gap = (tensor[some, first:] for tensor in texts[:3])
        logits = model(input_ids=ids, attention_mask=is_text.long()).logits
        losses = cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
        rest = (is_text[:, 1:] & ~in_gap[:, 1:]).float()
        others = (losses * rest).sum() / rest.sum()
        return _weighted(losses * in_gap[:, 1:], texts.share[some]) + recipe.others * others

    return loss


def _span_loss(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Loss:
    """The word between two sentinels; in the encoder a sentinel replaces it."""
    opening, closing = tokenizer.convert_tokens_to_ids(list(SENTINELS))
    rows: list[tuple[list[int], range, float, list[int]]] = []
    for gap in gaps:
        text = [*_ids(tokenizer, gap.before), opening, *_ids(tokenizer, gap.after), tokenizer.eos_token_id]
        for word, count in gap.counts.items():
            word_ids = _ids(tokenizer, word)
            share = count / sum(gap.counts.values())
            rows.append(([opening, *word_ids, closing], range(1, 2 + len(word_ids)), share, text))
    texts, by_gap = _texts(rows, tokenizer.pad_token_id), _rows_by_gap(gaps)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        some = torch.cat([by_gap[gap] for gap in chosen.tolist()])
        ids, encoder = texts.ids[some], texts.encoder[some]
        start = torch.full_like(ids[:, :1], model.config.decoder_start_token_id)
        logits = model(
            input_ids=encoder,
            attention_mask=(encoder != tokenizer.pad_token_id).long(),
            decoder_input_ids=torch.cat([start, ids[:, :-1]], dim=1),
        ).logits
        losses = cross_entropy(logits.transpose(1, 2), ids, reduction="none")
        return _weighted(losses * texts.in_gap[some], texts.share[some])

    return loss


_LOSSES = {"masked": _masked_loss, "causal": _causal_loss, "seq2seq": _span_loss}


def _weighted(losses: Tensor, share: Tensor) -> Tensor:
    """The mean over gaps of the sum over their words of n(word) / n times -ln P(word)."""
    return (losses.sum(dim=1) * share).sum() / share.sum()


def _rows_by_gap(gaps: Sequence[Gap]) -> list[Tensor]:
    ends = accumulate(len(gap.counts) for gap in gaps)
    return [torch.arange(*both) for both in pairwise([0, *ends])]


def _ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _texts(rows: Sequence[tuple[list[int], range, float, list[int]]], pad: int) -> Texts:
    ids, encoder = _rectangle([row[0] for row in rows], pad), _rectangle([row[3] for row in rows], pad)
    position = torch.arange(ids.shape[1])
    is_text = position < torch.tensor([len(row[0]) for row in rows])[:, None]
    ends = torch.tensor([(row[1].start, row[1].stop) for row in rows])
    in_gap = (position >= ends[:, :1]) & (position < ends[:, 1:])
    return Texts(ids, is_text, in_gap, torch.tensor([row[2] for row in rows]), encoder)


def _rectangle(rows: Sequence[list[int]], pad: int) -> Tensor:
    ids = torch.full((len(rows), max(map(len, rows))), pad)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return ids


def fingerprint(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> str:
    """The SHA-256 of everything that a model is made from."""
    corpus = [(gap.before, gap.after, dict(gap.counts)) for gap in gaps]
    text = json.dumps([corpus, asdict(recipe), seed], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def save(folder: Path, trained: Trained, gaps: Sequence[Gap], recipe: Recipe, seed: int) -> None:
    """Write a model, its tokenizer, and `recipe.json`."""
    for part in trained:
        part.save_pretrained(folder)
    origin = {
        "fingerprint": fingerprint(gaps, recipe, seed),
        "versions": {"torch": torch.__version__.partition("+")[0], "transformers": hf.__version__},
        "seed": seed,
        "gaps": len(gaps),
        "recipe": asdict(recipe),
    }
    (folder / "recipe.json").write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
