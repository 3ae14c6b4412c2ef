"""Translate texts with a system; every distinct text is translated and paid for once."""

import re
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub.errors import RepositoryNotFoundError

from gest_dataset.cache import ResponseCache, cache_key
from gest_dataset.data.sources import cache_directory
from gest_dataset.errors import ConfigError, ModelError, UnsupportedLanguageError
from gest_dataset.languages import SOURCE, source_language, target_languages
from gest_dataset.progress import ProgressBar
from gest_dataset.storage import file_lock
from gest_dataset.translation.sentences import open_file
from gest_dataset.translation.services import SERVICES, open_service
from gest_dataset.translation.translator import EMPTY, Translation, TranslationStoppedError, Translator

# How users write each system
SYSTEMS = ("hf:MODEL_OR_PATH", *SERVICES, "chat:MODEL", "file:PATH")


@dataclass(frozen=True)
class Translated:
    """Translations in the order of the texts; the counts are of distinct texts."""

    translations: list[Translation]
    cached: int
    new: int
    failed: int
    stopped: str = ""  # why the translator could not finish


def open_translator(
    system: str,
    language: str,
    *,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
    revision: str | None = None,
    endpoint: str | None = None,
    source: str = SOURCE,
) -> Translator:
    """The translator of a system (one of `SYSTEMS`) to a language from another (default: English).

    `{language}` in the name stands for its code; `endpoint` is for chat models, the rest for loaded models.
    """
    source_language(source)
    if target_languages(language, source) != [language]:
        raise ConfigError(f"Give exactly one target language, not {language!r}.")
    is_template = "{language}" in system
    system = system.replace("{language}", language)
    kind, _, name = system.partition(":")
    if (kind == "chat") != (endpoint is not None):
        raise ConfigError("Only a chat model has an endpoint: --system chat:MODEL --endpoint URL.")
    if revision is not None and kind != "hf":
        raise ConfigError(f"{system!r} has no revisions; only hf: models do.")
    if kind in ("hf", "chat") and name:
        from gest_dataset.translation.models import open_chat, open_model  # imports torch

        if endpoint is not None:
            return open_chat(name, language, endpoint, source)
        try:
            return open_model(name, language, device, dtype, batch_tokens, revision, source)
        except ModelError as error:
            missing = error.__cause__ and isinstance(error.__cause__.__cause__, RepositoryNotFoundError)
            if missing and is_template:
                raise UnsupportedLanguageError(str(error)) from error
            raise
    if kind == "file" and name:
        return open_file(name, language)
    if system in SERVICES:
        return open_service(system, language, source)
    raise ConfigError(f"There is no system {system!r}. Use one of {', '.join(SYSTEMS)}.")


def translate(
    texts: Sequence[str], system: str, language: str, *, store: str | Path | None = None, **loading: Any
) -> list[Translation]:
    """Translate texts, in their order.

    `system` is one of `SYSTEMS`; `loading` are arguments of `open_translator`. Finished batches are cached in
    the folder `store` (default: `$HF_HOME/gest/translations`), so the same call resumes. A text without a
    translation has a `problem`; an error is raised if nothing at all could be translated.
    """
    return translate_all(texts, open_translator(system, language, **loading), language, store).translations


def translate_all(
    texts: Sequence[str], translator: Translator, language: str, store: str | Path | None = None
) -> Translated:
    """Translate with an open translator, and report the work."""
    done = {text: Translation(text, "", "empty text") for text in texts if not text.strip()}
    wanted = [text for text in dict.fromkeys(texts) if text not in done]
    identity = (translator.name, translator.revision, translator.settings, language)
    keys = {text: cache_key(*identity, text) for text in wanted}
    folder = Path(store) if store else cache_directory().parent / "translations"
    stopped = ""
    path = folder / "translations.sqlite3" if translator.cached else Path(":memory:")
    with ResponseCache(path) as cache:
        stored = cache.get(keys.values())
        for text in wanted:
            if keys[text] in stored:
                done[text] = Translation.of(text, stored[keys[text]]["translation"])
        missing = [text for text in wanted if text not in done]
        title = f"{translator.name} to {language}"
        bar = ProgressBar(len(wanted), "texts", len(wanted) - len(missing), title, hidden=not missing)
        name = re.sub(r"[^\w.-]", "-", f"{translator.name}-{language}.lock")
        busy = f"Another process is translating to {language} with {translator.name} (--store {folder})"
        lock = file_lock(folder / name, busy) if missing and translator.cached else nullcontext()
        try:
            with lock, bar, closing(translator.translate(missing)) as batches:
                for batch in batches if missing else ():
                    made = {new.source: new for new in batch}
                    # an empty translation was paid for as well
                    paid = [new for new in made.values() if new.problem in ("", EMPTY)]
                    cache.put({keys[new.source]: {"translation": new.translation} for new in paid})
                    done |= made
                    bar.update(len(made))
        except TranslationStoppedError as error:
            if not any(text in done for text in wanted):
                raise
            stopped = str(error)
    reason = stopped.partition("\n")[0]
    translations = [done.get(text) or Translation(text, "", reason) for text in texts]
    return Translated(
        translations,
        cached=len(wanted) - len(missing),
        new=sum(text in done and not done[text].problem for text in missing),
        failed=len({made.source for made in translations if made.problem}),
        stopped=stopped,
    )


def translate_distinct(
    texts: Sequence[str], translator: Translator, language: str, store: str | Path | None = None
) -> dict[str, Translation]:
    """Translations by text; an error if the translator could not finish."""
    work = translate_all(texts, translator, language, store=store)
    if work.stopped:
        raise TranslationStoppedError(
            f"{work.stopped}\n{work.cached + work.new} of {len(set(texts))} texts are translated and cached; "
            f"rerun the same command to resume."
        )
    return {made.source: made for made in work.translations}
