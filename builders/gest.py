"""GEST: the English sentences of both releases, and the votes on every collected sentence."""

import json
import re
from collections.abc import Iterable, Iterator

from gest_dataset.builders.config import KIND_FIELDS, Dropped, Files, Row
from gest_dataset.builders.reading import read_csv, read_text, stereotype_id
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import OWN_TABLE, STEREOTYPES


def sentence_id(row: int) -> str:
    """The id of a GEST sentence: its row number, which both releases and all translations share."""
    return f"{'own' if OWN_TABLE else 'gest'}-{row:04d}"


def stereotype_cells(number: int) -> Row:
    """The columns of a row that are about its stereotype."""
    stereotype = STEREOTYPES[number]
    return {"stereotype": number, "stereotype_name": stereotype.name, "gender": stereotype.gender}


def sentence_row(name: str, sentence: str, number: int) -> Row:
    return {"id": name, "sentence": sentence, **stereotype_cells(number)}


def ids_by_text(sentences: Iterable[Row]) -> dict[tuple[str, int], str]:
    """The ids of sentences by text and stereotype; that of the first one if several are equal."""
    return {(row["sentence"], row["stereotype"]): row["id"] for row in reversed([*sentences])}


def read_sentences(files: Files, dropped: Dropped) -> Iterator[Row]:
    (file,) = files
    for row, (line, cells) in enumerate(read_csv(file)):
        if not cells["sentence"].strip():
            raise DataError.at(file, line, "empty sentence")
        number = stereotype_id(cells["stereotype"], file, line)
        yield sentence_row(sentence_id(row), cells["sentence"], number)


def read_stereotypes(files: Files, dropped: Dropped) -> Iterator[Row]:
    yield from json.loads(read_text(files[0]))


# An annotator put an x into one column of each kind of vote
_GENDER_VOTES, _MATCH_VOTES = (
    {f"{kind}_{vote}": vote for vote in KIND_FIELDS["annotations"][f"{kind}_vote"].feature.names}
    for kind in ("gender", "match")
)
_COPIED_COLUMNS = ("comment", "fix", "first_annotator", "second_annotator", "creator")


def read_annotations(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield every collected sentence with the first annotator's votes and the second one's verdict."""
    (file,) = files

    def stereotype(text: str, line: int) -> int:
        numbered = re.search(r"#(\d+)", text)
        return stereotype_id(numbered[1] if numbered else text, file, line)

    def vote(columns: dict[str, str], cells: dict[str, str], line: int) -> str:
        marked = [label for column, label in columns.items() if cells[column].strip()]
        if len(marked) != 1:
            raise DataError.at(file, line, f"{len(marked)} votes in {'/'.join(columns)}, expected 1")
        return marked[0]

    for row, (line, cells) in enumerate(read_csv(file)):
        final = cells["final_stereotype"]
        yield {
            "id": f"collected-{row:04d}",
            "sentence": cells["sentence"],
            "stereotype": stereotype(cells["stereotype"], line),
            "gender_vote": vote(_GENDER_VOTES, cells, line),
            "match_vote": vote(_MATCH_VOTES, cells, line),
            "verdict": cells["final_verdict"] or "none",
            "final_stereotype": stereotype(final, line) if final else None,
            **{name: cells[name] for name in _COPIED_COLUMNS},
        }
