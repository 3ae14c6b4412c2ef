"""The scores of StereoSet's candidates that the authors of its translations released.

A file MODEL_WITHIN_BETWEEN_LANGUAGE.json has the score of each candidate by its id, in one test or in both.
The two parts in the middle are the authors' classes; the second one says how candidates were scored between
sentences (their documentation, code/README.md):

    BertNextSentence, ModelNSP    nsp          a next-sentence head
    GPT2LM_d, T5LM, mT5LM         generative   P(candidate | context)
    GPT2LM_orig                   ratio        P(candidate) / P(context)
    GPT2LM_c, GPT2LM_e, ...       c, e, ...    other formulas, which are not in the paper
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gest_dataset.builders.config import Dropped, File, Files, Row
from gest_dataset.builders.reading import read_pickle
from gest_dataset.builders.stereoset import CANDIDATES, SLOTS, TESTS
from gest_dataset.errors import DataError, convert_errors
from gest_dataset.languages import STEREOSET
from gest_dataset.storage import parse_json

_NAME = re.compile(
    r"(?P<model>.+?)_(?P<within>[A-Za-z0-9]*LM|testtest|)"
    r"_(?P<head>BertNextSentence|ModelNSP|[A-Za-z0-9]+LM)(?:_(?P<formula>\w+))?_(?P<language>[a-z]{2})\.json"
)
_FORMULAS = {None: "generative", "d": "generative", "orig": "ratio"}
_PAPER_NAMES = {"dbmdz/bert-base-german-cased": "bert-base-german-cased"}


@dataclass(frozen=True)
class ScoreFile:
    """What the name of a file says: the model's id on the Hub, the language, the method between sentences."""

    model: str
    is_causal: bool
    language: str
    method: str


def parse_name(name: str) -> ScoreFile | None:
    """What a file of scores is about; None if its name is not in the authors' form.

    >>> parse_name("THUMT_mGPT__GPT2LM_orig_de.json")
    ScoreFile(model='THUMT/mGPT', is_causal=True, language='de', method='ratio')
    """
    match = _NAME.fullmatch(name)
    if match is None or match["language"] not in STEREOSET:
        return None
    # the owner of a model ends at the first underscore
    model = match["model"].replace("_", "/", 1)
    is_head = not match["head"].endswith("LM")
    method = "nsp" if is_head else _FORMULAS.get(match["formula"], str(match["formula"]))
    is_causal = "GPT2LM" in (match["within"], match["head"])
    return ScoreFile(_PAPER_NAMES.get(model, model), is_causal, match["language"], method)


def read_candidate_scores(file: File) -> dict[str, dict[str, float]]:
    with convert_errors(lambda error: DataError(f"{file} is not a file of StereoSet scores: {error!r}.")):
        content = parse_json(file.read_bytes())
        tests = [test for test in TESTS if content.get(test)]
        scores = {test: {one["id"]: float(one["score"]) for one in content[test]} for test in tests}
    if not scores:
        raise DataError(f"{file} has no StereoSet scores.")
    return scores


def scores_of_samples(
    frame: Mapping[str, Sequence[Any]], scores: Mapping[str, float]
) -> dict[int, list[float]]:
    """The scores of the three candidates by row of the data, of the rows that have all three."""
    found = {}
    for place in range(len(frame["id"])):
        ids = {frame[f"{slot}_gold_label"][place]: frame[f"{slot}_id"][place] for slot in SLOTS}
        own = [scores.get(ids[label], math.nan) for label in CANDIDATES]
        if all(map(math.isfinite, own)):
            found[place] = own
    return found


def read_stereoset_scores(files: Files, dropped: Dropped) -> Iterator[Row]:
    """Yield the scores of each model, test and sample; the data come first among the files."""
    frames = {Path(str(file)).stem: read_pickle(file) for file in files if str(file).endswith(".pkl")}
    for file in files[len(frames) :]:
        path = Path(str(file))
        about = parse_name(path.name)
        if about is None:
            raise DataError(f"{path.name} is not named like gpt2_GPT2LM_GPT2LM_d_en.json.")
        for test, scores in read_candidate_scores(file).items():
            frame = frames[f"df_{test}_{about.language}"]
            samples = scores_of_samples(frame, scores)
            dropped["a candidate has no score"] += len(frame["id"]) - len(samples)
            for place, own in samples.items():
                yield {
                    "id": f"{path.stem}-{test}-{frame['id'][place]}",
                    "model": about.model,
                    "language": about.language,
                    "test": test,
                    "method": about.method if test == TESTS[1] else "",
                    "sample_id": frame["id"][place],
                    "target_en": frame["target" if about.language == "en" else "target_original"][place],
                    "bias_type": frame["bias_type"][place],
                    **dict(zip(CANDIDATES.values(), own, strict=True)),
                }
