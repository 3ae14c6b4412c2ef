"""How often translations keep a gender that the source states (WinoMT, MT-GenEval).

WinoMT (Stanovsky et al., 2019), from the gender of an entity's translation:

    accuracy = share of the translations with the stated gender
    F1 of a gender = 2 * right / (translations with that gender + sentences that state it)
    delta_g = F1_male - F1_female
    delta_s = accuracy of pro-stereotypical - accuracy of anti-stereotypical sentences

A translation of `unknown` gender is wrong. (The paper calls delta_s a difference of F1; the authors' code
subtracts accuracies.) `_lowest` and `_highest` are the extremes if all unknown translations with the same
stated gender had one gender, or if all that are pro- or anti-stereotypical were right or had the other one.

MT-GenEval (Currey et al., 2022): a translation is wrong if it holds a word that only the reference in the
wrong gender has. One that holds no word of only one reference is right for the authors, and unknown here.

Intervals are those of a bootstrap over entities, in strata of stated gender and stereotype. A template is a
sentence with its entity and pronoun replaced; `accuracy_pairs` is the share of templates with right
translations only. If templates occur with several entities, intervals are widened by sqrt(V / V_e), where
V = V_e + V_t - V_et has the variances over entities, templates and their combinations (Cameron, Gelbach and
Miller, 2011). `delta_s_permutation_p` exchanges the stereotypes of the entities, as `weights.permutation_p`.
"""

import itertools
import math
import string
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gest_dataset.statistics import bootstrap, checks
from gest_dataset.statistics.bootstrap import Interval, SmoothFunction, interval_entries, resample
from gest_dataset.statistics.checks import Bools, Floats, Ints
from gest_dataset.statistics.proportions import proportion

STATED = ("male", "female", "neutral")
LABELS = (*STATED, "unknown")
STEREOTYPICAL = ("pro", "anti", None)
_NO_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))  # the authors' choice


def gender_accuracy(
    predictions: Sequence[str],
    references: Sequence[str],
    stereotypical: Sequence[str | None] | None = None,
    wrong_references: Sequence[str] | None = None,
    genders: Sequence[str] | None = None,
    units: Sequence[Hashable] | None = None,
    templates: Sequence[Hashable] | None = None,
    *,
    draws: int = bootstrap.DRAWS,
    seed: int = bootstrap.SEED,
) -> dict[str, Any]:
    """Accuracy, F1, delta_g and delta_s, as shares; `units` are the entities.

    `predictions` are genders and `references` the stated ones. With `wrong_references` (MT-GenEval) both are
    texts, and `genders` has the stated genders, without which there is no F1.
    """
    number = checks.same_length(predictions=predictions, references=references)
    entities, pairs = (checks.unit_codes(codes, predictions=predictions) for codes in (units, templates))
    sides = [None] * number if stereotypical is None else stereotypical
    statuses = checks.label_codes("stereotypical", sides, STEREOTYPICAL)
    checks.same_length(predictions=predictions, stereotypical=statuses)
    if wrong_references is None:
        labels = checks.label_codes("predictions", predictions, LABELS)
        stated = checks.label_codes("references", references, STATED)
    else:
        checks.same_length(predictions=predictions, wrong_references=wrong_references)
        known = [STATED[0]] * number if genders is None else genders
        stated = checks.label_codes("genders", known, STATED[:2])
        right, wrong = _words_of_one_reference(predictions, references, wrong_references).T
        labels = np.where(wrong, 1 - stated, np.where(right, stated, 3))
    hits = (labels == stated) | ((labels == 3) & (wrong_references is not None))

    cells, strata = np.unique(3 * stated + statuses, return_inverse=True)
    counts = np.bincount(4 * strata + labels, minlength=4 * len(cells)).reshape(-1, 4).astype(float)
    functions = _functions(cells, counts.sum(axis=1), wrong_references is not None, genders is not None)
    intervals = _intervals(np.eye(4)[labels], strata, entities, pairs, draws, seed)
    cases = _without_unknown(counts, cells) / counts.sum(axis=1, keepdims=True)
    result: dict[str, Any] = {}
    for name, function in functions.items():
        limits = (-1.0 if name.startswith("delta") else 0.0, 1.0)
        result |= interval_entries(name, intervals(function), limits=limits)
        if not name.startswith("accuracy_"):
            ends = function.value(cases)
            result |= {f"{name}_lowest": float(ends.min()), f"{name}_highest": float(ends.max())}
    if pairs is not None:
        first = np.unique(pairs, return_index=True)[1]
        of_pairs = None if entities is None else entities[first]
        result |= proportion("accuracy_pairs", np.bincount(pairs, ~hits) == 0, of_pairs)
    result |= proportion("unknown", labels == 3, entities)
    entity = np.arange(number) if entities is None else entities
    result["delta_s_permutation_p"] = _permutation_p(hits, stated, statuses, entity, draws, seed)
    confusion = np.bincount(4 * stated + labels, minlength=12).reshape(3, 4).tolist()
    sizes = np.bincount(statuses, minlength=3).tolist()
    return result | {"n": number, "n_pro": sizes[0], "n_anti": sizes[1], "confusion": confusion}


def _words_of_one_reference(texts: Sequence[str], right: Sequence[str], wrong: Sequence[str]) -> Bools:
    """Whether each text holds a word that only the right one, and that only the wrong reference has."""

    def words(text: str) -> set[str]:
        return set(text.lower().translate(_NO_PUNCTUATION).split())

    rows = (map(words, row) for row in zip(texts, right, wrong, strict=True))
    return np.array([[bool(text & (a - b)), bool(text & (b - a))] for text, a, b in rows])


