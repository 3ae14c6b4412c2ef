"""The tokenizer of a served model: one of the Hub, checked against the server, or the server's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from transformers import AutoTokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.models import identity
from gest_dataset.models.pretrained import from_pretrained
from gest_dataset.models.served.client import Client
from gest_dataset.probes.tokenization import SkipSampleError, unknown_token_ids

# Case, accents, other scripts, punctuation, spaces and numbers, which tokenizers read differently
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


@dataclass(frozen=True)
class Encoding:
    """The tokens of a text with their character spans, under the names that `tokenizers` uses."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]
    type_ids: list[int]


@dataclass(frozen=True)
class ServedTokenizer:
    """What `probes.text` needs of a tokenizer; `decode` gives the text of one token.

    `settings` identify it in a run's settings.
    """

    encode: Callable[..., Any]
    decode: Callable[[int], str]
    unknown: frozenset[int]
    bos_token_id: int | None
    eos_token_id: int | None
    eos_token: str | None
    settings: dict[str, str]


def load_tokenizer(name: str, client: Client, model: str) -> tuple[ServedTokenizer, list[str]]:
    """A tokenizer of the Hub or a folder, and notes; an error if the server's gives other ids."""
    with convert_errors(partial(_load_error, name)):
        tokenizer = from_pretrained(AutoTokenizer, name)
    if not tokenizer.is_fast:
        raise ModelError(f"The tokenizer of {name!r} is not a fast one, so it has no character offsets.")
    tokenizer("")  # turns off truncation and padding
    encode = tokenizer.backend_tokenizer.encode
    notes = []
    for text in SENTENCES:
        ids, served = list(encode(text).ids), server_ids(client, model, text)
        if served is None:
            notes = [f"the server has no /tokenize: it is not checked that {name} is its tokenizer"]
            break
        if ids != served:
            raise ModelError(
                f"{name} is not the tokenizer of {client.address}: {text!r} has the ids {_short(ids)}, at "
                f"the server {_short(served)}. Pass the tokenizer of {model} with --tokenizer, or omit it."
            )
    served_tokenizer = ServedTokenizer(
        encode=encode,
        decode=lambda number: str(tokenizer.decode([number])),
        unknown=unknown_token_ids(tokenizer),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        eos_token=tokenizer.eos_token,
        settings=identity.tokenizer_fingerprint(tokenizer),
    )
    return served_tokenizer, notes


def _load_error(name: str, error: BaseException) -> ModelError:
    return ModelError(
        f"The tokenizer {name!r} cannot be loaded: {describe_error(error)}\n"
        f"Give the Hub id or folder of the served model, or omit --tokenizer to use the server's."
    )


def _short(ids: list[int]) -> str:
    return f"{' '.join(map(str, ids[:8]))}{' …' if len(ids) > 8 else ''}"


def server_ids(client: Client, model: str, text: str, special: bool = True) -> list[int] | None:
    """The ids of a text at the server; None if it has no /tokenize."""
    tokens = _tokenize(client, model, text, special)
    return None if tokens is None else tokens[0]


def _tokenize(client: Client, model: str, text: str, special: bool) -> tuple[list[int], list[str]] | None:
    """Ids and token strings from vLLM's /tokenize."""
    body = {"model": model, "prompt": text, "add_special_tokens": special, "return_token_strs": True}
    response = client.post("/tokenize", body, optional=True)
    ids = response.get("tokens") if isinstance(response, dict) else None
    if not isinstance(ids, list) or not all(type(number) is int for number in ids):
        return None
    return ids, [str(piece) for piece in response.get("token_strs") or ()]


def server_tokenizer(client: Client, model: str) -> ServedTokenizer:
    """The server's own tokenizer, with a request for each text."""
    full, plain = (server_ids(client, model, SENTENCES[0], special) for special in (True, False))
    if full is None or plain is None:
        raise ModelError(
            f"{client.address} has no /tokenize; pass the Hub id or folder of its tokenizer with --tokenizer."
        )
    prefix = next((n for n in range(len(full) - len(plain) + 1) if full[n : n + len(plain)] == plain), None)
    if prefix is None:
        raise ModelError(
            f"{client.address} splits a text differently without special tokens; pass its tokenizer with "
            f"--tokenizer."
        )
    suffix = len(full) - len(plain) - prefix

    @lru_cache(maxsize=4096)
    def encode(text: str, pair: None = None) -> Encoding:
        tokens = _tokenize(client, model, text, special=True)
        assert tokens is not None
        ids, pieces = tokens
        end = len(ids) - suffix
        offsets = [(0, 0)] * prefix + _offsets(text, pieces[prefix:end]) + [(0, 0)] * suffix
        special = [int(not prefix <= position < end) for position in range(len(ids))]
        return Encoding(ids, pieces, offsets, special, [0] * len(ids))

    def decode(number: int) -> str:
        response = client.post("/detokenize", {"model": model, "tokens": [number]}, optional=True)
        return str(response.get("prompt", "")) if isinstance(response, dict) else ""

    start = full[prefix - 1] if prefix else None
    settings = {"tokenizer_behaviour": repr([server_ids(client, model, text) for text in SENTENCES])}
    return ServedTokenizer(encode, decode, frozenset(), start, None, None, settings)


def _offsets(text: str, pieces: list[str]) -> list[tuple[int, int]]:
    """The character span of each token string: byte-level BPE or SentencePiece."""
    content = text.encode()
    for to_bytes in (_byte_level, _sentencepiece):
        parts = [to_bytes(piece) for piece in pieces]
        known = [part for part in parts if part is not None]
        for added in (0, 1):  # a space before the first word
            if len(known) == len(parts) and b"".join(known) == b" " * added + content:
                return _spans(text, known, added)
    raise SkipSampleError("the server's tokens do not spell the text")


def _byte_level(piece: str) -> bytes | None:
    return bytes(_BYTES[sign] for sign in piece) if all(sign in _BYTES for sign in piece) else None


def _sentencepiece(piece: str) -> bytes | None:
    """`▁` is a space, `<0x0A>` a byte."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def _spans(text: str, parts: list[bytes], added: int) -> list[tuple[int, int]]:
    """Byte spans as character spans; a part of a character counts as the whole character."""
    character = [number for number, letter in enumerate(text) for _ in letter.encode()]
    spans, position = [], -added
    for part in parts:
        first, end = max(position, 0), position + len(part)
        spans.append((character[first], character[end - 1] + 1) if end > first else (0, 0))
        position = end
    return spans
