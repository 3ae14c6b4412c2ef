"""The scores that the authors of GEST released: of 34 models on GEST, with the quality of each sentence, and
the means of 11 models on WinoBias.

For each model and sentence k:

    x_k = the mean over templates of ln r
    e_k = 1 for a stereotype about men, -1 for one about women
    m   = the midpoint between the mean of x over stereotypes about men and that over stereotypes about women
    s   = the standard deviation of x within stereotypes
    z_k = e_k (x_k - m) / s     positive if it leans towards the sentence's stereotype

The quality of a sentence is a t-test of z over families of models (its mean in each family): `towards` or
`against` its stereotype where the false discovery rate is 5 %, else `undetermined`. A model is compared only
with classes to which its own family did not contribute.
"""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset.builders.config import Dropped, File, Files, Row
from gest_dataset.builders.gest import read_sentences, stereotype_cells
from gest_dataset.builders.reading import read_cells, read_lines
from gest_dataset.errors import DataError
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.storage import read_yaml

_NAME = re.compile(r"(.+)_template-(\d)\.txt")
_KINDS: dict[str, dict[str, list[str]]] = read_yaml(Path(__file__).with_suffix(".yaml"))
FAMILIES = {family: models for families in _KINDS.values() for family, models in families.items()}
FAMILY_OF = {model: family for family, models in FAMILIES.items() for model in models}
KIND_OF = {model: kind for kind, families in _KINDS.items() for names in families.values() for model in names}
# Files count templates from 0; causal models have the last two of the four only
FIRST_TEMPLATE = {"masked": 1, "causal": 3}
_WINOBIAS_COLUMNS = {"male": "logprob_male_professions", "female": "logprob_female_professions"}
TOWARDS, AGAINST, UNDETERMINED = "towards", "against", "undetermined"
_FALSE_DISCOVERIES = 0.05
_LN10 = math.log(10)


def find_model(name: str) -> str | None:
    """The released model that a file is about; its name may have a prefix, such as glm_ or that of an owner.

    >>> find_model("glm_phi-1_5"), find_model("my-model")
    ('phi-1_5', None)
    """
    while name not in FAMILY_OF and "_" in name:
        name = name.partition("_")[2]
    return name if name in FAMILY_OF else None


def split_name(name: str) -> tuple[str, int] | None:
    """The model's part of a file name and the number of its template in the file."""
    match = _NAME.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def read_ratios(file: File, number: int) -> list[float]:
    """The ln ratios of a file, whose lines are log10 P(w_m) - log10 P(w_f) in the order of GEST 1.0."""
    ratios = [_number(text, file, line) for line, text in read_lines(file)]
    if len(ratios) != number:
        raise DataError(f"{file} does not have {number:,} finite numbers (GEST 1.0), but {len(ratios):,}.")
    return ratios


def _number(text: str, file: File, line: int) -> float:
    """The natural logarithm of a finite log10."""
    try:
        number = float(text) * _LN10
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError.at(file, line, f"{text!r} is not a finite number")
    return number


def _read_columns(files: Files) -> tuple[list[Row], dict[tuple[str, int], list[float]]]:
    """The sentences of GEST 1.0, and the ln ratios by model and template."""
    sentences = list(read_sentences(files[:1], Dropped()))
    columns = {}
    for file in files[1:]:
        path = Path(str(file))
        parts = split_name(path.name)
        model = find_model(parts[0]) if parts else None
        if parts is None or model is None:
            raise DataError(f"{path.name} is not a file of a released model, such as gpt2_template-0.txt.")
        columns[model, FIRST_TEMPLATE[KIND_OF[model]] + parts[1]] = read_ratios(file, len(sentences))
    return sentences, columns


def read_scores(files: Files, dropped: Dropped) -> Iterator[Row]:
    sentences, columns = _read_columns(files)
    for (model, template), ratios in columns.items():
        for sentence, ratio in zip(sentences, ratios, strict=True):
            yield {
                "id": f"{model}-{template}-{sentence['id']}",
                "model": model,
                "template": template,
                "sentence_id": sentence["id"],
                "log_ratio": ratio,
                **stereotype_cells(sentence["stereotype"]),
            }


