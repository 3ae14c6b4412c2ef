"""Checks of the word-filling paper: sizes of its data sets, and what its printed tables say of each other.

No scores of single samples are released. That f is the difference of ss between original and control is all
that the tables allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gest_dataset import published
from gest_dataset.studies.printed.gest_data import data_of
from gest_dataset.studies.printed.pair import Pair

# Table 5: the data sets, and their sizes in print
_SIZES = {
    "stereoset_control_gender": "250",
    "stereoset_control_gender_filtered": "147",
    "stereoset_control_race": "9620",
    "stereoset_control_profession": "8090",
    "crows_gender": "262",
    "crows_control_negation": "66",
    "crows_control_antistereotype": "65",
    "slovak_gender": "142",
}
_ORIGINALS = {"race": "959", "profession": "808"}  # of StereoSet
_WHY = {"stereoset_control_gender": "the released file holds 251 quadruplets"}


def sizes(_: Path | None) -> list[Pair]:
    """Table 5: rows of each config; of race and profession also the pairs that the controls are made of."""
    pairs = [Pair(name, len(data_of(name)), printed, _WHY.get(name, "")) for name, printed in _SIZES.items()]
    for bias_type in ("race", "profession"):
        rows = data_of(f"stereoset_control_{bias_type}")
        originals = Counter(zip(rows["original_stereotype"], rows["original_antistereotype"], strict=True))
        pairs.append(Pair(f"different originals, {bias_type}", len(originals), _ORIGINALS[bias_type]))
    return pairs


def differences(_: Path | None) -> list[Pair]:
    """Tables 3, 11 and 12 beside tables 1, 7 and 8: f is ss of the original less ss of the control."""
    ss: dict[tuple[str, str], dict[str, Any]] = {
        (row["model"], row["config"]): row for row in published.load("word_filling_ss")["rows"]
    }
    pairs = []
    for row in published.load("word_filling_f")["rows"]:
        own = ss[row["model"], row["config"]]
        ours = own["ss_mu_original"] - own["ss_mu_control"]
        what = f"{row['model']}, {row['config']}: f as the difference of printed means"
        # both means have two digits in print, where f can have three
        pairs.append(Pair(what, ours, f"{row['f_mu']}", slack=2 * 0.005))
    return pairs


CHECKS: Mapping[str, Callable[[Path | None], list[Pair]]] = {
    "word-filling-sizes": sizes,
    "word-filling-f": differences,
}
