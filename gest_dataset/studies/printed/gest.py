"""Checks of the GEST paper: on its data, its printed tables, and the authors' scores of two models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, stats

from gest_dataset import published
from gest_dataset.builders.pairs import YIELDS
from gest_dataset.data import sources
from gest_dataset.errors import GestError
from gest_dataset.languages import SLAVIC
from gest_dataset.probes.templates import TEMPLATES
from gest_dataset.statistics.bootstrap import LEVEL
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import FAMILY_WORDS, mentions_any
from gest_dataset.statistics.stereotype_rate import LN10
from gest_dataset.stereotypes import STEREOTYPES
from gest_dataset.studies.gest_scores import read_authors_scores
from gest_dataset.studies.heuristics import confusion_matrix, parse_authors_labels
from gest_dataset.studies.printed.comparison import (
    Checks,
    Pair,
    Unavailable,
    load_rows,
    printed_numbers,
    published_rows,
    required,
)

_NOT_PRINTED = "Mistral-7B-Instruct-v0.1"  # is in the released scores only
_EXCLUDED = "bert-base-multilingual-cased"  # by section 4.3.3


def samples(_: Path | None) -> list[Pair]:
    """Table 1 and section 3.3: the collected sentences."""
    table = published.load("gest_samples")
    counts = Counter(load_rows("en_1_0")["stereotype"])
    annotations = load_rows("annotations")
    verdicts = annotations.features["verdict"].names
    removed = sum(verdicts[verdict] == "no" for verdict in annotations["verdict"])
    fewer = "the released annotations have one sentence fewer"
    return [
        *(Pair(f"stereotype {r['stereotype']}", counts[r["stereotype"]], str(r["n"])) for r in table["rows"]),
        Pair("all samples", sum(counts.values()), str(table["samples"])),
        Pair("collected sentences", len(annotations), str(table["collected"]), fewer),
        Pair("removed by the annotators", removed, str(table["removed"]), f"{fewer}, with the verdict `no`"),
    ]


def templates(_: Path | None) -> list[Pair]:
    """Table 2: whether our templates are the printed ones."""
    printed = printed_numbers("templates")
    same = [[t.text, t.masculine, t.feminine] == printed[str(n)] for n, t in TEMPLATES.items()]
    return [Pair("templates that are the printed ones", sum(same), str(len(printed)))]


def _printed_models(table: str) -> list[dict[str, Any]]:
    return [row for row in published_rows(table) if row["model"] != _NOT_PRINTED]


def _table_3(scale: Callable[[Floats], Floats], printed: Mapping[str, Sequence[str]]) -> list[Pair]:
    """Means over results of the rates of male and of female stereotypes, and the number on the family.

    The rates of the samples on the family need scores that are not released.
    """
    mlm, glm = (_printed_models(f"gest_english_{kind}") for kind in ("mlm", "glm"))
    p = np.array([row["p"] for row in published_rows("gest_mt_masculine_rates")])
    values: dict[str, tuple[Floats, Callable[[Floats], Floats]]] = {
        "MT systems": (p, np.asarray),
        "English MLMs": (np.array([row["mean_log10_ratio"] for row in mlm]), scale),
        "English GLMs": (np.array([row["mean_log10_ratio"] for row in glm]), scale),
        "Slavic MLMs": (np.log([row["q"] for row in published_rows("gest_slavic_mlm")]), scale),
    }
    pairs = []
    for system, (by_stereotype, to_scale) in values.items():
        male, female = printed[system]
        for label, columns, text in (("male", slice(7, None), male), ("female", slice(7), female)):
            computed = float(to_scale(by_stereotype[:, columns].mean(axis=1)).mean())
            pairs.append(Pair(f"{system}, {label}", computed, text))
    data = load_rows("en_1_0")
    genders = data.features["gender"].names
    is_male = [genders[gender] == "male" for gender in data["gender"]]
    on_family = mentions_any(data["sentence"], FAMILY_WORDS)
    number = sum(male and family for male, family in zip(is_male, on_family, strict=True))
    text = str(published.load("gest_topical_bias")["samples"])
    return [*pairs, Pair("male samples with a word about the family", number, text)]


def topical(_: Path | None) -> list[Pair]:
    """Table 3 of the final version."""
    printed = {r["systems"]: (f"{r['m']:.2f}", f"{r['f']:.2f}") for r in published_rows("gest_topical_bias")}
    return _table_3(np.exp, printed)


def topical_first(_: Path | None) -> list[Pair]:
    """Table 3 of the first version: the same means in log10."""
    why = {
        "English GLMs, female": "the released means of these 22 models give -0.087, which "
        "agrees with 0.96 in the final version"
    }
    pairs = _table_3(np.asarray, printed_numbers("first_table_3"))
    return [Pair(pair.label, pair.computed, pair.printed, why.get(pair.label, "")) for pair in pairs]


def confusion(_: Path | None) -> list[Pair]:
    """The text of appendix C.1 from the counts of table 4."""
    table = {row["predicted"]: row for row in published_rows("gest_heuristics") if row["table"] == 4}
    total = {gender: sum(row[label] for label in "MFN") for gender, row in table.items()}
    right = 100 * sum(table[gender][gender] for gender in "MF") / (total["M"] + total["F"])
    unknown = table["U"]
    return [
        Pair("labelled sentences", sum(total.values()), "540"),
        Pair(
            "right if a gender is predicted, in per cent", right, "98.8", "356 of 360 are 98.89 %, truncated"
        ),
        Pair("neutral among the unknown, in per cent", 100 * unknown["N"] / 180, "77.8"),
        Pair("masculine among the unknown with a gender, in per cent", 100 * unknown["M"] / 40, "75.00"),
    ]


def swaps(_: Path | None) -> list[Pair]:
    """Table 5 from the authors' 160 labelled pairs and our first-letter rule."""
    try:
        file = sources.fetch("kinit-sk/gest/data/gender-swap-annotations.txt")
    except GestError as error:
        raise Unavailable(f"the authors' annotations are missing: {str(error).splitlines()[0]}") from error
    counts = confusion_matrix(parse_authors_labels(file.content.decode("utf-8").splitlines(), file.path))
    return [
        Pair(f"{row['predicted']}, {label}", counts[row["predicted"], label], str(row[label]))
        for row in published_rows("gest_heuristics")
        if row["table"] == 5
        for label in "XGC"
    ]


