"""MT-GenEval: English sentences with a reference translation of the right gender and one of the wrong gender.

Counterfactual sentences come in two versions that state different genders. The gender of a contextual
sentence is only stated by the sentences before it.
"""

from collections.abc import Iterator

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.reading import read_text
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import GENDERS

_SEPARATOR = "<sep>"


def _read_aligned(files: Files) -> Iterator[tuple[str, ...]]:
    """The lines of files that correspond to each other."""
    texts = [read_text(file).splitlines() for file in files]
    for file, lines in zip(files, texts, strict=True):
        if len(lines) != len(texts[0]) or not all(line.strip() for line in lines):
            raise DataError(f"{file} has empty lines, or not as many lines as {files[0]}.")
    yield from zip(*texts, strict=True)


def read_mtgeneval(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield both versions of each counterfactual sentence, then the contextual sentences.

    `files` are the feminine and masculine sentences in English, the same in the other language, the
    contextual sentences and their right and wrong references.
    """
    for number, lines in enumerate(_read_aligned(files[:4])):
        for place, gender in enumerate(GENDERS):
            yield {
                "id": f"counterfactual-{number:04d}-{gender}",
                "pair_id": f"counterfactual-{number:04d}",
                "kind": "counterfactual",
                "gender": gender,
                "context": None,
                "sentence": lines[place],
                "reference": lines[2 + place],
                "wrong_reference": lines[3 - place],
            }
    for number, (source, right, wrong) in enumerate(_read_aligned(files[4:])):
        context, separator, sentence = source.rpartition(_SEPARATOR)
        if not separator:
            raise DataError.at(files[4], number + 1, f"{source!r} has no {_SEPARATOR}")
        yield {
            "id": f"contextual-{number:04d}",
            "pair_id": f"contextual-{number:04d}",
            "kind": "contextual",
            "gender": None,
            "context": context.strip(),
            "sentence": sentence.strip(),
            "reference": right,
            "wrong_reference": wrong,
        }
