"""`gest study topical`: is it the topic, and not what a sentence says? (Pikuliak et al., 2024, section 7.4)

The paper's check (table 3): the masculine rate of the male samples with a word about the family, beside those
of all male and all female samples. Any other list of words can take the family's place. What else a reviewer
asks about: negation, length, how common the words are; g_s with sentences made equal in each of them, and in
parts of the sentences.

Scores are ln r, averaged over templates (and over the pairs of a source) before anything is computed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gest_dataset import published
from gest_dataset.builders import CONFIGS
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import ConfigError, DataError
from gest_dataset.measures.formatting import format_number
from gest_dataset.measures.grid import EMPTY, Estimate
from gest_dataset.measures.masculine_rate import MASCULINE_RATE
from gest_dataset.measures.stereotype_rate import PAIRS, TEMPLATES
from gest_dataset.report.measured import Measured, measured
from gest_dataset.report.sure import wide_scores
from gest_dataset.runs.reading import Run
from gest_dataset.statistics import confounders, stereotype_rate, topical_bias
from gest_dataset.statistics.checks import Floats, Ints, UndefinedWarning
from gest_dataset.statistics.confounders import FAMILY_WORDS, mentions_any
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.asking import (
    Asked,
    check_given_once,
    check_same_data,
    notes_of,
    runs_of,
    sources_of,
)
from gest_dataset.studies.profiles import PAPERS, of_files
from gest_dataset.studies.study import Cell, Study, Table
from gest_dataset.studies.topical_figure import rates_figure

TITLE = "Is it the topic?"
MT, MLM, GLM, SLAVIC = "MT systems", "English MLMs", "English GLMs", "Slavic MLMs"  # rows of table 3
_MEASURES = (TEMPLATES.name, PAIRS.name, MASCULINE_RATE.name)
_NAMES = {MT: ("p_m", "p_topic", "p_f")}
_OF_MODELS = ("q_m", "q_topic", "q_f")
_FREQUENCY = "frequency of words in English"


@dataclass(frozen=True)
class Answers:
    """What one model or translator said of English sentences, or of translations of them.

    `columns` are ln r, a column a template; a translator has genders instead. `kind` is the row of table 3.
    """

    name: str
    kind: str
    sentences: list[str]
    stereotypes: Ints  # from 1
    columns: Floats | None = None
    genders: tuple[str, ...] = ()

    @property
    def mean(self) -> Floats:
        """ln r over templates; nan where a sample lacks one."""
        if self.columns is None:
            raise TypeError("a translator has no ratios")
        return np.asarray(self.columns.mean(axis=1))

    def rates(self, words: Sequence[str], scale: str = "ratio") -> tuple[list[Estimate], int]:
        """The rates of male samples, of those on the topic and of female samples; how many are on it."""
        if self.columns is None:
            predictions: Sequence[object] = self.genders
            sentences, stereotypes = self.sentences, self.stereotypes
        else:
            known = np.isfinite(self.mean)
            predictions = self.mean[known].tolist()
            sentences = [text for text, there in zip(self.sentences, known, strict=True) if there]
            stereotypes = self.stereotypes[known]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # a dash in the table says it
            found = topical_bias(sentences, predictions, stereotypes.tolist(), words, scale)
        names = _NAMES.get(self.kind, _OF_MODELS)
        return [Estimate.of(found, name) for name in names], int(found["n_topic"])

    def same_mix(self, words: Sequence[str]) -> float:
        """The rate that the samples on the topic would have if each were like the others of its
        stereotype.
        """
        on_topic = np.array(mentions_any(self.sentences, words))
        if self.columns is None:
            coded = {"male": 1.0, "female": 0.0}
            values = np.array([coded.get(gender, math.nan) for gender in self.genders])
        else:
            values = self.mean
        means = []
        for stereotype in (one.id for one in STEREOTYPES.values() if one.gender == "male"):
            own = (self.stereotypes == stereotype) & np.isfinite(values)
            number = int((own & on_topic).sum())
            if number and (own & ~on_topic).any():
                means += [float(values[own & ~on_topic].mean())] * number
        if not means:
            return math.nan
        return float(np.mean(means)) if self.columns is None else math.exp(float(np.mean(means)))


def topical(
    asked: Asked | Sequence[str | Path | Run] = (),
    words: Sequence[str] = FAMILY_WORDS,
    scores: str | Path | None = None,
) -> Study:
    """The rate of male samples with one of `words`, and what else sentences differ in.

    Runs are of models in English templates or on pairs, and of translators; `scores` is a folder of the
    authors' files. A word is found inside a longer one as well, as the paper counts.
    """
    if not words or not all(word.strip() for word in words):
        raise ConfigError("A topic needs words: --words child,children,family.")
    runs = runs_of(
        Asked.of(asked),
        "topical",
        "en",
        lambda run: run.manifest.measure in _MEASURES and run.manifest.config in CONFIGS,
    )
    check_same_data(runs)
    check_given_once(runs, lambda run: (run.manifest.measure, run.manifest.language))
    found = [_of_run(one) for one in measured(runs)]
    notes = tuple(notes_of(runs, [one.name for one in found]))
    sources = sources_of(runs)
    if scores is not None:
        released, hashes = _released(Path(scores))
        found += released
        sources |= hashes
    if not found:
        raise ConfigError(
            "The study of topics needs runs of models on GEST (gest score MODEL) or of translators (gest "
            "masculine-rate), a --model to score, or a folder of --scores."
        )
    models = [one for one in found if one.columns is not None]
    sources |= {"words": ", ".join(words)}
    topic = _topic(found, words)
    tables = [topic, _like_table_3(found, words), _confounders(models), _parts(models)]
    return Study(
        "topical",
        TITLE,
        tuple(table for table in tables if table.rows),
        (rates_figure(topic),),
        tuple(_sentences(topic, words)),
        notes,
        sources,
    )


def _of_run(one: Measured) -> Answers:
    run = one.run
    if run.manifest.measure == MASCULINE_RATE.name:
        source, number, genders = (run.table[name].to_pylist() for name in ("source", "stereotype", "gender"))
        return Answers(one.label, MT, source, np.array(number, dtype=np.int64), genders=tuple(genders))
    text = "source" if run.manifest.measure == PAIRS.name else "sentence"
    rows = rows_of(run.manifest.config)
    sentence_of = dict(zip(rows["id"], rows[text], strict=True))

    def sentences(ids: Sequence[str]) -> list[str]:
        missing = next((name for name in ids if name not in sentence_of), None)
        if missing is not None:
            raise DataError(
                f"The sample {missing} of {run.path} is not in {run.manifest.config} of today: score it "
                "again."
            )
        return [sentence_of[name] for name in ids]

    wide = wide_scores(run).reset_index()
    wide["text"] = sentences(wide["id"].tolist())
    templates = [name for name in wide.columns if name not in ("id", "again", "stereotype", "text")]
    if run.manifest.measure == PAIRS.name:  # the pairs of a source are about one sentence
        wide = wide.groupby(["text", "stereotype"], as_index=False)[templates].mean()
        kind = SLAVIC
    else:
        kind = MLM if one.kind == "masked" else GLM
    stereotypes = wide["stereotype"].to_numpy(dtype=np.int64)
    columns = wide[templates].to_numpy(dtype=float)
    return Answers(one.label, kind, wide["text"].tolist(), stereotypes, columns)


def _released(folder: Path) -> tuple[list[Answers], dict[str, str]]:
    profiles, hashes = of_files(folder)
    sentences = list(rows_of(PAPERS)["sentence"])
    found = [
        Answers(
            one.name,
            MLM if 1 in one.templates else GLM,
            sentences,
            one.stereotypes + 1,
            one.scores.to_numpy(dtype=float),
        )
        for one in profiles
    ]
    return found, hashes


def _topic(found: Sequence[Answers], words: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        (m, topic, f), number = one.rates(words)
        rows.append((one.name, one.kind, number, m, topic, f, _place(one, m, topic, f), one.same_mix(words)))
    return Table(
        "topical",
        f"Male samples with one of: {', '.join(words)}",
        ("model", "kind", "n", "male", "topic", "female", "place", "same mix"),
        tuple(rows),
        "Masculine rates: of models geometric means of P(w_m) / P(w_f), of translators shares. Place: 1 "
        "where the samples on the topic are like all male samples, 0 where they are like the female ones. "
        "Same mix: what the other male samples of the same stereotypes have, in the topic's proportions. "
        "Intervals at 95 %.",
    )


def _place(one: Answers, m: Estimate, topic: Estimate, f: Estimate) -> float:
    """Where the topic lies between the female (0) and the male samples (1); of ratios on their logarithms."""
    values = [rate.value for rate in (m, topic, f)]
    if one.columns is not None:
        values = [math.log(value) if value > 0 else math.nan for value in values]
    return (values[1] - values[2]) / (values[0] - values[2]) if values[0] != values[2] else math.nan


def _like_table_3(found: Sequence[Answers], words: Sequence[str]) -> Table:
    """Means over models and templates, on the scale that the paper prints, beside the paper's."""
    printed = {row["systems"]: row for row in published.load("gest_topical_bias")["rows"]}
    papers = tuple(words) == FAMILY_WORDS
    rows: list[tuple[Cell, ...]] = []
    for kind in (MT, MLM, GLM, SLAVIC):
        own = [one for one in found if one.kind == kind]
        each = [
            [rate.value for rate in part.rates(words, "published")[0]] for one in own for part in _single(one)
        ]
        if each:
            m, topic, f = np.mean(each, axis=0).tolist()
            beside = [f"{printed[kind][name]:.2f}" if papers else "" for name in ("m", "f", "topic")]
            rows.append((kind, len(own), len(each), m, f, topic, *beside))
    return Table(
        "table-3",
        "Means over models and templates (like table 3)",
        (
            "",
            "models",
            "results",
            "male",
            "female",
            "topic",
            *(f"paper: {name}" for name in ("male", "female", "topic")),
        ),
        tuple(rows),
        "On the scale of print: of models e to the mean log10 ratio, of translators the share. The paper's "
        "are of its own models; those of this table are the models that were given.",
    )


