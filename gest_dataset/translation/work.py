"""From texts to translations: each different text once, from the store where it is there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from gest_dataset.translation import store as shelf
from gest_dataset.translation.systems import open_translator
from gest_dataset.translation.translator import EMPTY, Translation, TranslationStoppedError, Translator


@dataclass(frozen=True)
class Translated:
    """Translations in the order asked, and what they took; the counts are of different texts.

    `units` were translated now, in `seconds` without loading. `stopped` is why a translator could
    not go on to the end; the texts that it left have it as their problem.
    """

    translations: list[Translation]
    stored: int
    new: int
    failed: int
    units: int
    unit: str
    seconds: float
    stopped: str = ""

    @property
    def rate(self) -> float | None:
        """Units per second."""
        return self.units / self.seconds if self.seconds else None


def translate(
    texts: Sequence[str],
    system: str,
    language: str,
    *,
    store: str | Path | None = None,
    progress: bool = True,
    **loading: Any,
) -> list[Translation]:
    """Translate English texts; the answer is in their order.

    `system` is `hf:MODEL_OR_PATH`, `deepl`, `google`, `amazon` or `file:PATH`. Finished batches are
    kept in the folder `store` (default: `$HF_HOME/gest/translations`), so the same call goes on
    where an interrupted one stopped. A text without a translation has a `problem`. An error is
    raised where nothing at all could be translated. `loading` is for `open_translator`.
    """
    translator = open_translator(system, language, **loading)
    return translate_all(texts, translator, language, store=store, progress=progress).translations


def translate_all(
    texts: Sequence[str],
    translator: Translator,
    language: str,
    *,
    store: str | Path | None = None,
    progress: bool = True,
) -> Translated:
    """Translate with a translator that is open, and say what it took."""
    by_text = {text: Translation(text, "", problem) for text in texts if (problem := _problem(text))}
    wanted = [text for text in dict.fromkeys(texts) if text not in by_text]
    path = shelf.path_of(Path(store) if store else shelf.default_directory(), translator.name, language)
    by_text |= _kept(path, translator, wanted)
    missing = [text for text in wanted if text not in by_text]
    units, seconds, stopped = 0, 0.0, ""
    with shelf.locked(path) if missing and translator.stored else nullcontext():
        # less what another process has translated while this one came here
        by_text |= _kept(path, translator, missing)
        missing = [text for text in missing if text not in by_text]
        try:
            if missing:
                with (
                    _bar(len(wanted), len(missing), f"{translator.name} to {language}", progress) as bar,
                    closing(translator.translate(missing)) as batches,
                ):
                    for batch in batches:
                        if translator.stored:
                            answers = [made for made in batch.translations if made.problem in ("", EMPTY)]
                            shelf.add(path, translator, answers)
                        by_text |= {made.source: made for made in batch.translations}
                        units += batch.units
                        seconds += batch.seconds
                        bar.update(len(batch.translations))
        except TranslationStoppedError as error:
            if not any(text in by_text for text in wanted):
                raise
            stopped = str(error)
    lost = stopped.partition("\n")[0]
    translations = [by_text.get(text) or Translation(text, "", lost) for text in texts]
    return Translated(
        translations,
        stored=len(wanted) - len(missing),
        new=sum(text in by_text and not by_text[text].problem for text in missing),
        failed=len({made.source for made in translations if made.problem}),
        units=units,
        unit=translator.unit,
        seconds=seconds,
        stopped=stopped,
    )


def ask(
    texts: Sequence[str], translator: Translator, language: str, store: str | Path | None = None
) -> dict[str, Translation]:
    """Translations by text; an error where the translator has not got to the end."""
    work = translate_all(texts, translator, language, store=store)
    if work.stopped:
        raise TranslationStoppedError(
            f"{work.stopped}\n{work.stored + work.new} of {len(set(texts))} texts are translated and "
            f"kept; the same command goes on from there."
        )
    return {made.source: made for made in work.translations}


def _bar(total: int, missing: int, name: str, shown: bool) -> Any:
    """A progress bar that begins with what is there; none without a terminal."""
    disable = None if shown else True
    return tqdm(total=total, initial=total - missing, desc=name, unit="texts", disable=disable)


def _problem(text: str) -> str:
    """Why a text is not worth sending; nothing is the empty string."""
    if not text.strip():
        return "empty text"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "not valid Unicode (half of a surrogate pair)"
    return ""


def _kept(path: Path, translator: Translator, texts: Sequence[str]) -> dict[str, Translation]:
    """What the store has of some texts."""
    if not translator.stored:
        return {}
    kept = shelf.read(path, translator)
    return {text: kept[text] for text in texts if text in kept}
