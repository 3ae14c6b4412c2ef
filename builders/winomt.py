"""WinoMT, sentences with a person whose gender a pronoun states, and released translations of them.

A sentence is pro-stereotypical if the stated gender is the majority gender of the person's occupation.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from gest_dataset.builders.config import Dropped, File, Files, Row
from gest_dataset.builders.reading import read_lines
from gest_dataset.errors import DataError

_TRANSLATION = ("id", "sentence_id", "language", "system", "source", "translation")
_PRONOUNS = r"\b(he|she|they|him|her|them|his|hers|their|theirs|himself|herself|themselves)\b"


def _read_rows(file: File) -> list[tuple[str, ...]]:
    """The gender, the index of the entity, the sentence and the entity of each line."""
    return [tuple(line.split("\t")) for _, line in read_lines(file)]


def read_sentences(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the sentences; `files` are all of them, the pro- and the anti-stereotypical ones."""
    everything, *halves = files
    kinds = {
        row: kind for kind, half in zip(("pro", "anti"), halves, strict=True) for row in _read_rows(half)
    }
    for number, row in enumerate(_read_rows(everything)):
        gender, index, sentence, entity = row
        yield {
            "id": f"winomt-{number:04d}",
            "sentence": sentence,
            "entity": entity,
            "entity_index": int(index),
            "gender": gender,
            "stereotypical": kinds.get(row),
            "template": _template(sentence, entity, int(index)),
        }


def _template(sentence: str, entity: str, index: int) -> str:
    """The sentence without its entity and pronouns.

    >>> _template("The driver thanked the nurse because she drove.", "nurse", 4)
    'The driver thanked the ENTITY because PRONOUN drove.'
    """
    words = sentence.split()
    last = index + len(entity.split()) - 1
    words[index : last + 1] = [re.sub(r"^[\w-]+", "ENTITY", words[last])]
    return re.sub(_PRONOUNS, "PRONOUN", " ".join(words), flags=re.IGNORECASE)


def read_translations(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the translations in files SYSTEM/en-LANGUAGE.txt, joined to the sentences by their text."""
    sentences, *translated = files
    rows = [(f"winomt-{number:04d}", row[2]) for number, row in enumerate(_read_rows(sentences))]
    for file in translated:
        path = Path(str(file))
        system, language = path.parent.name, path.stem.removeprefix("en-")
        translations: dict[str, str] = {}
        for line, text in read_lines(file):
            source, separator, translation = text.partition(" ||| ")
            if not separator or translations.setdefault(source, translation) != translation:
                raise DataError.at(file, line, f"no translation, or a second one: {text!r}")
        for sentence_id, source in rows:
            if source not in translations:
                dropped["not translated"] += 1
                continue
            name = f"{sentence_id}-{language}-{system}"
            facts = (name, sentence_id, language, system, source, translations[source])
            yield dict(zip(_TRANSLATION, facts, strict=True))
