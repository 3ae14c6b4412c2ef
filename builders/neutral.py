"""Neutral translations in a frame with a speaker: GEST where the grammar leaves the gender to the frame.

A translation is neutral where nothing in it shows the gender of its first person. That takes a parser, which
a builder cannot run: `neutral.json` keeps what the detector found (`benchmarks/neutral.py` writes it) as
digests of the texts, so that a text which changed upstream is never taken as checked.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from datasets import List, Value

from gest_dataset.builders.config import STEREOTYPE, STEREOTYPE_GENDER, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import NEUTRAL
from gest_dataset.builders.frames import Frame, frame_for, frames_of, sources_of
from gest_dataset.builders.pairs import MERGED, pair_id
from gest_dataset.builders.translations import CONFIGS as TRANSLATIONS
from gest_dataset.builders.translations import SYSTEM, read_translations
from gest_dataset.languages import LANGUAGES
from gest_dataset.stereotypes import STEREOTYPES

TABLE = Path(__file__).with_name("neutral.json")
NOT_NEUTRAL = "not known to be neutral"
DIGEST = 4  # bytes of a text's digest: among some thousand texts none meets another's by chance


def digest(language: str, text: str) -> bytes:
    """What stands for a text in `neutral.json`."""
    return hashlib.sha256(f"{language}\n{text}".encode()).digest()[:DIGEST]


def packed(digests: Iterable[bytes]) -> str:
    """Digests as one text."""
    return base64.b64encode(b"".join(sorted(digests))).decode("ascii")


@cache
def neutral_texts(language: str) -> frozenset[bytes]:
    """The digests of the texts that nothing in them shows the gender of."""
    content = base64.b64decode(json.loads(TABLE.read_text(encoding="utf-8"))["texts"][language])
    return frozenset(content[i : i + DIGEST] for i in range(0, len(content), DIGEST))


def neutral_row(
    language: str, systems: Sequence[str], stereotype: int, source: str, sentence: str, frame: Frame
) -> Row:
    """A row of FIELDS: the sentence as a man and as a woman says it."""
    (masculine, own), (feminine, other) = frame.around(sentence)
    return {
        "id": pair_id(language, stereotype, source, masculine, feminine),
        "systems": systems,
        "source": source,
        "sentence": sentence,
        "masculine": masculine,
        "feminine": feminine,
        "masculine_span": list(own),
        "feminine_span": list(other),
        "stereotype": stereotype,
        "gender": STEREOTYPES[stereotype].gender,
    }


def read_neutral(language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The neutral translations of one language, the same one of several systems merged into one row."""
    known, frames = neutral_texts(language), frames_of(language, files)
    rows: dict[str, Row] = {}
    for translated in read_translations(language, files, dropped):
        sentence, system = translated["translation"], translated["system"]
        if digest(language, sentence) not in known:
            dropped[NOT_NEUTRAL] += 1
            continue
        told = (translated["stereotype"], translated["source"], sentence)
        row = neutral_row(language, [system], *told, frame_for(sentence, frames))
        if row["id"] in rows:
            dropped[MERGED] += 1
            rows[row["id"]]["systems"] = sorted({*rows[row["id"]]["systems"], system})
        else:
            rows[row["id"]] = row
    yield from rows.values()


SPAN = List(Value("int32"), length=2)
FIELDS = {
    "id": Field("the language and a digest of the texts: new rows never renumber old ones"),
    "systems": Field("the translators that gave this translation", List(SYSTEM)),
    "source": Field("the English sentence of GEST 1.0"),
    "sentence": Field("its translation, in which nothing shows the speaker's gender"),
    "masculine": Field("the translation as a man says it, in a frame"),
    "feminine": Field("the same as a woman says it"),
    "masculine_span": Field("`[start, end)` of the frame's words that differ, in characters", SPAN),
    "feminine_span": Field("the same in `feminine`", SPAN),
    "stereotype": STEREOTYPE,
    "gender": STEREOTYPE_GENDER,
}


# On the pinned files
_ROWS = {
    "be": 780,
    "ru": 1736,
    "uk": 1457,
    "hr": 615,
    "sl": 520,
    "sr": 690,
    "cs": 457,
    "pl": 623,
    "sk": 391,
    "bg": 285,
}


def _config(of_translations: Config) -> Config:
    language = of_translations.languages[0]
    told = f"Neutral translations in {LANGUAGES[language].name}, in frames with a man and a woman who speak"
    files = (*of_translations.sources, *sources_of(language))
    read, spoken = partial(read_neutral, language), (language, "en")
    return Config(f"{language}_neutral", NEUTRAL, told, files, FIELDS, read, _ROWS[language], spoken)


CONFIGS = [_config(config) for config in TRANSLATIONS]
