"""Checks of the multilingual StereoSet paper and of the word-filling paper.

StereoSet: tables from the authors' scores, counts from the data. Word filling: the authors released no
scores, so the checks are the sizes of the sets and the consistency of the print. f is the difference of the
printed ss, and a share with its ± is that of a count of the set's samples. All 124 English shares are if they
are Agresti-Coull centres, 110 if they were plain shares. The number of Slovak samples is not printed.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gest_dataset.builders.controls import FIELDS, mark_keywords
from gest_dataset.builders.stereoset import TESTS
from gest_dataset.errors import GestError
from gest_dataset.statistics.proportions import agresti_coull
from gest_dataset.studies.printed.comparison import (
    Checks,
    Pair,
    Unavailable,
    load_rows,
    printed_numbers,
    published_rows,
    required,
)
from gest_dataset.studies.stereoset_results import (
    METHOD_TABLE,
    TABLES,
    Source,
    entries,
    method_entries,
    read_authors_scores,
)

_WHY = {
    (3, "mBERT", "tr", "lms"): "a misprint: the ICAT of the same row and the LMS of table 4 follow from 78.73"
}
_HAS_DUPLICATE = "stereoset_control_gender"  # one sample occurs twice, and is counted once in print
_SHARES = {
    "word_filling_ss": ("ss_plus_original", "ss_plus_control"),
    "word_filling_cs": ("cs_plus_original", "cs_plus_control"),
    "word_filling_f": ("f_plus",),
}


def stereoset_table(source: Source, scores: Path | None) -> list[Pair]:
    """A table's rows of the models with released scores."""
    try:
        scored, _ = read_authors_scores(required(scores))
    except GestError as error:
        raise Unavailable(str(error).splitlines()[0]) from error
    pairs = []
    for one in method_entries(scored) if source is METHOD_TABLE else entries(scored):
        row = one.printed(source)
        if row is None or one.tests != source.tests:
            continue
        for name in source.statistics:
            why = _WHY.get((source.number, row["model"], one.language, name), "")
            label = f"{row['model']}, {one.language}, {name}"
            pairs.append(Pair(label, float(one.result[name]), f"{row[name]:.2f}", why))
    if not pairs:
        raise Unavailable(f"no file in the folder is of a model in table {source.number}")
    return pairs


def stereoset_sizes(_: Path | None) -> list[Pair]:
    """The counts of section 3.1, from the English configs."""
    pairs = []
    for test in TESTS:
        rows = load_rows(f"stereoset_en_{test}")
        targets = Counter(rows["target"])
        counts = Counter(rows.features["bias_type"].int2str(rows["bias_type"]))
        counts |= {
            "samples": len(rows),
            "targets": len(targets),
            "samples of the most common target": max(targets.values()),
            "samples of the least common target": min(targets.values()),
        }
        printed = printed_numbers("stereoset_sizes")[test]
        pairs += [Pair(f"{test}: {name}", counts[name], n) for name, n in printed.items()]
    return pairs


def word_filling_sizes(_: Path | None) -> list[Pair]:
    """Table 5: StereoSet's samples with one keyword, and the sets with controls."""
    rows = load_rows("stereoset_en_intrasentence")
    types = rows.features["bias_type"].int2str(rows["bias_type"])
    marked = [mark_keywords(*pair) for pair in zip(rows["stereotype"], rows["antistereotype"], strict=True)]
    unique = {(kind, pair) for kind, pair in zip(types, marked, strict=True) if isinstance(pair, tuple)}
    kinds = Counter(kind for kind, _ in unique)
    pairs = [
        Pair(f"StereoSet, {kind}", kinds[kind], size) for kind, size in printed_numbers("one_keyword").items()
    ]
    for config, size in printed_numbers("set_sizes").items():
        rows = load_rows(config)
        number = len(rows)
        if config == _HAS_DUPLICATE:
            number = len({tuple(row[field] for field in FIELDS) for row in rows.to_list()})
        pairs.append(Pair(config, number, size))
    return pairs


def _rows(number: int, table: str) -> list[dict[str, Any]]:
    """The rows of a published table that one of the paper's tables prints."""
    return [row for row in published_rows(table) if number in row["tables"]]


def shares(number: int, table: str, _: Path | None) -> list[Pair]:
    """The ± of each share: that of the count whose Agresti-Coull centre is printed and whose ± is closest."""
    sizes = printed_numbers("set_sizes")
    pairs = []
    for row in _rows(number, table):
        if row["config"] == "slovak_gender" or row["config"] not in sizes:
            continue
        size = int(sizes[row["config"]]) + (row["config"] == _HAS_DUPLICATE)
        centre, low, high = agresti_coull(np.arange(size + 1.0), np.full(size + 1, float(size)))
        for name in _SHARES[table]:
            if row[name] is None:
                continue
            half_widths = ((high - low) / 2)[np.abs(centre - row[name]) <= 0.005 * (1 + 1e-9)]
            printed = row[f"{name}_pm"]
            closest = float(half_widths[np.abs(half_widths - printed).argmin()])
            label = f"{row['model']}, {row['config']}, ± of {name}"
            pairs.append(Pair(label, closest, f"{printed:g}"))
    return pairs


def differences(number: int, scores: Path | None) -> list[Pair]:
    """f of tables 3, 11 and 12 from the ss of tables 1, 7 and 8, and the ± of its shares."""
    ss = {(row["model"], row["config"]): row for row in published_rows("word_filling_ss")}
    pairs = []
    for row in _rows(number, "word_filling_f"):
        own = ss[row["model"], row["config"]]
        f = own["ss_mu_original"] - own["ss_mu_control"]
        label = f"{row['model']}, {row['config']}, f_mu"
        pairs.append(Pair(label, f, f"{row['f_mu']:g}", "computed from rounded numbers"))
    return [*pairs, *shares(number, "word_filling_f", scores)]


CHECKS: Checks = {
    **{f"stereoset-table-{source.number}": partial(stereoset_table, source) for source in TABLES},
    "stereoset-sizes": stereoset_sizes,
    "word-filling-sizes": word_filling_sizes,
    **{f"word-filling-table-{n}": partial(shares, n, "word_filling_ss") for n in (1, 7)},
    **{f"word-filling-table-{n}": partial(shares, n, "word_filling_cs") for n in (2, 9)},
    **{f"word-filling-table-{n}": partial(differences, n) for n in (3, 11, 12)},
}
