"""MT-GenEval: English sentences with a reference translation of the right gender and one of the wrong gender.

Counterfactual sentences come in two versions that state different genders. The gender of a contextual
sentence is only stated by the text before it.
"""

from collections.abc import Iterator

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.reading import read_text
from gest_dataset.stereotypes import GENDERS

_FIELDS = ("id", "pair_id", "kind", "gender", "context", "sentence", "reference", "wrong_reference")


def read_mtgeneval(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield both versions of each counterfactual sentence, then the contextual sentences.

    `files` are the feminine and masculine sentences in English, the same in the other language, the
    contextual sentences, and their right and wrong references; their lines correspond.
    """
    lines = [read_text(file).splitlines() for file in files]
    for number, (*english, feminine, masculine) in enumerate(zip(*lines[:4], strict=True)):
        name, texts = f"counterfactual-{number:04d}", (feminine, masculine)
        for gender, sentence, right, wrong in zip(GENDERS, english, texts, texts[::-1], strict=True):
            row = [f"{name}-{gender}", name, "counterfactual", gender, None, sentence, right, wrong]
            yield dict(zip(_FIELDS, row, strict=True))
    for number, (source, *references) in enumerate(zip(*lines[4:], strict=True)):
        context, sentence = map(str.strip, source.rsplit("<sep>", 1))
        name = f"contextual-{number:04d}"
        row = [name, name, "contextual", None, context, sentence, *references]
        yield dict(zip(_FIELDS, row, strict=True))
