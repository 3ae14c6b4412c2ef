"""GEST itself: the English sentences in both releases, and the votes on every collected one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from datasets import ClassLabel, Value

from gest_dataset.builders.config import STEREOTYPE, STEREOTYPE_GENDER, Config, Dropped, Field, Files, Row
from gest_dataset.builders.families import GEST
from gest_dataset.builders.reading import filled, one_of, read_csv, stereotype_id
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import STEREOTYPES

DATA = "kinit-sk/gest/data"
RELEASES = {"en": f"{DATA}/gest_1.1.csv", "en_1_0": f"{DATA}/gest.csv"}
ANNOTATIONS = f"{DATA}/annotations.csv"


def sentence_id(row: int) -> str:
    """The id of a GEST sentence: its row, which both releases and all translations share."""
    return f"gest-{row:04d}"


def sentence_row(name: str, sentence: str, number: int) -> Row:
    """A row of SENTENCE_FIELDS, from the number of its stereotype."""
    stereotype = STEREOTYPES[number]
    return {
        "id": name,
        "sentence": sentence,
        "stereotype": number,
        "stereotype_name": stereotype.name,
        "gender": stereotype.gender,
    }


def read_sentences(release: str, files: Files, dropped: Dropped) -> Iterator[Row]:
    """The rows of one release."""
    path = files[RELEASES[release]]
    for row, (line, cells) in enumerate(read_csv(path, ("sentence", "stereotype"))):
        stereotype = stereotype_id(cells["stereotype"], path, line)
        yield sentence_row(sentence_id(row), filled(cells["sentence"], "sentence", path, line), stereotype)


# The columns in which an annotator left one x, and the label that each of them stands for
_GENDERS = ["strong_female", "female", "neutral", "male", "strong_male"]
_MATCHES = ["strong_agree", "agree", "neutral", "disagree", "strong_disagree"]
_GENDER_VOTES = {f"gender_{vote}": vote for vote in _GENDERS}
_MATCH_VOTES = {f"match_{vote}": vote for vote in _MATCHES}
_VERDICTS = ["none", "ok", "fix", "no"]
_TOLD = ("comment", "fix", "first_annotator", "second_annotator", "creator")  # as they are
_ANNOTATION_COLUMNS = (
    "sentence",
    "stereotype",
    *_GENDER_VOTES,
    *_MATCH_VOTES,
    "final_verdict",
    "final_stereotype",
    *_TOLD,
)


def read_annotations(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Every collected sentence with the first annotator's votes and the second one's verdict."""
    path = files[ANNOTATIONS]
    for row, (line, cells) in enumerate(read_csv(path, _ANNOTATION_COLUMNS)):

        def number(text: str, line: int = line) -> int:
            numbered = re.search(r"#(\d+)", text)
            return stereotype_id(numbered[1] if numbered else text, path, line)

        def vote(columns: dict[str, str], cells: dict[str, str] = cells, line: int = line) -> str:
            marked = [label for column, label in columns.items() if cells[column].strip()]
            if len(marked) != 1:
                raise DataError.at(path, line, f"{len(marked)} votes in {'/'.join(columns)}")
            return marked[0]

        yield {
            "id": f"collected-{row:04d}",
            "sentence": filled(cells["sentence"], "sentence", path, line),
            "stereotype": number(cells["stereotype"]),
            "gender_vote": vote(_GENDER_VOTES),
            "match_vote": vote(_MATCH_VOTES),
            "verdict": one_of(cells["final_verdict"] or "none", _VERDICTS, "final_verdict", path, line),
            "final_stereotype": number(cells["final_stereotype"]) if cells["final_stereotype"] else None,
            **{name: cells[name] for name in _TOLD},
        }


SENTENCE_FIELDS = {
    "id": Field("the sentence's place in the release; both releases and all translations share it"),
    "sentence": Field("in the first person; nothing in it tells the speaker's gender"),
    "stereotype": STEREOTYPE,
    "stereotype_name": Field("what the stereotype says, as the paper names it"),
    "gender": STEREOTYPE_GENDER,
}
_VOTES = {
    "id": Field("the sentence's place among the collected ones; not the id in the releases"),
    "sentence": Field("as it was collected, before any fix"),
    "stereotype": STEREOTYPE,
    "gender_vote": Field("which gender the sentence suggests to the validator", ClassLabel(names=_GENDERS)),
    "match_vote": Field("whether it fits its stereotype, to the validator", ClassLabel(names=_MATCHES)),
    "verdict": Field(
        "the second annotator's; `none` where the votes settled it", ClassLabel(names=_VERDICTS)
    ),
    "final_stereotype": Field(
        "its number if the sentence was moved to another one, else null", Value("int32")
    ),
    "fix": Field("the sentence as it was put right; empty where it was not"),
    "comment": Field("what the annotators noted; often empty"),
    "first_annotator": Field("who voted"),
    "second_annotator": Field("who gave the verdict, where there is one"),
    "creator": Field("who wrote the sentence"),
}

_COLLECTED = "Every collected sentence with both annotators' votes"
CONFIGS = [
    Config(name, GEST, told, (RELEASES[name],), SENTENCE_FIELDS, partial(read_sentences, name), 3565)
    for name, told in (
        ("en", "GEST 1.1: gender-neutral English sentences, each for one of 16 stereotypes"),
        ("en_1_0", "GEST 1.0, as the papers used it; 244 sentences differ from 1.1 in a typo"),
    )
]
CONFIGS += [Config("annotations", GEST, _COLLECTED, (ANNOTATIONS,), _VOTES, read_annotations, 4001)]
