"""Machine translations of GEST: four systems, ten languages, joined to the sentences by row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from datasets import ClassLabel

from gest_dataset.builders.config import STEREOTYPE, STEREOTYPE_GENDER, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import TRANSLATIONS
from gest_dataset.builders.gest import DATA, RELEASES, read_sentences
from gest_dataset.builders.reading import filled, read_csv
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES

# Our name of a system, and the folder that holds its translations upstream
FOLDER_OF_SYSTEM = {
    "amazon": "amazon_translate",
    "deepl": "deepl",
    "google": "google_translate",
    "nllb": "nllb_3b",
}
SYSTEM = ClassLabel(names=list(FOLDER_OF_SYSTEM))
_SENTENCES = RELEASES["en_1_0"]  # the text that the translations are keyed by


def _source(system: str, language: str) -> str:
    return f"{DATA}/translations/{FOLDER_OF_SYSTEM[system]}/{language}/translations.csv"


def read_translations(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Every GEST sentence in every system's translation; rows that are not in GEST are left out.

    A file also holds trials and prompted forms. A missing sentence is an error, but for the
    languages that upstream has translated in part only.
    """
    sentences = list(read_sentences("en_1_0", files, dropped))
    texts = {sentence["sentence"] for sentence in sentences}
    for system in LANGUAGES[language].systems:
        path = files[_source(system, language)]
        translated: dict[str, str] = {}
        for line, cells in read_csv(path, ("from", "to")):
            if cells["from"] not in texts:
                dropped["not a GEST sentence"] += 1
            elif cells["from"] in translated:
                raise DataError.at(path, line, f"{cells['from']!r} is translated twice")
            else:
                translated[cells["from"]] = filled(cells["to"], "translation", path, line)
        for sentence in sentences:
            text = sentence["sentence"]
            if text in translated:
                yield {
                    "id": f"{sentence['id']}-{language}-{system}",
                    "system": system,
                    "source": text,
                    "translation": translated[text],
                    "stereotype": sentence["stereotype"],
                    "gender": sentence["gender"],
                }
            elif LANGUAGES[language].in_part:
                dropped["not translated yet"] += 1
            else:
                raise DataError.at(path, "end of file", f"no translation of {text!r}")


FIELDS = {
    "id": Field("the id of the sentence, the language and the system"),
    "system": Field("who translated it", SYSTEM),
    "source": Field("the English sentence of GEST 1.0"),
    "translation": Field("what the system made of it; its grammar may show the speaker's gender"),
    "stereotype": STEREOTYPE,
    "gender": STEREOTYPE_GENDER,
}


def _config(code: str) -> Config:
    language = LANGUAGES[code]
    systems = language.systems
    told = f"GEST in {language.name} by {', '.join(systems)}{' (in part)' if language.in_part else ''}"
    files = (_SENTENCES, *(_source(system, code) for system in systems))
    rows = 937 if language.in_part else 3565 * len(systems)
    read = partial(read_translations, code)
    return Config(f"{code}_translations", TRANSLATIONS, told, files, FIELDS, read, rows, (code, "en"))


CONFIGS = [_config(code) for code, language in LANGUAGES.items() if language.systems]