def _functions(cells: Ints, sizes: Floats, of_texts: bool, has_genders: bool) -> dict[str, SmoothFunction]:
    """The numbers as functions of the shares of labels [strata, 4]; nan if no sample has them."""
    stated, status = np.divmod(cells, 3)
    as_gender = np.zeros((len(cells), 4, 3))
    as_gender[:, :3] = np.eye(3)
    if of_texts:
        as_gender[np.arange(len(cells)), 3, stated] = 1
    as_gender *= sizes[:, None, None]
    right = as_gender[np.arange(len(cells)), :, stated]

    def share(rows: Bools, gender: int | None = None) -> SmoothFunction:
        """The accuracy of some strata, or the F1 of a gender."""
        factor, under = (1, 0 * right) if gender is None else (2, as_gender[..., gender])
        return _ratio(factor * right * rows[:, None], under, float(sizes[rows].sum()) or math.nan)

    functions = {"accuracy": share(sizes > 0)}
    if has_genders or not of_texts:
        for gender, name in enumerate(STATED[:2]):
            functions[f"accuracy_{name}"] = share(stated == gender)
            functions[f"f1_{name}"] = share(stated == gender, gender)
    functions |= {f"accuracy_{name}": share(status == i) for i, name in enumerate(STEREOTYPICAL[:2])}
    sides = ("g", "f1_male", "f1_female"), ("s", "accuracy_pro", "accuracy_anti")
    none = share(sizes < 0)
    parts = {f"delta_{name}": [functions.get(side, none) for side in two] for name, *two in sides}
    return functions | {name: _difference(*two) for name, two in parts.items()}


def _ratio(over: Floats, under: Floats, added: float) -> SmoothFunction:
    """A weighted sum of means over another one plus a constant."""

    def parts(mean: Floats) -> tuple[Floats, Floats]:
        total = ((mean * under).sum(axis=(-2, -1)) + added)[..., None, None]
        return (mean * over).sum(axis=(-2, -1), keepdims=True) / total, total

    def gradient(mean: Floats) -> Floats:
        ratio, total = parts(mean)
        return np.asarray((over - under * ratio) / total)

    return SmoothFunction(lambda mean: parts(mean)[0][..., 0, 0], gradient)


def _difference(first: SmoothFunction, second: SmoothFunction) -> SmoothFunction:
    return SmoothFunction(
        lambda mean: np.asarray(first.value(mean) - second.value(mean)),
        lambda mean: np.asarray(first.gradient(mean) - second.gradient(mean)),
    )


def _intervals(
    columns: Floats, strata: Ints, entities: Ints | None, templates: Ints | None, draws: int, seed: int
) -> Callable[[SmoothFunction], Interval]:
    """A function that gives intervals over entities, widened for templates that several of them share."""
    by = partial(resample, columns, strata, int(strata.max()) + 1, seed=seed)
    main = by(templates if entities is None else entities, draws=draws)
    crossed = []
    if entities is not None and templates is not None:
        crossed = [by(units, draws=0) for units in (templates, entities * len(templates) + templates)]

    def interval(function: SmoothFunction) -> Interval:
        found, variance = main.interval(function), main.variance(function)
        added = crossed[0].variance(function) - crossed[1].variance(function) if crossed else 0.0
        if not (added > 0 and variance > 0):
            return found
        stretch = math.sqrt(1 + added / variance)
        low, high = (found.value + stretch * (end - found.value) for end in (found.low, found.high))
        return replace(found, low=low, high=high)

    return interval


def _without_unknown(counts: Floats, cells: Ints) -> Floats:
    """The counts [cases, strata, 4] if the unknown translations of strata had a gender."""
    stated, status = np.divmod(cells, 3)
    wrong = np.where(stated == 0, 1, 0)
    labels = [np.array(case)[stated] for case in itertools.product(range(3), repeat=3)]
    labels += [np.where(status == right, stated, wrong) for right in (0, 1)]
    return np.asarray(counts * [1, 1, 1, 0] + np.eye(4)[np.array(labels)] * counts[:, 3:])


def _permutation_p(hits: Bools, stated: Ints, statuses: Ints, entities: Ints, draws: int, seed: int) -> float:
    """The two-sided p-value; nan if entities do not have a stereotype each, or all the same one."""
    used = (statuses < 2) & (stated < 2)
    names, rows = np.unique(entities[used], return_inverse=True)
    is_female = stated[used] ^ statuses[used]  # the gender of the stereotype
    female = np.zeros(len(names))
    female[rows] = is_female
    if (female[rows] != is_female).any() or len(np.unique(female)) < 2:
        return math.nan
    cells = stated[used] * len(names) + rows
    parts = (hits[used], np.ones(len(cells)))
    # right ones and all, by stated gender and entity
    tables = np.array([np.bincount(cells, part, 2 * len(names)).reshape(2, -1) for part in parts])
    order = np.lexsort([female, *tables.reshape(4, -1)])  # makes p independent of the order of samples
    female, tables = female[order], tables[:, :, order]
    orders = np.random.default_rng(seed).permuted(np.tile(female, (draws, 1)), axis=1)
    orders = np.vstack([female, orders])
    sums = [[side @ table[1] + (1 - side) @ table[0] for table in tables] for side in (orders, 1 - orders)]
    with np.errstate(invalid="ignore"):  # an order may leave one side without sentences
        effects = np.abs(sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1])
    defined = effects[~np.isnan(effects)]
    return math.nan if math.isnan(effects[0]) else float((defined >= effects[0] - 1e-12).mean())
