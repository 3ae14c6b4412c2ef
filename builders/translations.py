"""Machine translations of GEST, and the neutral ones, quoted in frames with a man and a woman who speak.

The translations of four systems into ten languages are joined to the sentences by their text. A translation
is neutral if nothing in it shows the gender of the speaker. Builders cannot run a parser, so `neutral.json`
lists the translations that the detector found to be neutral, by a hash of their text
(`benchmarks/neutral.py` writes it). A text that changed upstream is therefore never taken for a checked one.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from gest_dataset.builders.config import Dropped, Files, Row
from gest_dataset.builders.frames import Frame, choose_frame, frame_sources, read_frames
from gest_dataset.builders.gest import read_sentences, stereotype_cells
from gest_dataset.builders.pairs import merge_rows, pair_id
from gest_dataset.builders.reading import read_csv
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES

TABLE = Path(__file__).with_name("neutral.json")
NOT_NEUTRAL = "not known to be neutral"
HASH_BYTES = 4  # enough to tell a few thousand texts apart


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
                facts = (sentence["id"], language, system, sentence["stereotype"], text)
                yield translation_row(*facts, translations[text])
            elif LANGUAGES[language].in_part:
                dropped["not translated yet"] += 1
            else:
                raise DataError.at(file, "end of file", f"no translation of {text!r}")


def translation_row(
    sentence_id: str, language: str, system: str, stereotype: int, source: str, translation: str
) -> Row:
    return {
        "id": f"{sentence_id}-{language}-{system}",
        "sentence_id": sentence_id,
        "language": language,
        "system": system,
        "source": source,
        "translation": translation,
        **stereotype_cells(stereotype),
    }


def text_hash(language: str, text: str) -> bytes:
    """The hash of a text in `neutral.json`."""
    return hashlib.sha256(f"{language}\n{text}".encode()).digest()[:HASH_BYTES]


@cache
def neutral_hashes(language: str) -> frozenset[bytes]:
    content = base64.b64decode(json.loads(TABLE.read_text(encoding="utf-8"))["texts"][language])
    return frozenset(content[i : i + HASH_BYTES] for i in range(0, len(content), HASH_BYTES))


def neutral_row(
    sentence_id: str | None,
    language: str,
    systems: Sequence[str],
    stereotype: int,
    source: str,
    sentence: str,
    frame: Frame,
) -> Row:
    """A row of a neutral config: the sentence as a man and as a woman says it."""
    (masculine, masculine_span), (feminine, feminine_span) = frame.quote(sentence)
    return {
        "id": pair_id(language, stereotype, source, masculine, feminine),
        "sentence_id": sentence_id,
        "language": language,
        "systems": systems,
        "source": source,
        "sentence": sentence,
        "masculine": masculine,
        "feminine": feminine,
        "masculine_span": list(masculine_span),
        "feminine_span": list(feminine_span),
        **stereotype_cells(stereotype),
    }


def read_neutral(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the neutral translations of one language; the same one of several systems is one row."""
    last = 1 + len(LANGUAGES[language].systems)  # of the files that translations are read from
    frames = read_frames(language, dict(zip(frame_sources(language), files[last:], strict=True)))

    def rows() -> Iterator[Row | str]:
        for row in read_translations(language, files[:last], dropped):
            sentence = row["translation"]
            if text_hash(language, sentence) in neutral_hashes(language):
                frame = choose_frame(sentence, frames)
                facts = (row["sentence_id"], language, [row["system"]], row["stereotype"], row["source"])
                yield neutral_row(*facts, sentence, frame)
            else:
                yield NOT_NEUTRAL

    yield from merge_rows(rows(), dropped)
