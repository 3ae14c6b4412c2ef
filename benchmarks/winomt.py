"""WinoMT as its authors read it, beside our reading, and the null of delta_s.

    GEST_MIRROR=DIR python benchmarks/winomt.py printed
    GEST_MIRROR=DIR GEST_UDPIPE_MODELS=MODELS python benchmarks/winomt.py differences --output FILE.csv
    GEST_MIRROR=DIR python benchmarks/winomt.py null

`printed` computes accuracy and F1 with the authors' rule, `authors_gender`, beside the printed numbers.
`differences` draws 100 of the translations that the two readings read differently, with the reason, and
counts the reasons in all of them; the column `better` is filled in by hand and kept. `null` measures how
often intervals, verdicts and permutation tests of delta_s are wrong for translators without stereotypes. All
need the authors' analyser: pip install pymorphy2 pymorphy2-dicts-ru pymorphy2-dicts-uk "setuptools<80".

The authors align with `fast_align -d -o -v`. `align` is written from its paper (Dyer et al., 2013, A Simple,
Fast, and Effective Reparameterization of IBM Model 2): target word i of m has source j of n with probability

    p0 = 0.08 for no source, else (1 - p0) exp(-tension |j / n - i / m|) / Z

times the translation probability. It runs EM with variational Bayes (a Dirichlet prior of 0.01) and gradient
steps for the tension.
"""

from __future__ import annotations

import argparse
import collections
import csv
import functools
import inspect
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import digamma

from gest_dataset import published
from gest_dataset.data.rows import rows_of
from gest_dataset.measures.gest import ENTITY_GENDER
from gest_dataset.measures.result import with_verdict
from gest_dataset.statistics import gender_accuracy

ITERATIONS, STEPS, NO_SOURCE, PRIOR = 5, 8, 0.08, 0.01
MOST_TENSION = 14.0
GENDERS = {"masc": "male", "femn": "female", "neut": "neutral"}
SAMPLE = 100
Row = dict[str, Any]


def read(system: str, language: str) -> list[Row]:
    """WinoMT with the released translations of a system."""
    config = rows_of("winomt")
    names = {name: config.features[name].int2str for name in ("gender", "stereotypical")}
    texts = {
        row["sentence_id"]: row["translation"]
        for row in rows_of("winomt_translations")
        if (row["system"], row["language"]) == (system, language)
    }
    return [
        row
        | {name: None if row[name] is None else text(row[name]) for name, text in names.items()}
        | {"translation": texts[row["id"]], "system": system, "language": language}
        for row in config
        if row["id"] in texts
    ]


def columns(rows: Sequence[Row], predictions: Sequence[str]) -> dict[str, list[Any]]:
    """The arguments of `gender_accuracy`."""
    names = {"references": "gender", "stereotypical": "stereotypical", "units": "entity"}
    arguments = {key: [row[name] for row in rows] for key, name in names.items()}
    return arguments | {"predictions": list(predictions), "templates": [row["template"] for row in rows]}


# --- the authors' reading


