"""Scorers: how each kind of model answers the asks of a batch of inputs.

Masked, causal and encoder-decoder models differ only in how hidden states come from inputs; what
follows (gather, head, contrast or normaliser) is the same. A next-sentence model is its own case.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from gest_dataset.errors import ModelError
from gest_dataset.models.batching import Pass
from gest_dataset.models.head import Head
from gest_dataset.models.placement import is_fixed, main_device
from gest_dataset.models.trees import in_line, refusal, tree_tensors
from gest_dataset.probes.queries import Input, Lookup, Values

logger = logging.getLogger(__name__)

# Of the largest logit; two right ways differ by 5e-7 of it in float32
_TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
# LLM.int8 finds the columns that it does not quantise among all tokens of a batch
_QUANTISED = 5e-2
# Other tokens on the right may change the last digits of an answer, but not more
_FORESIGHT = 100
_FULL_BYTES = 256 * 2**20


def pad(rows: Sequence[Sequence[int]], value: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids in a rectangle, padded on the right, and the mask of the real ones."""
    ids = torch.full((len(rows), max(map(len, rows))), value, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return ids.to(device), mask.to(device)


class _Model:
    """What all scorers share: the model, its device, and a second try in float32."""

    causal = False

    def __init__(self, model: Any, pad_id: int | None, owned: bool) -> None:
        self.pad_id = pad_id or 0
        self.owned = owned
        self.dtypes: list[str] = []
        self.notes: list[str] = []
        self._bind(model)

    def _bind(self, model: Any) -> None:
        self.model = model
        self.device = main_device(model)
        self.dtypes.append(str(model.dtype).removeprefix("torch."))

    def note(self, text: str) -> None:
        """Say something once, now and in the result."""
        if text not in self.notes:
            self.notes.append(text)
            logger.warning(text)

    @torch.inference_mode()
    def answer(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> list[Values]:
        """For each input, the values of its asks; not finite only where float32 is not either."""
        values = self._values(inputs, asks)
        can_turn = self.model.dtype != torch.float32 and not is_fixed(self.model)
        if can_turn and not np.isfinite(values).all():
            self.note(
                f"{self.model.dtype} gave NaN or infinite values: from here on the model runs in float32."
            )
            # a model that the user handed over stays as it is
            self._bind((self.model if self.owned else copy.deepcopy(self.model)).float())
            self.check(inputs[-1:], asks[-1:])
            values = self._values(inputs, asks)
        return np.split(values, np.cumsum([len(own) for own in asks])[:-1])

    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Whether short ways are right, on a few inputs before a run; there may be none."""

    def shares(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Only causal models have texts whose beginnings can be shared."""
        return False

    def _values(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> Values:
        raise NotImplementedError


class LanguageModel(_Model):
    """Masked, causal and encoder-decoder models."""

    def __init__(self, model: Any, kind: str, pad_id: int | None, owned: bool) -> None:
        self.causal = kind == "causal"
        self.seq2seq = kind == "seq2seq"
        super().__init__(model, pad_id, owned)

    def _bind(self, model: Any) -> None:
        super()._bind(model)
        # what the head runs on; a causal model's may stand deeper than its base model (OPT)
        decoder = model.get_decoder() if self.causal or self.seq2seq else None
        self.base: nn.Module = model.base_model if decoder is None else decoder
        self.head = Head(model, self.base, self._placeholder)
        self.alone = False
        self.gathers = True
        self.cuts = self.head.output is not None

    def _placeholder(self, ids: Tensor) -> dict[str, Any]:
        if not self.seq2seq:
            return {"input_ids": ids, "use_cache": False} if self.causal else {"input_ids": ids}
        empty = torch.zeros(1, 1, self.model.config.d_model, dtype=self.model.dtype, device=ids.device)
        encoded = BaseModelOutput(last_hidden_state=empty)
        return {"encoder_outputs": encoded, "decoder_input_ids": ids, "use_cache": False}

    def _tensors(self, inputs: Sequence[Input]) -> dict[str, Any]:
        ids, mask = pad([sequence.input_ids for sequence in inputs], self.pad_id, self.device)
        tensors: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if any(sequence.parents for sequence in inputs):
            parents = [sequence.parents or in_line(sequence.size) for sequence in inputs]
            tree = tree_tensors(parents, ids.shape[1], self.model.dtype)
            tensors |= {name: tensor.to(self.device) for name, tensor in tree.items()}
        if self.seq2seq:
            tensors["decoder_input_ids"], _ = pad(
                [sequence.decoder_ids for sequence in inputs], self.pad_id, self.device
            )
        if self.causal or self.seq2seq:
            tensors["use_cache"] = False
        return tensors

    def _states(self, inputs: Sequence[Input]) -> Tensor:
        """Hidden states of all positions; inputs with the same encoder side share its pass."""
        if not self.seq2seq:
            output = self.base(**self._tensors(inputs))
            self.head.output_class = type(output)
            states: Tensor = output.last_hidden_state
            return states.to(self.device)  # a model that is spread may end on another one
        number: dict[tuple[int, ...], int] = {}
        encoder_of = [number.setdefault(sequence.input_ids, len(number)) for sequence in inputs]
        ids, mask = pad(list(number), self.pad_id, self.device)
        encoded = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        decoder_ids, _ = pad([sequence.decoder_ids for sequence in inputs], self.pad_id, self.device)
        decoded: Tensor = self.base(
            input_ids=decoder_ids,
            encoder_hidden_states=encoded[encoder_of],
            encoder_attention_mask=mask[encoder_of],
            use_cache=False,
        ).last_hidden_state
        return decoded.to(self.device)

    def _values(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> Values:
        if self.alone and len(inputs) > 1:
            each = zip(inputs, asks, strict=True)
            return np.concatenate([self._values([sequence], [own]) for sequence, own in each])
        if not self.gathers:
            return self._full_values(inputs, asks)
        # unique places (input, position), and for each ask its place
        number: dict[tuple[int, int], int] = {}
        place = [
            number.setdefault((i, ask.position), len(number)) for i, own in enumerate(asks) for ask in own
        ]
        where = torch.tensor(list(number), device=self.device)
        states = self._states(inputs)
        rows = states[where[:, 0], where[:, 1]]
        del states
        flat = list(chain.from_iterable(asks))
        row = torch.tensor(place, device=self.device)
        target = torch.tensor([ask.target for ask in flat], device=self.device)
        normalise = torch.tensor([ask.normalise for ask in flat], device=self.device)
        values = torch.empty(len(flat), dtype=torch.float32, device=self.device)
        for wanted, with_normaliser in ((normalise, True), (~normalise, False)):
            if wanted.any():
                used, own = torch.unique(row[wanted], return_inverse=True)
                if with_normaliser or not self.cuts:
                    answers = self.head.values(rows[used], own, target[wanted], with_normaliser, self.cuts)
                else:
                    answers = self._contrast(rows[used], own, target[wanted])
                values[wanted] = answers
        return values.cpu().double().numpy()  # some devices have no float64

    def _contrast(self, rows: Tensor, row: Tensor, target: Tensor) -> Tensor:
        """The logits of `target[i]` at the state `row[i]`, from the few rows of the output matrix."""
        ids, column = torch.unique(target, return_inverse=True)
        return self.head.columns(rows, ids)[row, column].float()

    def _full_values(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> Values:
        """The long way: the whole model, all positions, the whole vocabulary, a few inputs at a time."""
        width = self.head.vocabulary * 4 * max(sequence.size for sequence in inputs)
        step = max(1, _FULL_BYTES // width)
        values: list[float] = []
        for start in range(0, len(inputs), step):
            logits = self.model(**self._tensors(inputs[start : start + step])).logits.float()
            for i, own in enumerate(asks[start : start + step]):
                for ask in own:
                    at = logits[i, ask.position]
                    normaliser = torch.logsumexp(at, dim=-1) if ask.normalise else 0.0
                    values.append(float(at[ask.target] - normaliser))
        return np.array(values)

    @torch.inference_mode()
    def check(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> None:
        """Compare the short ways with the full one on a few inputs, and give up those that differ.

        The full way takes each input alone and without padding, so that a model in which the padding
        (or, where it should not, the text on the right) changes the answer is noticed as well.
        """
        places = sorted({(n, ask.position) for n, own in enumerate(asks) for ask in own})
        alone = [self.model(**self._tensors([sequence])).logits[0] for sequence in inputs]
        full = torch.stack([alone[n][position] for n, position in places])
        largest = full[full.isfinite()].abs().amax().item() if full.isfinite().any() else 0.0
        quantised = getattr(self.model, "is_quantized", False)
        relative = _QUANTISED if quantised else _TOLERANCE.get(self.model.dtype, 1e-5)
        tolerance = relative * (1 + largest)
        name = type(self.model).__name__
        if self.causal:
            self._refuse_foresight(inputs, places, full, _FORESIGHT * tolerance)
        first = [place for place in places if place[0] == 0]
        why = "its head gives other values than the whole model"
        try:
            rows = self._rows(inputs, places)
            if not _close(self.head.logits(rows), full, tolerance):
                rows, full, places = self._rows(inputs[:1], first), full[: len(first)], first
                self.gathers = self.alone = _close(self.head.logits(rows), full, tolerance)
        except _UNUSABLE as error:
            if should_reduce_batch_size(error):
                raise
            self.gathers, why = False, f"its head cannot run by itself ({type(error).__name__})"
            logger.debug("the short way failed: %r", error)
        if not self.gathers:
            self.note(f"{name}: {why}, so every pass computes all outputs, which is slow but right.")
            together = self.model(**self._tensors(inputs)).logits
            padded = torch.stack([together[n, position] for n, position in places])
            self.alone = not _close(padded, full, tolerance)
        if self.alone:
            self.note(f"Padding changes what {name} answers: inputs run one by one.")
        if not self.gathers:
            return
        asked = [((n, ask.position), ask.target) for n, own in enumerate(asks) for ask in own]
        spots = [(places.index(place), target) for place, target in asked if place in places]
        row, target = torch.tensor(spots, device=self.device).unbind(dim=-1)
        ids = torch.unique(target)
        log_shares = full.float().log_softmax(dim=-1)[row, target]
        try:
            self.cuts = (
                self.cuts
                and _close(self.head.columns(rows, ids), full[:, ids], tolerance)
                and _close(self.head.values(rows, row, target, True, True), log_shares, tolerance)
            )
        except _UNUSABLE as error:
            if should_reduce_batch_size(error):
                raise
            logger.debug("the cut-down output matrix failed: %r", error)
            self.cuts = False
        if not self.cuts:
            self.note(
                f"The head of {name} does more than a linear map: contrasts compute all logits at "
                f"their positions."
            )

    @torch.inference_mode()
    def shares(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Compare what the whole model answers of a row of texts, and of the same texts one by one."""
        sequence, asks = row
        try:
            why = refusal(self.model, self.base, sequence.size)
            if why is None:
                found = self._full_values([sequence], [asks])
                alone = np.concatenate([self._full_values([given], [own]) for given, own in texts])
                tolerance = _TOLERANCE.get(self.model.dtype, 1e-5) * (1 + np.abs(alone).max())
                if _close(torch.from_numpy(found), torch.from_numpy(alone), tolerance):
                    return True
                why = f"texts in one row get other values, by up to {np.abs(found - alone).max():.1g}"
        except _UNUSABLE as error:
            why = f"it cannot take several texts in one row ({type(error).__name__})"
            logger.debug("the row of texts failed: %r", error)
        self.note(
            f"{type(self.model).__name__}: {why}, so beginnings that texts share are computed for each of "
            f"them, which is slower and as right."
        )
        return False

    def _rows(self, inputs: Sequence[Input], places: Sequence[tuple[int, int]]) -> Tensor:
        states = self._states(inputs)
        return torch.stack([states[n, position] for n, position in places])

    def _refuse_foresight(
        self, inputs: Sequence[Input], places: Sequence[tuple[int, int]], full: Tensor, tolerance: float
    ) -> None:
        """A causal model's answers do not depend on what stands to the right of them."""
        longer = [sequence.followed_by(sequence.input_ids[:2]) for sequence in inputs]
        ahead = [self.model(**self._tensors([sequence])).logits[0] for sequence in longer]
        if not _close(torch.stack([ahead[n][position] for n, position in places]), full, tolerance):
            raise ModelError(
                f"{type(self.model).__name__} looks ahead, so it is no causal language model as it is. "
                f"Load it as a masked model, or with is_decoder=True."
            )


# What a model raises whose parts do not fit together as the short ways expect
_UNUSABLE = (RuntimeError, TypeError, AttributeError, KeyError, IndexError, ValueError)


class NextSentence(_Model):
    """Sequence classifiers that say whether the second text follows the first: targets are labels."""

    def _values(self, inputs: Sequence[Input], asks: Sequence[Sequence[Lookup]]) -> Values:
        ids, mask = pad([sequence.input_ids for sequence in inputs], self.pad_id, self.device)
        tensors = {"input_ids": ids, "attention_mask": mask}
        if any(sequence.type_ids for sequence in inputs):
            tensors["token_type_ids"], _ = pad([sequence.type_ids for sequence in inputs], 0, self.device)
        logits = self.model(**tensors).logits.float().log_softmax(dim=-1)
        rows = [i for i, own in enumerate(asks) for _ in own]
        labels = [ask.target for own in asks for ask in own]
        log_shares: Values = logits[rows, labels].cpu().double().numpy()
        return log_shares


def _close(values: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Whether all values are near; where the full way overflows there is nothing to compare."""
    if values.shape != expected.shape:
        return False
    finite = expected.isfinite()
    return bool(((values[finite] - expected[finite]).abs() <= tolerance).all())
