"""How a served model reads a text: by the tokeniser that a user names, or by the server's own.

A tokeniser that is not the server's would ask for other words than it says: on ten sentences the two must
give the same ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from transformers import AutoTokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.models.pretrained import read
from gest_dataset.models.served.client import Client
from gest_dataset.probes.tokenization import SkipSampleError

# Case, accents, other letters, signs, spaces and numbers: what tokenisers read in different ways
SENTENCES = (
    'He said: "I\'m tired, and I was never very good at this."',
    "„Vždy som chcel byť vodcom – a ona tiež.“",
    "Я всегда хотела быть лидером…",
    "Zawsze byłam silna, a on nie.",
    "She paid 1,234.50 on 3/4/2025.",
    "UPPER lower MiXeD under_score hy-phen",
    "two  spaces and a\nnew line",
    "ÀÉ straße ﬁn naïve café",
    "日本語 हिन्दी العربية 😀",
    "unbelievableantidisestablishmentarianism",
)
_BYTES = {sign: byte for byte, sign in bytes_to_unicode().items()}  # type: ignore[no-untyped-call]
_UNREADABLE = "the server's tokens do not spell the text"


@dataclass(frozen=True)
class Encoding:
    """What `tokenizers` calls so: the tokens of a text and the characters of each."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]
    type_ids: list[int]


@dataclass(frozen=True)
class ServedTokenizer:
    """A served model's tokeniser as the readers of `probes.text` use one.

    `start` stands in front of a text, `stop` is the number that ends one: None where it is not known.
    """

    encode: Callable[..., Any]
    spell: Callable[[int], str]
    unknown: frozenset[int]
    bos_token_id: int | None
    eos_token_id: int | None
    eos_token: str | None
    facts: dict[str, str]


def local(name: str, client: Client, model: str) -> tuple[ServedTokenizer, list[str]]:
    """The tokeniser of a folder or of the Hub, and what has to be said of it: is it the server's?"""
    from gest_dataset.models import identity
    from gest_dataset.probes.tokenization import unknown_token_ids

    with convert_errors(partial(_unloadable, name)):
        tokenizer = read(AutoTokenizer, name)
    if not tokenizer.is_fast:
        raise ModelError(f"The tokenizer of {name!r} is not a fast one, so it has no character offsets.")
    tokenizer("")  # leaves it without truncation and padding
    encode = tokenizer.backend_tokenizer.encode
    notes = _compared(lambda text: list(encode(text).ids), name, client, model)
    own = ServedTokenizer(
        encode=encode,
        spell=lambda number: str(tokenizer.decode([number])),
        unknown=unknown_token_ids(tokenizer),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        eos_token=tokenizer.eos_token,
        facts=identity.tokenizer_fingerprint(tokenizer),
    )
    return own, notes


def _unloadable(name: str, error: BaseException) -> ModelError:
    return ModelError(
        f"The tokenizer {name!r} cannot be loaded: {describe_error(error)}\n"
        f"Give the Hub id or the folder of the served model; without --tokenizer the server's own is asked."
    )


def _compared(encode: Callable[[str], list[int]], name: str, client: Client, model: str) -> list[str]:
    for text in SENTENCES:
        served = ids_of(client, model, text)
        if served is None:
            return [f"the server does not say its tokens: that {name} is its tokenizer is not checked"]
        own = encode(text)
        if own != served:
            raise ModelError(
                f"{name} is not the tokenizer of {client.address}: {text!r} is {_start(own)} there and "
                f"{_start(served)} at the server. Give that of {model} with --tokenizer, or none."
            )
    return []


def _start(ids: list[int]) -> str:
    return f"{' '.join(map(str, ids[:8]))}{' …' if len(ids) > 8 else ''}"


def ids_of(client: Client, model: str, text: str, bare: bool = False) -> list[int] | None:
    """The ids of a text at the server, with its special tokens or `bare`; None where it does not say them."""
    pieces = _pieces(client, model, text, bare)
    return None if pieces is None else pieces[0]


