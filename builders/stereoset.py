"""StereoSet in five languages: a context and three candidates, within and between sentences."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from functools import partial

from gest_dataset.builders.config import BIAS_TYPE, Config, Dropped, Field, Fields, Files, Row
from gest_dataset.builders.families import STEREOSET
from gest_dataset.builders.reading import filled, one_of
from gest_dataset.builders.unpickle import read_frame
from gest_dataset.errors import DataError
from gest_dataset.languages import LANGUAGES
from gest_dataset.languages import STEREOSET as CODES

DATA = "slds-lmu/stereotypes-multi/create_dataset/data"
TESTS = ("intrasentence", "intersentence")
# Upstream's label of a candidate, and our field
CANDIDATES = {"stereotype": "stereotype", "anti-stereotype": "antistereotype", "unrelated": "unrelated"}
SLOTS = ("c1", "c2", "c3")
BLANK = "BLANK"  # where the candidate's word stands in a context; twice in some


def config_name(test: str, language: str) -> str:
    """What the config of one test in one language is called."""
    return f"stereoset_{language}_{test}"


def source(test: str, language: str) -> str:
    """The upstream file of one test in one language."""
    return f"{DATA}/{test}/df_{test}_{language}.pkl"


def _columns(test: str, language: str) -> set[str]:
    columns = {"id", "target", "bias_type", "context"}
    columns |= {f"{slot}_{name}" for slot in SLOTS for name in _slot_columns(test)}
    return columns if language == "en" else columns | {"target_original"}


def _slot_columns(test: str) -> tuple[str, ...]:
    columns = ("id", "sentence", "gold_label", "labels")
    return (*columns, "word") if test == "intrasentence" else columns


def read_stereoset(test: str, language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The samples of one test in one language, in the order of the file."""
    path = files[source(test, language)]
    frame = read_frame(path)
    expected = _columns(test, language)
    if set(frame) != expected:
        odd = sorted(set(frame) ^ expected)
        raise DataError.at(path, "columns", f"unexpected or missing: {', '.join(odd)}")
    for number, cells in enumerate(zip(*frame.values(), strict=True)):
        place = f"row {number}"
        sample = dict(zip(frame, cells, strict=True))
        for name, value in sample.items():
            if not name.endswith("_labels") and not isinstance(value, str):
                raise DataError.at(path, place, f"{name} is not a text: {reprlib.repr(value)}")
        slots = {sample[f"{slot}_gold_label"]: slot for slot in SLOTS}
        if slots.keys() != CANDIDATES.keys():
            raise DataError.at(path, place, f"labels of the candidates: {sorted(slots)}")
        fields = {field: slots[label] for label, field in CANDIDATES.items()}
        row = {
            "id": filled(sample["id"], "id", path, place),
            "target": filled(sample["target"], "target", path, place),
            "target_en": sample["target" if language == "en" else "target_original"],
            "bias_type": one_of(sample["bias_type"], BIAS_TYPE.names, "bias_type", path, place),
            "context": filled(sample["context"], "context", path, place),
        }
        for field, slot in fields.items():
            row[field] = filled(sample[f"{slot}_sentence"], field, path, place)
        if test == "intrasentence":
            for field in fields:
                word = word_in_place(row["context"], row[field])
                if word is None:
                    raise DataError.at(path, place, f"not the context with a word: {row[field]!r}")
                row[f"{field}_word"] = filled(word, f"{field}_word", path, place)
        yield row


def word_in_place(context: str, sentence: str) -> str | None:
    """What a sentence has in the place of the context's BLANK, or None where the rest differs.

    English sentences are in lower case, contexts are not. Upstream's own columns of words have all that
    stands between two spaces there, without punctuation: `kindp` of `BLANK!p`.

    >>> word_in_place("The Greek cook is BLANK!p", "The greek cook is kind!p")
    'kind'
    """
    parts = context.split(BLANK)
    if len(parts) == 1:
        return None
    start = len(parts[0])
    size = (len(sentence) - len("".join(parts))) // (len(parts) - 1)
    word = sentence[start : start + size]
    return word if word.join(parts).casefold() == sentence.casefold() else None


_SHARED = {
    "id": Field("StereoSet's own id of the sample"),
    "target": Field("the term whose stereotype is tested, in the config's language"),
    "target_en": Field("the same in English: ICAT is computed for each of them"),
    "bias_type": Field("what kind of term it is", BIAS_TYPE),
}
FIELDS: dict[str, Fields] = {
    "intrasentence": _SHARED
    | {
        "context": Field(f"a sentence with {BLANK} in the place of a word"),
        "stereotype": Field("the sentence with the word that fits the stereotype"),
        "antistereotype": Field("with the word that contradicts it"),
        "unrelated": Field("with a word that makes no sense there"),
    }
    | {f"{name}_word": Field(f"what stands at {BLANK} in `{name}`") for name in CANDIDATES.values()},
    "intersentence": _SHARED
    | {
        "context": Field("a sentence that names the term"),
        "stereotype": Field("a next sentence that fits the stereotype"),
        "antistereotype": Field("one that contradicts it"),
        "unrelated": Field("one that has nothing to do with the context"),
    },
}


_ROWS = {"intrasentence": 2106, "intersentence": 2123}
_SHORTER = {("intrasentence", "de"): 2103}


def _config(test: str, code: str) -> Config:
    told = f"StereoSet, {test} test, in {LANGUAGES[code].name}"
    rows = _SHORTER.get((test, code), _ROWS[test])
    name, read = config_name(test, code), partial(read_stereoset, test, code)
    return Config(name, STEREOSET, told, (source(test, code),), FIELDS[test], read, rows, (code,))


CONFIGS = [_config(test, code) for code in CODES for test in TESTS]
