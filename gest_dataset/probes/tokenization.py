"""Tokenized texts for the probes: tokens with their character spans, and what a probe needs of a model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from gest_dataset.errors import ModelError

# The marks of the space before a word in SentencePiece and in byte-level vocabularies
_BOUNDARY = ("▁", "Ġ")
PREFIX = "next_sentence_prefix"  # in the config.json of a model that `gest study nsp` trained with one


class SkipSampleError(Exception):
    """A sample that cannot be turned into queries; the message is the reported reason."""


@dataclass(frozen=True)
class Tokens:
    """A tokenized text: ids and pieces, the characters that each covers, and which are special."""

    text: str
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    type_ids: tuple[int, ...]
    unknown: frozenset[int] = frozenset()

    def slot(self, start: int, end: int) -> range:
        """The tokens of the word in the characters [start, end), including its boundary mark.

        A boundary mark that is a separate token belongs to the word, whatever characters the tokenizer's
        class assigns to it; if it were left out, it would tell the model where the word begins.
        """
        covering = [
            i
            for i, (first, last) in enumerate(self.offsets)
            if not self.special[i] and first < end and last > start
        ]
        if not covering:
            raise SkipSampleError("no token covers the slot")
        if covering != list(range(covering[0], covering[-1] + 1)):
            raise SkipSampleError("the tokens of the slot are not next to each other")
        slot = range(covering[0] - self._follows_lone_boundary(covering[0]), covering[-1] + 1)
        self.check_known(slot)
        return slot

    def _follows_lone_boundary(self, first: int) -> bool:
        """Whether the previous token is just the boundary mark of the token `first`."""
        before = first - 1
        if before < 0 or self.special[before] or self.pieces[first].startswith(_BOUNDARY):
            return False
        is_mark = not self.pieces[before].strip("".join(_BOUNDARY))
        return is_mark and not self.text[slice(*self.offsets[before])].strip()

    def first_token(self, start: int) -> int:
        """The token with which the word at the character `start` begins; it may be its boundary mark."""
        places = enumerate(zip(self.offsets, self.special, strict=True))
        first = next((i for i, ((_, last), special) in places if last > start and not special), None)
        return len(self.ids) if first is None else first - self._follows_lone_boundary(first)

    def check_known(self, slot: range) -> None:
        """Reject a slot with an unknown token."""
        if not self.unknown.isdisjoint(self.slice(slot)):
            raise SkipSampleError("the word contains an unknown token")

    def replace(self, slot: range, ids: Sequence[int]) -> tuple[int, ...]:
        """The ids with others instead of a slot."""
        return (*self.ids[: slot.start], *ids, *self.ids[slot.stop :])

    def slice(self, slot: range) -> tuple[int, ...]:
        """The ids of a slot."""
        return self.ids[slot.start : slot.stop]


@dataclass(frozen=True)
class ProbeTokenizer:
    """A tokenizer with what the probes need to know about the model.

    `reserved` is text that a sample must not contain, `rules` are the author rules to follow, and with
    `typed` the model takes token type ids. A server takes `most_placebo` words at most. A next-sentence model
    was trained with `prefix` before its pairs.
    """

    tokenize: Callable[..., Any]
    kind: str
    limit: int | None
    vocabulary: int | None
    unknown: frozenset[int]
    mask_id: int | None = None
    start: tuple[int, ...] = ()  # put before texts without a special token in front
    end_id: int | None = None
    reserved: str | None = None
    sentinels: tuple[int, ...] = ()
    decoder_start_id: int | None = None
    next_label: int | None = None
    rules: frozenset[str] = frozenset()
    typed: bool = False
    most_placebo: int | None = None
    prefix: str = ""

    def __call__(self, text: str, pair: str | None = None) -> Tokens:
        """The tokens of a text (or of two, for next-sentence models), with special tokens."""
        if not text.strip():
            raise SkipSampleError("empty sentence")
        if self.reserved and self.reserved in text:
            raise SkipSampleError(f"contains {self.reserved}, which is reserved for the query")
        encoding = self.tokenize(text, pair)
        self.check_embedded(encoding.ids)
        return Tokens(
            text,
            tuple(encoding.tokens),
            tuple(encoding.ids),
            tuple(encoding.offsets),
            tuple(map(bool, encoding.special_tokens_mask)),
            tuple(encoding.type_ids) if self.typed else (),
            self.unknown,
        )

    def check_length(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The ids, if the model can take that many."""
        if self.limit is not None and len(ids) > self.limit:
            raise SkipSampleError(f"{len(ids)} tokens, but the model accepts {self.limit}")
        self.check_embedded(ids)
        return tuple(ids)

    def check_embedded(self, ids: Sequence[int]) -> None:
        """Reject tokens that were added to the tokenizer and not to the model."""
        if self.vocabulary is not None and max(ids, default=0) >= self.vocabulary:
            raise SkipSampleError(f"token id {max(ids)} is outside the vocabulary of {self.vocabulary}")

    def with_start(self, tokens: Tokens) -> tuple[tuple[int, ...], int]:
        """The ids after the start (a start token, or that of a chat), and the number of added tokens.

        A special token that the tokenizer puts first is a start token as well.
        """
        if tokens.special[:1] == (True,):
            return tokens.ids, 0
        return (*self.start, *tokens.ids), len(self.start)


