"""Checks of the word-filling paper: the sizes of its sets, and what the printed numbers say of each other.

The authors released no scores, so nothing else can be computed without their models. Two things hold the
print to itself: f is the difference of the printed ss; and a share with its reach is that of a count of the
set's samples. All 124 English shares are so if they are Agresti-Coull centres, as in the authors' other paper
(`convention="published"` there), and 110 if they were plain shares. How many Slovak samples each tokenizer
leaves is not printed, so nothing is computed there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset import published
from gest_dataset.builders.controls import FIELDS, mark_keywords
from gest_dataset.statistics.proportions import agresti_coull
from gest_dataset.studies.printed.gest_data import data_of
from gest_dataset.studies.printed.pair import Pair

# Table 5; of StereoSet those samples that differ in one keyword, each once
_OF_STEREOSET = {"gender": "254", "race": "959", "profession": "808"}
_OF_CONTROLS = {
    "stereoset_control_gender": "250",
    "stereoset_control_gender_filtered": "147",
    "stereoset_control_race": "9620",
    "stereoset_control_profession": "8090",
    "crows_control_negation": "66",
    "crows_control_antistereotype": "65",
    "slovak_gender": "142",
}
_OF_CROWS = "262"
# How many samples the English shares are of: the set made by hand has one twice
_SCORED = {name: int(size) for name, size in _OF_CONTROLS.items() if name != "slovak_gender"} | {
    "stereoset_control_gender": 251
}
_F = "word_filling_f"
_SHARES = {
    "word_filling_ss": ("ss_plus_original", "ss_plus_control"),
    "word_filling_cs": ("cs_plus_original", "cs_plus_control"),
    _F: ("f_plus",),
}
_ROUNDED = "made of rounded numbers"
_HALF = 0.005 * (1 + 1e-9)  # of the last printed digit of a share


def sizes(_: Path | None) -> list[Pair]:
    """Table 5: StereoSet's samples with one keyword, and the sets with controls."""
    rows = data_of("stereoset_en_intrasentence")
    types = rows.features["bias_type"].int2str(rows["bias_type"])
    marked = [mark_keywords(*pair) for pair in zip(rows["stereotype"], rows["antistereotype"], strict=True)]
    once = {(kind, two) for kind, two in zip(types, marked, strict=True) if isinstance(two, tuple)}
    kinds = Counter(kind for kind, _ in once)
    return [
        *(Pair(f"StereoSet, {kind}", kinds[kind], size) for kind, size in _OF_STEREOSET.items()),
        *(Pair(config, _number(config), size) for config, size in _OF_CONTROLS.items()),
        Pair("crows_gender", len(data_of("crows_gender")), _OF_CROWS),
    ]


def _number(config: str) -> int:
    """How many samples a set has; of the set made by hand one stands twice, and counts once in print."""
    rows = data_of(config)
    if config == "stereoset_control_gender":
        return len({tuple(row[field] for field in FIELDS) for row in rows.to_list()})
    return len(rows)


def shares(number: int, table: str, _: Path | None) -> list[Pair]:
    """The reach of each share in a table: that of a count whose Agresti-Coull centre is printed so.

    Of such counts it is the one that is nearest to the print.
    """
    pairs = []
    for row in _rows(number, table):
        size = _SCORED.get(row["config"], 0)
        for name in _SHARES[table]:
            if not size or row[name] is None:
                continue
            centre, low, high = agresti_coull(np.arange(size + 1.0), np.full(size + 1, float(size)))
            reaches = ((high - low) / 2)[np.abs(centre - row[name]) <= _HALF]
            printed = row[f"{name}_pm"]
            what = f"{row['model']}, {row['config']}, ± of {name}"
            pairs.append(Pair(what, float(min(reaches, key=lambda own: abs(own - printed))), f"{printed:g}"))
    return pairs


def differences(number: int, _: Path | None) -> list[Pair]:
    """f of tables 3, 11 and 12 from the ss of tables 1, 7 and 8, and the reach of its shares."""
    ss = {(row["model"], row["config"]): row for row in published.load("word_filling_ss")["rows"]}
    pairs = []
    for row in _rows(number, _F):
        own = ss[row["model"], row["config"]]
        ours = own["ss_mu_original"] - own["ss_mu_control"]
        pairs.append(Pair(f"{row['model']}, {row['config']}, f_mu", ours, f"{row['f_mu']:g}", _ROUNDED))
    return [*pairs, *shares(number, _F, _)]


def _rows(number: int, table: str) -> list[dict[str, Any]]:
    """The rows of a published table that stand in one of the paper's."""
    return [row for row in published.load(table)["rows"] if number in row["tables"]]


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = (
    {"word-filling-sizes": sizes}
    | {f"word-filling-table-{number}": partial(shares, number, "word_filling_ss") for number in (1, 7)}
    | {f"word-filling-table-{number}": partial(shares, number, "word_filling_cs") for number in (2, 9)}
    | {f"word-filling-table-{number}": partial(differences, number) for number in (3, 11, 12)}
)
