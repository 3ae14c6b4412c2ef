"""A chat model behind a server as a translator: asked with a prompt of a table, sentence by sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import chain
from time import perf_counter

from gest_dataset.errors import ScoringError
from gest_dataset.languages import LANGUAGES
from gest_dataset.models.chat.endpoint import connect
from gest_dataset.models.chat.speaker import Sampling
from gest_dataset.models.served import client
from gest_dataset.probes.prompt import EMPTY, Answer, Prompt, without_thoughts
from gest_dataset.translation.answers import judged
from gest_dataset.translation.translator import (
    Batch,
    Translation,
    TranslationStoppedError,
    Translator,
    answered,
)

DEFAULT = (
    "Translate this sentence from English to {language}. Answer with the translation only.\n\n{sentence}"
)
# Languages that are asked for in another way than the default
EXCEPTIONS = {
    "sr": "Translate this sentence from English to Serbian, in Cyrillic letters. Answer with the translation "
    "only.\n\n{sentence}",
}
_SAMPLING = Sampling(max_tokens=256)
_BATCH = 32  # translations that are kept together
_MARKS = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"))


def prompt_of(language: str) -> str:
    """How a translation to a language is asked for; `{sentence}` is the text."""
    return EXCEPTIONS.get(language, DEFAULT).replace("{language}", LANGUAGES[language].name)


def open_chat(model: str, language: str, url: str) -> Translator:
    """The translator of a model at a server, which is asked when there is something to translate."""
    address = client.address_of(url)
    prompt = hashlib.sha256(prompt_of(language).encode()).hexdigest()[:12]
    return Translator(
        name=f"chat:{model}",
        revision="",
        settings=f"server={address},prompt={prompt},max_tokens={_SAMPLING.max_tokens}",
        translate=lambda texts: judged(_translate(texts, model, language, url), model, language),
        unit="characters",
    )


def _translate(texts: Sequence[str], model: str, language: str, url: str) -> Generator[Batch, None, None]:
    speaker = connect(url, model)
    wording = prompt_of(language)
    source = {Prompt(str(place), "", wording.replace("{sentence}", t)): t for place, t in enumerate(texts)}
    made: list[Translation] = []
    start = perf_counter()
    with closing(speaker.say(iter(source), _SAMPLING)) as saying:
        try:
            for prompt, answer in chain.from_iterable(saying):
                made.append(translation(source[prompt], answer))
                if len(made) == _BATCH:
                    yield _batch(made, perf_counter() - start)
                    made, start = [], perf_counter()
        except ScoringError as error:
            yield _batch(made, perf_counter() - start)
            raise TranslationStoppedError(str(error)) from error
    yield _batch(made, perf_counter() - start)


def _batch(made: Sequence[Translation], seconds: float) -> Batch:
    return Batch(made, sum(len(each.source) for each in made), seconds)


def translation(text: str, answer: Answer) -> Translation:
    """What a model has answered, without the quotation marks around all of it that the text has not."""
    answer = without_thoughts(answer)
    if answer.problem and answer.problem != EMPTY:
        return Translation(text, "", answer.problem)
    said = answer.text.strip()
    for before, after in _MARKS:
        inner = said[len(before) : -len(after)]
        if said.startswith(before) and said.endswith(after) and inner and not text.strip().startswith(before):
            return answered(text, inner)
    return answered(text, said)