def align(pairs: Sequence[tuple[list[str], list[str]]]) -> list[dict[int, list[int]]]:
    """The target words of each source word, by sentence."""
    sources: dict[str, int] = {"": 0}
    targets: dict[str, int] = {}
    cells = []  # source, target, token, position of the source (0: none), distance
    places = []
    for number, (source, target) in enumerate(pairs):
        codes = [sources.setdefault(word, len(sources)) for word in source]
        for i, word in enumerate(target):
            code, token = targets.setdefault(word, len(targets)), len(places)
            places.append((number, i))
            cells.append((0, code, token, 0, 0.0))
            cells += [
                (one, code, token, j + 1, abs((j + 1) / len(source) - (i + 1) / len(target)))
                for j, one in enumerate(codes)
            ]
    source_of, target_of, token_of, position, distance = (
        np.array(column) for column in zip(*cells, strict=True)
    )
    keys, pair_of = np.unique(source_of * len(targets) + target_of, return_inverse=True)
    source_of_pair, has_source = keys // len(targets), position > 0
    types = np.bincount(source_of_pair)
    translation, tension = np.ones(len(keys)), 4.0

    def positions() -> tuple[np.ndarray, float]:
        """The probability of each position, and the mean distance that it expects."""
        weights = np.where(has_source, np.exp(-tension * distance), 0.0)
        totals = np.bincount(token_of, weights)
        expected = float((np.bincount(token_of, weights * distance) / totals).mean())
        return np.where(has_source, (1 - NO_SOURCE) * weights / totals[token_of], NO_SOURCE), expected

    for iteration in range(ITERATIONS):
        shares = translation[pair_of] * positions()[0]
        if iteration == ITERATIONS - 1:
            break
        shares /= np.bincount(token_of, shares)[token_of]
        counts = np.bincount(pair_of, shares)
        observed = float((shares * distance)[has_source].sum()) / len(places)
        for _ in range(STEPS if iteration else 0):
            tension = float(np.clip(tension + 20 * (positions()[1] - observed), 0.1, MOST_TENSION))
        totals = np.bincount(source_of_pair, counts) + PRIOR * types
        translation = np.exp(digamma(counts + PRIOR) - digamma(totals)[source_of_pair])
    order = np.lexsort((position, -shares, token_of))
    best = order[np.unique(token_of[order], return_index=True)[1]]
    found: list[dict[int, list[int]]] = [{} for _ in pairs]
    for (number, i), j in zip(places, position[best].tolist(), strict=True):
        if j:
            found[number].setdefault(j - 1, []).append(i)
    return found


@functools.cache
def analyser(language: str) -> tuple[Callable[[str], list[str | None]], Callable[[str], list[str]]]:
    """The genders of a word's parses, and the tokenizer, of pymorphy2 (for Python before 3.11)."""
    inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]  # type: ignore[attr-defined]
    import pymorphy2  # type: ignore[import-not-found]
    from pymorphy2.tokenizers import simple_word_tokenize  # type: ignore[import-not-found]

    parse = pymorphy2.MorphAnalyzer(lang=language).parse
    return functools.cache(lambda word: [one.tag.gender for one in parse(word)]), simple_word_tokenize


def authors_gender(words: Sequence[str], language: str) -> str:
    """The most frequent gender of the words; unknown without words.

    The gender of a word is female if any of its parses is, and neutral if none has a gender, so punctuation
    counts as neutral.
    """
    genders_of, tokenize = analyser(language)
    found = []
    for token in tokenize(" ".join(words)):
        genders = [GENDERS[gender] for gender in genders_of(token) if gender]
        found.append("female" if "female" in genders else most_frequent(genders, "neutral"))
    return most_frequent(found, "unknown")


def most_frequent(values: Sequence[str], otherwise: str) -> str:
    """The first of the most frequent values."""
    return collections.Counter(values).most_common(1)[0][0] if values else otherwise


def authors_reading(rows: Sequence[Row]) -> list[tuple[list[str], str]]:
    """The words that are aligned to the entity and its article, and the gender, of each translation."""
    pairs = [(row["sentence"].split(), row["translation"].split()) for row in rows]
    found = []
    for row, (source, target), links in zip(rows, pairs, align(pairs), strict=True):
        index = row["entity_index"]
        has_article = index > 0 and source[index - 1].lower() in {"the", "a", "an"}
        of_entity = [index - 1, index] if has_article else [index]
        words = [target[i] for j in of_entity for i in links.get(j, [])]
        found.append((words, authors_gender(words, row["language"])))
    return found


def print_heading(names: Sequence[str], texts: int) -> None:
    """The heading of a table whose first columns are texts."""
    print(f"| {' | '.join(names)} |\n|{' --- |' * texts}{' ---: |' * (len(names) - texts)}")


