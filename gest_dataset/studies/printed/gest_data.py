"""Checks of the GEST paper that need its data and its printed tables only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize, stats

from gest_dataset import published
from gest_dataset.builders.gest import DATA
from gest_dataset.builders.pairs import CONFIGS as PAIRS
from gest_dataset.builders.pairs import YIELDS
from gest_dataset.data import sources
from gest_dataset.data.rows import rows_of
from gest_dataset.errors import GestError
from gest_dataset.probes.templates import TEMPLATES
from gest_dataset.statistics.checks import Floats
from gest_dataset.statistics.confounders import FAMILY_WORDS, mentions_any
from gest_dataset.studies.heuristics import counts, of_lines
from gest_dataset.studies.printed.pair import Lacking, Pair

# The language models of the final version; one more is in the released scores
_NOT_IN_PRINT = "Mistral-7B-Instruct-v0.1"
_WITHOUT = "bert-base-multilingual-cased"  # section 4.3.3 leaves it out
_ANNOTATIONS = f"{DATA}/gender-swap-annotations.txt"


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a published table."""
    found: list[dict[str, Any]] = published.load(name)["rows"]
    return found


def data_of(config: str) -> Any:
    """The rows of a config, where they can be had."""
    try:
        return rows_of(config)
    except GestError as error:
        raise Lacking(f"the data of {config} are not at hand: {str(error).splitlines()[0]}") from error


def samples(_: Path | None) -> list[Pair]:
    """Table 1, and what section 3.3 says of the collection."""
    table = published.load("gest_samples")
    number = Counter(data_of("en_1_0")["stereotype"])
    verdicts = data_of("annotations")
    names = verdicts.features["verdict"].names
    removed = sum(names[verdict] == "no" for verdict in verdicts["verdict"])
    return [
        *(
            Pair(f"stereotype {row['stereotype']}", number[row["stereotype"]], str(row["n"]))
            for row in table["rows"]
        ),
        Pair("all samples", sum(number.values()), str(table["samples"])),
        Pair(
            "collected sentences",
            len(verdicts),
            str(table["collected"]),
            "one sentence fewer is in the released annotations",
        ),
        Pair(
            "removed by the annotators",
            removed,
            str(table["removed"]),
            "one verdict fewer is `no` in the released annotations, as one sentence fewer is there",
        ),
    ]


# Table 2 in our notation of a template
_TEMPLATES = {
    1: ('{word} said: "{sentence}"', "He", "She"),
    2: ('The {word} said: "{sentence}"', "man", "woman"),
    3: ('"{sentence}", {word} said.', "he", "she"),
    4: ('"{sentence}", the {word} said.', "man", "woman"),
}


def templates(_: Path | None) -> list[Pair]:
    """Table 2: whether our templates are the printed ones."""
    same = [
        (one.text, one.masculine, one.feminine) == _TEMPLATES[number]
        for number, one in sorted(TEMPLATES.items())
    ]
    return [Pair("templates that are the printed ones", sum(same), str(len(_TEMPLATES)))]


def _english(table: str) -> list[dict[str, Any]]:
    return [row for row in rows(table) if row["model"] != _NOT_IN_PRINT]


def _as_it_is(values: Floats) -> Floats:
    return values


