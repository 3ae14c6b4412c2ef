"""Scorers compute the log-probabilities that are asked of a batch of inputs, for each kind of model.

Masked, causal and encoder-decoder models differ only in how hidden states come from inputs. A
next-sentence model is a classifier of two texts.
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
from gest_dataset.models.device import is_fixed, main_device
from gest_dataset.models.head import Head
from gest_dataset.models.prefix_sharing import plain_parents, tree_tensors, unsupported_reason
from gest_dataset.probes.queries import Input, Lookup, Values

logger = logging.getLogger(__name__)

Pass = tuple[Input, list[Lookup]]  # one input and the numbers that are asked of it

# Relative to the largest logit; two correct computations differ by 5e-7 of it in float32
_TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-2, torch.bfloat16: 5e-2}
_QUANTISED_TOLERANCE = 5e-2  # LLM.int8 picks unquantised columns by all tokens of the batch
_LOOKAHEAD_TOLERANCE = 100  # times the tolerance above
_FULL_BYTES = 256 * 2**20  # of logits, when a model computes all of them
# Errors of models whose parts do not fit together as the fast path expects
_UNUSABLE = (RuntimeError, TypeError, AttributeError, KeyError, IndexError, ValueError)


def pad(rows: Sequence[Sequence[int]], value: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids padded on the right, and the attention mask."""
    ids = torch.full((len(rows), max(map(len, rows))), value, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    return ids.to(device), mask.to(device)


class Scorer:
    """The common part of all scorers: the model, its device, and the retry in float32.

    `dtypes` lists the number types used so far; a batch that overflows in half precision adds float32.
    """

    causal = False

    def __init__(self, model: Any, pad_id: int | None, owned: bool) -> None:
        self.pad_id = pad_id or 0
        self.owned = owned
        self.dtypes: list[str] = []
        self.notes: list[str] = []
        self._set_model(model)

    def _set_model(self, model: Any) -> None:
        self.model = model
        self.device = main_device(model)
        self.dtypes.append(str(model.dtype).removeprefix("torch."))

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            logger.warning(text)

    @torch.inference_mode()
    def log_probs(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> list[Values]:
        """The values of the lookups of each input; not finite only if they are not in float32 either."""
        values = self._values(inputs, lookups)
        can_convert = self.model.dtype != torch.float32 and not is_fixed(self.model)
        if can_convert and not np.isfinite(values).all():
            self._note(f"{self.model.dtype} gave NaN or infinite values: the rest of the run uses float32.")
            # the caller's own model is never changed
            self._set_model((self.model if self.owned else copy.deepcopy(self.model)).float())
            self.check(inputs[-1:], lookups[-1:])
            values = self._values(inputs, lookups)
        return np.split(values, np.cumsum([len(some) for some in lookups])[:-1])

    def check(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> None:
        """Compare the fast paths with the full model on a few inputs."""

    def can_pack(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Whether a packed row gives the values of its texts (causal models only)."""
        return False

    def _values(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> Values:
        raise NotImplementedError


class NextSentenceScorer(Scorer):
    """Classifies whether the second text follows the first; targets are labels."""

    def _values(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> Values:
        ids, mask = pad([sequence.input_ids for sequence in inputs], self.pad_id, self.device)
        tensors = {"input_ids": ids, "attention_mask": mask}
        if any(sequence.type_ids for sequence in inputs):
            tensors["token_type_ids"], _ = pad([sequence.type_ids for sequence in inputs], 0, self.device)
        log_probs = self.model(**tensors).logits.float().log_softmax(dim=-1)
        rows = [i for i, some in enumerate(lookups) for _ in some]
        labels = [lookup.target for some in lookups for lookup in some]
        values: Values = log_probs[rows, labels].cpu().double().numpy()
        return values


class LanguageModelScorer(Scorer):
    """Masked, causal and encoder-decoder models."""

    def __init__(self, model: Any, kind: str, pad_id: int | None, owned: bool) -> None:
        self.causal = kind == "causal"
        self.seq2seq = kind == "seq2seq"
        super().__init__(model, pad_id, owned)

    def _set_model(self, model: Any) -> None:
        super()._set_model(model)
        # the module whose output the head takes; in OPT it is deeper than the base model
        decoder = model.get_decoder() if self.causal or self.seq2seq else None
        self.base: nn.Module = model.base_model if decoder is None else decoder
        self.head = Head(model, self.base, self._placeholder_inputs)
        self.gathers = True  # the head runs on gathered states
        self.cuts = self.head.output is not None  # with chosen rows of the output matrix
        self.one_by_one = False  # padding changes the values

    def _placeholder_inputs(self, ids: Tensor) -> dict[str, Any]:
        if not self.seq2seq:
            return {"input_ids": ids, "use_cache": False} if self.causal else {"input_ids": ids}
        empty = torch.zeros(1, 1, self.model.config.d_model, dtype=self.model.dtype, device=ids.device)
        encoded = BaseModelOutput(last_hidden_state=empty)
        return {"encoder_outputs": encoded, "decoder_input_ids": ids, "use_cache": False}

    def _tensors(self, inputs: Sequence[Input]) -> dict[str, Any]:
        ids, mask = pad([sequence.input_ids for sequence in inputs], self.pad_id, self.device)
        tensors: dict[str, Any] = {"input_ids": ids, "attention_mask": mask}
        if any(sequence.parents for sequence in inputs):
            parents = [sequence.parents or plain_parents(sequence.size) for sequence in inputs]
            tree = tree_tensors(parents, ids.shape[1], self.model.dtype)
            tensors |= {name: tensor.to(self.device) for name, tensor in tree.items()}
        if self.seq2seq:
            decoder_ids = [sequence.decoder_ids for sequence in inputs]
            tensors["decoder_input_ids"], _ = pad(decoder_ids, self.pad_id, self.device)
        if self.causal or self.seq2seq:
            tensors["use_cache"] = False
        return tensors

    def _states(self, inputs: Sequence[Input]) -> Tensor:
        """Hidden states of all positions; inputs with the same encoder text share its pass."""
        if not self.seq2seq:
            output = self.base(**self._tensors(inputs))
            self.head.output_class = type(output)
            states: Tensor = output.last_hidden_state
            return states.to(self.device)  # the last layer of a spread model may be elsewhere
        number: dict[tuple[int, ...], int] = {}
        encoder_row = [number.setdefault(sequence.input_ids, len(number)) for sequence in inputs]
        ids, mask = pad(list(number), self.pad_id, self.device)
        encoded = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        decoder_ids, _ = pad([sequence.decoder_ids for sequence in inputs], self.pad_id, self.device)
        decoded: Tensor = self.base(
            input_ids=decoder_ids,
            encoder_hidden_states=encoded[encoder_row],
            encoder_attention_mask=mask[encoder_row],
            use_cache=False,
        ).last_hidden_state
        return decoded.to(self.device)

    def _values(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> Values:
        if self.one_by_one and len(inputs) > 1:
            pairs = zip(inputs, lookups, strict=True)
            return np.concatenate([self._values([sequence], [some]) for sequence, some in pairs])
        if not self.gathers:
            return self._full_values(inputs, lookups)
        number: dict[tuple[int, int], int] = {}  # of a queried position (input, position)
        rows = [
            number.setdefault((i, lookup.position), len(number))
            for i, some in enumerate(lookups)
            for lookup in some
        ]
        where = torch.tensor(list(number), device=self.device)
        states = self._states(inputs)[where[:, 0], where[:, 1]]
        flat = list(chain.from_iterable(lookups))
        row = torch.tensor(rows, device=self.device)
        target = torch.tensor([lookup.target for lookup in flat], device=self.device)
        normalise = torch.tensor([lookup.normalise for lookup in flat], device=self.device)
        values = torch.empty(len(flat), dtype=torch.float32, device=self.device)
        for selected, with_normaliser in ((normalise, True), (~normalise, False)):
            if not selected.any():
                continue
            used, index = torch.unique(row[selected], return_inverse=True)
            if with_normaliser or not self.cuts:
                some = self.head.values(states[used], index, target[selected], with_normaliser, self.cuts)
            else:
                ids, column = torch.unique(target[selected], return_inverse=True)
                some = self.head.columns(states[used], ids)[index, column].float()
            values[selected] = some
        return values.cpu().double().numpy()  # some devices have no float64

    def _full_values(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> Values:
        """The slow path: all logits at all positions, a few inputs at a time."""
        bytes_per_input = self.head.vocabulary * 4 * max(sequence.size for sequence in inputs)
        step = max(1, _FULL_BYTES // bytes_per_input)
        values: list[float] = []
        for start in range(0, len(inputs), step):
            logits = self.model(**self._tensors(inputs[start : start + step])).logits.float()
            for i, some in enumerate(lookups[start : start + step]):
                for lookup in some:
                    at = logits[i, lookup.position]
                    normaliser = torch.logsumexp(at, dim=-1) if lookup.normalise else 0.0
                    values.append(float(at[lookup.target] - normaliser))
        return np.array(values)

    @torch.inference_mode()
    def check(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> None:
        """Compare the fast paths with the full model on a few inputs, and give up those that differ.

        The full model takes each input alone and unpadded, which also reveals a model that depends on
        the padding, or a "causal" model that depends on the following tokens.
        """
        positions = sorted({(n, lookup.position) for n, some in enumerate(lookups) for lookup in some})
        single = [self.model(**self._tensors([sequence])).logits[0] for sequence in inputs]
        full = torch.stack([single[n][position] for n, position in positions])
        tolerance = self._relative_tolerance() * (1 + _largest(full))
        if self.causal:
            self._check_causal(inputs, positions, full, _LOOKAHEAD_TOLERANCE * tolerance)
        name = type(self.model).__name__
        reason = "its head gives other values than the whole model"
        try:
            states = self._states_at(inputs, positions)
            if not _close(self.head.logits(states), full, tolerance):
                positions = [place for place in positions if place[0] == 0]
                full = full[: len(positions)]
                states = self._states_at(inputs[:1], positions)
                self.gathers = self.one_by_one = _close(self.head.logits(states), full, tolerance)
        except _UNUSABLE as error:
            if should_reduce_batch_size(error):
                raise
            self.gathers, reason = False, f"its head cannot run separately ({type(error).__name__})"
            logger.debug("the gathered states failed: %r", error)
        if not self.gathers:
            self._note(f"{name}: {reason}, so every pass computes all outputs (slow but exact).")
            together = self.model(**self._tensors(inputs)).logits
            padded = torch.stack([together[n, position] for n, position in positions])
            self.one_by_one = not _close(padded, full, tolerance)
        if self.one_by_one:
            self._note(f"Padding changes the values of {name}: inputs run one by one.")
        if self.gathers and self.cuts and not self._can_cut(states, positions, lookups, full, tolerance):
            self.cuts = False
        if self.gathers and not self.cuts:
            self._note(
                f"The head of {name} is more than a linear map, so contrasts compute all logits of their "
                f"positions."
            )

    def _can_cut(
        self,
        states: Tensor,
        positions: Sequence[tuple[int, int]],
        lookups: Sequence[Sequence[Lookup]],
        full: Tensor,
        tolerance: float,
    ) -> bool:
        """Whether rows of the output matrix give the logits and normalisers of the whole head."""
        asked = [((n, lookup.position), lookup.target) for n, some in enumerate(lookups) for lookup in some]
        indices = [(positions.index(place), target) for place, target in asked if place in positions]
        row, target = torch.tensor(indices, device=self.device).unbind(dim=-1)
        ids = torch.unique(target)
        log_probs = full.float().log_softmax(dim=-1)[row, target]
        try:
            return _close(self.head.columns(states, ids), full[:, ids], tolerance) and _close(
                self.head.values(states, row, target, True, True), log_probs, tolerance
            )
        except _UNUSABLE as error:
            if should_reduce_batch_size(error):
                raise
            logger.debug("the cut output matrix failed: %r", error)
            return False

    @torch.inference_mode()
    def can_pack(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Whether the whole model gives the same values for a packed row and for its texts separately."""
        sequence, lookups = row
        try:
            reason = unsupported_reason(self.model, self.base, sequence.size)
            if reason is None:
                packed = self._full_values([sequence], [lookups])
                separate = np.concatenate([self._full_values([given], [some]) for given, some in texts])
                tolerance = _TOLERANCE.get(self.model.dtype, 1e-5) * (1 + np.abs(separate).max())
                if _close(torch.from_numpy(packed), torch.from_numpy(separate), tolerance):
                    return True
                reason = f"packed texts get other values, by up to {np.abs(packed - separate).max():.1g}"
        except _UNUSABLE as error:
            reason = f"it cannot process packed texts ({type(error).__name__})"
            logger.debug("the packed row failed: %r", error)
        self._note(
            f"{type(self.model).__name__}: {reason}, so shared prefixes are computed for each text "
            f"(slower but exact)."
        )
        return False

    def _states_at(self, inputs: Sequence[Input], positions: Sequence[tuple[int, int]]) -> Tensor:
        states = self._states(inputs)
        return torch.stack([states[n, position] for n, position in positions])

    def _relative_tolerance(self) -> float:
        if getattr(self.model, "is_quantized", False):
            return _QUANTISED_TOLERANCE
        return _TOLERANCE.get(self.model.dtype, 1e-5)

    def _check_causal(
        self, inputs: Sequence[Input], positions: Sequence[tuple[int, int]], full: Tensor, tolerance: float
    ) -> None:
        """Refuse a model whose values depend on the following tokens."""
        longer = [sequence.followed_by(sequence.input_ids[:2]) for sequence in inputs]
        logits = [self.model(**self._tensors([sequence])).logits[0] for sequence in longer]
        if not _close(torch.stack([logits[n][position] for n, position in positions]), full, tolerance):
            raise ModelError(
                f"{type(self.model).__name__} depends on the following tokens, so it is not a causal "
                f"language model as it is. Load it as a masked model, or with is_decoder=True."
            )


def _largest(values: Tensor) -> float:
    finite = values[values.isfinite()]
    return finite.abs().amax().item() if finite.numel() else 0.0


def _close(values: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Whether all values are close to the expected ones, where those are finite."""
    if values.shape != expected.shape:
        return False
    finite = expected.isfinite()
    return bool(((values[finite] - expected[finite]).abs() <= tolerance).all())