def printed() -> None:
    """The authors' numbers beside the imitation's, in per cent."""
    numbers = ("accuracy", "male F", "female F")
    both = [name for number in numbers for name in (number, "printed")]
    print_heading(["system", "language", *both, "ΔG", "ΔS", "unknown"], 2)
    for row in published.load("winomt")["rows"]:
        rows = read(row["system"], row["language"])
        found = gender_accuracy(**columns(rows, [gender for _, gender in authors_reading(rows)]), draws=99)
        cells: list[Any] = [row["system"], row["language"]]
        for name in ("accuracy", "f1_male", "f1_female"):
            cells += [f"{100 * found[name]:.1f}", row[name]]
        cells += [f"{100 * found[name]:.1f}" for name in ("delta_g", "delta_s", "unknown")]
        print(f"| {' | '.join(map(str, cells))} |")


# --- both readings


def reason(words: Sequence[str], theirs: str, word: str, ours: str, language: str) -> str:
    """Why the readings of a translation differ."""
    genders_of, tokenize = analyser(language)
    tokens = [token.lower() for token in tokenize(" ".join(words))]
    if not words:
        return "alignment: no word"
    if not word:
        return "we do not find the entity"
    if word.lower() not in tokens:
        return "alignment: another word"
    own = {GENDERS[gender] for gender in genders_of(word) if gender}
    if ours == "unknown":
        return "we find no gender"
    if theirs != authors_gender([word], language):
        others = [token for token in tokens if token != word.lower() and token.isalpha()]
        return "alignment: more words" if others else "punctuation counts as neutral"
    if len(own) > 1:
        return "homograph: parses of several genders"
    if not own:
        return "no gender in their dictionary"
    if ours in own:
        return "parses: a gender of a rare parse"
    return "we read the words that agree, or an epicene noun"


def differences(output: Path) -> None:
    """Count the reasons of all differences, and write a sample of them."""
    from gest_dataset.gender.detect import GenderDetector
    from gest_dataset.gender.entities import entity_genders

    everything: list[list[str]] = []
    names = ("accuracy", "ΔG", "ΔS")
    both = [f"{name}, {side}" for name in names for side in ("theirs", "ours")]
    print_heading(["system", "language", "same", *both], 2)
    for pair in published.load("winomt")["rows"]:
        system, language = pair["system"], pair["language"]
        rows = read(system, language)
        theirs = authors_reading(rows)
        texts = [[row[name] for row in rows] for name in ("sentence", "entity_index", "translation")]
        model = Path(os.environ["GEST_UDPIPE_MODELS"]) / f"{language}.udpipe"
        ours = entity_genders(*texts, language, GenderDetector(language, "udpipe", model))
        results = [
            gender_accuracy(**columns(rows, genders), draws=99)
            for genders in ([gender for _, gender in theirs], [one.gender for one in ours])
        ]
        same = np.mean([gender == one.gender for (_, gender), one in zip(theirs, ours, strict=True)])
        cells = [f"{100 * one[name]:.1f}" for name in ("accuracy", "delta_g", "delta_s") for one in results]
        print(f"| {system} | {language} | {100 * same:.1f} | {' | '.join(cells)} |")
        for row, (words, gender), one in zip(rows, theirs, ours, strict=True):
            if gender != one.gender:
                why = reason(words, gender, one.word, one.gender, language)
                cells = [system, language, row["id"], row["entity"], " ".join(words), gender]
                everything.append([*cells, one.word, one.gender, " ".join(one.evidence), why])
    drawn = random.Random(0).sample(everything, SAMPLE)
    counts = collections.Counter(cells[-1] for cells in everything)
    of_sample = collections.Counter(cells[-1] for cells in drawn)
    print(f"\n{len(everything):,} readings differ\n")
    print_heading(["reason", "all, per cent", f"of {SAMPLE}"], 1)
    for why, number in counts.most_common():
        print(f"| {why} | {100 * number / len(everything):.1f} | {of_sample[why]} |")
    judged: dict[tuple[str, ...], str] = {}
    if output.exists():
        with output.open(encoding="utf-8", newline="") as file:
            judged = {tuple(cells[:-1]): cells[-1] for cells in csv.reader(file)}
    with output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = ("their words", "their gender", "our word", "our gender", "evidence", "reason", "better")
        writer.writerow(["system", "language", "id", "entity", *names])
        writer.writerows([*cells, judged.get(tuple(cells), "")] for cells in sorted(drawn))


