"""A small real model, trained on a corpus of gaps, and kept on disk: made once.

Of a masked model (of others: see sequences) the slot of each gap is learnt from the corpus' own numbers
of texts, all of them at once: the loss is the cross entropy between n(word) / n and what the model
gives, which is what so many single texts come to, without the noise of drawing them. Beside it the model
learns the rest of the texts in the usual way (masked tokens), as a language model does.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import count as counting
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers as hf
from torch import Tensor
from torch.nn.functional import cross_entropy

from gest_dataset.calibration.corpus import Gap
from gest_dataset.calibration.sequences import (
    Texts,
    causal_loss,
    causal_texts,
    rows_of,
    span_loss,
    span_texts,
)
from gest_dataset.calibration.vocabulary import make_tokenizer
from gest_dataset.errors import OutputError, ScoringError
from gest_dataset.storage import parse_json

RECIPE = "recipe.json"
_IGNORED = -100  # by cross_entropy
_WARM_UP = 50  # steps
_HIDDEN_SHARE = 0.15  # of the other tokens, as in BERT


@dataclass(frozen=True)
class Recipe:
    """How a model is built and trained; `others` is the weight of the tokens beside the slots.

    Made-up words are whole tokens or `pieces`; a causal model has a `start` token or none.
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
    spread: float = 0.02  # of the first weights
    pieces: bool = False
    start: bool = True


class Course(NamedTuple):
    """What there is to learn: how many examples, and the loss of some of them in an epoch."""

    number: int
    loss: Callable[[Any, Tensor, int], Tensor]


# Called with the steps of a training that are done and all of them, `Progress` with a title before these
Told = Callable[[int, int], None]
Progress = Callable[[str, int, int], None]
Trained = tuple[hf.PreTrainedModel, hf.PreTrainedTokenizerFast]


class Examples(NamedTuple):
    """A corpus as tensors: token ids and slots, what is in the slots how often, and what is a text."""

    ids: Tensor
    slot: Tensor
    share: Tensor
    there: Tensor


def build(recipe: Recipe, vocabulary: int) -> hf.PreTrainedModel:
    """A model with random weights: BERT, GPT-2 (whose configurations share their names) or T5."""
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
                decoder_start_token_id=0,  # type: ignore[call-arg]
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
    gaps: Sequence[Gap], recipe: Recipe, seed: int, device: torch.device, told: Told = lambda *_: None
) -> Trained:
    """A model that has learnt a corpus, on the CPU, and its tokeniser.

    A CPU trains with one thread: models this small gain nothing from more, and the sums of a training
    depend on their number.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _train(gaps, recipe, seed, device, told)
    finally:
        torch.set_num_threads(threads)


def _train(gaps: Sequence[Gap], recipe: Recipe, seed: int, device: torch.device, told: Told) -> Trained:
    tokenizer = make_tokenizer(gaps, recipe.kind, recipe.pieces, recipe.start)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build(recipe, len(tokenizer))
    model.config.gest_toy = True  # runs and reports say so wherever it is scored
    draw = torch.Generator().manual_seed(seed)
    course = _COURSES[recipe.kind](gaps, recipe, tokenizer, draw)
    model.to(device).train()  # type: ignore[arg-type]
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate)
    done, steps = counting(1), recipe.epochs * math.ceil(course.number / recipe.batch)
    schedule = hf.get_cosine_schedule_with_warmup(optimizer, _WARM_UP, steps)
    for epoch in range(recipe.epochs):
        for chosen in torch.randperm(course.number, generator=draw).split(recipe.batch):  # type: ignore[no-untyped-call]
            loss = course.loss(model, chosen, epoch)
            if not math.isfinite(float(loss.detach())):
                raise ScoringError(f"The training of a calibration model diverged (loss {float(loss)}).")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            told(next(done), steps)
    return model.to("cpu").eval(), tokenizer  # type: ignore[arg-type]


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


def _masked_course(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Course:
    examples = encode(gaps, tokenizer)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        batch = Examples(*(tensor[chosen] for tensor in examples))
        return _masked_loss(model, batch, recipe.others, tokenizer, draw)

    return Course(len(gaps), loss)


def _causal_course(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Course:
    """A model without a start token learns the texts behind the end token, and every other time alone."""
    texts, rows = causal_texts(gaps, tokenizer), rows_of(gaps)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        own = torch.cat([rows[gap] for gap in chosen.tolist()])
        first = 0 if recipe.start else epoch % 2
        ids, there, slot = (tensor[own, first:] for tensor in texts[:3])
        batch = Texts(ids, there, slot, texts.share[own], texts.encoder[own])
        return causal_loss(model, batch, recipe.others)

    return Course(len(gaps), loss)


def _span_course(gaps: Sequence[Gap], recipe: Recipe, tokenizer: Any, draw: torch.Generator) -> Course:
    texts, rows = span_texts(gaps, tokenizer), rows_of(gaps)

    def loss(model: Any, chosen: Tensor, epoch: int) -> Tensor:
        own = torch.cat([rows[gap] for gap in chosen.tolist()])
        return span_loss(model, Texts(*(tensor[own] for tensor in texts)), tokenizer.pad_token_id)

    return Course(len(gaps), loss)


_COURSES = {"masked": _masked_course, "causal": _causal_course, "seq2seq": _span_course}


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


def recipe_digest(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> str:
    """What a model is made of: corpus, recipe and seed."""
    corpus = [(gap.before, gap.after, dict(gap.counts)) for gap in gaps]
    text = json.dumps([corpus, asdict(recipe), seed], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def train_model(
    folder: Path, gaps: Sequence[Gap], recipe: Recipe, seed: int, device: torch.device, told: Told
) -> bool:
    """Train a model into a folder, which appears when it is whole; False where it was there."""
    if _read(folder) == _origin(gaps, recipe, seed):
        return False
    model, tokenizer = train(gaps, recipe, seed, device, told)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as partial:
            made = Path(partial) / folder.name
            save(made, model, tokenizer, gaps, recipe, seed)
            if (folder / RECIPE).exists():  # one of ours, from another seed or version
                shutil.rmtree(folder)
            made.rename(folder)
    except OSError as error:
        raise OutputError(
            f"The model {folder} could not be written: {error}. Make room or choose another folder with "
            f"--output, and run the same command again."
        ) from error
    return True


def save(folder: Path, model: Any, tokenizer: Any, gaps: Sequence[Gap], recipe: Recipe, seed: int) -> None:
    """Write a model with its tokeniser, and how it was made."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    text = json.dumps(_origin(gaps, recipe, seed), indent=1)
    (folder / RECIPE).write_text(text + "\n", encoding="utf-8")


def _origin(gaps: Sequence[Gap], recipe: Recipe, seed: int) -> dict[str, Any]:
    return {
        "fingerprint": recipe_digest(gaps, recipe, seed),
        "versions": {"torch": torch.__version__.partition("+")[0], "transformers": hf.__version__},
        "seed": seed,
        "gaps": len(gaps),
        "recipe": asdict(recipe),
    }


def _read(folder: Path) -> dict[str, Any] | None:
    """How the model in a folder was made, if there is one."""
    try:
        origin: dict[str, Any] = parse_json((folder / RECIPE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise OutputError(f"{folder / RECIPE} cannot be read ({error}): remove {folder}.") from error
    return origin
