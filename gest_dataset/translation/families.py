"""How models of different families are told which language to translate to.

A family is known by the language tokens that a tokeniser has, never by a model's name: so a
model of one's own is treated as the one that it was trained from.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gest_dataset.languages import LANGUAGES, Language
from gest_dataset.translation.translator import TranslationError

logger = logging.getLogger(__name__)

# mBART-50 adds a region to the languages that it has
_MBART = ("en_XX", "de_DE", "fr_XX", "es_XX", "tr_TR", "ru_RU", "uk_UA", "hr_HR", "sl_SI", "cs_CZ", "pl_PL")


@dataclass(frozen=True)
class ModelFamily:
    """Models with the same language tokens.

    `tokens`: what a language's token may be, the best one first. `source`: what the tokeniser calls
    English, where it has to be told. `first`: the token is the first of the output; else it stands
    before the input, with `space` behind it.
    """

    name: str
    tokens: Callable[[Language], tuple[str, ...]]
    source: str | None = None
    first: bool = True
    space: str = ""


FAMILIES = (
    ModelFamily("NLLB", lambda x: (f"{x.iso3}_{x.script}",), source="eng_Latn"),
    ModelFamily("M2M100", lambda x: (f"__{x.code}__",), source="en"),
    ModelFamily("mBART-50", lambda x: tuple(t for t in _MBART if t[:2] == x.code), source="en_XX"),
    ModelFamily("MADLAD", lambda x: (f"<2{x.code}>",), first=False, space=" "),
    ModelFamily(
        "OPUS-MT",
        lambda x: (f">>{x.iso3}_{x.script}<<", f">>{x.iso3}<<", f">>{x.code}<<"),
        first=False,
        space=" ",
    ),
)


@dataclass(frozen=True)
class Way:
    """How one model is asked for one language."""

    source: str | None = None
    forced: int | None = None
    prefix: str = ""


def way(tokenizer: Any, name: str, language: str) -> Way:
    """The way for a model, by its tokeniser; an error where it does not know the language."""
    for family in FAMILIES:
        offered = {code: token for code in LANGUAGES if (token := _token(family, code, tokenizer))}
        if not offered:
            continue
        if language not in offered:
            others = ", ".join(code for code in offered if code != "en") or "none of our languages"
            raise TranslationError(
                f"{name!r} has no token for {LANGUAGES[language].name} ({language}): as a model of the "
                f"family {family.name} it translates to {others}. Choose one of them or another model."
            )
        if family.first:
            forced = tokenizer.convert_tokens_to_ids(offered[language])
            return Way(source=family.source, forced=forced)
        return Way(prefix=offered[language] + family.space)
    _check_only_language(tokenizer, name, language)
    return Way()


def _token(family: ModelFamily, code: str, tokenizer: Any) -> str | None:
    # not every tokeniser (M2M100's) counts its language tokens to its vocabulary
    unknown = {None, tokenizer.unk_token_id}
    tokens = family.tokens(LANGUAGES[code])
    return next((token for token in tokens if tokenizer.convert_tokens_to_ids(token) not in unknown), None)


def _check_only_language(tokenizer: Any, name: str, language: str) -> None:
    """A model without language tokens translates to one language, which its tokeniser may name."""
    named = getattr(tokenizer, "target_lang", None) or getattr(tokenizer, "tgt_lang", None)
    wanted = LANGUAGES[language]
    if named is None:
        logger.warning(
            "%s names no languages: it is taken for a model that translates to %s only.", name, wanted.name
        )
    elif named not in {wanted.code, wanted.iso3}:
        raise TranslationError(
            f"{name!r} translates to {named!r}, not to {wanted.name} ({language}). Choose another model "
            f"(OPUS-MT's are called Helsinki-NLP/opus-mt-en-{language} and the like)."
        )
