"""`gest entity-gender`: translate WinoMT or MT-GenEval, and see whether the stated genders are kept.

In WinoMT the gender of the entity's translation is read (`gender.entities`). MT-GenEval has references of
both genders, whose words decide (`statistics.gender_accuracy`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError
from gest_dataset.gender.entities import EntityGender, entity_genders
from gest_dataset.gender.grammar import UNKNOWN
from gest_dataset.measures.gest import ENTITY_GENDER
from gest_dataset.measures.result import compute_result, with_verdict
from gest_dataset.runs.folder import Run
from gest_dataset.statistics.gender_accuracy import gender_accuracy
from gest_dataset.translation.masculine_rates import Experiment, MasculineRates, run_metadata, write_run

WINOMT, MTGENEVAL = "winomt", "mtgeneval_ru"
_COLUMNS = {  # of the table of a run -> of the rows of a config
    WINOMT: {"entity": "entity", "stated": "gender", "stereotypical": "stereotypical"}
    | {"sentence_template": "template"},
    MTGENEVAL: {"stated": "gender", "sentence_template": "pair_id", "kind": "kind"}
    | {"reference": "reference", "wrong_reference": "wrong_reference"},
}
_TEXTS = ("id", "source", "translation", *dict.fromkeys(name for one in _COLUMNS.values() for name in one))
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in (*_TEXTS, "gender", "word", "problem")]
    + [("evidence", pa.list_(pa.string()))]
)


@dataclass(frozen=True, repr=False)
class EntityGenders(MasculineRates):
    """The gender that a translator gave to the person of every sentence."""

    def result(self) -> dict[str, Any]:
        """Accuracy, F1, delta_g and delta_s; of MT-GenEval also the accuracy of each kind of sentence."""
        if self.table["kind"].null_count:
            return compute_result(ENTITY_GENDER, self.table, None)
        kinds = self.table["kind"].unique().to_pylist()
        parts = {kind: _accuracy(self.table.filter(pc.field("kind") == kind)) for kind in kinds}
        return with_verdict(ENTITY_GENDER, _accuracy(self.table) | {"by_kind": parts})


def _accuracy(table: pa.Table) -> dict[str, Any]:
    """The accuracy of MT-GenEval, with F1 if all sentences state a gender."""
    columns = table.to_pydict()
    return gender_accuracy(
        columns["translation"],
        columns["reference"],
        wrong_references=columns["wrong_reference"],
        genders=None if None in columns["stated"] else columns["stated"],
        units=columns["sentence_template"],
        templates=columns["sentence_template"],
    )


def check_data(data: str, languages: Sequence[str]) -> None:
    """An error if there is no such data in a language."""
    if data not in _COLUMNS:
        raise ConfigError(f"There is no data {data!r}. Choose one of {', '.join(_COLUMNS)}.")
    if data == MTGENEVAL and languages != ["ru"]:
        raise ConfigError(f"{data} is Russian: use --language ru.")


def measure_as_run(experiment: Experiment, data: str, path: Path, command: Sequence[str]) -> Run:
    """Measure the genders and write them as a run to `path`, also over a finished run."""
    return write_run(ENTITY_GENDER, experiment, partial(measure, experiment, data), path, command)


def measure(experiment: Experiment, data: str) -> EntityGenders:
    """Translate the sentences of a config, and read the gender of the person in each translation."""
    start = perf_counter()
    config = rows_of(data)
    facts = {row["id"]: row for row in config}
    labels = {name: one.int2str for name, one in config.features.items() if hasattr(one, "int2str")}
    samples = experiment.samples()
    valid = [sample for sample in samples if not sample.problem]
    genders = {sample.id: EntityGender(UNKNOWN) for sample in valid}
    if data == WINOMT:
        indices = [facts[sample.id]["entity_index"] for sample in valid]
        sources, texts = ([getattr(one, name) for one in valid] for name in ("source", "translation"))
        found = entity_genders(sources, indices, texts, experiment.language, detector=experiment.detector)
        genders = dict(zip(genders, found, strict=True))
    rows = []
    for sample in samples:
        read = genders.get(sample.id) or EntityGender(UNKNOWN, problem=sample.problem)
        row = {"id": sample.id, "source": sample.source, "translation": sample.translation, **asdict(read)}
        for name, column in _COLUMNS[data].items():
            value = facts[sample.id][column]
            row[name] = labels[column](value) if column in labels and value is not None else value
        rows.append(row)
    metadata = run_metadata(ENTITY_GENDER, experiment, rows, start)
    return EntityGenders(pa.Table.from_pylist(rows, schema=_SCHEMA), metadata)