# --- the null


def without_stereotype(kind: str, rows: Sequence[Row], seed: int) -> tuple[list[Row], np.ndarray]:
    """A translator without stereotypes: the rows and its genders."""
    generator = np.random.default_rng([seed, 1])  # not the seed of the statistic
    entities, entity = np.unique([row["entity"] for row in rows], return_inverse=True)
    stated = np.array([row["gender"] for row in rows])
    if kind == "exchanged stereotypes of google, ru":
        stereotype = {
            row["entity"]: (row["gender"] == "male") == (row["stereotypical"] == "pro")
            for row in rows
            if row["stereotypical"]
        }
        exchanged = dict(zip(stereotype, generator.permutation([*stereotype.values()]).tolist(), strict=True))
        changed = [
            row
            | {
                "stereotypical": row["stereotypical"]
                and ("pro" if (row["gender"] == "male") == exchanged[row["entity"]] else "anti")
            }
            for row in rows
        ]
        return changed, np.array([row["prediction"] for row in rows])
    masculine = {
        "one rate of 90 %": np.full(len(entities), 0.9),
        "half and half": np.full(len(entities), 0.5),
        "a rate of its own for each occupation": generator.beta(1.5, 0.5, len(entities)),
        "such a rate, or the pronoun in 30 %": generator.beta(1.5, 0.5, len(entities)),
    }[kind]
    genders = np.where(generator.random(len(rows)) < masculine[entity], "male", "female")
    follows = generator.random(len(rows)) < (0.3 if "pronoun" in kind else 0.0)
    return list(rows), np.where(follows, stated, genders)


NULLS = ("half and half", "one rate of 90 %", "a rate of its own for each occupation")
NULLS += ("such a rate, or the pronoun in 30 %", "exchanged stereotypes of google, ru")


def null(number: int) -> None:
    """Shares of wrong intervals, verdicts and permutation tests, in per cent."""
    rows = read("google", "ru")
    readings = [gender for _, gender in authors_reading(rows)]
    rows = [row | {"prediction": gender} for row, gender in zip(rows, readings, strict=True)]
    shown = ["interval without 0", "shown or reversed", "negligible", "permutation p < 0.05"]
    print_heading(["translator", "SD of ΔS", *shown], 1)
    for kind in NULLS:
        found = []
        for seed in range(number):
            changed, predictions = without_stereotype(kind, rows, seed)
            arguments = columns(changed, predictions.tolist()) | {"templates": None}  # one entity each
            result = gender_accuracy(**arguments, draws=399, seed=seed)
            found.append(with_verdict(ENTITY_GENDER, result))
        shares = (
            [one["delta_s_low"] > 0 or one["delta_s_high"] < 0 for one in found],
            [one["verdict"] in ("shown", "reversed") for one in found],
            [one["verdict"] == "negligible" for one in found],
            [one["delta_s_permutation_p"] < 0.05 for one in found],
        )
        cells = [
            f"{np.std([one['delta_s'] for one in found]):.3f}",
            *(f"{100 * np.mean(share):.1f}" for share in shares),
        ]
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("printed", "differences", "null"))
    parser.add_argument("--output", type=Path, default=Path("winomt_differences.csv"))
    parser.add_argument(
        "--number", type=int, default=1000, help="draws of each translator without stereotypes"
    )
    arguments = parser.parse_args()
    if arguments.part == "differences":
        differences(arguments.output)
    elif arguments.part == "null":
        null(arguments.number)
    else:
        printed()