def start_token(tokenizer: Any) -> tuple[str, int] | None:
    """The token before a causal model's text: `bos`, or else `eos`, as in lm-evaluation-harness."""
    for role in ("bos", "eos"):
        number = getattr(tokenizer, f"{role}_token_id")
        if number is not None:
            return role, number
    return None


def make_probe_tokenizer(
    tokenizer: Any, model: Any, kind: str, rules: frozenset[str] = frozenset()
) -> ProbeTokenizer:
    """The probe tokenizer of a loaded model; `rules` are the author rules to follow."""
    name = model.config._name_or_path or type(model).__name__
    if kind == "masked" and tokenizer.mask_token_id is None:
        raise ModelError(f"The tokenizer of {name!r} has no mask token: set tokenizer.mask_token.")
    tokenizer("")  # turns truncation and padding of the fast tokenizer off
    sentinels = tokenizer.convert_tokens_to_ids([f"<extra_id_{i}>" for i in range(10)])
    known = tuple(i for i in sentinels if i is not None and i != tokenizer.unk_token_id)
    if kind == "seq2seq" and not known:
        lacks = f"The tokenizer of {name!r} has no sentinel <extra_id_0>"
        raise ModelError(f"{lacks}: only encoder-decoders that fill spans (T5, mT5) can be scored.")
    vocabulary = getattr(model.config.get_text_config(), "vocab_size", None)
    start = start_token(tokenizer) if kind == "causal" else None
    return ProbeTokenizer(
        tokenize=tokenizer.backend_tokenizer.encode,
        kind=kind,
        limit=_max_length(tokenizer, model),
        vocabulary=vocabulary,
        unknown=unknown_token_ids(tokenizer),
        mask_id=tokenizer.mask_token_id if kind == "masked" else None,
        reserved={"masked": tokenizer.mask_token, "seq2seq": "<extra_id_"}.get(kind),
        start=start[1:] if start else (),
        end_id=tokenizer.eos_token_id,
        sentinels=known if kind == "seq2seq" else (),
        decoder_start_id=model.config.decoder_start_token_id if kind == "seq2seq" else None,
        next_label=_next_label(model.config) if kind == "nsp" else None,
        rules=rules,
        typed=kind == "nsp" and accepts_type_ids(tokenizer, model),
        prefix=getattr(model.config, PREFIX, ""),
    )


def accepts_type_ids(tokenizer: Any, model: Any) -> bool:
    """Whether the model uses token type ids for a pair of sentences.

    All tokenizers produce them, but a T5 has no input for them, and a GPT-2 would add token embeddings.
    """
    name = "token_type_ids"
    return name in tokenizer.model_input_names and name in signature(model.forward).parameters


def unknown_token_ids(tokenizer: Any) -> frozenset[int]:
    """The ids of the unknown token, by the tokenizer's class and by its pipeline."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    name = state.get("unk_token")
    by_name = tokenizer.backend_tokenizer.token_to_id(name) if name else None
    ids = (tokenizer.unk_token_id, state.get("unk_id"), by_name)
    return frozenset(number for number in ids if number is not None)


def _max_length(tokenizer: Any, model: Any) -> int | None:
    """The maximum number of input tokens, from the tokenizer and the position embeddings."""
    limits = []
    if tokenizer.model_max_length and tokenizer.model_max_length < 10**9:
        limits.append(int(tokenizer.model_max_length))
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions and positions > 0:
        # RoBERTa-like models number positions from the padding id
        from_padding = any(
            getattr(getattr(module, "position_embeddings", None), "padding_idx", None) is not None
            or hasattr(module, "create_position_ids_from_input_ids")
            for module in model.modules()
        )
        limits.append(int(positions) - ((model.config.pad_token_id or 0) + 1 if from_padding else 0))
    return min(limits, default=None)


def _next_label(config: Any) -> int:
    """The label for 'is next' by its name, else 0 as in BERT."""
    for label, name in (config.id2label or {}).items():
        words = name.lower().replace("_", " ").replace("-", " ").replace("isnext", "is next").split()
        if "next" in words and "not" not in words:
            return int(label)
    return 0