def read_winobias_means(file: File, problems: list[str] | None = None) -> Iterator[Row]:
    """Yield the mean ln ratio of each model and WinoBias config on the occupations of either gender.

    With `problems`, rows that cannot be read are named there, and are no errors.
    """
    lines = read_cells(file)
    line, columns = next(lines, (1, []))
    while True:
        try:
            line, texts = next(lines)
            if len(texts) != len(columns):
                raise DataError.at(file, line, f"{len(texts)} fields, expected {len(columns)}")
            cells = dict(zip(columns, texts, strict=True))
            means = {gender: _number(cells[name], file, line) for gender, name in _WINOBIAS_COLUMNS.items()}
            name = cells["model_name"].rpartition("/")[2]
            config = f"winobias_type{cells['dataset_type']}_{cells['dataset_split']}"
        except StopIteration:
            return
        except (KeyError, DataError) as error:
            if isinstance(error, KeyError):
                error = DataError.at(file, line, f"not the means of a model on WinoBias: no column {error}")
            if problems is None:
                raise error from None
            problems.append(f"Left out: {error}.")
            continue
        yield {"id": f"{name}-{config}", "model": find_model(name) or name, "config": config, **means}


def read_winobias_scores(files: Files, dropped: Dropped) -> Iterator[Row]:
    return read_winobias_means(files[0])


def read_item_quality(files: Files, dropped: Dropped) -> Iterator[Row]:
    sentences, columns = _read_columns(files)
    models = list(dict.fromkeys(model for model, _ in columns))
    scores = np.array(
        [np.mean([column for key, column in columns.items() if key[0] == model], axis=0) for model in models]
    )
    z = standardise(scores, [row["stereotype"] for row in sentences])
    families = [FAMILY_OF[model] for model in models]
    names = [name for name in FAMILIES if name in families]
    means = np.array([z[[family == name for family in families]].mean(axis=0) for name in names])
    quality = classify(means)
    held_out = {name: classify(np.delete(means, i, axis=0)) for i, name in enumerate(names)}
    correlations = item_rest(z)
    for k, sentence in enumerate(sentences):
        yield {
            "id": sentence["id"],
            "sentence_id": sentence["id"],
            **stereotype_cells(sentence["stereotype"]),
            "models": len(models),
            "score": round(float(z[:, k].mean()), 6),
            "item_rest": None if np.isnan(correlations[k]) else round(float(correlations[k]), 6),
            "quality": quality[k],
            "quality_without": [held_out.get(name, quality)[k] for name in FAMILIES],
        }


def standardise(scores: np.ndarray, stereotypes: Sequence[int]) -> np.ndarray:
    """z [models, sentences] of the mean ln ratios of models, as the module's docstring defines it."""
    by_stereotype = pd.DataFrame(scores.T).groupby(np.array(stereotypes))
    spread = np.sqrt(by_stereotype.var().mean()).to_numpy()[:, None]
    means = by_stereotype.mean()
    by_gender = means.groupby([STEREOTYPES[number].gender for number in means.index])
    midpoint = by_gender.mean().mean().to_numpy()[:, None]
    signs = np.array([1.0 if STEREOTYPES[number].gender == "male" else -1.0 for number in stereotypes])
    return np.asarray(signs * (scores - midpoint) / spread)


def classify(means: np.ndarray) -> list[str]:
    """The class of each sentence, from its mean z in each family [families, sentences]."""
    if len(means) < 3:  # too few for a t-test
        return [UNDETERMINED] * means.shape[1]
    from scipy import stats  # takes a second

    p_values = stats.ttest_1samp(means, 0).pvalue
    found = stats.false_discovery_control(p_values) < _FALSE_DISCOVERIES
    labels = np.where(means.mean(axis=0) > 0, TOWARDS, AGAINST)
    return [str(label) for label in np.where(found, labels, UNDETERMINED)]


def item_rest(z: np.ndarray) -> np.ndarray:
    """Pearson's correlation over models of each sentence's z with the mean z of the other sentences."""
    rest = (z.sum(axis=1, keepdims=True) - z) / (z.shape[1] - 1)
    return np.asarray(pd.DataFrame(z).corrwith(pd.DataFrame(rest)))
