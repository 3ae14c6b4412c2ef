"""How models that write from left to right learn a corpus: a text for each word of a gap, with its share.

The loss of a slot is the cross entropy between n(word) / n and P(word), of all tokens of the word and of
the one that ends it; of causal models the other tokens are learnt beside it. The words of a
gap are learnt at the same time: what matters is how they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from gest_dataset.calibration.corpus import Gap
from gest_dataset.calibration.vocabulary import SENTINELS

# Ids, the places of the slot, its share, and what an encoder reads
Row = tuple[list[int], range, float, list[int]]


class Texts(NamedTuple):
    """Token ids, which of them are there, and what each of them counts for: as a slot's, or as another.

    `encoder` is what an encoder-decoder reads; of other models it is empty.
    """

    ids: Tensor
    there: Tensor
    slot: Tensor
    share: Tensor
    encoder: Tensor


def causal_texts(gaps: Sequence[Gap], tokenizer: Any) -> Texts:
    """Whole texts behind the start token, or the end token where there is none."""
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    rows: list[Row] = []
    for gap in gaps:
        before, after = ([*_ids(tokenizer, text)] for text in (gap.before, gap.after))
        for word, count in gap.counts.items():
            own = _ids(tokenizer, word)
            slot = range(1 + len(before), 2 + len(before) + len(own))  # the word, and what ends it
            rows.append(([start, *before, *own, *after], slot, count / sum(gap.counts.values()), []))
    return _texts(rows, tokenizer.pad_token_id)


def span_texts(gaps: Sequence[Gap], tokenizer: Any) -> Texts:
    """The word between two sentinels, and in the encoder the text with one in its place."""
    opening, closing = tokenizer.convert_tokens_to_ids(list(SENTINELS))
    rows: list[Row] = []
    for gap in gaps:
        text = [*_ids(tokenizer, gap.before), opening, *_ids(tokenizer, gap.after), tokenizer.eos_token_id]
        for word, count in gap.counts.items():
            own = _ids(tokenizer, word)
            share = count / sum(gap.counts.values())
            rows.append(([opening, *own, closing], range(1, 2 + len(own)), share, text))
    return _texts(rows, tokenizer.pad_token_id)


def rows_of(gaps: Sequence[Gap]) -> list[Tensor]:
    """Where the texts of each gap are."""
    ends = list(accumulate(len(gap.counts) for gap in gaps))
    return [torch.arange(*both) for both in pairwise([0, *ends])]


def _ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _texts(rows: Sequence[Row], pad: int) -> Texts:
    ids, encoder = (_rectangle(part, pad) for part in ([row[0] for row in rows], [row[3] for row in rows]))
    place = torch.arange(ids.shape[1])
    there = place < torch.tensor([len(row[0]) for row in rows])[:, None]
    ends = torch.tensor([(row[1].start, row[1].stop) for row in rows])
    slot = (place >= ends[:, :1]) & (place < ends[:, 1:])
    return Texts(ids, there, slot, torch.tensor([row[2] for row in rows]), encoder)


def _rectangle(rows: Sequence[list[int]], pad: int) -> Tensor:
    ids = torch.full((len(rows), max(map(len, rows))), pad)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return ids


def causal_loss(model: Any, batch: Texts, others: float) -> Tensor:
    """The slots, and `others` times the other tokens, each from what stands before it."""
    device = model.device
    logits = model(input_ids=batch.ids.to(device), attention_mask=batch.there.long().to(device)).logits
    losses = cross_entropy(logits[:, :-1].transpose(1, 2), batch.ids[:, 1:].to(device), reduction="none")
    slot = batch.slot[:, 1:].to(device)
    rest = (batch.there[:, 1:].to(device) & ~slot).float()
    rest_loss = (losses * rest).sum() / rest.sum()
    return _of_slots(losses * slot, batch.share.to(device)) + others * rest_loss


def span_loss(model: Any, batch: Texts, pad: int) -> Tensor:
    """The spans, from the encoder and what stands before in the decoder."""
    device = model.device
    encoder = batch.encoder.to(device)
    start = torch.full_like(batch.ids[:, :1], model.config.decoder_start_token_id)
    given = torch.cat([start, batch.ids[:, :-1]], dim=1).to(device)
    logits = model(input_ids=encoder, attention_mask=(encoder != pad).long(), decoder_input_ids=given).logits
    losses = cross_entropy(logits.transpose(1, 2), batch.ids.to(device), reduction="none")
    return _of_slots(losses * batch.slot.to(device), batch.share.to(device))


def _of_slots(losses: Tensor, share: Tensor) -> Tensor:
    """The mean over gaps of the sum over their words of n(word) / n times -ln P(word)."""
    return (losses.sum(dim=1) * share).sum() / share.sum()