def _single(one: Answers) -> Iterator[Answers]:
    """A result for each template."""
    if one.columns is None:
        yield one
        return
    for column in one.columns.T:
        yield Answers(one.name, one.kind, one.sentences, one.stereotypes, column[:, None])


def properties(sentences: Sequence[str]) -> dict[str, Floats]:
    """What sentences differ in (`statistics.confounders`), and the frequency of their words if known.

    Frequencies are the mean ln over the words of `wordfreq`'s tables, which the extra `frequency` brings.
    """
    found = confounders.sentence_properties(sentences)
    try:
        from wordfreq import word_frequency
    except ImportError:
        return found
    least = 1e-9  # of a word that is in no table
    found[_FREQUENCY] = np.array(
        [
            float(np.mean([math.log(max(word_frequency(word, "en"), least)) for word in words]))
            if words
            else 0.0
            for words in map(confounders.split_words, sentences)
        ]
    )
    return found


def _known(one: Answers) -> tuple[Floats, Ints, dict[str, Floats]]:
    """Scores that are there, their stereotypes from 0, and the properties of their sentences."""
    known = np.isfinite(one.mean)
    measured_there = {name: values[known] for name, values in properties(one.sentences).items()}
    return one.mean[known], one.stereotypes[known] - 1, measured_there


