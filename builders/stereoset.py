"""StereoSet in five languages: a context and three candidates, within and between sentences."""

from collections.abc import Iterator

from gest_dataset.builders.config import KIND_FIELDS, Dropped, Files, Row
from gest_dataset.builders.reading import read_pickle
from gest_dataset.errors import DataError

DATA = "slds-lmu/stereotypes-multi/create_dataset/data"
TESTS = ("intrasentence", "intersentence")
# Upstream's label of a candidate -> its field
CANDIDATES = {"stereotype": "stereotype", "anti-stereotype": "antistereotype", "unrelated": "unrelated"}
SLOTS = ("c1", "c2", "c3")
BLANK = "BLANK"  # stands for the candidate's word in a context; twice in some


def config_name(test: str, language: str) -> str:
    return f"stereoset_{language}_{test}"


def source(test: str, language: str) -> str:
    return f"{DATA}/{test}/df_{test}_{language}.pkl"


def read_stereoset(test: str, language: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the samples of one test in one language, in the order of the file."""
    file, frame = files[0], read_pickle(files[0])
    for number, cells in enumerate(zip(*frame.values(), strict=True)):
        sample = dict(zip(frame, cells, strict=True))
        slots = {sample[f"{slot}_gold_label"]: slot for slot in SLOTS}
        if slots.keys() != CANDIDATES.keys():
            raise DataError.at(file, f"row {number}", f"unexpected labels of the candidates: {sorted(slots)}")
        row = {
            "id": sample["id"],
            "target": sample["target"],
            "target_en": sample["target" if language == "en" else "target_original"],
            "bias_type": sample["bias_type"],
            "context": sample["context"],
        }
        for label, field in CANDIDATES.items():
            row[field] = sample[f"{slots[label]}_sentence"]
        if test == "intrasentence":
            for field in CANDIDATES.values():
                word = word_in_place(row["context"], row[field])
                if word is None:
                    problem = f"the sentence is not the context with a word filled in: {row[field]!r}"
                    raise DataError.at(file, f"row {number}", problem)
                row[f"{field}_word"] = word
        yield row


def word_in_place(context: str, sentence: str) -> str | None:
    """The word that a sentence has instead of the context's BLANK; None if the rest differs.

    English sentences are in lower case, contexts are not. Upstream's own columns of words hold everything
    between two spaces: `kindp` for `BLANK!p`.

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


FIELDS = {test: KIND_FIELDS[f"stereoset_{test}"] for test in TESTS}
