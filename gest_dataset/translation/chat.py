"""A chat model behind a server as a translator: one prompt for each sentence."""

import hashlib
from collections.abc import Sequence
from contextlib import closing

from gest_dataset.errors import ScoringError
from gest_dataset.languages import LANGUAGES
from gest_dataset.models.base import CHAT_CONNECTIONS, Sampling
from gest_dataset.models.served.client import normalize_address
from gest_dataset.models.served.model import connect
from gest_dataset.probes.prompts import EMPTY, Answer, Prompt, without_thoughts
from gest_dataset.translation.translator import Batches, Translation, TranslationStoppedError, Translator

PROMPT = "Translate this sentence from English to {language}. Answer with the translation only.\n\n{sentence}"
# What a language is called in the prompt, if not by its name
_NAMES = {"sr": "Serbian, in Cyrillic letters"}
_SAMPLING = Sampling(max_tokens=256)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"))


def prompt_for(language: str) -> str:
    """The prompt for a language; `{sentence}` stands for the text."""
    return PROMPT.replace("{language}", _NAMES.get(language, LANGUAGES[language].name))


def open_chat(model: str, language: str, url: str) -> Translator:
    """The translator of a model at a server."""
    prompt = hashlib.sha256(prompt_for(language).encode()).hexdigest()[:12]
    settings = f"server={normalize_address(url)},prompt={prompt},max_tokens={_SAMPLING.max_tokens}"
    return Translator(f"chat:{model}", "", settings, lambda texts: _translate(texts, model, language, url))


def _translate(texts: Sequence[str], model: str, language: str, url: str) -> Batches:
    served = connect(url, model, connections=CHAT_CONNECTIONS)
    wording = prompt_for(language)
    sources = {Prompt(str(i), "", wording.replace("{sentence}", text)): text for i, text in enumerate(texts)}
    with closing(served.generate(iter(sources), _SAMPLING)) as generated:
        try:
            for answers in generated:
                yield [parse_translation(sources[prompt], answer) for prompt, answer in answers]
        except ScoringError as error:
            raise TranslationStoppedError(str(error)) from error


def parse_translation(text: str, answer: Answer) -> Translation:
    """The translation in an answer, without quotation marks around it that the text does not have."""
    answer = without_thoughts(answer)
    if answer.problem and answer.problem != EMPTY:
        return Translation(text, "", answer.problem)
    translation = answer.text.strip()
    opening, inner, closing_mark = translation[:1], translation[1:-1], translation[-1:]
    if inner and (opening, closing_mark) in _QUOTES and not text.strip().startswith(opening):
        translation = inner
    return Translation.of(text, translation)
