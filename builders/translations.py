"""Machine translations of GEST: four systems, ten languages, joined to the sentences by their text."""

from collections.abc import Iterator

from gest_dataset.builders.config import KIND_FIELDS, Dropped, Files, Row
from gest_dataset.builders.gest import read_sentences, stereotype_cells
from gest_dataset.builders.reading import read_csv
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES


def read_translations(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield every GEST sentence in every system's translation.

    `files` are GEST 1.0, whose texts upstream uses as keys, and the translations of each system.
    Upstream files also hold rows that are not in GEST (trials, prompted forms); these are left out.
    A sentence without a translation is an error, except in languages that upstream translated in part.
    """
    sentences = list(read_sentences(files[:1], dropped))
    texts = {sentence["sentence"] for sentence in sentences}
    for system, file in zip(LANGUAGES[language].systems, files[1:], strict=True):
        translations: dict[str, str] = {}
        for line, cells in read_csv(file):
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
                    "sentence_id": sentence["id"],
                    "language": language,
                    "system": system,
                    "source": text,
                    "translation": translations[text],
                    **stereotype_cells(sentence["stereotype"]),
                }
            elif LANGUAGES[language].in_part:
                dropped["not translated yet"] += 1
            else:
                raise DataError.at(file, "end of file", f"no translation of {text!r}")


FIELDS = KIND_FIELDS["translations"]
