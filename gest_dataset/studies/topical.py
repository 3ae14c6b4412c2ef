"""`gest study topical`: is it the topic, and not the stereotype? (Pikuliak et al., 2024, section 7.4)

The paper's check (table 3) is the masculine rate of male samples with a word about the family, next to those
of all male and all female samples; any other words can be used. Further explanations are tested: negation,
length, frequency of words: g_s adjusted for each of them, and g_s of parts of the sentences.

Scores are ln r, averaged over templates (and over the pairs of a source) first.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.builders.released import KIND_OF
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.gest import MASCULINE_RATE, PAIRS, TEMPLATES
from gest_dataset.measures.grid import EMPTY, Estimate
from gest_dataset.measures.result import wide_scores
from gest_dataset.published.released import AUTHORS_CONFIG, Released
from gest_dataset.report.labels import LabelledRun, label_runs
from gest_dataset.runs.folder import Runs
from gest_dataset.statistics import confounders, stereotype_rate, topical_bias
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import FAMILY_WORDS, mentions_any
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.study import Row, Study, Table, collect_runs, make_study

MT, MLM, GLM, SLAVIC = "MT systems", "English MLMs", "English GLMs", "Slavic MLMs"  # rows of table 3
_MEASURES = (TEMPLATES.name, PAIRS.name, MASCULINE_RATE.name)
MALE_STEREOTYPES = [stereotype.id for stereotype in STEREOTYPES.values() if stereotype.gender == "male"]
_GENDERS = {"male": 1.0, "female": 0.0}
_INDEX = ["sentence", "stereotype"]
_LEAST_FREQUENCY = 1e-9  # of a word that wordfreq does not have

Rates = tuple[list[Estimate], int]


@dataclass(frozen=True)
class SentenceScores:
    """What one model or translator gave for English sentences, or for translations of them.

    `values` are ln r, a column per template, with the sentence and its stereotype as the index; for a
    translator 1 is masculine, 0 feminine, nan unknown. `kind` is the row of table 3.
    """

    name: str
    kind: str
    values: pd.DataFrame

    @property
    def means(self) -> "pd.Series[float]":
        """The means over templates of the samples that have a score in each."""
        return self.values.dropna().mean(axis=1)

    def rates(self, samples: "pd.Series[float]", words: Sequence[str], scale: str = "ratio") -> Rates:
        """The rates of male samples, of those on the topic and of female samples; the number on the topic."""
        is_share = self.kind == MT
        predictions = np.where(samples > 0, "male", "female") if is_share else samples.to_numpy()
        sentences, stereotypes = (samples.index.get_level_values(name).tolist() for name in _INDEX)
        result = topical_bias(sentences, predictions.tolist(), stereotypes, words, scale)
        names = [f"{'p' if is_share else 'q'}_{part}" for part in ("m", "topic", "f")]
        return [Estimate.of(result, name) for name in names], int(result["n_topic"])

    def expected_rate(self, words: Sequence[str]) -> float:
        """The rate on the topic if each male sample were like the others of its stereotype."""
        samples = self.means.rename("mean").reset_index()
        male = samples[samples["stereotype"].isin(MALE_STEREOTYPES)]
        on_topic = pd.Series(mentions_any(male["sentence"].tolist(), words), male.index, dtype=bool)
        others = male[~on_topic].groupby("stereotype")["mean"].mean()
        mean = float(male.loc[on_topic, "stereotype"].map(others).mean())
        return mean if self.kind == MT else math.exp(mean)


def topical(
    runs: Runs = (),
    words: Sequence[str] = FAMILY_WORDS,
    released: str | Path | None = None,
    where: Sequence[str] = (),
) -> Study:
    """The rate of male samples with one of `words` (also inside longer words), and other explanations."""
    if not words or not all(word.strip() for word in words):
        raise ConfigError("A topic needs words, such as --words child,children,family.")
    files = Released(released, where)
    used = collect_runs(
        runs,
        "topical",
        lambda run: run.manifest.measure in _MEASURES and run.manifest.config in CONFIGS,
        files,
        group=lambda run: (run.manifest.measure, run.manifest.language),
    )
    models = [_scores_of_run(run) for run in label_runs(used)]
    models += scores_of_authors(files)
    language_models = [model for model in models if model.kind != MT]
    rows: list[Row] = []
    for model in models:
        name, kind = model.name, model.kind
        (male, topic, female), number = model.rates(model.means, words)
        # where the topic lies between female (0) and male samples (1); of ratios on their logarithms
        values = np.array([male.value, topic.value, female.value])
        m, t, f = (values if kind == MT else np.log(values)).tolist()
        position = (t - f) / (m - f) if m != f else math.nan
        rows.append((name, kind, number, male, topic, female, position, model.expected_rate(words)))
    table = Table.create("topical", rows, words=", ".join(words))
    tables = [table, like_table_3(models, words), *_explanations(language_models)]
    sources = {"words": ", ".join(words)}
    return make_study("topical", tables, used, [model.name for model in models], sources, files=files)


def scores_of_authors(files: Released) -> list[SentenceScores]:
    found = []
    for name, scores in files.gest.items():
        kind = MLM if KIND_OF.get(name, "masked" if 1 in scores else "causal") == "masked" else GLM
        found.append(SentenceScores(name, kind, _by_sentence(scores, AUTHORS_CONFIG, "sentence")))
    return found


def _scores_of_run(labelled: LabelledRun) -> SentenceScores:
    run, label, config = labelled.run, labelled.label, labelled.run.manifest.config
    if run.manifest.measure == MASCULINE_RATE.name:
        table = run.table.to_pandas().rename(columns={"source": "sentence"}).set_index(_INDEX)
        return SentenceScores(label, MT, table["gender"].map(_GENDERS).astype(float).to_frame())
    wide = wide_scores(run.table)
    if run.manifest.measure == PAIRS.name:  # the pairs of a source have the same English sentence
        values = _by_sentence(wide, config, "source").groupby(level=_INDEX, sort=False).mean()
        return SentenceScores(label, SLAVIC, values)
    kind = MLM if labelled.kind == "masked" else GLM
    return SentenceScores(label, kind, _by_sentence(wide, config, "sentence"))


def _by_sentence(scores: pd.DataFrame, config: str, field: str) -> pd.DataFrame:
    """Scores as `wide_scores` has them, by the English sentence of each sample."""
    rows = rows_of(config)
    sentences = scores.index.get_level_values("id").map(dict(zip(rows["id"], rows[field], strict=True)))
    if sentences.isna().any():
        raise DataError(f"A run has samples that {config} lacks. Score it again.")
    index = [sentences, scores.index.get_level_values("stereotype")]
    return scores.set_axis(pd.MultiIndex.from_arrays(index, names=_INDEX))


def like_table_3(models: Sequence[SentenceScores], words: Sequence[str]) -> Table:
    """Means over models and templates on the printed scale."""
    rows: list[Row] = []
    for printed in published.load("gest_topical_bias")["rows"]:
        members = [m for m in models if m.kind == printed["systems"]]
        columns = [(m, column.dropna()) for m in members for _, column in m.values.items()]
        rates = [[rate.value for rate in m.rates(column, words, "published")[0]] for m, column in columns]
        if rates:
            means = np.mean(rates, axis=0)[[0, 2, 1]].tolist()
            is_printed = tuple(words) == FAMILY_WORDS
            paper = [f"{printed[name]:.2f}" if is_printed else "" for name in ("m", "f", "topic")]
            rows.append((printed["systems"], len(members), len(rates), *means, *paper))
    return Table.create("table-3", rows)


def sentence_properties(sentences: Sequence[str]) -> dict[str, Floats]:
    """The properties of `statistics.confounders`, and the mean ln frequency of words if wordfreq is there."""
    properties = confounders.sentence_properties(sentences)
    try:
        from wordfreq import word_frequency  # an optional dependency
    except ImportError:
        return properties
    means = []
    for words in map(confounders.split_words, sentences):
        logs = [math.log(max(word_frequency(word, "en"), _LEAST_FREQUENCY)) for word in words]
        means.append(float(np.mean(logs)) if logs else 0.0)
    return properties | {"frequency of words in English": np.array(means)}


def _explanations(models: Sequence[SentenceScores]) -> tuple[Table, Table]:
    """g_s adjusted for properties of the sentences, and of parts of them by each property."""
    adjusted: list[Row] = []
    of_parts: list[Row] = []
    for model in models:
        scores = model.means.to_numpy()
        sentences, stereotypes = (model.means.index.get_level_values(name) for name in _INDEX)
        properties = sentence_properties(sentences.tolist())
        sets = {name: {name: values} for name, values in properties.items()} | {"all of them": properties}
        for name, chosen in sets.items():
            result = confounders.adjusted_g_s(scores, stereotypes.to_numpy() - 1, chosen)
            g_s = Estimate.of(result, "adjusted_g_s")
            adjusted.append((model.name, name, result["g_s"], g_s, result["correlations"].get(name)))
        parts = {"all sentences": np.ones(len(scores), dtype=bool)}
        for name, values in properties.items():
            if set(np.unique(values)) <= {0.0, 1.0}:
                parts |= {f"with {name}": values == 1, f"without {name}": values == 0}
            else:
                above = values > np.median(values)
                parts |= {f"{name}: above the median": above, f"{name}: up to the median": ~above}
        for name, part in parts.items():
            g_s = EMPTY
            if part.any():
                g_s = Estimate.of(stereotype_rate(scores[part].tolist(), stereotypes[part].tolist()), "g_s")
            of_parts.append((model.name, name, int(part.sum()), g_s))
    return Table.create("confounders", adjusted), Table.create("parts", of_parts)
