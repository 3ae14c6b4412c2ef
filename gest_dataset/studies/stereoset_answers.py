"""What models have answered to StereoSet, from runs and from the authors' own files of scores alike."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.builders.stereoset import CANDIDATES, SLOTS, TESTS, source
from gest_dataset.builders.unpickle import read_frame
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.languages import STEREOSET
from gest_dataset.measures import MEASURES
from gest_dataset.measures.measure import Inputs, Result
from gest_dataset.measures.result import inputs_of
from gest_dataset.probes.stereoset import METHODS
from gest_dataset.report.measured import Measured
from gest_dataset.runs.reading import Run
from gest_dataset.storage import parse_json

# A file of the authors' scores: model, their classes within and between sentences, language
_FILE = re.compile(r"(?P<model>.+?)_[A-Z][A-Za-z0-9]*_(?P<between>[A-Z]\w*?)_(?P<language>[a-z]{2,3})\.json")
_PUBLISHED = "stereoset_overall"
_NEXT_SENTENCE = re.compile(r"Next|NSP", re.IGNORECASE)  # in the name of a class of theirs
CAUSAL, NSP = "causal", "nsp"  # kinds of models
GENERATIVE, RATIO = METHODS[CAUSAL]


@dataclass(frozen=True)
class Answers:
    """What one model answered to one test in one language.

    `way` is how it was asked between sentences, and empty within. `inputs` are what the statistic takes.
    `run` is there where these are not the authors'; `metadata` say which model it is.
    """

    model: str
    language: str
    test: str
    way: str
    kind: str
    inputs: Inputs
    metadata: Mapping[str, Any]
    run: Run | None = None

    @property
    def result(self) -> Result | None:
        """The statistic, where a run has it; nan for what it lacks."""
        return None if self.run is None else Measured(self.run, self.model, 0).result


def of_run(run: Run, model: str, facts: Mapping[str, Any]) -> Answers:
    """The answers of a run, under the name of its model; `facts` are those of the model."""
    own = run.manifest.metadata
    _, language, test = run.manifest.config.split("_")
    inputs = inputs_of(MEASURES[run.manifest.measure], run.table, rows_of(run.manifest.config))
    return Answers(
        model, language, test, way_of(own) if test == TESTS[1] else "", own["kind"], inputs, facts, run
    )


def way_of(facts: Mapping[str, Any]) -> str:
    """How a run was asked between sentences: its option, or what suits its kind of model."""
    asked = facts["options"].get("intersentence")
    return str(asked or METHODS[facts["kind"]][0])


def released(folder: Path) -> tuple[list[Answers], dict[str, str]]:
    """The answers in a folder of the authors' files, and the hash of each file.

    Their names are such as `gpt2_GPT2LM_GPT2LM_d_en.json`: the model, a class for each test, the language.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder. Give the one that the authors' files of scores are in.")
    named = [(path, _FILE.fullmatch(path.name)) for path in sorted(folder.iterdir())]
    found = [(path, match) for path, match in named if match and match["language"] in STEREOSET]
    if not found:
        raise ConfigError(
            f"{folder} holds no file of StereoSet scores. Their names are such as "
            f"gpt2_GPT2LM_GPT2LM_d_en.json: the model, a class for each test, the language."
        )
    answers = [part for path, match in found for part in _of_file(path, match)]
    return answers, {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path, _ in found}


def _of_file(path: Path, match: re.Match[str]) -> list[Answers]:
    """Both tests of one file: `{test: [{id, score}, ...]}`, an id for each candidate."""
    try:
        told = parse_json(path.read_bytes())
        scores = {test: {entry["id"]: float(entry["score"]) for entry in told[test]} for test in TESTS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} cannot be read as scores of StereoSet: {error!r}.") from error
    model, language = match["model"], match["language"]
    handles = (row["handle"] for row in published.load(_PUBLISHED)["rows"] if row["language"] == language)
    handle = next((handle for handle in handles if handle.rpartition("/")[2] == model), model)
    facts = {"model": handle, "from_hub": True}  # that is where the authors had their models from
    way = NSP if _NEXT_SENTENCE.search(match["between"]) else GENERATIVE
    return [
        Answers(
            f"{handle} (authors)",
            language,
            test,
            way if test == TESTS[1] else "",
            "",
            _inputs(path, test, language, own),
            facts,
        )
        for test, own in scores.items()
    ]


def _inputs(path: Path, test: str, language: str, scores: Mapping[str, float]) -> Inputs:
    """The scores of the candidates of each sample; upstream's frames say which is which."""
    frame = read_frame(sources.fetch(source(test, language)))
    targets = list(frame["target" if language == "en" else "target_original"])
    predictions = []
    for place in range(len(targets)):
        ids = {frame[f"{slot}_gold_label"][place]: frame[f"{slot}_id"][place] for slot in SLOTS}
        lacking = [name for name in ids.values() if name not in scores]
        if lacking:
            raise DataError.at(path, test, f"no score of the candidate {lacking[0]}")
        predictions.append([scores[ids[label]] for label in CANDIDATES])
    return {
        "predictions": predictions,
        "references": targets,
        "bias_types": list(frame["bias_type"]),
        "units": targets,
    }