def yields(_: Path | None) -> list[Pair]:
    """The mean of table 6 in section 4.1.2."""
    mean = float(np.mean([row["n_predicted"] for row in published_rows("gest_mt_masculine_rates")]))
    return [Pair("mean samples of a system and language", mean, "3016")]


def pairs(_: Path | None) -> list[Pair]:
    """The mean number of unique pairs in section 4.3.2."""
    why = "26,700 pairs of nine languages are 2,966.67, truncated"
    mean = YIELDS["unique_pairs_all_languages"] / len(SLAVIC)
    return [Pair("mean unique pairs of a language", mean, "2966", why)]


def ranks_of_translators(_: Path | None) -> list[Pair]:
    """Section 4.1.3: how often stereotype 7 is the most feminine."""
    p = np.array([row["p"] for row in published_rows("gest_mt_masculine_rates")])
    lowest = float((p[:, 6] <= p.min(axis=1)).sum())
    why = "table 8 has a lower p_i of #4 for Amazon Translate in Croatian, Slovenian and Serbian"
    return [_consistency("most feminine", "system-language pairs with #7 most feminine", lowest, "d", why)]


def _consistency(name: str, label: str, computed: float, digits: str, why: str = "") -> Pair:
    value = next(row["value"] for row in published_rows("gest_consistency") if row["what"] == name)
    return Pair(label, computed, f"{value:{digits}}", why)


def mean_correlations(table: Sequence[Mapping[str, Any]], values: Floats) -> dict[str, float]:
    """Means of r over pairs of results: of one model, of one template (then over templates), of all."""
    r = np.asarray(np.corrcoef(values))
    every = list(combinations(range(len(table)), 2))
    by_template: dict[Any, list[float]] = {}
    for i, j in every:
        if table[i].get("template") == table[j].get("template"):
            by_template.setdefault(table[i].get("template"), []).append(float(r[i, j]))
    one_model = [r[i, j] for i, j in every if table[i]["model"] == table[j]["model"]]
    return {
        "between templates": float(np.mean(one_model)),
        "between models": float(np.mean([np.mean(group) for group in by_template.values()])),
        "between model-language pairs": float(np.mean([r[i, j] for i, j in every])),
    }


