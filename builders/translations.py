"""Machine translations of GEST: four systems, ten languages, joined to the sentences by their text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gest_dataset.builders.config import KIND_FIELDS, Config, Dropped, Files, Row
from gest_dataset.builders.families import TRANSLATIONS
from gest_dataset.builders.gest import DATA, RELEASES, read_sentences
from gest_dataset.builders.reading import read_csv
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES

# The name of a system in the configs -> its upstream folder
FOLDER_OF_SYSTEM = {
    "amazon": "amazon_translate",
    "deepl": "deepl",
    "google": "google_translate",
    "nllb": "nllb_3b",
}
_SENTENCES = RELEASES["en_1_0"]  # upstream keys the translations by the text of this release


def _source(system: str, language: str) -> str:
    return f"{DATA}/translations/{FOLDER_OF_SYSTEM[system]}/{language}/translations.csv"


def read_translations(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield every GEST sentence in every system's translation.

    Upstream files also hold rows that are not in GEST (trials, prompted forms); these are left out.
    A sentence without a translation is an error, except in languages that upstream translated in part.
    """
    sentences = list(read_sentences("en_1_0", files, dropped))
    texts = {sentence["sentence"] for sentence in sentences}
    for system in LANGUAGES[language].systems:
        file = files[_source(system, language)]
        translations: dict[str, str] = {}
        for line, cells in read_csv(file, ("from", "to")):
            if cells["from"] not in texts:
                dropped["not a GEST sentence"] += 1
            elif cells["from"] in translations:
                raise DataError.at(file, line, f"{cells['from']!r} is translated twice")
            else:
                translations[cells["from"]] = cells["to"]
        for sentence in sentences:
            text = sentence["sentence"]
            if text in translations:
                yield {
                    "id": f"{sentence['id']}-{language}-{system}",
                    "system": system,
                    "source": text,
                    "translation": translations[text],
                    "stereotype": sentence["stereotype"],
                    "gender": sentence["gender"],
                }
            elif LANGUAGES[language].in_part:
                dropped["not translated yet"] += 1
            else:
                raise DataError.at(file, "end of file", f"no translation of {text!r}")


FIELDS = KIND_FIELDS["translations"]


def _config(code: str) -> Config:
    language = LANGUAGES[code]
    systems = ", ".join(language.systems)
    return Config(
        f"{code}_translations",
        TRANSLATIONS,
        f"GEST in {language.name} by {systems}{' (in part)' if language.in_part else ''}",
        (_SENTENCES, *(_source(system, code) for system in language.systems)),
        FIELDS,
        partial(read_translations, code),
        937 if language.in_part else 3565 * len(language.systems),
        (code, "en"),
    )


CONFIGS = [_config(code) for code, language in LANGUAGES.items() if language.systems]
