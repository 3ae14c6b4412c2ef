"""The tokenizer of a served model, checked against the server's own."""

from __future__ import annotations

from typing import Any

from transformers import AutoTokenizer

from gest_dataset.errors import ModelError, convert_errors, describe_error
from gest_dataset.models.pretrained import from_pretrained
from gest_dataset.models.served.client import Client

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
_ADVICE = "Pass the Hub id or folder of the served model with --tokenizer."


def load_tokenizer(name: str, client: Client, model: str) -> tuple[Any, list[str]]:
    """A tokenizer of the Hub or a folder, and notes; an error if the server's gives other ids."""
    message = f"The tokenizer {name!r} cannot be loaded: "
    with convert_errors(lambda error: ModelError(f"{message}{describe_error(error)}\n{_ADVICE}")):
        tokenizer = from_pretrained(AutoTokenizer, name)
        tokenizer("")  # turns off truncation and padding
        encode = tokenizer.backend_tokenizer.encode
    for text in SENTENCES:
        body = {"model": model, "prompt": text, "add_special_tokens": True}
        response = client.try_request("/tokenize", body)
        if response is None:
            return tokenizer, [f"the server has no /tokenize: it is not checked that {name} is its tokenizer"]
        ids = list(encode(text).ids)
        if ids != response["tokens"]:
            raise ModelError(
                f"{name} is not the tokenizer of {client.address}: {text!r} has the ids {ids[:8]}, at the "
                f"server {response['tokens'][:8]}. {_ADVICE}"
            )
    return tokenizer, []
