"""`gest entity-gender`: whether translations of WinoMT and MT-GenEval have the stated gender.

In WinoMT the gender of the entity's translation is read (`gender.entities`). MT-GenEval has references of
both genders, whose words decide (`statistics.gender_accuracy`).
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gest_dataset.data.rows import rows_of
from gest_dataset.gender.detect import GenderDetector
from gest_dataset.gender.entities import EntityGender, entity_genders
from gest_dataset.gender.grammar import UNKNOWN
from gest_dataset.measures.gest import ENTITY_GENDER
from gest_dataset.measures.result import compute_result, with_verdict
from gest_dataset.statistics.gender_accuracy import gender_accuracy
from gest_dataset.translation.sentences import TranslatedSentence

DATA = {"winomt": "", "mtgeneval_ru": "ru"}  # and its only language
_COLUMNS = {  # of the table of a run: of the rows of the config
    **{"entity": "entity", "stated": "gender", "stereotypical": "stereotypical", "kind": "kind"},
    **{"sentence_template": "template", "pair_id": "pair_id"},
    **{"reference": "reference", "wrong_reference": "wrong_reference"},
}


def read_genders(samples: Sequence[TranslatedSentence], data: str, detector: GenderDetector) -> pa.Table:
    """The rows of a run: the facts of each sentence, and the gender in its translation."""
    config = rows_of(data)
    facts = {row["id"]: row for row in config}
    names = {name: one.int2str for name, one in config.features.items() if hasattr(one, "int2str")}
    genders: dict[str, EntityGender] = {}
    if "entity_index" in config.features:
        valid = {sample.id: sample for sample in samples if not sample.problem}
        indices = [facts[name]["entity_index"] for name in valid]
        texts = ([one.source for one in valid.values()], indices, [one.translation for one in valid.values()])
        genders = dict(zip(valid, entity_genders(*texts, detector.language, detector), strict=True))
    rows = []
    for sample in samples:
        read = genders.get(sample.id) or EntityGender(UNKNOWN, problem=sample.problem)
        row = asdict(sample) | asdict(read)
        for name, column in _COLUMNS.items():
            value = facts[sample.id].get(column)
            row[name] = names[column](value) if column in names and value is not None else value
        rows.append(row)
    return pa.Table.from_pylist(rows)


def accuracy(table: pa.Table) -> dict[str, Any]:
    """Accuracy, F1, delta_g and delta_s; of MT-GenEval also the accuracy of each kind of sentence."""
    kinds = [kind for kind in table["kind"].unique().to_pylist() if kind]
    if not kinds:
        return compute_result(ENTITY_GENDER, table, None)
    parts = {kind: _of_references(table.filter(pc.equal(table["kind"], kind))) for kind in kinds}
    return with_verdict(ENTITY_GENDER, _of_references(table) | {"by_kind": parts})


def _of_references(table: pa.Table) -> dict[str, Any]:
    """The accuracy of MT-GenEval, with F1 if all sentences state a gender."""
    columns = table.to_pydict()
    return gender_accuracy(
        columns["translation"],
        columns["reference"],
        wrong_references=columns["wrong_reference"],
        genders=None if None in columns["stated"] else columns["stated"],
        units=columns["pair_id"],
        templates=columns["pair_id"],
    )