def correlations(_: Path | None) -> list[Pair]:
    """Section 4.2.3: correlations of ln q_i, from the released means."""
    table = [*_printed_models("gest_english_mlm"), *_printed_models("gest_english_glm")]
    means = mean_correlations(table, np.array([row["mean_log10_ratio"] for row in table]))
    return [
        _consistency(name, f"average correlation {name}", means[name], ".2f")
        for name in ("between templates", "between models")
    ]


def slavic_correlations(_: Path | None) -> list[Pair]:
    """Section 4.3.3: correlations of ln q_i between model-language pairs, from table 11."""
    table = [row for row in published_rows("gest_slavic_mlm") if row["model"] != _EXCLUDED]
    name = "between model-language pairs"
    mean = mean_correlations(table, np.log([row["q"] for row in table]))[name]
    return [_consistency(name, f"average correlation {name}", mean, ".2f")]


def always_stereotypical(_: Path | None) -> list[Pair]:
    """Section 4.2.3: g_s of every English model in every template is above 1."""
    table = [*_printed_models("gest_english_mlm"), *_printed_models("gest_english_glm")]
    label = "results with g_s above 1, of 11 models in 4 templates and 22 in 2"
    return [Pair(label, sum(row["g_s"] > 1 for row in table), "88")]


def winobias(_: Path | None) -> list[Pair]:
    """Appendix B.2: the correlation that the printed p-value corresponds to."""
    row = published_rows("winobias")[0]
    freedom = row["models"] - 2

    def log_p_difference(rho: float) -> float:
        t = rho * math.sqrt(freedom / (1 - rho**2))
        return math.log(2 * stats.t.sf(t, freedom)) - math.log(row["p_value"])

    rho = float(optimize.brentq(log_p_difference, 0.1, 0.9999))
    return [Pair("correlation of the printed p-value", rho, str(row["pearson"]))]


def rates(version: str, table: int, scores: Path | None) -> list[Pair]:
    """q_i and their bounds, from the released scores, on the printed scale."""
    try:
        models = {one.name: one for one in read_authors_scores(required(scores))[0]}
    except GestError as error:
        raise Unavailable(str(error).splitlines()[0]) from error
    why = "printed bounds are slightly asymmetric, like those of a resampling; ours are Student's t"
    found = []
    for row in published_rows("gest_of_released_scores"):
        if (row["paper"], row["table"]) != (version, table):
            continue
        if row["model"] not in models:
            raise Unavailable(f"the scores of {row['model']} are missing")
        one = models[row["model"]]
        values = one.scores[row["template"]] / LN10
        for place, number in enumerate(STEREOTYPES):
            own = values[one.stereotypes == place].to_numpy()
            reach = float(stats.t.ppf((1 + LEVEL) / 2, len(own) - 1) * own.std(ddof=1) / len(own) ** 0.5)
            for name, shift in (("q", 0.0), ("q_low", -reach), ("q_high", reach)):
                if row[name][place] is not None:
                    value = float(own.mean()) + shift
                    computed = float(np.exp(value)) if row["scale"] == "published" else value
                    label = f"{row['model']}, template {row['template']}, #{number}, {name}"
                    found.append(Pair(label, computed, f"{row[name][place]:.2f}", "" if name == "q" else why))
    return found


CHECKS: Checks = {
    "gest-samples": samples,
    "gest-templates": templates,
    "gest-topical": topical,
    "gest-first-topical": topical_first,
    "gest-confusion": confusion,
    "gest-swaps": swaps,
    "gest-yields": yields,
    "gest-pairs": pairs,
    "gest-ranks-of-translators": ranks_of_translators,
    "gest-correlations": correlations,
    "gest-slavic-correlations": slavic_correlations,
    "gest-always-stereotypical": always_stereotypical,
    "gest-winobias": winobias,
    "gest-rates-masked": partial(rates, "gest", 9),
    "gest-rates-causal": partial(rates, "gest", 10),
    "gest-first-rates-masked": partial(rates, "gest-first", 7),
    "gest-first-rates-causal": partial(rates, "gest-first", 8),
}