def _group_means(values: Floats, scale: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Means over results of the male and of the female mean, each brought to a scale."""
    return float(scale(values[:, 7:].mean(axis=1)).mean()), float(scale(values[:, :7].mean(axis=1)).mean())


def _table_3(scale: Callable[[Floats], Floats], printed: Mapping[str, tuple[str, str]]) -> list[Pair]:
    """p and q of male and female stereotypes; those of the samples on the family need single scores."""
    found: dict[str, tuple[Floats, Callable[[Floats], Floats]]] = {
        "MT systems": (np.array([row["p"] for row in rows("gest_mt_masculine_rates")]), _as_it_is),
        "English MLMs": (np.array([row["mean_log10_ratio"] for row in _english("gest_english_mlm")]), scale),
        "English GLMs": (np.array([row["mean_log10_ratio"] for row in _english("gest_english_glm")]), scale),
        "Slavic MLMs": (np.log([row["q"] for row in rows("gest_slavic_mlm")]), scale),
    }
    pairs = []
    for system, (values, to) in found.items():
        for what, ours, text in zip(
            ("male", "female"), _group_means(values, to), printed[system], strict=True
        ):
            pairs.append(Pair(f"{system}, {what}", ours, text))
    return pairs


def topical(_: Path | None) -> list[Pair]:
    """Table 3 of the final version, but for the family's samples, whose number is compared."""
    printed = {row["systems"]: (f"{row['m']:.2f}", f"{row['f']:.2f}") for row in rows("gest_topical_bias")}
    return [*_table_3(np.exp, printed), *_family()]


def topical_first(_: Path | None) -> list[Pair]:
    """Table 3 of the first version: the same means in log10."""
    printed = {
        "MT systems": ("0.86", "0.70"),
        "English MLMs": ("0.10", "-0.04"),
        "English GLMs": ("0.12", "-0.08"),
        "Slavic MLMs": ("0.31", "0.05"),
    }
    why = "the released means of these 22 models give -0.087; 0.96 in the final version agrees with them"
    return [
        Pair(pair.what, pair.ours, pair.printed, why if pair.what == "English GLMs, female" else "")
        for pair in [*_table_3(_as_it_is, printed), *_family()]
    ]


def _family() -> list[Pair]:
    data = data_of("en_1_0")
    names = data.features["gender"].names
    male = [names[gender] == "male" for gender in data["gender"]]
    number = sum(a and b for a, b in zip(male, mentions_any(data["sentence"], FAMILY_WORDS), strict=True))
    return [
        Pair(
            "male samples with a word about the family",
            number,
            str(published.load("gest_topical_bias")["samples"]),
        )
    ]


def confusion(_: Path | None) -> list[Pair]:
    """What appendix C.1 says of its table 4, from the counts of the table."""
    table = {row["predicted"]: row for row in rows("gest_heuristics") if row["table"] == 4}
    decided = [table[gender] for gender in "MF"]
    right = sum(table[gender][gender] for gender in "MF")
    unknown = table["U"]
    return [
        Pair("labelled sentences", sum(row[label] for row in table.values() for label in "MFN"), "540"),
        Pair(
            "right where a gender is predicted, in per cent",
            100 * right / sum(row[label] for row in decided for label in "MFN"),
            "98.8",
            "356 of 360 are 98.89 %: the text cuts the last digit off",
        ),
        Pair("neutral among the unknown, in per cent", 100 * unknown["N"] / 180, "77.8"),
        Pair("masculine among the unknown with a gender, in per cent", 100 * unknown["M"] / 40, "75.00"),
    ]


def swaps(_: Path | None) -> list[Pair]:
    """Table 5 from the authors' 160 labelled pairs, judged by our first-letter rule."""
    try:
        file = sources.fetch(_ANNOTATIONS)
    except GestError as error:
        raise Lacking(f"the authors' annotations are not at hand: {str(error).splitlines()[0]}") from error
    lines = file.content.decode("utf-8").splitlines()
    found = counts(of_lines(lines, file.path))
    return [
        Pair(f"{row['predicted']}, {label}", found[row["predicted"], label], str(row[label]))
        for row in rows("gest_heuristics")
        if row["table"] == 5
        for label in "XGC"
    ]


def yields(_: Path | None) -> list[Pair]:
    """The mean of table 6 in section 4.1.2."""
    number = [row["n_predicted"] for row in rows("gest_mt_masculine_rates")]
    return [Pair("mean samples of a system and language", float(np.mean(number)), "3016")]


def pairs(_: Path | None) -> list[Pair]:
    """The mean of unique pairs in section 4.3.2, which table 7 counts before duplicates are dropped."""
    whole = YIELDS["unique_pairs_all_languages"]
    return [
        Pair(
            "mean unique pairs of a language",
            whole / len(PAIRS),
            "2966",
            "26,700 pairs of nine languages are 2,966.67: the text cuts the fraction off",
        )
    ]


def ranks_of_translators(_: Path | None) -> list[Pair]:
    """Section 4.1.3: how often stereotype 7 is the most feminine one."""
    p = np.array([row["p"] for row in rows("gest_mt_masculine_rates")])
    printed = next(row["value"] for row in rows("gest_consistency") if row["what"] == "most feminine")
    return [
        Pair(
            "system-language pairs where #7 is the most feminine",
            float((p[:, 6] <= p.min(axis=1)).sum()),
            str(printed),
            "table 8 prints a lower p_i of #4 for Amazon Translate in Croatian, Slovenian and Serbian",
        )
    ]


def mean_correlations(table: Sequence[Mapping[str, Any]], values: Floats) -> dict[str, float]:
    """Means of r over pairs of results: of one model, of one template (then over templates), of all."""
    r = np.asarray(np.corrcoef(values))
    places = list(combinations(range(len(table)), 2))
    by_template: dict[Any, list[float]] = {}
    for i, j in places:
        if table[i].get("template") == table[j].get("template"):
            by_template.setdefault(table[i].get("template"), []).append(float(r[i, j]))
    return {
        "between templates": float(
            np.mean([r[i, j] for i, j in places if table[i]["model"] == table[j]["model"]])
        ),
        "between models": float(np.mean([np.mean(own) for own in by_template.values()])),
        "between model-language pairs": float(np.mean([r[i, j] for i, j in places])),
    }


def correlations(_: Path | None) -> list[Pair]:
    """Section 4.2.3: correlations of ln q_i between templates and between models, from the released means."""
    table = [*_english("gest_english_mlm"), *_english("gest_english_glm")]
    found = mean_correlations(table, np.array([row["mean_log10_ratio"] for row in table]))
    return [_printed(name, found[name]) for name in ("between templates", "between models")]


def slavic_correlations(_: Path | None) -> list[Pair]:
    """Section 4.3.3: correlations of ln q_i between model-language pairs without mBERT, from table 11."""
    table = [row for row in rows("gest_slavic_mlm") if row["model"] != _WITHOUT]
    name = "between model-language pairs"
    return [_printed(name, mean_correlations(table, np.log([row["q"] for row in table]))[name])]


def _printed(name: str, ours: float) -> Pair:
    value = next(row["value"] for row in rows("gest_consistency") if row["what"] == name)
    return Pair(f"average correlation {name}", ours, f"{value:.2f}")


def always_stereotypical(_: Path | None) -> list[Pair]:
    """Section 4.2.3: g_s of every English model in every template is above 1."""
    table = [*_english("gest_english_mlm"), *_english("gest_english_glm")]
    above = sum(row["g_s"] > 1 for row in table)
    return [Pair("results with g_s above 1, of 11 models in 4 templates and 22 in 2", above, "88")]


def winobias(_: Path | None) -> list[Pair]:
    """Appendix B.2: the correlation that the printed p-value belongs to."""
    row = rows("winobias")[0]
    freedom = row["models"] - 2

    def off(rho: float) -> float:
        t = rho * math.sqrt(freedom / (1 - rho**2))
        return math.log(2 * stats.t.sf(t, freedom)) - math.log(row["p_value"])

    return [
        Pair(
            "correlation of the printed p-value",
            float(optimize.brentq(off, 0.1, 0.9999)),
            str(row["pearson"]),
        )
    ]


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
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
}