def _pieces(client: Client, model: str, text: str, bare: bool) -> tuple[list[int], list[str]] | None:
    """What /tokenize of vLLM says of a text: its ids, and the pieces that they stand for."""
    body = {"model": model, "prompt": text, "add_special_tokens": not bare, "return_token_strs": True}
    answer = client.post("/tokenize", body, may_refuse=True)
    ids = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(ids, list) or not all(type(number) is int for number in ids):
        return None
    return ids, [str(piece) for piece in answer.get("token_strs") or ()]


def of_server(client: Client, model: str) -> ServedTokenizer:
    """The server's own tokeniser, asked for each text; an error where it has none."""
    text = SENTENCES[0]
    whole, bare = ids_of(client, model, text), ids_of(client, model, text, bare=True)
    if whole is None or bare is None:
        raise ModelError(
            f"{client.address} does not say how it reads a text (/tokenize): name its tokenizer with "
            f"--tokenizer."
        )
    front = next((n for n in range(len(whole) - len(bare) + 1) if whole[n : n + len(bare)] == bare), None)
    if front is None:
        raise ModelError(f"{client.address} reads a text otherwise without special tokens: use --tokenizer.")
    back = len(whole) - len(bare) - front

    @lru_cache(maxsize=4096)
    def encode(text: str, pair: None = None) -> Encoding:
        pieces = _pieces(client, model, text, bare=False)
        assert pieces is not None
        return _encoding(text, *pieces, front, back)

    start = whole[front - 1] if front else None
    spell = partial(_detokenized, client, model)
    facts = {"tokenizer_behaviour": repr([ids_of(client, model, text) for text in SENTENCES])}
    return ServedTokenizer(encode, spell, frozenset(), start, None, None, facts)


def _detokenized(client: Client, model: str, number: int) -> str:
    """The text of a token; asked only of servers that name the likeliest tokens by their texts."""
    answer = client.post("/detokenize", {"model": model, "tokens": [number]}, may_refuse=True)
    return str(answer.get("prompt", "")) if isinstance(answer, dict) else ""


def _encoding(text: str, ids: list[int], pieces: list[str], front: int, back: int) -> Encoding:
    """The characters of each token, from the bytes that its piece stands for."""
    end = len(ids) - back
    spans = _spans(text, pieces[front:end])
    special = [int(not front <= place < end) for place in range(len(ids))]
    offsets = [(0, 0)] * front + spans + [(0, 0)] * back
    return Encoding(ids, pieces, offsets, special, [0] * len(ids))


def _spans(text: str, pieces: list[str]) -> list[tuple[int, int]]:
    content = text.encode()
    for read_piece in (_of_bytes, _of_sentencepiece):
        parts = [read_piece(piece) for piece in pieces]
        if any(part is None for part in parts):
            continue
        known = [part for part in parts if part is not None]
        joined = b"".join(known)
        for added in (0, 1):  # a space before the first word
            if joined == b" " * added + content:
                return _characters(text, known, added)
    raise SkipSampleError(_UNREADABLE)


def _of_bytes(piece: str) -> bytes | None:
    """A piece of a byte-level vocabulary, in which each sign is a byte."""
    return bytes(_BYTES[sign] for sign in piece) if all(sign in _BYTES for sign in piece) else None


def _of_sentencepiece(piece: str) -> bytes | None:
    """A piece of SentencePiece: `▁` is a space, `<0x0A>` a byte."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def _characters(text: str, parts: list[bytes], added: int) -> list[tuple[int, int]]:
    """Where each part begins and ends in characters; one that has a part of a character has all of it."""
    starts = [0]
    for letter in text:
        starts.append(starts[-1] + len(letter.encode()))
    of_byte = [number for number, letter in enumerate(text) for _ in letter.encode()]
    spans, at = [], -added
    for part in parts:
        first, last = max(at, 0), at + len(part)
        spans.append((of_byte[first], of_byte[last - 1] + 1) if last > first else (0, 0))
        at = last
    return spans