def _confounders(models: Sequence[Answers]) -> Table:
    """g_s with sentences made equal in one property, and in all of them."""
    rows: list[tuple[Cell, ...]] = []
    for one in models:
        scores, stereotypes, there = _known(one)
        tried: dict[str, Mapping[str, Floats]] = {name: {name: values} for name, values in there.items()}
        for name, chosen in {**tried, "all of them": there}.items():
            found = confounders.adjusted_g_s(scores, stereotypes, chosen)
            adjusted = Estimate(*(math.exp(value) for value in (found.adjusted, found.low, found.high)))
            rows.append((one.name, name, math.exp(found.ln_g_s), adjusted, found.correlations.get(name)))
    return Table(
        "confounders",
        "g_s with sentences made equal",
        ("model", "equal in", "g_s", "g_s made equal", "correlation"),
        tuple(rows),
        "Least squares with an intercept for each stereotype; the correlation is that of property and score "
        "within stereotypes. A large change says that g_s is about the property too; no change does not say "
        "that nothing else could be behind it.",
    )


def _parts(models: Sequence[Answers]) -> Table:
    """g_s of sentences with and without a property, or above and below its median."""
    rows: list[tuple[Cell, ...]] = []
    for one in models:
        scores, stereotypes, there = _known(one)
        parts = {"all sentences": np.ones(len(scores), dtype=bool)}
        for name, values in there.items():
            if set(np.unique(values)) <= {0.0, 1.0}:
                parts |= {f"with {name}": values == 1, f"without {name}": values == 0}
            else:
                above = values > np.median(values)
                parts |= {f"{name}: above the median": above, f"{name}: up to the median": ~above}
        for name, chosen in parts.items():
            rows.append((one.name, name, int(chosen.sum()), _g_s(scores[chosen], stereotypes[chosen])))
    return Table(
        "parts",
        "g_s of parts of the sentences",
        ("model", "sentences", "n", "g_s"),
        tuple(rows),
        "A dash: some stereotype has no such sentence, or only one where the interval is missing. Parts "
        "differ in their sentences as well as in the property.",
    )


def _g_s(scores: Floats, stereotypes: Ints) -> Estimate:
    if not len(scores):
        return EMPTY
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        return Estimate.of(stereotype_rate(scores.tolist(), (stereotypes + 1).tolist()), "g_s")


def _sentences(topic: Table, words: Sequence[str]) -> Iterator[str]:
    """Whether the rate on the topic is told from that of all male samples."""
    for name, _, number, m, on_topic, f, _, mix in topic.rows:
        if not (isinstance(m, Estimate) and isinstance(on_topic, Estimate) and isinstance(f, Estimate)):
            continue
        if not on_topic.low < on_topic.high:
            have = "sample has" if number == 1 else "samples have"
            yield f"{name}: {number} male {have} one of the words; there is no interval to compare."
        elif on_topic.high < m.low or on_topic.low > m.high:
            side = "less" if on_topic.high < m.low else "more"
            yield (
                f"{name}: male samples with one of the words are {side} masculine, {on_topic}, than all male "
                f"ones, {format_number(m.value)}; other samples of the same stereotypes have "
                f"{format_number(mix)}."
            )
        else:
            yield (
                f"{name}: whether male samples with one of the words ({on_topic}) differ from all male ones "
                f"({format_number(m.value)}) is left open."
            )
