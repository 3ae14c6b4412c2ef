"""Scorers, one for each kind of model: they compute the requested log-probabilities of a batch of inputs.

Masked, causal and encoder-decoder models differ only in how hidden states come from inputs. A
next-sentence model is a classifier of two texts.
"""

import copy
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers.modeling_outputs import BaseModelOutput, BaseModelOutputWithPastAndCrossAttentions

from gest_dataset.errors import ModelError
from gest_dataset.models.device import is_immovable, main_device, patched_forward, spans_devices
from gest_dataset.models.packed_linear import is_faster, largest_difference, packed_linear_layers, rounding
from gest_dataset.models.prefix_sharing import attention_window, tree_tensors
from gest_dataset.probes.queries import Input, Lookup, Values

logger = logging.getLogger(__name__)

MIXED = "mixed_bfloat16"  # linear layers in bfloat16, everything else in float32
Pass = tuple[Input, list[Lookup]]  # one input and the numbers that are asked of it

_LOOKAHEAD_TOLERANCE = 100  # times the rounding error
_LOGITS_BYTES = 64 * 2**20  # of the logits that exist at one time
_SLICE = 4096  # tokens of the vocabulary in a slice of the output matrix


def pad(rows: Sequence[Sequence[int]], value: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids padded on the right, and the attention mask."""
    tensors = [torch.tensor(row, dtype=torch.long) for row in rows]
    ids = pad_sequence(tensors, batch_first=True, padding_value=value)
    lengths = torch.tensor(list(map(len, rows)))
    mask = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
    return ids.to(device), mask.to(device)


class Head:
    """The output layer of a language model, run on chosen hidden states instead of on every position.

    Every `XForMaskedLM` and `XForCausalLM` runs a `base` and then a head on all hidden states. Here the base
    runs once, the states at the queried positions are gathered, and the model is called again with its base
    replaced by a function that returns them. A contrast needs only a few rows of the output matrix; a
    normaliser is computed slice by slice so that the logits stay in a CPU's caches. `make_inputs`
    turns placeholder token ids into the arguments of a call of the whole model.
    """

    def __init__(self, model: Any, base: nn.Module, make_inputs: Callable[[Tensor], dict[str, Any]]) -> None:
        self.model, self.base, self.make_inputs = model, base, make_inputs
        self.vocabulary = int(model.config.get_text_config().vocab_size)
        output = model.get_output_embeddings()
        # rows of a layer that is packed, quantised, wrapped or elsewhere cannot be selected
        plain = type(output) is nn.Linear and output.weight.is_floating_point()
        self.output: nn.Linear | None = output if plain and not spans_devices(model) else None
        # some heads read more than the hidden states of the base's output
        self.output_class: type[Any] = BaseModelOutputWithPastAndCrossAttentions

    def logits(self, states: Tensor) -> Tensor:
        """The logits of all tokens for hidden states of shape [N, H]."""
        placeholder = torch.zeros(1, len(states), dtype=torch.long, device=states.device)
        output = self.output_class(last_hidden_state=states[None])
        with patched_forward(self.base, lambda *args, **kwargs: output):
            logits: Tensor = self.model(**self.make_inputs(placeholder)).logits
        return logits[0]

    def columns(self, states: Tensor, ids: Tensor | slice) -> Tensor:
        """The logits of some tokens, with only their rows of the output matrix."""
        assert self.output is not None
        weight = self.output.weight[ids]
        bias = None if self.output.bias is None else self.output.bias[ids]
        with patched_forward(self.output, lambda hidden: _linear(hidden, weight, bias)):
            return self.logits(states)

    def values(self, states: Tensor, row: Tensor, target: Tensor, normalise: bool, cut: bool) -> Tensor:
        """ln P (or the logit) of `target[i]` at the state number `row[i]`.

        The normaliser of a state is computed once for all of its targets; with `cut`, from slices of the
        output matrix, of which logits need only a few rows.
        """
        if cut and not normalise:
            ids, column = torch.unique(target, return_inverse=True)
            return self.columns(states, ids)[row, column].float()
        values = torch.full((len(row),), torch.nan, device=states.device)
        width = min(_SLICE, self.vocabulary) if cut else self.vocabulary
        step = max(1, _LOGITS_BYTES // (4 * width))
        for start in range(0, len(states), step):
            chunk = states[start : start + step]
            in_chunk = (row >= start) & (row < start + step)
            total = torch.full((len(chunk),), -torch.inf, device=states.device)
            for first, logits in self._slices(chunk, cut):
                in_slice = in_chunk & (target >= first) & (target < first + logits.shape[1])
                values[in_slice] = logits[row[in_slice] - start, target[in_slice] - first]
                if normalise:
                    total = torch.logaddexp(total, torch.logsumexp(logits, dim=-1))
            if normalise:
                values[in_chunk] -= total[row[in_chunk] - start]
        return values

    def _slices(self, states: Tensor, cut: bool) -> Iterator[tuple[int, Tensor]]:
        """The logits of slices of the vocabulary (or of all of it) with the first token of each."""
        if not cut or self.output is None:
            yield 0, self.logits(states).float()
            return
        for first in range(0, self.output.out_features, _SLICE):
            yield first, self.columns(states, slice(first, first + _SLICE)).float()


def _linear(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A linear layer; float32 on a CPU goes through oneDNN where that is faster."""
    if states.device.type != "cpu" or states.dtype != torch.float32 or not is_faster(torch.float32):
        return nn.functional.linear(states, weight, bias)
    packed_bias = None if bias is None else bias.to_mkldnn()
    return nn.functional.linear(states.to_mkldnn(), weight.to_mkldnn(), packed_bias).to_dense()


class Scorer:
    """The common part of all scorers: the model, its device, and the retry in float32.

    `dtypes` lists the number types used so far; a batch that overflows in half precision adds float32.
    `linear_dtype` is that of packed linear layers.
    """

    causal = False

    def __init__(self, model: Any, pad_id: int, linear_dtype: torch.dtype = torch.float32) -> None:
        self.pad_id = pad_id
        self.linear_dtype = linear_dtype
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
        can_convert = self.model.dtype != torch.float32 and not is_immovable(self.model)
        if can_convert and not np.isfinite(values).all():
            self._note(f"{self.model.dtype} gave NaN or infinite values: the rest of the run uses float32.")
            self._set_model(copy.deepcopy(self.model).float())  # the caller's own model is never changed
            self.check(inputs[-1:], lookups[-1:])
            values = self._values(inputs, lookups)
        sizes = [sum(len(lookup.targets) for lookup in some) for some in lookups]
        return np.split(values, np.cumsum(sizes)[:-1])

    def check(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> None:
        """Compare the fast paths with the full model on a few inputs."""

    @contextmanager
    def packed_layers(
        self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]
    ) -> Iterator[list[nn.Module]]:
        """Run with packed linear layers, if they are faster and give the same values for a few inputs."""
        compute = lambda: np.concatenate(self.log_probs(inputs, lookups))  # noqa: E731
        with packed_linear_layers(self.model, compute, self.linear_dtype) as packed:
            if packed and self.linear_dtype == torch.bfloat16:
                self.dtypes = [MIXED]
            yield packed

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
        asked = [(i, t) for i, some in enumerate(lookups) for lookup in some for t in lookup.targets]
        values: Values = log_probs[tuple(zip(*asked, strict=True))].cpu().double().numpy()
        return values


class LanguageModelScorer(Scorer):
    """Masked, causal and encoder-decoder models."""

    def __init__(self, model: Any, kind: str, pad_id: int, linear_dtype: torch.dtype = torch.float32) -> None:
        self.causal = kind == "causal"
        self.seq2seq = kind == "seq2seq"
        super().__init__(model, pad_id, linear_dtype)

    def _set_model(self, model: Any) -> None:
        super()._set_model(model)
        # the module whose output the head takes; in OPT it is deeper than the base model
        decoder = model.get_decoder() if self.causal or self.seq2seq else None
        self.base: nn.Module = model.base_model if decoder is None else decoder
        self.head = Head(model, self.base, self._placeholder_inputs)
        self.read: tuple[Tensor, Tensor] | None = None  # the inputs and positions whose states are used
        self.gathers = True  # the head runs on gathered states
        self.cuts = self.head.output is not None  # with chosen rows of the output matrix

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
            parents = [sequence.parents or range(-1, sequence.size - 1) for sequence in inputs]
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
        if not self.gathers:
            return np.concatenate(list(map(self._full_values, inputs, lookups)))
        number: dict[tuple[int, int], int] = {}  # of a queried position (input, position)
        flat = [(i, lookup) for i, some in enumerate(lookups) for lookup in some]
        rows = [number.setdefault((i, lookup.position), len(number)) for i, lookup in flat]
        where = torch.tensor(list(number), device=self.device)
        self.read = (where[:, 0], where[:, 1])
        states = self._states(inputs)[self.read]
        self.read = None
        sizes = [len(lookup.targets) for _, lookup in flat]
        row = torch.tensor(np.repeat(rows, sizes), device=self.device)
        target = torch.tensor(np.concatenate([lookup.targets for _, lookup in flat]), device=self.device)
        of_lookups = np.repeat([lookup.normalise for _, lookup in flat], sizes)
        normalise = torch.tensor(of_lookups, device=self.device)
        values = torch.empty(len(row), dtype=torch.float32, device=self.device)
        for selected, with_normaliser in ((normalise, True), (~normalise, False)):
            if not selected.any():
                continue
            used, index = torch.unique(row[selected], return_inverse=True)
            chosen = (states[used], index, target[selected])
            values[selected] = self.head.values(*chosen, with_normaliser, self.cuts)
        return values.cpu().double().numpy()  # some devices have no float64

    @contextmanager
    def packed_layers(
        self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]
    ) -> Iterator[list[nn.Module]]:
        """The last three layers, after the attention, also leave out the positions whose states are not used.

        What they leave out becomes NaN, which reaches the values if anything else uses it: in the check,
        where only the last position of each text is used.
        """
        used = [sorted(some, key=lambda lookup: lookup.position)[-1:] for some in lookups]
        compute: Callable[[], Values] = lambda: np.concatenate(self.log_probs(inputs, used))  # noqa: E731
        with super().packed_layers(inputs, lookups) as packed, ExitStack() as stack:
            last = [layer for layer in self.base.modules() if layer in packed][-3:]
            if last and self.gathers and any(lookup.position for (lookup,) in used):
                expected = compute()
                for layer in last:
                    stack.enter_context(patched_forward(layer, partial(self._of_read, layer.forward)))
                if largest_difference(compute, expected) > rounding(self.linear_dtype, expected):
                    stack.close()
            yield packed

    def _of_read(self, forward: Callable[[Tensor], Tensor], states: Tensor) -> Tensor:
        """The output of a layer at the positions whose states are used; NaN elsewhere."""
        if self.read is None:
            return forward(states)
        chosen = forward(states[self.read])
        output = chosen.new_full((*states.shape[:-1], chosen.shape[-1]), torch.nan)
        output[self.read] = chosen
        return output

    def _full_logits(self, sequence: Input) -> Tensor:
        logits: Tensor = self.model(**self._tensors([sequence])).logits[0]
        return logits.float()

    def _full_values(self, sequence: Input, lookups: Sequence[Lookup]) -> Values:
        logits = self._full_logits(sequence)
        values = []
        for lookup in lookups:
            normaliser = logits[lookup.position].logsumexp(dim=-1) if lookup.normalise else 0.0
            values += (logits[lookup.position, list(lookup.targets)] - normaliser).tolist()
        return np.array(values)

    @torch.inference_mode()
    def check(self, inputs: Sequence[Input], lookups: Sequence[Sequence[Lookup]]) -> None:
        """Compare the fast paths with the full model on a few inputs, and give up those that differ.

        The full model takes each input alone and unpadded, which also reveals a model that depends on
        the padding, or a "causal" model that depends on the following tokens.
        """
        name = type(self.model).__name__
        positions = [sorted({lookup.position for lookup in of_input}) for of_input in lookups]

        def asked(texts: Sequence[Input]) -> Values:
            logits = map(self._full_logits, texts)
            chosen = [rows[numbers] for rows, numbers in zip(logits, positions, strict=True)]
            return torch.cat(chosen).cpu().numpy()

        full = asked(inputs)
        # LLM.int8 picks unquantised columns by all tokens of the batch
        quantised = getattr(self.model, "is_quantized", False)
        tolerance = rounding(torch.bfloat16 if quantised else self.model.dtype, full)
        if self.causal:
            longer = [text.followed_by(text.input_ids[:2]) for text in inputs]
            followed = asked(longer)
            if largest_difference(lambda: followed, full) > _LOOKAHEAD_TOLERANCE * tolerance:
                raise ModelError(
                    f"{name} is not causal: its scores depend on later tokens. Load it with is_decoder=True."
                )
        expected = np.concatenate(list(map(self._full_values, inputs, lookups)))
        for cuts in (True, False) if self.cuts else (False,):
            self.cuts = cuts
            if largest_difference(lambda: self._values(inputs, lookups), expected, False) <= tolerance:
                break
        else:
            self.gathers = False
            self._note(f"{name}: a separate head or padding changes values, so all outputs are computed.")
        if self.gathers and not self.cuts:
            self._note(f"The head of {name} is more than a linear map, so contrasts compute all logits.")

    @torch.inference_mode()
    def can_pack(self, row: Pass, texts: Sequence[Pass]) -> bool:
        """Whether the whole model gives the same values for a packed row and for its texts separately."""
        window = attention_window(self.model)
        reason = f"its attention window is {window} tokens"
        if row[0].size <= window:
            separate = np.concatenate([self._full_values(*text) for text in texts])
            difference = largest_difference(lambda: self._full_values(*row), separate)
            if difference <= rounding(self.model.dtype, separate):
                return True
            reason = f"packed texts get values that differ by up to {difference:.1g}"
            if difference == np.inf:
                reason = "it cannot process packed texts"
        name = type(self.model).__name__
        self._note(f"{name}: {reason}, so shared prefixes are computed for each text (slower but exact).")
        return False
